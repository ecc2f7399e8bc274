// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Authentication, secure messaging, keys and configuration of MIFARE DESFire (NXP AN10787, AN12343).
struct DESFireKeyTests {
    /// A way to authenticate, and a kind of key that it is for.
    struct Way: Sendable, CustomTestStringConvertible {
        var command: String
        var kind: DESFireKey.Kind
        var generation = DESFireContents.Generation.ev1

        var testDescription: String { "\(command) with \(kind) on \(generation)" }
        var isEV2: Bool { command == "71" }
        /// How a command without secrets is answered: plain, or with a code.
        var plain: String { isEV2 ? "pm" : "pp" }
        var code: UInt8 { [.des: 0x00, .tripleDES: 0x40, .aes: 0x80][kind] ?? 0 }
        /// The verb of a command whose data are enciphered.
        var secret: String { isEV2 ? "em" : "ep" }
    }

    static let ways = [
        Way(command: "0a", kind: .des), Way(command: "1a", kind: .des), Way(command: "1a", kind: .tripleDES),
        Way(command: "aa", kind: .aes), Way(command: "aa", kind: .aes, generation: .ev3),
        Way(command: "71", kind: .aes, generation: .ev2),
    ]

    private func key(_ kind: DESFireKey.Kind, _ number: UInt8) throws -> DESFireKey {
        try #require(DESFireKey(kind, (0..<UInt8(kind.length)).map { $0 &* 7 &+ number &* 16 }, version: number))
    }

    /// A card whose application 1 has three keys, and a file in each mode: read by key 1, written by key 2, both by
    /// key 0. Its settings name key 1 as the one that changes the others.
    private func stage(_ way: Way, isWrapped: Bool = false) throws -> (Stage, CardBox) {
        var application = DESFireApplication(identifier: 1, keySettings: 0x1B, keyCount: 3 | way.code)
        application.keys = try (0..<3).map { try key(way.kind, $0) }
        application.files = [(UInt8(1), UInt8(0)), (2, 1), (3, 3)].map { number, mode in
            DESFireFile(
                number: number,
                communication: CommunicationSettings(rawValue: mode),
                accessRights: 0x1200,
                kind: .standard(Array(repeating: 0, count: 200))
            )
        }
        var keys: [String: DESFireKey] = ["new": try key(way.kind, 9)]
        for number in UInt8(0)..<3 { keys["\(number)"] = try key(way.kind, number) }
        let contents = DESFireContents(generation: way.generation, applications: [application])
        let box = CardBox(DESFireCard(contents))
        return (CardReader(box: box, isWrapped: isWrapped).stage(keys: keys), box)
    }

    @Test(arguments: ways) func `DESFire secure messaging: what one key writes another reads, in every mode`(
        way: Way
    ) async throws {
        let data = hexText((0..<150).map { UInt8($0) })
        for (file, mode) in [("01", "p"), ("02", "m"), ("03", "e")] {
            let (stage, _) = try stage(way)
            let (write, read) = (way.isEV2 && mode != "p" ? mode + "m" : mode + "p", (way.isEV2 ? "m" : "p") + mode)
            try await play(
                """
                == File \(file)
                5a 01 00 00 -> 00; auth \(way.command) 2 -> 00; \(write) 3d \(file) 0a 00 00 96 00 00 / \(data) -> 00
                pp bd \(file) 0a 00 00 96 00 00 -> ae; forget; auth \(way.command) 1 -> 00
                \(mode == "p" ? "pp" : read) bd \(file) 0a 00 00 96 00 00 -> 00 \(data)
                \(mode == "p" ? "pp" : read) bd \(file) 0a 00 00 10 00 00 -> 00 \(data.prefix(47))
                \(mode == "p" ? "pp" : read) bd \(file) 0a 00 00 00 00 00 -> 00 \(data) 00*40
                """
            ) { _ in stage }
        }
        // Data with a wrong code or checksum are not written.
        for (file, length) in [("02", 16), ("03", way.isEV2 ? 24 : 16)] where way.command != "0a" {
            let (stage, box) = try stage(way)
            let before = held(box)
            let forged = "3d \(file) 00 00 00 08 00 00 5a*\(length) -> 1e"
            try await stage.check("5a 01 00 00 -> 00; auth \(way.command) 2 -> 00; \(forged)")
            #expect(held(box) == before)
        }
    }

