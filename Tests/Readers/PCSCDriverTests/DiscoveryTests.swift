// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

@testable import PCSCDriver  // the samples' connections are internal

/// How the driver finds a tag, its identity and the way to it through a reader.
struct DiscoveryTests {
    private typealias Cards = SampleCards

    private static func identity(
        _ answer: [UInt8],
        _ table: [String: String],
        systemCodes: [UInt16] = [0x12FC]
    ) async throws(LinkError) -> DiscoveredTag.Identity? {
        try await PCSCReader(.first, layer: Cards.service(answer, table: table))
            .discover(Cards.everyTechnology, systemCodes: systemCodes).first?.identity
    }

    @Test func `feedback: an ACR122U blinks and beeps once or twice; others, and before a tag, give none`()
        async throws
    {
        let table = ["ffca000000": "04112233445566 9000", "ff0040ae0402010101": "9002", "ff00405d0402010201": "6300"]
        for name in [Cards.name, "Other Contactless 00 00"] {
            let service = Cards.service(Cards.type2Answer, name: name) { [UInt8](hex: table[$0.hex] ?? "6a81") }
            let reader = PCSCReader(.first, layer: service)
            #expect(await !reader.signal(isSuccess: true))
            _ = try await Cards.tag(reader)
            #expect(await reader.signal(isSuccess: true) == (name == Cards.name))
            #expect(await reader.signal(isSuccess: false) == (name == Cards.name))
            #expect(service.commands.contains("ff00405d0402010201") == (name == Cards.name))
        }
    }

    @Test func `an ISO-DEP card: identity, ATS and APDUs`() async throws {
        for (historical, ats, wanted) in [
            ("81800180 80", "067577810280 9000", "067577810280"), ("828001 C105 47", "6a81", "0408c105"),
            ("828001 C105 47", "2f2f 9000", "04082f2f"),
        ] {
            let table = ["ffca000000": "04112233445566 9000", "ffca010000": ats, "00a4040001d2": "9000"]
            let service = Cards.service([UInt8](hex: "3B" + historical), table: table)
            let reader = PCSCReader(.first, layer: service)
            let tag = try await Cards.tag(reader)
            guard case .nfcA(_, 0x20, let uid) = tag.identity, case .commands(let link, let answer?) = tag.port else {
                throw LinkError(.unsupported, "\(tag)")
            }
            #expect(uid.hex == "04112233445566" && answer.hex == wanted)
            #expect(try AnswerToSelect(answer).bytes == answer)
            #expect(try await link.transmit([0x00, 0xA4, 0x04, 0x00, 0x01, 0xD2]) == [0x90, 0x00])
        }
        let typeB = try await Self.identity(
            [UInt8](hex: "3B888001 1C2D94110081 8100"),
            ["ffca000000": "01020304 9000"]
        )
        #expect(typeB == .nfcB(answer: [UInt8](hex: "50010203041C2D9411008181")))
    }

    @Test
    func
        `storage card: identity by GET DATA, PN53x and Traverse inventory; no tag if an answer or the kind is unusable`()
        async throws
    {
        let (chip, version) = ("ff00000002d402", "d50332010607 9000")
        let (traverse, inventory) = ("fffd04010302200000", "fffd05010326010000")
        let (block, withTraverse) = ("ffb0000004", [traverse: "00 E1400D01 9000"])
        let (uid, vicinity) = ("e004015000112233", Cards.vicinityAnswer)
        let found = DiscoveredTag.Identity.nfcV(uid: [UInt8](hex: uid), dsfid: 0)
        let rows: [([UInt8], [String: String], DiscoveredTag.Identity?)] = [
            (Cards.type1Answer, ["ffca000000": "01020304 9000"], nil),
            (
                Cards.type1Answer, ["ffca000000": "01020304 9000", chip: version],
                .nfcA(atqa: 0x0C00, sak: nil, uid: [1, 2, 3, 4])
            ),
            (vicinity, ["ffca000000": uid + "9000", block: "01020304 9000"], found),
            (vicinity, ["ffca000000": "33221100500104e0 9000", block: "01020304 9000"], found),
            (
                vicinity, withTraverse.merging([inventory: "0055 3322110015 0004E0 9000"]) { $1 },
                .nfcV(uid: [UInt8](hex: "E004001500112233"), dsfid: 0x55)
            ),
            (vicinity, withTraverse.merging([inventory: "6401"]) { $1 }, nil),
            (vicinity, withTraverse.merging([inventory: "0155 3322110015 0004E0 9000"]) { $1 }, nil),
            (vicinity, [block: "01020304 9000"], nil),
            ([UInt8](hex: "3B8F8001804F0CA0000003060600070000000000"), ["ffca000000": "01020304 9000"], nil),
            ([UInt8](hex: "3B8F8001804F0CA0000003064000000000000000"), ["ffca000000": "01020304 9000"], nil),
        ]
        for (answer, table, wanted) in rows {
            #expect(try await Self.identity(answer, table) == wanted, "\(answer.hex) \(table)")
        }
    }

