// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import TagLink
import Testing

@testable import PN532Driver  // the limits for tests are internal

/// The commands for an exchange with a tag, and what is made of the chip's answer.
@Suite(.timeLimit(.minutes(5))) struct ExchangeTests {
    private static let answering = "\(ChipScript.type2)\n42: 00 0a"

    @Test func `NFC-A answer: four bits, or bytes with the right checksum; anything else is transmission`() async throws
    {
        func checked(_ bytes: [UInt8]) -> String {
            (bytes + CyclicRedundancyCheck.a(bytes).littleEndianBytes).hexText()
        }
        let answers: [(String, Frame?)] = [
            ("fa", Frame(bits: [0x0A], validBitsInLastByte: 4)), (checked([7]), Frame([7])),
            (checked([1, 2, 3]), Frame([1, 2, 3])), (checked([]), nil), ("0102", nil), ("01020304", nil), ("", nil),
        ]
        for (answer, expected) in answers {
            try await withTag("\(ChipScript.type2)\n42: 00 \(answer)") { _, _, link in
                do throws(LinkError) {
                    #expect(try await link.send([0x30, 0]) == expected)
                } catch {
                    #expect(expected == nil && error.code == .transmission, "\(answer)")
                }
                #expect(link.statistics.exchanges == 1)
            }
        }
    }

    @Test func `MIFARE Classic command: executed by the chip, whose status is data, ACK, NAK or an error`() async throws
    {
        let answers: [(String, Result<Frame, LinkError>)] = [
            ("00", .success(Frame(bits: [0x0A], validBitsInLastByte: 4))), ("00 0102", .success(Frame([1, 2]))),
            ("13", .success(Frame(bits: [0x04], validBitsInLastByte: 4))), ("14", .failure(LinkError(.timeout, ""))),
        ]
        for (answer, expected) in answers {
            try await withTag("4a 0200: 01 01 0004 08 04 9c0c3701\n40: \(answer)") { chip, _, link in
                #expect(link.authenticatesClassic)
                let result: Result<Frame, LinkError>
                do throws(LinkError) { result = .success(try await link.send([0x30, 4])) } catch {
                    result = .failure(error)
                }
                #expect(result == expected && chip.log().last == "40 013004", "\(answer)")
            }
        }
    }

    @Test func `FeliCa frame: sent as it is, since the chip adds the checksum`() async throws {
        try await withTag("\(ChipScript.feliCa)\n42: 00 0102", .nfcF) { chip, _, link in
            #expect(link.technology == .nfcF)
            let log = try await chip.log { () async throws in
                #expect(try await link.send([4, 0, 7, 7]) == Frame([1, 2]))
            }
            #expect(log == ["32 02000b07", "42 04000707"])
        }
    }

    @Test func `frames that the chip can't send: refused before they are sent; 256 bytes are the longest`() async throws
    {
        try await withTag(Self.answering) { chip, _, link async throws in
            let frames: [(Frame, LinkError.Code)] = [
                (Frame(bits: [0x26], validBitsInLastByte: 7), .unsupported),
                (Frame([0x30, 0], checksum: .none), .unsupported),
                (Frame([]), .unsupported), (Frame([0x78], checksum: .crcB), .unsupported),
                (Frame([UInt8](repeating: 0, count: 255)), .frameTooLong),
            ]
            let log = await chip.log {
                for (frame, expected) in frames {
                    await #expect(throws: LinkError(expected, "")) {
                        try await link.transceive(frame, timeout: .milliseconds(5))
                    }
                }
            }
            #expect(log == [] && link.maximumFrameLength == 256)
            let longest = [UInt8](repeating: 0x11, count: 254)
            #expect(try await link.send(longest).nibble == 0x0A)
            #expect(chip.log().last == "42 " + longest.hexText())
        }
    }

    @Test func `statistics: an exchange that failed on the air counts, one that was not sent does not`() async throws {
        let request = FrameTiming(.nfcA).request(Frame([0x30, 0]))
        let rows: [(status: String, code: LinkError.Code, airtime: Airtime)] = [
            ("01", .timeout, request + .milliseconds(5)), ("02", .transmission, request), ("06", .collision, request),
            ("27", .tagRemoved, .zero), ("10", .unsupported, .zero), ("0d", .readerUnavailable, .zero),
        ]
        for row in rows {
            try await withTag("\(ChipScript.type2)\n42: \(row.status)") { _, reader, link in
                #expect(await code { try await link.send([0x30, 0]) } == row.code)
                let exchanges = row.airtime == .zero ? 0 : 1
                #expect(reader.statistics.exchanges == exchanges && link.statistics.exchanges == exchanges)
                #expect(link.statistics.airtime == row.airtime)
            }
        }
    }

    @Test(arguments: ChipLineKind.allCases)
    func `answer of any length: whole; on I2C and SPI, one longer than a read is requested again by NACK`(
        kind: ChipLineKind
    ) async throws {
        for count in [1, 16, 29, 30, 31, 64, 250, 256] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let script = "\(ChipScript.feliCa)\n42: 00 \(bytes.hexText())"
            try await withTag(on: kind, script, .nfcF) { chip, _, link in
                let answer = try await link.send([4, 0, 7, 7])
                #expect(answer.bytes == bytes, "\(count)")
                let isRepeated = kind != .serial && count > 30
                #expect(chip.received.count { $0 == .negativeAcknowledge } == (isRepeated ? 1 : 0), "\(count)")
            }
        }
    }

    // MARK: Settings of the chip

    @Test
    func
        `time-out of the chip: set only if the old one is too short, over 20 ms too long, or over eight times as long`()
        async throws
    {
        try await withTag(Self.answering) { chip, _, link in
            // Microseconds, and the number of the time-out that is set, if any (PN532 user manual, 7.3.1).
            let steps: [(Int64, UInt8?)] = [
                (800, 4), (100, nil), (1600, 5), (100, 1), (6400, 7), (12800, 8), (25600, 9), (12800, nil), (6400, nil),
                (3200, 6), (3_276_800, 16), (3_276_801, 0), (5_000_000, nil), (100, 1), (5_000_000, 0),
            ]
            for (microseconds, index) in steps {
                let log = try await chip.log {
                    _ = try await link.transceive(Frame([0x60]), timeout: .microseconds(microseconds))
                }
                let set = log.filter { $0.hasPrefix("32 ") }
                #expect(set == (index.map { ["32 02000b" + [$0].hexText()] } ?? []), "\(microseconds)")
            }
        }
    }

    @Test func `settings of the chip: sent again if a listing, a refusal or a new line may have changed them`()
        async throws
    {
        // The time-out of 500 ms is refused.
        try await withTag("\(Self.answering)\n32 02000b0e: error") { chip, reader, link in
            try await chip.expects(["06 63026303", "08 630300", "32 02000b07", "42 60"]) { try await link.send([0x60]) }
            await #expect(throws: LinkError(.unsupported, "")) {
                try await link.transceive(Frame([0x60]), timeout: .milliseconds(500))
            }
            try await chip.expects(["32 02000b07", "42 60"]) { try await link.send([0x60]) }
            let framing = ["06 63026303", "08 630300"]
            for (isReleased, timeout) in [(false, []), (true, ["32 02000b07"])] {
                if isReleased { await reader.release() }
                let again = try #require(try await reader.discover([.nfcA], systemCodes: []).first).link
                let log = try await chip.log { for _ in 0..<2 { try await again.send([0x60]) } }
                #expect(log == framing + timeout + ["42 60", "42 60"])
            }
        }
    }

    // MARK: Type 1 tags through the registers of the contactless unit

    private static let readBlock: [UInt8] = [0x02, 0x05, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]
    private static let block: [UInt8] = [0x05, 11, 12, 13, 14, 15, 16, 17, 18]

    /// Bytes with a parity bit behind each, as in the contactless unit's buffer.
    static func withParity(_ bytes: [UInt8]) -> [UInt8] {
        let bits = bytes.flatMap { byte in
            let data = (0..<8).map { byte >> UInt8($0) & 1 }
            return data + [1 ^ data.reduce(0, ^)]
        }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | $1.element << UInt8($1.offset) }
        }
    }

    /// An answer with its checksum and parity.
    static func checked(_ bytes: [UInt8]) -> [UInt8] {
        withParity(bytes + CyclicRedundancyCheck.b(bytes).littleEndianBytes)
    }

    /// A chip with a Type 1 tag, with an answer of its firmware to a block command, and bytes in the unit's buffer.
    private static func unit(_ firmware: String, level: UInt8? = nil, _ buffer: [UInt8]) -> String {
        let count = [level ?? UInt8(buffer.count)].hexText()
        return "\(ChipScript.type1)\n40: \(firmware)\n06 633a: \(count)\n06 6339: \(buffer.hexText())"
    }

    @Test func `Type 1 READ8 that the firmware refuses: sent through the registers, the next READ8 through these only`()
        async throws
    {
        // The level has a bit that does not count.
        try await withTag(Self.unit("error", level: 0x80 | 13, Self.checked(Self.block))) { chip, _, link in
            let bytes = Self.readBlock + CyclicRedundancyCheck.b(Self.readBlock).littleEndianBytes
            // The first byte has seven bits.
            let first = "08 633902" + "633d07" + "633104" + "633d00" + "630d30"
            let each = bytes.dropFirst().map { "6339" + [$0].hexText() + "633104" + "633107" }.joined()
            let buffer = "06 " + String(repeating: "6339", count: 13)
            let unit = [first + each + "633108", "08 630d20", "06 633a", buffer]
            let firmware = ["32 02000b07", "40 01" + Self.readBlock.hexText()]
            // What the firmware refused once it is not asked for again.
            for expected in [firmware + unit, unit] {
                let log = try await chip.log {
                    let answer = try await link.send(Self.readBlock, checksum: .crcB)
                    #expect(answer == Frame(Self.block, checksum: .crcB))
                }
                #expect(log == expected)
            }
        }
    }

    @Test
    func
        `Type 1 answer from the registers: silence is timeout, damaged bytes are transmission, valid ones return`()
        async throws
    {
        let wrong = Self.withParity(Self.block + [0, 0])
        let rows: [([UInt8], LinkError.Code?)] = [
            ([], .timeout), (wrong, .transmission), (Self.checked([]), .transmission), ([1], .transmission),
            (Self.checked([7]), nil), (Self.checked(Self.block), nil),
        ]
        for (buffer, expected) in rows {
            // The firmware lost the tag: the registers are tried too, and then the firmware again.
            try await withTag(Self.unit("01", buffer)) { chip, _, link in
                for _ in 0..<2 {
                    let result = await code {
                        try await link.send(Self.readBlock, checksum: .crcB)
                    }
                    #expect(result == expected, "\(buffer)")
                }
                #expect(chip.commands.count { $0 == 0x40 } == (expected == nil ? 1 : 2))
            }
        }
    }

    @Test func `Type 1 commands through the firmware: answered; after an error the registers are not tried`()
        async throws
    {
        let readByte: [UInt8] = [0x01, 8, 0, 1, 2, 3, 4]
        let rows: [(String, [UInt8], LinkError.Code?)] = [
            ("00 0809", readByte, nil), ("error", readByte, .unsupported), ("0d", Self.readBlock, .readerUnavailable),
        ]
        for (firmware, command, expected) in rows {
            try await withTag(Self.unit(firmware, [])) { chip, _, link in
                let log = await chip.log {
                    let result = await code {
                        let answer = try await link.send(command, checksum: .crcB)
                        #expect(answer == Frame([8, 9], checksum: .crcB))
                    }
                    #expect(result == expected)
                }
                #expect(log == ["32 02000b07", "40 01" + command.hexText()])
            }
        }
    }

    @Test func `Type 1 segment: read block by block, and a short block is a transmission error`() async throws {
        try await withTag(Self.unit("error", Self.checked(Self.block))) { chip, _, link in
            let command: [UInt8] = [0x10, 0x2F, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]
            let answer = try await link.send(command, checksum: .crcB)
            #expect(answer.bytes == [0x2F] + [[UInt8]](repeating: Array(Self.block.dropFirst()), count: 16).joined())
            let blocks = chip.log().filter { $0.hasPrefix("08 633902") }.map { String($0.dropFirst(33).prefix(6)) }
            #expect(blocks == (0..<16).map { "6339" + [UInt8(0x20 | $0)].hexText() })
        }
        // A block that is too short.
        try await withTag(Self.unit("error", Self.checked([5, 1]))) { _, _, link in
            let result = await code { try await link.send([0x10, 0x20], checksum: .crcB) }
            #expect(result == .transmission)
        }
    }
}