    @Test(arguments: ways)
    func `DESFire session: codes chain over commands, an error or a selection ends it, and keys are changed`(way: Way)
        async throws
    {
        let auth = "auth \(way.command)"
        func version(_ number: UInt8) throws -> String { hexText([try key(way.kind, number).version]) }
        let (wrapped, _) = try stage(way, isWrapped: true)
        try await play(
            """
            == Wrapped commands
            90 5a 00 00 03 01 00 00 00 -> 91 00; \(auth) 0 -> 00; \(way.plain) 60 -> #29
            \(way.plain) 6f -> 00 01 02 03; \(way.plain) 64 02 -> 00 \(try version(2))
            pe 51 -> 00 04 11 22 33 44 55 66; \(way.plain) f5 03 -> 00 00 03 00 12 c8 00 00
            """
        ) { _ in wrapped }
        let (stage, box) = try stage(way)
        try await play(
            """
            == A wrong key or number, an unknown command and a selection end an authentication
            5a 01 00 00 -> 00; \(auth) 1 2 -> ae; \(auth) 7 1 -> 40; bd 01 00 00 00 01 00 00 -> ae; \(auth) 1 -> 00
            99 -> \(way.isEV2 ? "1e" : "1c"); bd 01 00 00 00 01 00 00 -> ae; \(auth) 1 -> 00; 5a 01 00 00 -> 00
            bd 01 00 00 00 01 00 00 -> ae
            """
        ) { _ in stage }
        try await play(
            """
            == CHANGE KEY by the key that the settings name, and by the master key itself
            \(auth) 1 -> 00; change 2 new -> 00; \(way.plain) 64 02 -> 00 \(try version(9)); forget; \(auth) 2 -> ae
            \(auth) 2 new -> 00; change 0 new -> 9d; forget; \(auth) 0 -> 00; change 0 new own -> 00; 51 -> ae; forget
            \(auth) 0 new -> 00
            """
        ) { _ in stage }
        let keys = held(box).applications[0].keys.map(\.bytes)
        #expect(keys == (try [key(way.kind, 9), key(way.kind, 1), key(way.kind, 9)].map(\.bytes)))
    }

    @Test func `DESFire life: a blank card gets a key, an application and a file, and is formatted`() async throws {
        let master = try #require(DESFireKey(.aes, Array(1...16), version: 5))
        let stage = desfireStage(DESFireContents(), keys: ["master": master, "0x80": .zero(.des)])
        try await play(
            """
            == An AES master key
            auth 0a 0 -> 00; change 0x80 master own -> 00; forget; auth 1a 0 -> ae; auth aa 0 master -> 00
            ep 54 / 09 -> 00; pp ca 01 00 00 0b 82 -> 00; pp 45 -> 00 09 81; app; forget
            cd 01 03 00 10 10 00 00 -> ae; auth aa 0 -> 00; pp cd 01 03 00 10 10 00 00 -> 00
            ep 5f 01 / 01 10 01 -> 00; pp f5 01 -> 00 00 01 10 01 10 00 00; 5a 00 00 00 -> 00; forget; fc -> ae
            auth aa 0 master -> 00; pp fc -> 00; pp 6a -> 00
            """
        ) { _ in stage }
        try await play(
            """
            == Without a key: a challenge, then AE, and statuses of unknown keys and commands
            0a 00 -> af ..; af 00*16 -> ae; 1a 00 -> #9; 90 af 00 00 10 00*16 00 -> 91 ae; 0a 05 -> 40; aa 00 -> ae
            71 00 00 -> 1c; c4 00 -> ae; 51 -> ae; fc -> ae; af -> 1c
            == An authentication that is begun ends the one before it, and so does a loss of power
            auth 0a 0 -> 00; power; forget; c4 00 -> ae
            """
        ) { _ in desfireStage(.ndef()) }
        let begun =
            "app; auth aa 1 -> 00; pp bd 01 00 00 00 01 00 00 -> 00 07; aa 00 -> #17; bd 01 00 00 00 01 00 00 -> ca"
        let app = try desfire("app; keys = 82; 1 = standard 07; rights 1 = 1110")
        try await desfireStage(app).check(begun + "; bd 01 00 00 00 01 00 00 -> ae")
    }

    @Test func `DESFire EV2 session: AUTHENTICATE NON FIRST continues the transaction, and the signature is read`()
        async throws
    {
        let way = try #require(Self.ways.last)
        try await play(
            """
            == AUTHENTICATE EV2 NON FIRST goes on with the transaction
            5a 01 00 00 -> 00; auth 77 0 -> 9d; auth 71 2 -> 00; em 8d 03 00 00 00 03 00 00 / 01 02 03 -> 00
            auth 77 1 -> 00; me ad 03 00 00 00 03 00 00 -> 00 01 02 03
            """
        ) { _ in try stage(way).0 }
        var signed = DESFireContents(generation: .ev2)
        signed.masterKey = .zero(.aes)
        signed.signature = (0..<56).map { UInt8($0 * 3) }
        let signature = "auth 71 0 -> 00; me 3c 00 -> 90 \(hexText(signed.signature))"
        try await desfireStage(signed).check(signature)
    }