    @Test
    func
        `FeliCa card: polled for the wanted system codes in their order; without frames, blocks can still be read`()
        async throws
    {
        let (idm, pmm) = ("02fe001122334455", "00f1000000014300")
        func poll(_ code: String) -> String { "ff00000008d4420600\(code)0100" }
        func answer(_ length: String, _ system: String) -> String { "d54300\(length)01\(idm)\(pmm)\(system) 9000" }
        let chip = ["ffca000000": idm + "9000", "ff00000002d402": "d50332010607 9000"]
        let rows: [([UInt16], [String: String], UInt16?)] = [
            ([0xFE00, 0x12FC], [poll("fe00"): "d543019000", poll("12fc"): answer("14", "12fc")], 0x12FC),
            ([0x12FC], [poll("12fc"): answer("12", "")], 0x12FC), ([], [poll("ffff"): answer("14", "88b4")], 0x88B4),
            ([], [poll("ffff"): answer("12", "")], 0xFFFF), ([0x88FF], [poll("88ff"): answer("14", "88b4")], 0x88B4),
            ([0xFF12], [poll("ff12"): answer("14", "3412")], 0x3412),
            ([0x12FF], [poll("12ff"): answer("14", "1234")], 0x1234),
            ([0xFE00], [poll("fe00"): "d543019000", poll("12fc"): answer("14", "12fc")], nil),
            // An answer with a byte missing, and one with another response code.
            ([0x12FC], [poll("12fc"): "d543001101\(idm)\(pmm.dropLast(2)) 9000"], nil),
            ([0x12FC], [poll("12fc"): "d543001203\(idm)\(pmm) 9000"], nil),
        ]
        for (codes, polls, system) in rows {
            let found = try await Self.identity(Cards.felicaAnswer, chip.merging(polls) { $1 }, systemCodes: codes)
            let wanted = DiscoveredTag.Identity.nfcF(
                idm: [UInt8](hex: idm),
                pmm: [UInt8](hex: pmm),
                systemCode: system
            )
            #expect(found == (system == nil ? nil : wanted), "\(codes)")
        }
        let block = "10040100040000000001000000000000"
        let table = ["ffca000000": idm + "9000", "ffa40001020b00": "9000", "ffb0000010": block + "9000"]
        let reader = PCSCReader(.first, layer: Cards.service(Cards.felicaAnswer, table: table))
        let link = try await Cards.frames(reader)
        let read = Frame([UInt8](hex: "1006\(idm)010b00018000"))
        #expect(try await link.transceive(read, timeout: .milliseconds(20)).bytes.hex == "1d07\(idm)000001\(block)")
    }

    @Test
    func
        `invalid ATR: transmission; contact card: readerUnavailable, but found in a reader that is chosen by name`()
        async
    {
        for answer in ["", "00", "3B", "3BFF"] {
            let reader = PCSCReader(.first, layer: Cards.service([UInt8](hex: answer), table: [:]))
            #expect(await Cards.poll(reader) == (nil, .transmission), "\(answer)")
        }
        let service = Cards.service(Cards.contactAnswer, table: [:])
        #expect(await Cards.poll(PCSCReader(.first, layer: service)) == (nil, .readerUnavailable))
        #expect(await Cards.poll(PCSCReader(.named("ACR122"), layer: service)) == (1, nil))
    }

