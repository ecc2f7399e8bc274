// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import TagLink
import Testing

@testable import PN532Driver

/// Checks what goes over the serial line for an exchange with a tag, and what is made of the chip's answer.
@Suite(.timeLimit(.minutes(5)))
struct ExactExchangeTests {
    private static let tagA: [UInt8] = [1, 1, 0, 0x44, 0, 7, 4, 1, 2, 3, 4, 5, 6]
    private static let type1: [UInt8] = [1, 1, 0x0C, 0x00, 1, 2, 3, 4]

    /// A reader that has found the tag of a list, and its chip.
    private static func withTag(
        _ list: [UInt8],
        modulation: UInt8 = 0,
        technology: Technology = .nfcA,
        _ responder: @escaping ScriptedChip.PartialResponder,
        _ body: (ScriptedChip, PN532Reader, any SelfActivatingLink) async throws -> Void
    ) async throws {
        let chip = try ScriptedChip { code, data in
            code == 0x4A && data[1] == modulation ? .answer(list) : responder(code, data)
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let tag = try #require(try await reader.discover([technology], systemCodes: [0x12FC]).first)
        try await body(chip, reader, try tag.link)
    }

    @Test("A tag's answer is four bits, or bytes with a checksum that is right")
    func answersOfNFCA() async throws {
        let good: (([UInt8]) -> [UInt8]) = { $0 + CyclicRedundancyCheck.a($0).littleEndianBytes }
        let answers: [([UInt8], Frame?)] = [
            ([0xFA], Frame(bits: [0x0A], validBitsInLastByte: 4)), (good([7]), Frame([7])),
            (good([1, 2, 3]), Frame([1, 2, 3])), (good([]), nil), ([1, 2], nil), ([1, 2, 3, 4], nil), ([], nil),
        ]
        for (answer, expected) in answers {
            try await Self.withTag(Self.tagA, { code, _ in code == 0x42 ? .answer([0] + answer) : nil }) { _, _, link in
                do throws(LinkError) {
                    let frame = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
                    #expect(frame == expected)
                } catch {
                    #expect(expected == nil && error.code == .transmission, "\(answer)")
                }
                #expect(link.statistics.exchanges == 1)
            }
        }
    }

    @Test("A frame of 256 bytes with its checksum is the longest")
    func longest() async throws {
        try await Self.withTag(Self.tagA, { code, _ in code == 0x42 ? .answer([0, 0x0A]) : nil }) { chip, _, link in
            #expect(link.maximumFrameLength == 256)
            let frame = Frame([UInt8](repeating: 0x11, count: 254))
            let answer = try await link.transceive(frame, timeout: .milliseconds(5))
            #expect(answer.nibble == 0x0A)
            #expect(chip.log().last == "42 " + frame.bytes.hexText())
        }
    }

    @Test("Of an exchange an error is counted as it was on the air, and one before the air is not")
    func counted() async throws {
        for (status, exchanges, code): (UInt8, Int, LinkError.Code) in [
            (0x01, 1, .timeout), (0x02, 1, .transmission), (0x06, 1, .collision), (0x27, 0, .tagRemoved),
            (0x10, 0, .unsupported), (0x0D, 0, .readerUnavailable),
        ] {
            try await Self.withTag(Self.tagA, { code, _ in code == 0x42 ? .answer([status]) : nil }) {
                _,
                reader,
                link in
                await #expect(throws: LinkError(code, "")) {
                    try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
                }
                #expect(reader.statistics.exchanges == exchanges && link.statistics.exchanges == exchanges)
                let request = FrameTiming(.nfcA).request(Frame([0x30, 0]))
                let waited = exchanges == 0 ? .zero : code == .timeout ? request + .milliseconds(5) : request
                #expect(link.statistics.airtime == waited)
            }
        }
    }

    @Test("A time-out is set anew only when it would be too short, or more than 20 ms or eight times too long")
    func timeouts() async throws {
        try await Self.withTag(Self.tagA, { code, _ in code == 0x42 ? .answer([0, 0x0A]) : nil }) { chip, _, link in
            // Microseconds, and the number of the time-out that is set, if any (PN532 user manual, 7.3.1).
            let steps: [(Int64, UInt8?)] = [
                (800, 4), (100, nil), (1600, 5), (100, 1), (6400, 7), (12800, 8), (25600, 9), (12800, nil), (6400, nil),
                (3200, 6), (3_276_800, 16), (3_276_801, 0), (5_000_000, nil), (100, 1), (5_000_000, 0),
            ]
            for (microseconds, index) in steps {
                let before = chip.received.count
                _ = try await link.transceive(Frame([0x60]), timeout: .microseconds(microseconds))
                let set = chip.log(from: before).filter { $0.hasPrefix("32 ") }
                #expect(set == (index.map { ["32 02000b" + [$0].hexText()] } ?? []), "\(microseconds)")
            }
        }
    }

