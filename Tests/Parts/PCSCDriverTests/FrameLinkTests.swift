// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import TagProtocols
import Testing

/// Checks the ways for frames to a tag.
struct FrameLinkTests {
    private static func link(
        _ service: ScriptedService,
        systemCodes: [UInt16] = []
    ) async throws -> (tag: DiscoveredTag, link: any SelfActivatingLink, reader: PCSCReader) {
        let reader = PCSCReader(.first, layer: service)
        let tags = try await reader.discover(Set(Technology.allCases), systemCodes: systemCodes)
        let tag = try #require(tags.first)
        guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "no frames") }
        return (tag, link, reader)
    }

    private static func code(_ work: () async throws(LinkError) -> Frame) async -> LinkError.Code? {
        do throws(LinkError) {
            _ = try await work()
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: Commands for storage cards

    @Test("A Type 2 tag is read and written by a reader's commands for storage cards")
    func type2Storage() async throws {
        let (service, memory) = SampleCards.storageReader()
        let (tag, link, _) = try await Self.link(service)
        guard case .nfcA(let target) = try TagTarget(tag.identity) else { throw LinkError(.unsupported, "") }
        let message = [UInt8](hex: "D101055402656E4869")
        let type2 = Type2Tag(target: target, link: link)
        try await type2.writeNDEF(message)
        #expect(memory.withLock { Array($0[16..<28]).hex } == "0309d101055402656e4869fe")
        let again = Type2Tag(target: target, link: link)
        #expect(try await again.readNDEF() == message)
        // What such a reader can't do has cost no reset.
        #expect(service.look(\.resets) == 0)
    }

    @Test("A reader that has commands for pages alone shows nothing of the air, and no product")
    func type2StorageCounts() async throws {
        let (service, _) = SampleCards.storageReader()
        let (tag, link, reader) = try await Self.link(service)
        guard case .nfcA(let target) = try TagTarget(tag.identity) else { throw LinkError(.unsupported, "") }
        #expect(!link.countsAir)
        #expect(!reader.tellsActivation)
        // Page 42 can be read, as on an Ultralight C; that GET_VERSION can't be sent says nothing of the tag.
        #expect(try await Type2Tag(target: target, link: link).identifyProduct() == nil)
        #expect(try await Type2Tag(target: target, link: link).versionBytes() == nil)
    }

    @Test("What a reader has no command for is unsupported, and is not sent")
    func type2Unsupported() async throws {
        let (service, _) = SampleCards.storageReader()
        let (_, link, _) = try await Self.link(service)
        let before = service.commands.count
        for frame in ["60", "3a0004", "1b00000000", "c2ff", "5000", "39ff"] {
            let sent = Frame([UInt8](hex: frame))
            #expect(
                await Self.code { () throws(LinkError) in
                    try await link.transceive(sent, timeout: .milliseconds(5))
                } == .unsupported
            )
        }
        #expect(service.commands.count == before)
        #expect(try await link.transceive(Frame([0x30, 0xF0]), timeout: .milliseconds(5)).nibble == 0)
    }

    @Test("Blocks of a Type 5 tag are read and written one by one, and errors are the tag's")
    func type5Storage() async throws {
        let service = SampleCards.service(
            SampleCards.vicinityAnswer,
            table: [
                "ffca000000": "e004015000112233 9000", "ffb0000004": "e1400d01 9000", "ffb0000104": "0300fe00 9000",
                "ffd600010401020304": "9000", "ffd600020401020304": "6982", "ffb000ff04": "6a82",
            ]
        )
        let (_, link, _) = try await Self.link(service)
        let wait = Airtime.milliseconds(20)
        func send(_ hex: String) async throws(LinkError) -> String {
            try await link.transceive(Frame([UInt8](hex: hex)), timeout: wait).bytes.hex
        }
        #expect(try await send("022000") == "00e1400d01")
        #expect(try await send("02230001") == "00e1400d010300fe00")
        #expect(try await send("22203322110050 0104e0 01") == "000300fe00")
        #expect(try await send("02210101020304") == "00")
        #expect(try await send("02210201020304") == "0112")
        #expect(try await send("0220ff") == "0110")
        // Another tag's UID, inventory, the system information.
        for (request, wanted) in [
            ("22200000000000000000 00", LinkError.Code.timeout), ("260100", .unsupported), ("022b", .unsupported),
            ("0220", .unsupported), ("42", .unsupported),
        ] {
            let frame = Frame([UInt8](hex: request))
            #expect(
                await Self.code { () throws(LinkError) in try await link.transceive(frame, timeout: wait) } == wanted
            )
        }
    }

    // MARK: A PN53x inside

    private static func chip(_ answers: [String: String]) -> ScriptedService {
        var table = [
            "ffca000000": SampleCards.uid.hex + "9000", "ff00000002d402": "d50332010607 9000",
            "ff00000005d408630300": "d509 9000", "ff00000005d408630380": "d509 9000",
        ]
        table.merge(answers) { _, new in new }
        return SampleCards.service(SampleCards.type2Answer, table: table)
    }

    @Test("ACK and NAK come through the chip, and checksums are checked")
    func chipAnswers() async throws {
        let service = Self.chip([
            "ff00000004d4423000": "d54300 0448656c6c6f a3bf 9000", "ff00000008d442a20401020304": "d543000a9000",
            "ff00000008d442a20501020304": "d543000090 00",
        ])
        let (_, link, _) = try await Self.link(service)
        let write = try await link.transceive(Frame([0xA2, 4, 1, 2, 3, 4]), timeout: .milliseconds(10))
        #expect(write.nibble == 0x0A)
        let refused = try await link.transceive(Frame([0xA2, 5, 1, 2, 3, 4]), timeout: .milliseconds(10))
        #expect(refused.nibble == 0x00)
        #expect(
            await Self.code { () throws(LinkError) in
                try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
            } == .transmission
        )
        // Counts the frames on the air, not the reader's commands: two WRITEs with an answer of four bits, and a READ.
        #expect(link.countsAir)
        #expect(link.statistics.exchanges == 3)
        #expect(link.statistics.bytesOnAir == 2 * (8 + 1) + 4)
        var airtime = LinkStatistics.zero
        let write4 = Frame([0xA2, 4, 1, 2, 3, 4])
        let answer = Frame(bits: [0x0A], validBitsInLastByte: 4)
        for _ in 0..<2 {
            airtime.count(request: write4, response: answer, timing: FrameTiming(.nfcA), timeout: .zero)
        }
        airtime.count(request: Frame([0x30, 0]), response: nil, timing: FrameTiming(.nfcA), timeout: .zero)
        #expect(link.statistics == airtime)
    }

    @Test(
        "The chip's errors and the reader's are told apart",
        arguments: [
            ("d543019000", LinkError.Code.timeout), ("d543029000", .transmission), ("d543099000", .frameTooLong),
            ("d543069000", .collision), ("d5432b9000", .tagRemoved), ("6300", .timeout), ("6a81", .unsupported),
            ("9000", .transmission), ("d5419000", .transmission), ("d543009000", .timeout), ("", .tagRemoved),
            ("90", .tagRemoved),
        ]
    )
    func chipErrors(answer: String, wanted: LinkError.Code) async throws {
        let (_, link, _) = try await Self.link(Self.chip(["ff00000004d4423000": answer]))
        #expect(
            await Self.code { () throws(LinkError) in
                try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
            } == wanted
        )
    }

    @Test("A tag is reset and known again by its UID; another one in its place is not it")
    func reactivation() async throws {
        let service = Self.chip([:])
        let (tag, link, reader) = try await Self.link(service)
        let before = service.commands.count
        try await link.reactivate()
        #expect(service.look(\.resets) == 1)
        // The chip checks checksums again while its reader resets the tag.
        let begun = ["ff00000005d408630380", "ffca000000", "ff00000005d408630300"]
        #expect(Array(service.commands[before...]) == begun)
        // A tag that does not tell its UID this time may tell it the next time.
        let present = service.look { $0.readers[0] }
        service.change { $0.readers[0].card?.respond = { _ in [0x63, 0x00] } }
        await #expect(throws: LinkError(.tagRemoved, "")) { try await link.reactivate() }
        service.change { $0.readers[0] = present }
        try await link.reactivate()
        service.change { state in
            state.readers[0].card?.respond = { _ in [0x04, 9, 9, 9, 9, 9, 9, 0x90, 0x00] }
        }
        await #expect(throws: LinkError(.tagRemoved, "")) { try await link.reactivate() }
        // Nothing that is meant for the tag goes to the other one, which keeps its power.
        let commands = service.commands.count
        for _ in 0..<2 {
            await #expect(throws: LinkError(.tagRemoved, "")) {
                _ = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
            }
            await #expect(throws: LinkError(.tagRemoved, "")) { try await link.reactivate() }
        }
        await #expect(throws: LinkError(.tagRemoved, "")) { try await reader.select(tag) }
        #expect(service.commands.count == commands && service.look(\.resets) == 4)
        #expect(service.look(\.open).isEmpty && service.look(\.dispositions) == [.leave])
    }

    @Test("A FeliCa tag is polled for the systems that are wanted, in their order")
    func felica() async throws {
        let idm = "02fe001122334455"
        let service = SampleCards.service(
            SampleCards.felicaAnswer,
            table: [
                "ffca000000": idm + "9000", "ff00000002d402": "d50332010607 9000",
                "ff00000008d4420600fe000100": "d543019000",
                "ff00000008d442060012fc0100": "d54300 1401" + idm + "00f1000000014300 12fc 9000",
            ]
        )
        let (tag, _, _) = try await Self.link(service, systemCodes: [0xFE00, 0x12FC])
        #expect(
            tag.identity
                == .nfcF(idm: [UInt8](hex: idm), pmm: [UInt8](hex: "00f1000000014300"), systemCode: 0x12FC)
        )
        let other = PCSCReader(.first, layer: service)
        #expect(try await other.discover([.nfcF], systemCodes: [0xFE00]).isEmpty)
        #expect(try await other.discover([.nfcA], systemCodes: [0x12FC]).isEmpty)
    }

    @Test("A FeliCa tag that is polled with a pattern tells its own system", arguments: [UInt16(0xFFFF), 0x88FF])
    func felicaPattern(code: UInt16) async throws {
        let idm = "02fe001122334455"
        let asked = [UInt8(code >> 8), UInt8(code & 0xFF)].hex
        let service = SampleCards.service(
            SampleCards.felicaAnswer,
            table: [
                "ffca000000": idm + "9000", "ff00000002d402": "d50332010607 9000",
                "ff00000008d4420600" + asked + "0100": "d54300 1401" + idm + "00f1000000014300 88b4 9000",
            ]
        )
        let (tag, _, _) = try await Self.link(service, systemCodes: [code])
        let pmm = [UInt8](hex: "00f1000000014300")
        #expect(tag.identity == .nfcF(idm: [UInt8](hex: idm), pmm: pmm, systemCode: 0x88B4))
    }

    // MARK: Transparent sessions

    @Test("A transparent session is ended before the reader resets its tag, and begun again after that")
    func transparentReset() async throws {
        let answers = [
            "ffca000000": "33221100500104e0 9000", "ffc2000002810000": "c003009000 9000",
            "ffc20002048f02020300": "c003009000 8f0100 9000", "ffc2000002820000": "c003009000 9000",
        ]
        let (box, log) = (Locked<ScriptedService?>(nil), Locked<[String]>([]))
        let service = SampleCards.service(SampleCards.vicinityAnswer) { command in
            let resets = box.withLock { $0 }?.look(\.resets) ?? 0
            log.withLock { $0.append("\(resets) \(command.hex)") }
            return [UInt8](hex: answers[command.hex] ?? "6a81")
        }
        box.withLock { $0 = service }
        let (_, link, _) = try await Self.link(service)
        log.withLock { $0 = [] }
        try await link.reactivate()
        #expect(
            log.withLock { $0 } == [
                "0 ffc2000002820000", "1 ffca000000", "1 ffc2000002810000", "1 ffc20002048f02020300",
            ]
        )
        box.withLock { $0 = nil }
    }

    @Test("A transparent session carries frames with their time, and is ended", arguments: ["c2", "50"])
    func transparent(instruction: String) async throws {
        let head = "ff" + instruction
        let service = SampleCards.service(
            SampleCards.vicinityAnswer,
            table: [
                "ffca000000": "332211005001 04e0 9000".replacing(" ", with: ""),
                head + "000002810000": "c003009000 9000", head + "0002048f02020300": "c003009000 8f0100 9000",
                head + "000002820000": "c003009000 9000",
                head + "00010c5f4604906500009503022000" + "00":
                    "c003009000 920100 96020000 970500 11223344 9000",
                head + "00010c5f4604906500009503022001" + "00": "c003016401 9000",
                head + "00010c5f4604906500009503022002" + "00": "c003009000 96020100 970100 9000",
                head + "00010c5f4604906500009503022003" + "00": "c003009000 97ff00 9000",
            ]
        )
        let (tag, link, reader) = try await Self.link(service)
        #expect(tag.identity == .nfcV(uid: [UInt8](hex: "e004015000112233"), dsfid: 0))
        // 21 ms and the reader's 5: 26000 us, 6590 in hexadecimal, least byte first.
        func send(_ block: UInt8) async throws(LinkError) -> Frame {
            try await link.transceive(Frame([0x02, 0x20, block]), timeout: .milliseconds(21))
        }
        #expect(try await send(0).bytes.hex == "0011223344")
        for (block, wanted): (UInt8, LinkError.Code) in [(1, .timeout), (2, .transmission), (3, .transmission)] {
            #expect(await Self.code { () throws(LinkError) in try await send(block) } == wanted)
        }
        // What the reader was found to have is not looked for again.
        let before = service.commands.count
        #expect(try await reader.discover([.nfcV], systemCodes: []).count == 1)
        let begun = [head + "000002820000", "ffca000000", head + "000002810000", head + "0002048f02020300"]
        #expect(Array(service.commands[before...]) == begun)
        await reader.release()
        #expect(service.commands.last == head + "000002820000")
        #expect(service.look(\.dispositions) == [.reset, .unpower])
    }
}