    @Test
    func
        `PC/SC error while a tag is connected or identified: each code gives transmission, no tag or its link error`()
        async
    {
        let rows: [(SmartCardError.Code, Int?, LinkError.Code?)] = [
            (.noSmartcard, nil, .transmission), (.removedCard, nil, .transmission),
            (.unresponsiveCard, nil, .transmission), (.unpoweredCard, nil, .transmission),
            (.notTransacted, nil, .transmission), (.protocolMismatch, nil, .transmission), (.readerUnavailable, 0, nil),
            (.unknownReader, 0, nil), (.noService, 0, nil), (.unsupportedFeature, nil, .unsupported),
            (.invalidValue, nil, .frameTooLong),
        ]
        for (code, count, expected) in rows {
            let service = Cards.card()
            service.change { $0.connectFailure = code }
            #expect(await Cards.poll(PCSCReader(.first, layer: service)) == (count, expected), "\(code)")
        }
        // The tag fails while it is identified.
        let later: [(SmartCardError.Code, Int?, LinkError.Code?)] = [
            (.notTransacted, nil, .transmission), (.removedCard, nil, .transmission), (.sharingViolation, nil, .inUse),
            (.unsupportedFeature, nil, .unsupported), (.readerUnavailable, 0, nil),
        ]
        for (code, count, expected) in later {
            let service = Cards.service(Cards.type2Answer) { _ throws(SmartCardError) in
                throw SmartCardError(code, "")
            }
            #expect(await Cards.poll(PCSCReader(.first, layer: service)) == (count, expected), "\(code)")
        }
    }

    @Test func `tag that leaves while its frame route is looked for: the next tag has a route`() async throws {
        let table = [
            "ffca000000": "e004015000112233 9000", "ffc2000002810000": "c003009000 9000",
            "ffc20002048f02020300": "c003009000 9000", "ff00000002d402": "d50332010607 9000",
        ]
        for (answer, prefix) in [(Cards.vicinityAnswer, "ffc2"), (Cards.type1Answer, "ff00000002d402")] {
            // Gone from the moment at which the way is asked for.
            let hasLeft = Locked<Bool?>(nil)
            let service = Cards.service(answer) { command throws(SmartCardError) in
                if command.hex.hasPrefix(prefix) { hasLeft.withLock { $0 = $0 ?? true } }
                if hasLeft.withLock({ $0 }) == true { throw SmartCardError(.removedCard, "") }
                return [UInt8](hex: table[command.hex] ?? "6a81")
            }
            let reader = PCSCReader(.first, layer: service)
            #expect(await Cards.poll(reader) == (nil, .transmission))
            hasLeft.withLock { $0 = false }
            #expect(try await Cards.frames(reader).countsAir)
        }
    }

    @Test func `reader's features: asked for once for each technology, and again after replugging`() async throws {
        let identifier = Cards.uid.hex + "9000"
        let service = Cards.service(Cards.type2Answer, table: ["ffca000000": identifier])
        let reader = PCSCReader(.first, layer: service)
        func asked() async throws -> [String] {
            let before = service.commands.count
            _ = try await reader.discover(Cards.everyTechnology, systemCodes: [])
            return Array(service.commands[before...])
        }
        func asksChip(_ commands: [String]) -> Bool { commands.contains("ff00000002d402") }
        func asksSession(_ commands: [String]) -> Bool { commands.contains { $0.hasPrefix("ffc2") } }
        let first = try await asked()
        #expect(asksChip(first) && asksSession(first))
        #expect(try await asked() == ["ffca000000"])
        service.change { $0.readers[0].card?.answerToReset = Cards.felicaAnswer }
        let felica = try await asked()
        #expect(!asksChip(felica) && asksSession(felica))
        let present = service.look { $0.readers[0] }
        service.change { $0.readers = [] }
        #expect(try await asked() == [])
        service.change { $0.readers = [present] }
        #expect(asksChip(try await asked()))
    }