    @Test("Frames of NFC-B and FeliCa go as they are, since the chip has their checksums")
    func otherTechnologies() async throws {
        let felica: [UInt8] = [1, 1, 18, 1] + [UInt8](1...16)
        try await Self.withTag(
            felica,
            modulation: 1,
            technology: .nfcF,
            { code, _ in code == 0x42 ? .answer([0, 1, 2]) : nil }
        ) { chip, _, link in
            let before = chip.received.count
            #expect(link.technology == .nfcF)
            let answer = try await link.transceive(Frame([4, 0, 7, 7]), timeout: .milliseconds(5))
            #expect(answer == Frame([1, 2]))
            #expect(chip.log(from: before) == ["32 02000b07", "42 04000707"])
        }
    }

    @Test("A tag of a reader that was let go of is not this reader's next tag")
    func generations() async throws {
        try await Self.withTag(Self.tagA, { code, _ in code == 0x42 ? .answer([0, 0x0A]) : nil }) {
            chip,
            reader,
            link in
            await reader.release()
            #expect(try await reader.discover([.nfcA], systemCodes: []).count == 1)
            await #expect(throws: LinkError(.tagRemoved, "")) { try await link.reactivate() }
            await #expect(throws: LinkError(.tagRemoved, "")) {
                try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
            }
            await reader.release()
            await reader.release()
            #expect(chip.log().count { $0 == "32 0100" } == 4)
            let other = try PN532Reader(chip.path, limits: .patient)
            let tag = try #require(try await other.discover([.nfcA], systemCodes: []).first)
            _ = try await other.discover([.nfcA], systemCodes: [])
            await #expect(throws: LinkError(.tagRemoved, "")) { try await other.select(tag) }
        }
    }

    @Test("A look for tags that fails leaves none of those that were found before")
    func failedLook() async throws {
        let looks = Locked(0)
        let chip = try ScriptedChip { code, _ in
            guard code == 0x4A else { return code == 0x42 ? .answer([0, 0x0A]) : nil }
            let look = looks.withLock {
                $0 += 1
                return $0
            }
            return .answer(look == 1 ? Self.tagA : [3])
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let link = try #require(try await reader.discover([.nfcA], systemCodes: []).first).link
        _ = try await link.transceive(Frame([0x60]), timeout: .milliseconds(5))
        await #expect(throws: LinkError(.transmission, "")) { try await reader.discover([.nfcA], systemCodes: []) }
        await #expect(throws: LinkError(.tagRemoved, "")) {
            try await link.transceive(Frame([0x60]), timeout: .milliseconds(5))
        }
    }

    // MARK: Type 1 tags through the registers

    /// Bytes with a parity bit after each, as in the contactless unit's buffer.
    private static func withParity(_ bytes: [UInt8]) -> [UInt8] {
        let bits = bytes.flatMap { byte in
            let data = (0..<8).map { byte >> UInt8($0) & 1 }
            return data + [1 ^ data.reduce(0, ^)]
        }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | $1.element << UInt8($1.offset) }
        }
    }

    @Test("A parity bit behind each byte is left out", arguments: [0, 1, 2, 7, 8, 9, 11, 56])
    func parity(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 0x81) }
        #expect(PN532Chip.withoutParity(Self.withParity(bytes)) == bytes)
    }

    private static let readBlock: [UInt8] = [0x02, 0x05, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]
    private static let block: [UInt8] = [0x05, 11, 12, 13, 14, 15, 16, 17, 18]

    /// A chip whose firmware has another answer to a block command, and whose buffer has bytes for the host.
    private static func unit(
        _ refusal: ScriptedChip.Reply,
        level: UInt8? = nil,
        _ buffer: [UInt8]
    ) -> ScriptedChip.PartialResponder {
        { code, data in
            switch (code, data.first) {
            case (0x40, _): refusal
            case (0x06, _) where data == [0x63, 0x3A]: .answer([level ?? UInt8(buffer.count)])
            case (0x06, _) where data.starts(with: [0x63, 0x39]): .answer(Array(buffer.prefix(data.count / 2)))
            default: nil
            }
        }
    }

    private static func checked(_ bytes: [UInt8]) -> [UInt8] {
        withParity(bytes + CyclicRedundancyCheck.b(bytes).littleEndianBytes)
    }

    @Test("A block of a Type 1 tag is read through the registers: the first byte in seven bits, each by itself")
    func registers() async throws {
        let responder = Self.unit(.syntaxError, level: 0x80 | 13, Self.checked(Self.block))
        try await Self.withTag(Self.type1, modulation: 4, responder) { chip, _, link in
            let command = Frame(Self.readBlock, checksum: .crcB)
            let bytes = Self.readBlock + CyclicRedundancyCheck.b(Self.readBlock).littleEndianBytes
            let sent = "08 633902" + "633d07" + "633104" + "633d00" + "630d30"
            let each = bytes.dropFirst().map { "6339" + [$0].hexText() + "633104" + "633107" }.joined()
            let unit = [
                sent + each + "633108", "08 630d20", "06 633a",
                "06 " + [String](repeating: "6339", count: 13).joined(),
            ]
            var before = chip.received.count
            #expect(try await link.transceive(command, timeout: .milliseconds(5)) == Frame(Self.block, checksum: .crcB))
            #expect(chip.log(from: before) == ["32 02000b07", "40 01" + Self.readBlock.hexText()] + unit)
            // What the firmware refused once it is not asked for again.
            before = chip.received.count
            _ = try await link.transceive(command, timeout: .milliseconds(5))
            #expect(chip.log(from: before) == unit)
        }
    }

    @Test("A tag has its whole time for an answer through the registers")
    func registerTime() async throws {
        let responder = Self.unit(.syntaxError, Self.checked(Self.block))
        try await Self.withTag(Self.type1, modulation: 4, responder) { _, _, link in
            let start = ContinuousClock.now
            _ = try await link.transceive(Frame(Self.readBlock, checksum: .crcB), timeout: .milliseconds(200))
            #expect(ContinuousClock.now - start >= .milliseconds(200))
        }
    }

    @Test("What comes from the registers is silence, or whole bytes with a checksum that is right")
    func registerAnswers() async throws {
        let wrong = Self.withParity(Self.block + [0, 0])
        for (buffer, code): ([UInt8], LinkError.Code?) in [
            ([], .timeout), (wrong, .transmission), (Self.checked([]), .transmission), ([1], .transmission),
            (Self.checked([7]), nil), (Self.checked(Self.block), nil),
        ] {
            // The firmware lost the tag: the registers are tried too, and then the firmware again.
            try await Self.withTag(Self.type1, modulation: 4, Self.unit(.answer([0x01]), buffer)) { chip, _, link in
                for _ in 0..<2 {
                    do throws(LinkError) {
                        _ = try await link.transceive(Frame(Self.readBlock, checksum: .crcB), timeout: .milliseconds(1))
                        #expect(code == nil)
                    } catch {
                        #expect(error.code == code, "\(buffer)")
                    }
                }
                #expect(chip.commands.count { $0 == 0x40 } == (code == nil ? 1 : 2))
            }
        }
    }

    @Test("A chip that is in trouble is not asked through its registers, and other commands go through the firmware")
    func firmware() async throws {
        try await Self.withTag(Self.type1, modulation: 4, Self.unit(.answer([0x0D]), [])) { chip, _, link in
            await #expect(throws: LinkError(.readerUnavailable, "")) {
                try await link.transceive(Frame(Self.readBlock, checksum: .crcB), timeout: .milliseconds(1))
            }
            #expect(!chip.commands.contains(0x08))
        }
        try await Self.withTag(Self.type1, modulation: 4, Self.unit(.answer([0, 8, 9]), [])) { chip, _, link in
            let before = chip.received.count
            let answer = try await link.transceive(
                Frame([0x01, 8, 0, 1, 2, 3, 4], checksum: .crcB),
                timeout: .milliseconds(5)
            )
            #expect(answer == Frame([8, 9], checksum: .crcB))
            #expect(chip.log(from: before) == ["32 02000b07", "40 010108000" + "1020304"])
        }
        try await Self.withTag(Self.type1, modulation: 4, Self.unit(.syntaxError, [])) { chip, _, link in
            await #expect(throws: LinkError(.unsupported, "")) {
                try await link.transceive(Frame([0x01, 8, 0, 1, 2, 3, 4], checksum: .crcB), timeout: .milliseconds(5))
            }
            #expect(!chip.commands.contains(0x08))
        }
    }

    @Test("A segment is read block by block, and a command that is too long for the registers is refused")
    func segments() async throws {
        let responder = Self.unit(.syntaxError, Self.checked(Self.block))
        try await Self.withTag(Self.type1, modulation: 4, responder) { chip, _, link in
            let command: [UInt8] = [0x10, 0x2F, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]
            let answer = try await link.transceive(Frame(command, checksum: .crcB), timeout: .milliseconds(1))
            #expect(answer.bytes == [0x2F] + [[UInt8]](repeating: Array(Self.block.dropFirst()), count: 16).joined())
            let blocks = chip.log().filter { $0.hasPrefix("08 633902") }.map { $0.dropFirst(33).prefix(6) }
            #expect(blocks == (0..<16).map { "6339" + [UInt8(0x20 | $0)].hexText() }[...].map { $0[...] })
            await #expect(throws: LinkError(.unsupported, "")) {
                try await link.transceive(Frame([0x10], checksum: .crcB), timeout: .milliseconds(1))
            }
            // 263 bytes of data are 87 registers: a command of 26 bytes and its checksum.
            let longest = [0x54] + [UInt8](repeating: 0, count: 25)
            _ = try await link.transceive(Frame(longest, checksum: .crcB), timeout: .milliseconds(1))
            let error = await #expect(throws: LinkError.self) {
                try await link.transceive(Frame(longest + [0], checksum: .crcB), timeout: .milliseconds(1))
            }
            #expect(error?.code == .frameTooLong && error?.reason == "The command is longer than a Type 1 tag's.")
        }
        let short = Self.unit(.syntaxError, Self.checked([5, 1]))
        try await Self.withTag(Self.type1, modulation: 4, short) { _, _, link in
            await #expect(throws: LinkError(.transmission, "")) {
                try await link.transceive(Frame([0x10, 0x20], checksum: .crcB), timeout: .milliseconds(1))
            }
        }
    }
}