    @Test func `DESFire values with keys: rights, limits and the commit are enforced`() async throws {
        try await play(
            """
            == Credits and debits count with the commit
            tag app; keys = 82
            app; auth aa 0 -> 00; pp cc 04 03 00 00 00 00 00 00 64 00 00 00 0a 00 00 00 00 -> 00
            ep 0c 04 / 14 00 00 00 -> 00; ep dc 04 / 05 00 00 00 -> 00; pe 6c 04 -> 00 0a 00 00 00; pp c7 -> 00
            pe 6c 04 -> 00 19 00 00 00; ep dc 04 / 1a 00 00 00 -> be
            == Key 0 has all rights, key 1 reads and debits, key 2 writes and debits
            tag app; keys = 83; 1 = value 0 100 50; rights 1 = 1200
            app; auth aa 0 -> 00; pp 6c 01 -> 00 32 00 00 00; pp dc 01 / 05 00 00 00 -> 00
            pp 0c 01 / 01 00 00 00 -> 00; a7 -> ?; forget; app; auth aa 1 -> 00; pp 6c 01 -> 00 32 00 00 00
            pp dc 01 / 05 00 00 00 -> 00; pp 0c 01 / 01 00 00 00 -> ae; forget; app; auth aa 2 -> 00
            pp 6c 01 -> 00 32 00 00 00; pp dc 01 / 05 00 00 00 -> 00; pp 0c 01 / 01 00 00 00 -> ae
            == A commit without changes leaves the session open
            tag app; keys = 81
            app; auth aa 0 -> 00; pp c7 -> 0c; pe 51 -> 00 04 11 22 33 44 55 66
            """
        ) { desfireStage(try desfire($0)) }
    }

