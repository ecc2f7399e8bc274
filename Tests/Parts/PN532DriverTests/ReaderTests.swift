// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

@testable import PN532Driver

/// Checks the driver against a model of the chip's firmware with virtual tags in its field.
@Suite(.timeLimit(.minutes(5)))
struct ReaderTests {
    /// A reader and what is in its field.
    private static func withReader(
        _ tags: [any VirtualTag],
        _ body: (PN532Reader, ScriptedChip, ModelChip) async throws -> Void
    ) async throws {
        let model = ModelChip(tags)
        let chip = try ScriptedChip { model.respond($0, $1) }
        defer { chip.end() }
        try await body(try PN532Reader(chip.path, limits: .patient), chip, model)
    }

    private static func link(_ tag: DiscoveredTag) throws -> any SelfActivatingLink {
        guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "no frames") }
        return link
    }

    private static func ntag(_ last: UInt8) -> VirtualType2Tag {
        VirtualType2Tag(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, last]))
    }

    @Test("What tags say of themselves is told as it is")
    func identities() async throws {
        let expected: [(any VirtualTag, DiscoveredTag.Identity)] = [
            (Self.ntag(6), .nfcA(atqa: 0x0044, sak: 0, uid: [4, 1, 2, 3, 4, 5, 6])),
            (
                VirtualType1Tag(Type1Contents(blank: .topaz96, uid: [1, 2, 3, 4, 5, 6, 7])),
                .nfcA(atqa: 0x0C00, sak: nil, uid: [1, 2, 3, 4])
            ),
            (Sample.type4B.make(), .nfcB(answer: [0x50, 1, 2, 3, 4, 0, 0, 0, 0, 0x00, 0x81, 0x71])),
            (
                VirtualType3Tag(FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, 6])),
                .nfcF(
                    idm: [2, 0xFE, 1, 2, 3, 4, 5, 6],
                    pmm: [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00],
                    systemCode: 0x12FC
                )
            ),
        ]
        for (tag, identity) in expected {
            try await Self.withReader([tag]) { reader, _, _ in
                let found = try await reader.discover([.nfcA, .nfcB, .nfcF, .nfcV], systemCodes: [0x12FC])
                #expect(found.map(\.identity) == [identity])
                let others = Set(Technology.allCases).subtracting([identity.technology])
                let without = try await reader.discover(others, systemCodes: [0x12FC])
                #expect(without.isEmpty)
            }
        }
    }

    @Test("A tag that was found just now is worked with at once")
    func selectCostsNothing() async throws {
        try await Self.withReader([Self.ntag(6)]) { reader, chip, _ in
            let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            let before = chip.commands.count
            try await reader.select(tag)
            #expect(chip.commands.count == before)
            try await reader.select(tag)
            #expect(chip.commands.count > before)
        }
    }

    @Test("A tag that was sent a command is not as it was found, so that selecting it wakes it")
    func selectAfterCommand() async throws {
        try await Self.withReader([Self.ntag(6)]) { reader, chip, _ in
            let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            _ = try await Self.link(tag).transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
            let before = chip.received.count
            try await reader.select(tag)
            #expect(chip.log(from: before).first == "4a 01008804010203040506")
        }
    }

    @Test("Four bits are an ACK or a NAK, and a tag that refused is woken")
    func fourBits() async throws {
        try await Self.withReader([Self.ntag(6)]) { reader, _, _ in
            let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            let link = try Self.link(tag)
            let written = try await link.transceive(Frame([0xA2, 5, 1, 2, 3, 4]), timeout: .milliseconds(20))
            #expect(written.nibble == 0xA)
            let refused = try await link.transceive(Frame([0x30, 0xF0]), timeout: .milliseconds(5))
            #expect(refused.nibble == 0)
            await #expect(throws: LinkError(.timeout, "")) {
                try await link.transceive(Frame([0x30, 5]), timeout: .milliseconds(5))
            }
            try await link.reactivate()
            let read = try await link.transceive(Frame([0x30, 5]), timeout: .milliseconds(5))
            #expect(read.bytes.prefix(4) == [1, 2, 3, 4])
        }
    }

    @Test("Of two tags each is worked with in turn; what was found before is gone")
    func twoTags() async throws {
        try await Self.withReader([Self.ntag(6), Self.ntag(7)]) { reader, _, _ in
            let tags = try await reader.discover([.nfcA], systemCodes: [])
            #expect(tags.count == 2)
            for tag in tags + tags.reversed() {
                try await reader.select(tag)
                guard case .nfcA(_, _, let uid) = tag.identity else { continue }
                let read = try await Self.link(tag).transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
                #expect(read.bytes[7] == uid[6])
            }
            let last = try Self.link(tags[1])
            await #expect(throws: LinkError(.tagRemoved, "")) {
                try await last.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
            }
            let again = try await reader.discover([.nfcA], systemCodes: [])
            #expect(again.count == 2)
            await #expect(throws: LinkError(.tagRemoved, "")) { try await reader.select(tags[0]) }
        }
    }

    @Test("A card in its transport protocol is woken without its field being turned off", arguments: [true, false])
    func cardIsWokenGently(isTypeA: Bool) async throws {
        let frontEnd: Type4FrontEnd =
            isTypeA ? .nfcA(uid: [8, 1, 2, 3], ats: [0x05, 0x78, 0x80, 0x70, 0x02]) : .nfcB(pupi: [1, 2, 3, 4])
        let card = VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: frontEnd)
        try await Self.withReader([card]) { reader, chip, _ in
            let tag = try #require(try await reader.discover([.nfcA, .nfcB], systemCodes: []).first)
            try await reader.select(tag)
            let link = try Self.link(tag)
            let target = try TagTarget(tag.identity)
            var opening = ISODEP.Opening.requestAnswerToSelect
            if case .nfcB(let target) = target { opening = .attribute(target) }
            let isoDEP = ISODEP(link: link, opening: opening)
            let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00]
            #expect(try await isoDEP.transmit(select) == [0x90, 0x00])
            let before = chip.received.count
            try await link.reactivate()
            isoDEP.wasActivated()
            #expect(try await isoDEP.transmit(select) == [0x90, 0x00])
            let fields = chip.received[before...].filter {
                if case .command(0x32, let data) = $0 { data.first == 0x01 } else { false }
            }
            #expect(fields.isEmpty)
        }
    }

    @Test("A tag that left is lost, whatever it is", arguments: Sample.all)
    func gone(sample: Sample) async throws {
        let tag = sample.make()
        try await Self.withReader([tag]) { reader, _, model in
            let found = try #require(
                try await reader.discover([.nfcA, .nfcB, .nfcF], systemCodes: [0x12FC]).first
            )
            model.field.remove(tag)
            await #expect(throws: LinkError(.tagRemoved, "")) { try await Self.link(found).reactivate() }
            model.field.bring(tag)
            try await reader.select(found)
        }
    }

    @Test("Firmware without commands to the blocks of Type 1 tags is gone round", arguments: [false, true])
    func topaz512(takesBlockCommands: Bool) async throws {
        let tag = VirtualType1Tag(Type1Contents(blank: .topaz512, uid: [1, 2, 3, 4, 5, 6, 0x25]))
        try await Self.withReader([tag]) { reader, chip, model in
            model.takesBlockCommands = takesBlockCommands
            let found = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            let type1 = Type1Tag(link: try Self.link(found))
            _ = try await type1.detectNDEF()
            let message: [UInt8] = [0xC1, 0x01, 0, 0, 1, 0, 0x54] + [UInt8](repeating: 0x33, count: 256)
            try await type1.writeNDEF(message)
            let again = Type1Tag(link: try Self.link(found))
            _ = try await again.detectNDEF()
            #expect(try await again.readNDEF() == message)
            // The contactless unit is controlled through its registers.
            #expect(chip.commands.contains(0x08) != takesBlockCommands)
        }
    }

    @Test("Frames are counted as the standard's airtime, silence as its time-out")
    func statistics() async throws {
        try await Self.withReader([Self.ntag(6)]) { reader, _, _ in
            let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            let link = try Self.link(tag)
            #expect(reader.statistics == .zero)
            let request = Frame([0x30, 0])
            let answer = try await link.transceive(request, timeout: .milliseconds(5))
            var expected = LinkStatistics.zero
            expected.count(request: request, response: answer, timing: FrameTiming(.nfcA), timeout: .zero)
            #expect(link.statistics == expected)
            #expect(reader.statistics == expected)
            _ = try? await link.transceive(Frame([0x77]), timeout: .milliseconds(5))
            _ = try? await link.transceive(Frame([0x77]), timeout: .milliseconds(5))
            #expect(link.statistics.exchanges == 3)
            #expect(link.statistics.airtime - expected.airtime > .milliseconds(5))
        }
    }

    @Test("What the chip can't send is refused before it is sent")
    func unsupported() async throws {
        try await Self.withReader([Self.ntag(6)]) { reader, chip, _ in
            let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            let link = try Self.link(tag)
            let before = chip.commands.count
            for frame in [
                Frame(bits: [0x26], validBitsInLastByte: 7), Frame([0x30, 0], checksum: .none), Frame([]),
                Frame([0x78], checksum: .crcB),
            ] {
                await #expect(throws: LinkError(.unsupported, "")) {
                    try await link.transceive(frame, timeout: .milliseconds(5))
                }
            }
            await #expect(throws: LinkError(.frameTooLong, "")) {
                try await link.transceive(Frame([UInt8](repeating: 0, count: 255)), timeout: .milliseconds(5))
            }
            #expect(chip.commands.count == before)
        }
    }

    @Test("The time-out is set when it changes, and left alone when it is near enough")
    func timeouts() async throws {
        try await Self.withReader([Self.ntag(6)]) { reader, chip, _ in
            let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            let link = try Self.link(tag)
            for milliseconds: Int64 in [5, 20, 5, 5, 500, 5] {
                _ = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(milliseconds))
            }
            let set = chip.received.compactMap { received -> UInt8? in
                if case .command(0x32, let data) = received, data.first == 0x02 { data.last } else { nil }
            }
            #expect(set == [7, 9, 14, 7])
        }
    }

    @Test("The line is let go of, its field off, and opened again")
    func release() async throws {
        try await Self.withReader([Self.ntag(6)]) { reader, chip, _ in
            #expect(reader.name == "PN532 (\(chip.path))")
            _ = try await reader.discover([.nfcA], systemCodes: [])
            #expect(reader.name == "PN532 v1.6 (\(chip.path))")
            await reader.release()
            #expect(chip.received.last == .command(0x32, [0x01, 0x00]))
            let again = try await reader.discover([.nfcA], systemCodes: [])
            #expect(again.count == 1)
        }
    }

    @Test("Another speed is agreed on and taken back")
    func speed() async throws {
        let model = ModelChip([Self.ntag(6)])
        let chip = try ScriptedChip { model.respond($0, $1) }
        defer { chip.end() }
        let reader = try PN532Reader("\(chip.path)@460800", limits: .patient)
        let tags = try await reader.discover([.nfcA], systemCodes: [])
        #expect(tags.count == 1)
        await reader.release()
        let speeds = chip.received.compactMap { received -> [UInt8]? in
            if case .command(0x10, let data) = received { data } else { nil }
        }
        #expect(speeds == [[6], [4]])
    }
}