    @Test func `technologies: a PN53x, by the reader's name or answer, has no ISO/IEC 15693`() async throws {
        let without = Cards.everyTechnology.subtracting([.nfcV])
        for (name, wanted) in [
            ("ACS ACR122U PICC Interface 00 00", without), ("SCM Micro SCL3711-NFC&RW 00 00", without),
            ("ACS ACR1552 1S CL Reader PICC 0 00 00", Cards.everyTechnology),
        ] { #expect(PCSCReader(.named(name), layer: ScriptedService()).technologies == wanted, "\(name)") }
        let reader = PCSCReader(.first, layer: Cards.chip())
        _ = try await Cards.tag(reader)
        #expect(reader.technologies == without)
    }

    // MARK: Links

    @Test func `Type 2 tag by storage commands: NDEF is written and read without a reset; GET_VERSION is unsupported`()
        async throws
    {
        let bytes = [UInt8](hex: "04a1b29fc3d4e5807248 0000 e1101200 0300fe") + [UInt8](repeating: 0, count: 161)
        let memory = Locked(bytes)
        let service = Cards.service(Cards.type2Answer) { command in
            let start = command.count > 4 ? Int(command[3]) * 4 : 0
            switch command[1] {
            case 0xCA: return Cards.uid + [0x90, 0x00]
            case 0xB0:
                return memory.withLock { bytes in
                    guard start < bytes.count else { return [0x63, 0x00] }
                    return (0..<Int(command[4])).map { bytes[(start + $0) % bytes.count] } + [0x90, 0x00]
                }
            case 0xD6:
                memory.withLock { $0.replaceSubrange(start..<start + 4, with: command[5..<9]) }
                return [0x90, 0x00]
            default: return [0x6A, 0x81]
            }
        }
        let reader = PCSCReader(.first, layer: service)
        let tag = try await Cards.tag(reader)
        guard case .nfcA(let target) = try TagTarget(tag.identity), case .frames(let link) = tag.port else { return }
        let message = [UInt8](hex: "D101055402656E4869")
        try await Type2Tag(target: target, link: link).writeNDEF(message)
        #expect(memory.withLock { Array($0[16..<28]).hex } == "0309d101055402656e4869fe")
        let again = Type2Tag(target: target, link: link)
        #expect(try await again.readNDEF() == message)
        // GET_VERSION can't be sent, so the product is not known.
        #expect(try await again.identifyProduct() == nil)
        #expect(service.look(\.resets) == 0 && !link.countsAir && !reader.reportsActivationData)
        await #expect(throws: LinkError(.unsupported, "")) {
            _ = try await link.transceive(Frame([0x60]), timeout: .milliseconds(5))
        }
    }