    @Test func `DESFire key settings: decide which key may change which key, and stay once they are frozen`()
        async throws
    {
        let new = try #require(DESFireKey(.aes, Array(0x50..<0x60), version: 9))
        // Key settings, the key that is proved, the one that is changed, and the status (MF3ICDx21, 9.3.2).
        let rows: [(String, Int, Int, String)] = [
            ("ef", 1, 1, "00"), ("ef", 1, 2, "9d"), ("ef", 0, 1, "9d"), ("ff", 1, 1, "9d"), ("ff", 0, 0, "00"),
            ("1f", 0, 1, "00"), ("1f", 1, 1, "9d"), ("1f", 1, 2, "00"), ("1f", 0, 2, "9d"), ("0e", 0, 0, "9d"),
            ("0f", 0, 2, "00"), ("0f", 1, 2, "9d"), ("0f", 1, 0, "9d"),
        ]
        for (settings, proved, changed, status) in rows {
            let stage = desfireStage(try desfire("app; keys = 83; settings = \(settings)"), keys: ["new": new])
            let change = "change \(changed) new\(changed == proved ? " own" : "") -> \(status)"
            let step = "app; auth aa \(proved) -> 00; \(change); changed -> \(status == "00" ? "yes" : "no")"
            try await stage.check(step, "\(settings) \(proved) \(changed)")
        }
        try await play(
            """
            == Settings that are frozen stay, and others are changed with the master key alone
            tag app; keys = 82
            app; auth aa 0 -> 00; ep 54 / 0d -> 00; changed -> yes
            tag app; keys = 82; settings = 07
            app; auth aa 0 -> 00; ep 54 / 0d -> 9d; changed -> no
            tag app; keys = 82
            app; auth aa 1 -> 00; ep 54 / 0d -> ae; changed -> no
            == The card's settings say whether its master key may change
            tag blank
            auth 0a 0 -> 00; change 0 new own -> 00; changed -> yes
            tag blank; card = 0e
            auth 0a 0 -> 00; change 0 new own -> 9d; changed -> no
            """
        ) { desfireStage(try desfire($0), keys: ["new": try #require(DESFireKey(.des, Array(UInt8(1)...16)))]) }
    }

    // MARK: Configuration

    private func configured(_ way: Way) -> (Stage, CardBox) {
        var contents = DESFireContents(generation: way.generation)
        contents.masterKey = .zero(way.kind)
        let box = CardBox(DESFireCard(contents))
        return (CardReader(box: box).stage(keys: ["0": .zero(way.kind)]), box)
    }

    @Test(arguments: ways)
    func `DESFire SET CONFIGURATION: options stay on, new applications get the default key, the ATS changes`(way: Way)
        async throws
    {
        let auth = "auth \(way.command) 0 -> 00"
        for (first, second) in [(0, 0), (1, 0), (2, 1), (0, 3)] as [(UInt8, UInt8)] {
            let (stage, box) = configured(way)
            let set = [first, second].map { "\(way.secret) 5c 00 / 0\($0) -> 00" }.joined(separator: "; ")
            let format = (first | second) & 1 != 0
            let step = "\(auth); \(set); \(way.plain) fc -> \(format ? "9d" : "00")"
            try await stage.check(step, "\(first) \(second)")
            let configuration = held(box).configuration
            #expect(configuration.isFormatDisabled == format)
            #expect(configuration.usesRandomUID == ((first | second) & 2 != 0))
        }
        // New applications get as many bytes of the default key as their kind takes, and its version.
        for key in [(0..<24).map { UInt8($0 * 11 + 1) }, [UInt8](repeating: 0, count: 24)] {
            let (stage, box) = configured(way)
            try await stage.check("\(auth); \(way.secret) 5c 01 / \(hexText(key + [0x5A])) -> 00")
            for (number, kind) in zip(UInt8(1)..., DESFireKey.Kind.allCases) {
                let code = Way(command: "", kind: kind).code | 2
                let create = "\(way.plain) ca \(hexText([number])) 00 00 0f \(hexText([code])) -> 00"
                try await stage.check(create)
                let application = try #require(held(box).applications.last)
                #expect(
                    application.keys.map(\.version) == [0x5A, 0x5A] && application.keys.allSatisfy { $0.kind == kind }
                )
                let proved = try #require(DESFireKey(kind, Array(key.prefix(kind.length)), version: 0x5A))
                let other = CardReader(box: CardBox(DESFireCard(held(box)))).stage(keys: ["1": proved])
                let prove = "5a \(hexText([number])) 00 00 -> 00; auth \(kind == .aes ? "aa" : "1a") 1 -> 00"
                try await other.check(prove, "\(kind)")
            }
        }
        let (stage, box) = configured(way)
        for ats in ["14 11*19", "0a 78 77 81 02 80 11 22 33 44"] {
            try await stage.check("\(auth); ats \(ats) -> 00; \(way.plain) 45 -> #3")
        }
        #expect(held(box).configuration.answerToSelect == hex("0a 78 77 81 02 80 11 22 33 44"))
        for wrong in ["ats 05 75 77 81 02 80 -> 9e", "ats 15 00*20 -> 9e", "ats -> 9e"] {
            let (stage, box) = configured(way)
            try await stage.check("\(auth); \(wrong)")
            #expect(held(box).configuration.answerToSelect == nil)
        }
    }

    @Test func `DESFire SET CONFIGURATION: refused without the card's master key, and for unknown options`()
        async throws
    {
        try await play(
            """
            == Without a key, with an application's key, and with unknown options
            5c 00 02 -> ae; 5c -> ae; app; auth 0a 0 -> 00; ep 5c 00 / 02 -> 9d; forget; 5a 00 00 00 -> 00
            auth 0a 0 -> 00; ep 5c 05 / 00 -> 9e; forget; auth 0a 0 -> 00; ep 5c 00 / 04 -> 9e; changed -> no
            """
        ) { _ in desfireStage(.ndef()) }
        let (stage, box) = configured(try #require(Self.ways.last))
        try await stage.check("auth 71 0 -> 00; em 5c 00 / 01 00 -> 7e")
        #expect(held(box).configuration == DESFireConfiguration())
    }

    @Test func `DESFire random UID: a new one after each power-up, and the real UID only with a key`() async throws {
        var contents = DESFireContents.ndef()
        contents.configuration.usesRandomUID = true
        contents.configuration.answerToSelect = hex("06 75 77 81 02 aa")
        let tag = VirtualType4Tag(contents)
        #expect(tag.identifier == contents.uid)
        let field = try Stage(.nfcA, [tag])
        var seen: Set<String> = []
        for _ in 0..<3 {
            try await field.check("52' -> 04 03")
            let level = try await field.send("raw 93 20")
            #expect(level.hasPrefix("08") && hex(level).reduce(0, ^) == 0)
            seen.insert(level)
            try await field.check("93 70 \(level) -> 20; e0 80 -> 06 75 77 81 02 aa; power")
        }
        #expect(seen.count == 3)
        try await play(
            """
            == GET VERSION hides the UID, and GET CARD UID needs a key
            60 -> af ..; af -> af ..; af -> 00 00*7 ..; auth aa 0 -> ae; auth 0a 0 -> 00
            pe 51 -> 00 04 11 22 33 44 55 66
            """
        ) { _ in desfireStage(contents) }
    }
}
