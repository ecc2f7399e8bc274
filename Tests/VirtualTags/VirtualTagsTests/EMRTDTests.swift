// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Foundation
import TagLink
import TagScripts
import TestThreads
import Testing
import VirtualTags

/// Electronic travel documents (ICAO 9303-10 and 9303-11): basic access control, secure messaging and files.
struct EMRTDTests {
    private func contents(_ cardAccess: String? = nil) throws -> EMRTDContents {
        var contents = try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test)
        contents.cardAccess = cardAccess.map(hex)
        return contents
    }

    /// A document that is opened, or `closed`.
    private func make(_ text: String) throws -> Stage {
        text == "closed" ? EMRTDTerminal(try contents()).stage() : try EMRTDTerminal.open(contents()).stage()
    }

    /// The document of appendix D, whose EF.COM is in D.4, with the example's random numbers.
    private func exampleCard() throws -> EMRTDCard {
        let text = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C<3UTO6908061F9406236ZE184226B<<<<<14"
        let files: [UInt16: [UInt8]] = [0x011E: hex("60145F0104303130365F36063034303030305C026175")]
        let contents = EMRTDContents(try MachineReadableZone(text), files: files)
        return EMRTDCard(contents, randomBytes: hex("4608F91988702212 0B4F80323EB3191CB04970CB4052790B"))
    }

    // MARK: Access

    /// The reader's proof, and the card's answer to it.
    private static let proof = """
        72 c2 9c 23 71 cc 9b db 65 b7 79 b8 e8 d3 7b 29 ec c1 54 aa 56 a8 79 9f ae 2f 49 8f 76 ed 92 f2 \
        5f 14 48 ee a8 ad 90
        """
    private static let answer = """
        46 b9 34 2a 41 39 6c d7 38 6b f5 80 31 04 d7 ce dc 12 2b 91 32 13 9b af 2e ed c9 4e e1 78 53 4f \
        2f 2d 23 5d 07 4d 74 49 90 00
        """

    @Test func `Travel document access: gives the bytes of ICAO 9303-11, appendix D, and refuses wrong proofs`()
        async throws
    {
        try await play(
            """
            == The worked example
            00 a4 04 0c 07 a0 00 00 02 47 10 01 -> 90 00; 00 84 00 00 08 -> 46 08 f9 19 88 70 22 12 90 00
            00 82 00 00 28 \(Self.proof) a7 28 -> \(Self.answer)
            0c a4 02 0c 15 87 09 01 63 75 43 29 08 c0 44 f6 8e 08 bf 8b 92 d6 35 ff 24 f8 00 -> \
            99 02 90 00 8e 08 fa 85 5a 5d 4c 50 a8 ed 90 00
            0c b0 00 00 0d 97 01 04 8e 08 ed 67 05 41 7e 96 ba 55 00 -> \
            87 09 01 9f f0 ec 34 f9 92 26 51 99 02 90 00 8e 08 ad 55 cc 17 14 0b 2d ed 90 00
            0c b0 00 04 0d 97 01 12 8e 08 2e a2 8a 70 f3 c7 b5 35 00 -> \
            87 19 01 fb 92 35 f4 e4 03 7f 23 27 dc c8 96 4f 1f 9b 8c 30 f4 2c 8e 2f ff 22 4a 99 02 90 00 8e 08 \
            c8 b2 78 7e ae a0 7d 74 90 00
            == A proof without, with another or with a used challenge, or of another length
            APPLICATION -> 90 00; 00 82 00 00 28 00*40 28 -> 69 85; 00 84 00 00 08 -> .. 90 00
            00 82 00 00 28 00*40 28 -> 63 00; 00 82 00 00 28 00*40 28 -> 69 85; 00 82 00 00 08 00*8 28 -> 67 00
            00 82 00 00 28 00*40 27 -> 67 00; 00 82 00 00 28 00*40 29 -> 69 85; 00 84 00 00 08 -> .. 90 00
            00 82 00 00 28 \(Self.proof) a7 28 -> 63 00
            == The right proof with a wrong code
            APPLICATION -> 90 00; 00 84 00 00 08 -> .. 90 00; 00 82 00 00 28 \(Self.proof) a6 28 -> 63 00
            00 84 00 00 07 -> 67 00; 00 88 00 00 08 00*8 00 -> 6d 00; 80 84 00 00 08 -> 6e 00
            """
        ) { _ in Stage(CardBox(try exampleCard()), names: ["APPLICATION": EMRTDTerminal.selectApplication]) }
    }

    /// The document of appendix G.1, with the example's random numbers: the nonce, and the private keys.
    private func paceCard() throws -> EMRTDCard {
        let text = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<T220001293UTO6408125M1010318<<<<<<<<<<<<<<06"
        var contents = EMRTDContents(try MachineReadableZone(text), files: [0x011E: [0x60, 0x00]])
        contents.cardAccess = EMRTDContents.pace
        let secrets = [
            "498FF49756F2DC1587840041839A85982BE7761D14715FB091EFA7BCE9058560",
            "107CF58696EF6155053340FD633392BA81909DF7B9706F226F32086C7AFF974A",
        ].flatMap { [UInt8](repeating: 0, count: 48) + hex($0) }
        return EMRTDCard(contents, randomBytes: hex("3F00C4D39D153F2B2A214A078D899B22") + secrets)
    }

    @Test func `Travel document PACE: gives the bytes of ICAO 9303-11, appendix G, and refuses any other step`()
        async throws
    {
        let (choose, nonce) = ("00 22 c1 a4 0f 80 0a 04 00 7f 00 07 02 02 04 02 02 83 01 01", "10 86 00 00 02 7c 00 00")
        let first = """
            10 86 00 00 45 7c 43 81 41 04 7a cf 3e fc 98 2e c4 55 65 a4 b1 55 12 9e fb c7 46 50 dc bf a6 36 2d 89 6f c7 \
            02 62 e0 c2 cc 5e 54 45 52 dc b6 72 52 18 79 91 15 b5 5c 9b aa 6d 9f 6b c3 a9 61 8e 70 c2 5a f7 \
            17 77 a9 c4 92 2d 00
            """
        let second = """
            10 86 00 00 45 7c 43 83 41 04 2d b7 a6 4c 03 55 04 4e c9 df 19 05 14 c6 25 cb a2 ce a4 87 54 88 71 22 f3 a5 \
            ef 0d 5e dd 30 1c 35 56 f3 b3 b1 86 df 10 b8 57 b5 8f 6a 7e b8 0f 20 ba 5d c7 be 1d 43 d9 bf 85 \
            01 49 fb b3 64 62 00
            """
        let wrongPoint = "10 86 00 00 45 7c 43 81 41 04 00*63 05 00"
        try await play(
            """
            == The worked example
            00 b0 9c 00 00 -> 31 14 30 12 06 0a 04 00 7f 00 07 02 02 04 02 02 02 01 02 02 01 0d 90 00
            \(choose) -> 90 00; \(nonce) -> 7c 12 80 10 95 a3 a0 16 52 2e e9 8d 01 e7 6c b6 b9 8b 42 c3 90 00
            \(first) -> 7c 43 82 41 04 82 4f ba 91 c9 cb e2 6b ef 53 a0 eb e7 34 2a 3b f1 78 ce a9 f4 5d e0 b7 0a a6 01 \
            65 1f ba 3f 57 \
            30 d8 c8 79 aa a9 c9 f7 39 91 e6 1b 58 f4 d5 2e b8 7a 0a 0c 70 9a 49 dc 63 71 93 63 cc d1 3c 54 90 00
            \(second) -> 7c 43 84 41 04 9e 88 0f 84 29 05 b8 b3 18 1f 7a f7 ca a9 f0 ef b7 43 84 7f 44 a3 06 d2 d2 8c 1d \
            9e c6 5d f6 db \
            77 64 b2 22 77 a2 ed dc 3c 26 5a 9f 01 8f 9c b8 52 e1 11 b7 68 b3 26 90 4b 59 a0 19 37 76 f0 94 90 00
            00 86 00 00 0c 7c 0a 85 08 c2 b0 bd 78 d9 4b a8 66 00 -> 7c 0a 86 08 3a bb 96 74 bc e9 3c 08 90 00
            == A wrong token
            \(choose) -> 90 00; \(nonce) -> .. 90 00; \(first) -> .. 90 00; \(second) -> .. 90 00
            00 86 00 00 0c 7c 0a 85 08 c2 b0 bd 78 d9 4b a8 67 00 -> 63 00
            00 86 00 00 0c 7c 0a 85 08 c2 b0 bd 78 d9 4b a8 66 00 -> 69 85
            == A step without the one before it, or after another command; a point that is not on the curve
            \(nonce) -> 69 85; \(choose) -> 90 00; \(first) -> 69 85; \(choose) -> 90 00; \(nonce) -> .. 90 00
            \(second) -> 69 85; \(choose) -> 90 00; \(nonce) -> .. 90 00; \(wrongPoint) -> 6a 80
            \(choose) -> 90 00; 00 b0 9c 00 00 -> .. 90 00; \(nonce) -> 69 85; \(choose) -> 90 00; power; \(nonce) -> 69 85
            \(choose) -> 90 00; \(nonce) -> .. 90 00; 10 86 00 00 02 7c 01 00 -> 6a 80; 10 b0 9c 00 00 -> 6e 00
            == Another protocol, password or curve
            00 22 c1 a4 0f 80 0a 04 00 7f 00 07 02 02 04 02 04 83 01 01 -> 6a 80; 00 22 41 a4 00 -> 6a 86
            00 22 c1 a4 0f 80 0a 04 00 7f 00 07 02 02 04 02 02 83 01 02 -> 6a 88
            00 22 c1 a4 12 80 0a 04 00 7f 00 07 02 02 04 02 02 83 01 01 84 01 0c -> 6a 80
            00 22 c1 a4 12 80 0a 04 00 7f 00 07 02 02 04 02 02 83 01 01 84 01 0d -> 90 00
            """
        ) { _ in Stage(CardBox(try paceCard())) }
    }

    @Test func `Travel document without access: only EF.CardAccess and EF.ATR can be read`() async throws {
        let information = "47 03 94 01 60 7f 66 08 02 02 ff ff 02 02 ff ff"
        try await play(
            """
            == With PACE there is EF.CardAccess
            00 a4 02 0c 02 01 1c -> 90 00; 00 b0 00 00 00 -> 31 00 90 00; 00 b0 9c 00 00 -> 31 00 90 00
            00 b0 81 00 03 -> 47 03 94 90 00; 00 84 00 00 08 -> 69 85; 00 a4 04 0c 07 a0 00 00 02 47 20 01 -> 6a 82
            00 a4 04 00 07 a0 00 00 02 47 10 01 00 -> 6f 09 84 07 a0 00 00 02 47 10 01 90 00
            00 a4 02 0c 02 01 1e -> 69 82; 00 a4 02 0c 02 01 0f -> 69 82; 00 b0 9e 00 04 -> 69 82
            00 b0 00 00 04 -> 69 82; 0c b0 9e 00 0d 97 01 04 8e 08 00*8 00 -> 69 82; 00 a4 00 0c 02 3f 00 -> 90 00
            00 a4 02 0c 02 01 1c -> 90 00
            == Extended lengths: 256 is a number, and zeros are all
            00 b0 81 00 00 -> \(information) 90 00; 00 b0 81 00 00 00 00 -> \(information) 90 00
            00 b0 81 00 00 01 00 -> \(information) 62 82; APPLICATION -> 90 00; 00 84 00 00 08 -> #10
            00 84 00 00 00 -> #10; 00 84 00 00 00 00 08 -> #10; 00 84 00 00 00 00 00 -> #10
            00 84 00 00 00 01 00 -> 67 00
            == SELECT with other parameters, and a name that is cut
            00 a4 04 04 07 a0 00 00 02 47 10 01 -> 6a 86; 00 a4 04 0c 04 a0 00 00 02 -> 67 00
            == A loss of power forgets the file and the challenge
            00 a4 02 0c 02 01 1c -> 90 00; power; 00 b0 00 00 00 -> 69 86; APPLICATION -> 90 00
            00 84 00 00 08 -> .. 90 00; power; 00 82 00 00 28 00*40 28 -> 69 85
            """
        ) { _ in EMRTDTerminal(try contents("31 00")).stage() }
        let none = "00 a4 02 0c 02 01 1c -> 6a 82; 00 b0 9c 00 04 -> 6a 82"
        try await make("closed").check(none, "Without PACE there is no EF.CardAccess.")
    }

    @Test func `Travel document session: a wrong or plain command ends it, until the reader authenticates again`()
        async throws
    {
        // A protected READ BINARY of EF.COM with one thing wrong.
        let faults: [(String, String)] = [
            ("code", "69 88"), ("no code", "69 87"), ("no object", "69 87"), ("no command", "67 00"),
            ("unknown object", "69 88"), ("header", "69 88"), ("length of three bytes", "69 88"),
            ("short code", "69 88"),
            ("repeated", "69 88"), ("wrong data object", "69 88"), ("plain", "69 82"),
        ]
        for (fault, status) in faults {
            var terminal = try EMRTDTerminal.open(contents())
            #expect(try terminal.read(0x1E).starts(with: [0x60]))
            let first = terminal.encryption
            let header = hex("0c b0 9e 00")
            var command = try terminal.protected(header, fault == "wrong data object" ? [1] : [], length: [4])
            switch fault {
            case "code": command[command.count - 2] ^= 1
            case "no code": command = header + [3, 0x97, 1, 4, 0]
            case "no object": command = header + [0]
            case "no command": command = header + [0, 0]
            case "unknown object": command[5] = 0x96
            case "header": command[3] = 1
            case "length of three bytes": command = header + [15, 0x97, 3, 0, 0, 4] + command[8...]
            case "short code": command = header + [6, 0x97, 1, 4, 0x8E, 1, 0, 0]
            case "repeated": #expect(terminal.plain(hexText(command)).hasSuffix("90 00"))
            case "wrong data object": command[5] = 0x85
            default: command = hex("00 b0 9e 00 04")
            }
            #expect(terminal.plain(hexText(command)) == status, "\(fault)")
            #expect(try terminal.send("0c b0 9e 00", length: [4]).status == "69 82", "\(fault)")
            try terminal.authenticate()
            #expect(try terminal.read(0x1E).starts(with: [0x60]), "\(fault)")
            #expect(terminal.encryption != first, "Every session has other keys.")
        }
        try await play(
            """
            == A loss of power ends the session, and challenges differ
            power; say 0c b0 9e 00 / / 04 -> 69 82; 00 84 00 00 08 -> 69 85
            == Selecting the application or the card leaves no file selected
            say 0c b0 9e 00 / / 01 -> 60 90 00; say 0c b0 00 00 / / 01 -> 60 90 00
            say 0c a4 04 0c / a0 00 00 02 47 10 01 -> 90 00; say 0c b0 00 00 / / 01 -> 69 86
            say 0c b0 9e 00 / / 01 -> 60 90 00; say 0c a4 00 0c / 3f 00 -> 90 00; say 0c b0 00 00 / / 01 -> 69 86
            """,
            on: make
        )
    }

    // MARK: Files

    @Test func `Travel document files: found by long and short identifier, and reads end with the file`() async throws {
        var terminal = try EMRTDTerminal.open(contents())
        for (identifier, short) in [(UInt16(0x011E), UInt8(0x1E)), (0x0101, 1), (0x0102, 2), (0x011D, 0x1D)] {
            let file = try #require(try contents().files[identifier])
            #expect(try terminal.read(short) == file)
            #expect(try terminal.send("0c a4 02 0c", [UInt8(identifier >> 8), short]).status == "90 00")
            #expect(try terminal.send("0c b0 00 01", length: [3]).data == Array(file[1..<4]))
        }
        try await play(
            """
            == A refusal leaves the session and the file; the control information has the size
            file 1d -> 77; say 0c a4 02 0c / 01 03 -> 6a 82; say 0c b0 83 00 / / 01 -> 6a 82
            say 0c b0 00 00 / / 01 -> 77 90 00
            say 0c a4 02 00 / 01 01 / 00 -> 6f 0b 80 02 00 5d 82 01 01 83 02 01 01 90 00
            == The end of EF.COM, which has 22 bytes
            file 1e -> 60; say 0c b0 00 15 / / 01 -> 75 90 00; say 0c b0 00 15 / / 02 -> 75 62 82
            say 0c b0 00 16 / / 01 -> 6b 00; say 0c b0 00 00 / / 00 -> #24; say 0c b0 00 00 -> 67 00
            say 0c b0 9f 00 / / 01 -> 6a 86
            == A protected answer of 256 bytes holds 231 bytes of data
            say 0c b0 82 00 / / 00 -> #233; say 0c b0 82 00 / / e7 -> #233; say 0c b0 82 00 / / e8 -> 67 00
            say 0c b0 82 00 / / 02 00 / x -> #514; say 0c b0 82 00 / / 00 00 / x -> 75 82 04 47 ..
            """,
            on: make
        )
    }

    @Test func `Travel document odd READ BINARY: reads beyond 32767 bytes with data objects`() async throws {
        let portrait = EMRTDContents.samplePortrait
        // A comment that a picture may have any number of.
        let comment = [0xFF, 0xFE, 0xFF, 0xFF] + (0..<65533).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let large = try EMRTDContents(
            MachineReadableZone(EMRTDTerminal.zone),
            portrait: portrait[..<2] + comment + portrait[2...],
            signer: .test
        )
        let file = try #require(large.files[0x0102])
        func part(_ range: Range<Int>) -> String { hexText(file[range]) }
        try await play(
            """
            == Offsets of one to four bytes
            say 0c b1 00 02 / 54 01 00 / 06 -> 53 04 \(part(0..<4)) 90 00
            say 0c b1 00 00 / 54 03 01 00 05 / 20 -> 53 1e \(part(0x10005..<0x10023)) 90 00
            say 0c b1 01 02 / 54 02 80 00 / 00 -> 53 81 e4 \(part(0x8000..<0x80E4)) 90 00
            say 0c b1 00 00 / 54 01 00 / 7f ff / x -> 53 82 7f fb ..; say 0c b1 00 00 / 54 01 00 / 7f ff / x -> #32769
            say 0c b1 00 00 / 54 03 02 00 00 / 04 -> 6b 00
            say 0c b1 00 02 / 54 04 00*4 / 06 -> 53 04 \(part(0..<4)) 90 00
            == The length counts the header of the object, and asks for a byte at least
            say 0c b1 00 02 / 54 01 00 / 01 -> 67 00; say 0c b1 00 02 / 54 01 00 / 02 -> 67 00
            say 0c b1 00 02 / 54 01 00 / 03 -> 53 01 75 90 00
            say 0c b1 00 02 / 54 01 00 / 82 -> 53 7f \(part(0..<127)) 90 00
            say 0c b1 00 02 / 54 01 00 / 83 -> 53 81 80 \(part(0..<128)) 90 00
            say 0c b1 00 02 / 54 01 00 / 01 03 / x -> 53 81 ff \(part(0..<255)) 90 00
            say 0c b1 00 02 / 54 01 00 / 01 04 / x -> 53 82 01 00 \(part(0..<256)) 90 00
            """
        ) { _ in try EMRTDTerminal.open(large).stage() }
    }

    @Test func `Travel document in a field: random or fixed UID, and NFC-B with its family`() async throws {
        let random = try Stage(.nfcA, [VirtualType4Tag(contents())])
        var seen: Set<String> = []
        for _ in 0..<3 {
            try await random.check("52' -> 08 00")
            let level = try await random.send("raw 93 20")
            #expect(level.hasPrefix("08"))
            seen.insert(level)
            try await random.check("93 70 \(level) -> 20; e0 80 -> 0a 78 77 90 02 80 73 94 01 60; power")
        }
        #expect(seen.count == 3)
        let fixed = VirtualType4Tag(try contents(), frontEnd: .emrtd(uid: hex("04 11 22 33 44 55 66")))
        let step =
            "power; 52' -> 48 00; raw 93 20 -> 88 04 11 22 bf; power; wake; e0 80 -> 0a 78 77 90 02 80 73 94 01 60"
        try await Stage(.nfcA, [fixed]).check(step)
        let tag = VirtualType4Tag(try contents(), frontEnd: .emrtd(pupi: [1, 2, 3, 4]))
        let family = """
            05 e1 08 -> 50 01 02 03 04 e1 f3 5e 11 77 81 95; 1d 01 02 03 04 00 08 01 00 -> 00; \
            02 \(EMRTDTerminal.selectApplication) -> 02 90 00; 03 00 b0 9e 00 04 -> 03 69 82
            """
        try await Stage(.nfcB, [tag]).check(family)
    }

    // MARK: Contents

    /// Zones of ICAO 9303-4, 9303-5 and 9303-11, appendix D, and the data that the keys are derived from.
    private static let zones: [(String, String, String)] = [
        (EMRTDTerminal.zone, "L898902C3", "L898902C3674081221204159"),
        (
            "I<UTOD23145890<7349<<<<<<<<<<<\n3407127M9507122UTO<<<<<<<<<<<2\nSTEVENSON<<PETER<JOHN<<<<<<<<<",
            "D23145890734", "D23145890734934071279507122"
        ),
        (
            "I<UTOSTEVENSON<<PETER<JOHN<<<<<<<<<<\nD23145890<UTO3407127M95071227349<<<8",
            "D23145890734", "D23145890734934071279507122"
        ),
        (
            "I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<",
            "D23145890", "D23145890774081221204159"
        ),
    ]

    @Test func `Machine-readable zone: each size gives the document number and the input of the access keys`() throws {
        for (text, number, information) in Self.zones {
            let zone = try MachineReadableZone(text)
            #expect(zone.documentNumber == number && zone.accessInformation == Array(information.utf8))
            #expect(zone.lines.joined(separator: "\n") == text)
            let first = try #require(EMRTDContents(zone, signer: .test).files[0x0101])
            let characters = text.filter { $0 != "\n" }.utf8
            #expect(first == [0x61, UInt8(characters.count + 3), 0x5F, 0x1F, UInt8(characters.count)] + characters)
            var terminal = try EMRTDTerminal.open(EMRTDContents(zone, signer: .test))
            #expect(try terminal.read(1) == first)
            for separator in ["", " ", "\t", "\r", "\r\n", "\n\n"] {
                let other = zone.lines.joined(separator: separator) + separator
                #expect(try MachineReadableZone(other).lines == zone.lines, "\(separator.utf8.map { $0 })")
            }
        }
        let zone = try MachineReadableZone(Self.zones[2].0)
        let seed = try MessageDigest.sha1.hash(zone.accessInformation).prefix(16)
        #expect(hexText(seed) == hexText(hex("b366ad857ddca2b08c0e299811714730")), "ICAO 9303-11, appendix D.2")
    }

    @Test func `Machine-readable zone: wrong sizes, characters and check digits are refused`() throws {
        let lines = EMRTDTerminal.zone.split(separator: "\n").map(String.init)
        // The second line, and whether it is right.
        let rows: [(String, EMRTDError.Code?)] = [
            ("L898902C36UTO7408122F1204159ZE184226B<<<<<10", nil),
            ("L898902C36UTO7408122F1204159<<<<<<<<<<<<<<<8", nil),
            ("L898902C36UTO7408122F1204159<<<<<<<<<<<<<<08", nil),
            ("L898902C36UTO7408122F1204159ZE184226B<<<<<<9", .wrongCheckDigit),
            ("L898902C36UTO7408122F1204159ZE184226B<<<<<21", .wrongCheckDigit),
            ("L898902C36UTO7408122F1304159ZE184226B<<<<<17", .wrongCheckDigit),
            ("L898902C36UTO7408122F1204159ZE184226B<<<<<17", .wrongCheckDigit),
            ("L898902C36UTO7408122f1204159ZE184226B<<<<<10", .malformedZone),
            ("L898902C36UTO7408122F1204159ZE184226B<<<<<1", .malformedZone), ("", .malformedZone),
        ]
        for (line, code) in rows {
            var found: EMRTDError.Code?
            do { _ = try MachineReadableZone(lines[0] + line) } catch { found = error.code }
            #expect(found == code, "\(line)")
        }
        #expect(throws: EMRTDError.self) { try MachineReadableZone("") }
    }

    @Test func `Travel document contents: EF.COM lists the data groups; unsuitable groups and signers are refused`()
        throws
    {
        let zone = try MachineReadableZone(EMRTDTerminal.zone)
        let group = hex("6b 03 5c 01 00")
        let contents = try EMRTDContents(zone, otherGroups: [11: group], signer: .test)
        let expected = "60 15 5f 01 04 30 31 30 37 5f 36 06 30 34 30 30 30 30 5c 03 61 75 6b"
        #expect(contents.files[0x011E].map(hexText) == expected && contents.files[0x010B] == group)
        #expect(throws: EMRTDError.self) { try EMRTDContents(zone, otherGroups: [12: group], signer: .test) }
        #expect(throws: EMRTDError.self) { try EMRTDContents(zone, otherGroups: [17: group], signer: .test) }
        for (certificate, key) in [([0x30, 0], []), (EMRTDSigner.test.certificate, [1])] as [([UInt8], [UInt8])] {
            let signer = EMRTDSigner(certificate: certificate, privateKey: key)
            #expect(throws: EMRTDError.self) { try EMRTDContents(zone, signer: signer) }
        }
        #expect(try EMRTDContents(zone, signer: .test) == EMRTDContents(zone, signer: .test))
    }

    /// A picture with a table before its frame, and nothing in it.
    private func picture(_ marker: UInt8, _ width: UInt16, _ height: UInt16, _ components: UInt8) -> [UInt8] {
        let table: [UInt8] = [0xFF, 0xC4, 0x00, 0x03, 0x00]
        let size = [UInt8(height >> 8), UInt8(height & 0xFF), UInt8(width >> 8), UInt8(width & 0xFF)]
        return [0xFF, 0xD8] + table + [0xFF, marker, 0x00, 0x11, 0x08] + size + [components, 0xFF, 0xD9]
    }

    @Test func `Travel document portrait: data group 2 has the JPEG frame's size and colours; no JPEG is refused`()
        throws
    {
        func group(_ portrait: [UInt8]) throws -> [UInt8] {
            let zone = try MachineReadableZone(EMRTDTerminal.zone)
            return try #require(EMRTDContents(zone, portrait: portrait, signer: .test).files[0x0102])
        }
        func record(_ group: [UInt8]) throws -> [UInt8] {
            Array(group[try #require(group.indices.first { group[$0...].starts(with: Array("FAC\0".utf8)) })...])
        }
        let sample = try #require(try contents().files[0x0102])
        let start = "75 82 04 47 7f 61 82 04 42 02 01 01 7f 60 82 04 3a a1 0e 81 01 02 82 01 00 87 02 01 01 88 02 00"
        #expect(hexText(sample.prefix(32)) == start && hexText(sample).contains("5f 2e 82 04 25 46 41 43 00"))
        let face = try record(sample)
        #expect(hexText(face.prefix(18)) == "46 41 43 00 30 31 30 00 00 00 04 25 00 01 00 00 04 17")
        // Full frontal, JPEG, 90 by 120, 8 bits of grey.
        #expect(face[18..<34].allSatisfy { $0 == 0 } && hexText(face[34..<46]) == "01 00 00 5a 00 78 03 00 00 00 00 00")
        #expect(Array(face[46...]) == EMRTDContents.samplePortrait && face.count == 0x425)
        for (marker, components, space) in [(0xC0, 1, "03"), (0xC2, 3, "01")] as [(UInt8, UInt8, String)] {
            let portrait = picture(marker, 0x0123, 0x0456, components)
            let face = try record(group(portrait))
            #expect(
                hexText(face[34..<46]) == "01 00 01 23 04 56 \(space) 00 00 00 00 00" && Array(face[46...]) == portrait
            )
        }
        let whole = picture(0xC0, 9, 9, 1)
        let refused: [[UInt8]] = [
            [1, 2, 3], picture(0xC0, 0, 9, 1), picture(0xC0, 9, 0, 1),
            // An extension and a table are no frames.
            picture(0xC8, 9, 9, 1), picture(0xCC, 9, 9, 1),
            // Without its end, with something behind it, and with a byte that is no marker behind the table.
            Array(whole.dropLast(2)), whole + [0x00], Array(whole[..<7]) + [0x00] + Array(whole[7...]),
        ]
        #expect(try group(whole).suffix(whole.count).elementsEqual(whole))
        for portrait in refused {
            let error = #expect(throws: EMRTDError.self) { try group(portrait) }
            #expect(error?.code == .unsuitableContents, "\(hexText(portrait))")
        }
    }

    /// Passive authentication by another implementation; needs openssl.
    @Test(.ownThreads)
    func `Travel document signature: openssl verifies EF.SOD, and the hashes are those of the groups`()
        throws
    {
        let zone = try MachineReadableZone(EMRTDTerminal.zone)
        let contents = try EMRTDContents(zone, otherGroups: [11: hex("6b 03 5c 01 00")], signer: .test)
        let file = try #require(contents.files[0x011D])
        #expect(file.starts(with: [0x77, 0x82]))
        // Version 0, SHA-256, and hashes of the groups 1, 2 and 11.
        var expected = hex("30 81 87 02 01 00 30 0b 06 09 60 86 48 01 65 03 04 02 01 30 75")
        for number in [UInt8(1), 2, 11] {
            let data = try #require(contents.files[0x0100 | UInt16(number)])
            expected += [0x30, 0x25, 0x02, 0x01, number, 0x04, 0x20] + (try MessageDigest.sha256.hash(data))
        }
        #expect(hexText(try verified(Array(file.dropFirst(4))) ?? []) == hexText(expected))
        // One bit of a hash or of the signature, and openssl refuses.
        let place = try #require(file.indices.first { file[$0...].starts(with: expected.suffix(32)) })
        for changed in [place, file.count - 1] {
            var damaged = file
            damaged[changed] ^= 1
            #expect(try verified(Array(damaged.dropFirst(4))) == nil)
        }
    }

    /// What a message of CMS has signed, when its signer is certified by the test CSCA.
    private func verified(_ message: [UInt8]) throws -> [UInt8]? {
        let folder = FileManager.default.temporaryDirectory.appending(path: "emrtd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(message).write(to: folder.appending(path: "message.der"))
        let certificate = Data(EMRTDSigner.testAuthorityCertificate).base64EncodedString(
            options: .lineLength64Characters
        )
        try Data("-----BEGIN CERTIFICATE-----\n\(certificate)\n-----END CERTIFICATE-----\n".utf8)
            .write(to: folder.appending(path: "authority.pem"))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.currentDirectoryURL = folder
        process.arguments =
            "openssl cms -verify -binary -inform DER -in message.der -CAfile authority.pem -out signed.der"
            .split(separator: " ").map(String.init)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return [UInt8](try Data(contentsOf: folder.appending(path: "signed.der")))
    }
}