    @Test func `frame statistics: each link counts its own exchanges, also one whose answer has a wrong checksum`()
        async throws
    {
        let service = Cards.chip([
            "ff00000004d4423000": "d54300 0448656c6c6f a3bf 9000", "ff00000008d442a20401020304": "d543000a9000",
        ])
        let reader = PCSCReader(.first, layer: service)
        let link = try await Cards.frames(reader)
        let (write, read) = (Frame([0xA2, 4, 1, 2, 3, 4]), Frame([0x30, 0]))
        let answer = try await link.transceive(write, timeout: .milliseconds(10))
        #expect(answer.nibble == 0x0A)
        // A wrong checksum is an exchange too.
        await #expect(throws: LinkError(.transmission, "")) {
            _ = try await link.transceive(read, timeout: .milliseconds(5))
        }
        var wanted = LinkStatistics.zero
        wanted.count(request: write, response: answer, timing: FrameTiming(.nfcA), timeout: .zero)
        wanted.count(request: read, response: nil, timing: FrameTiming(.nfcA), timeout: .zero)
        #expect(link.countsAir && link.statistics == wanted)
        let second = try await Cards.frames(reader)
        await #expect(throws: LinkError(.tagRemoved, "")) {
            _ = try await link.transceive(read, timeout: .milliseconds(5))
        }
        #expect(second.statistics == .zero && link.statistics == wanted)
    }

    @Test func `reactivation: resets the tag and checks its UID; another tag is tagRemoved`() async throws {
        let service = Cards.chip()
        let reader = PCSCReader(.first, layer: service)
        let tag = try await Cards.tag(reader)
        guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "no frames") }
        let before = service.commands.count
        try await link.reactivate()
        #expect(service.look(\.resets) == 1)
        // The chip checks checksums while its reader resets the tag.
        let begun = ["ff00000005d408630380", "ffca000000", "ff00000005d408630300"]
        #expect(Array(service.commands[before...]) == begun)
        service.change { $0.readers[0].card?.respond = { _ in [0x04, 9, 9, 9, 9, 9, 9, 0x90, 0x00] } }
        await #expect(throws: LinkError(.tagRemoved, "")) { try await link.reactivate() }
        // Nothing goes to the other tag, which keeps its power.
        let commands = service.commands.count
        await #expect(throws: LinkError(.tagRemoved, "")) {
            _ = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
        }
        await #expect(throws: LinkError(.tagRemoved, "")) { try await link.reactivate() }
        await #expect(throws: LinkError(.tagRemoved, "")) { try await reader.select(tag) }
        #expect(service.commands.count == commands && service.look(\.resets) == 2)
        #expect(service.look(\.open).isEmpty && service.look(\.dispositions) == [.leave])
    }

    @Test func `transparent session for a tag: ended before a reset and when the reader is released`() async throws {
        for instruction in ["c2", "50"] {
            let (head, done) = ("ff" + instruction, "c003009000 9000")
            let (open, change, end) = (head + "000002810000", head + "0002048f02020300", head + "000002820000")
            let get = "ffca000000"
            let service = Cards.service(
                Cards.vicinityAnswer,
                table: [get: "33221100500104e0 9000", open: done, change: done, end: done]
            )
            let reader = PCSCReader(.first, layer: service)
            func sent(_ work: () async throws -> Void) async rethrows -> [String] {
                let before = service.commands.count
                try await work()
                return Array(service.commands[before...])
            }
            let link = try await Cards.frames(reader)
            #expect(service.commands.suffix(2) == [open, change])
            #expect(try await sent { try await link.reactivate() } == [end, get, open, change])
            #expect(service.look(\.dispositions).isEmpty)
            #expect(try await sent { try await link.resetField() } == [end, get, open, change])
            #expect(service.look(\.dispositions) == [.unpower])
            #expect(try await sent { _ = try await Cards.tag(reader) } == [end, get, open, change])
            #expect(await sent { await reader.release() } == [end])
            #expect(await sent { await reader.release() } == [])
            #expect(service.look(\.dispositions).last == .unpower)
        }
    }

    @Test func `long APDUs: not sent to a reader that takes 256 bytes (PC/SC part 10, dwMaxAPDUDataSize)`() async throws
    {
        let long = [UInt8](repeating: 0, count: 300)
        for (properties, limits) in [
            ([10, 4, 0, 1, 0, 0], (261, 258)), ([10, 4, 0, 0, 1, 0], (65_544, 65_538)), ([], (65_544, 65_538)),
        ] as [([UInt8], (Int, Int))] {
            let service = Cards.card()
            service.change { $0.controls = [0x4200_0D48: [0x12, 4, 0x42, 0, 0, 9], 0x4200_0009: properties] }
            let link = try await Cards.commands(PCSCReader(.first, layer: service))
            #expect((link.maximumCommandLength, link.maximumResponseLength) == limits)
            #expect(try await link.transmit([UInt8](repeating: 0, count: 261)) == [0x90, 0x00])
            let isSent = try? await link.transmit(long) == [0x90, 0x00]
            #expect(isSent == (limits.0 == 261 ? nil : true))
        }
    }
}
