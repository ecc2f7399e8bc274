// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Testing

/// Each number in a command at the ends of its range, and one beyond: what is out of range is not sent.
@Suite struct CommandRangeTests {
    /// A number in a command, its range, and the codes of the errors below and above it.
    struct Field<Tag>: Sendable {
        var name: String
        var range: ClosedRange<Int>
        var below: Int
        var above: Int
        var call: @Sendable (Tag, Int) async throws -> Void

        init(
            _ name: String,
            _ range: ClosedRange<Int>,
            _ below: Int,
            _ above: Int,
            _ call: @escaping @Sendable (Tag, Int) async throws -> Void
        ) {
            (self.name, self.range, self.below, self.above, self.call) = (name, range, below, above, call)
        }
    }

    static func check<Tag>(_ fields: [Field<Tag>], _ make: () async throws -> (ScriptedChannel, Tag)) async throws {
        for field in fields {
            let (lower, upper) = (field.range.lowerBound, field.range.upperBound)
            for (value, error) in [(lower - 1, field.below), (lower, 0), (upper, 0), (upper + 1, field.above)] {
                let (channel, tag) = try await make()
                let result = await code { try await field.call(tag, value) }
                if error == 0 {
                    // Its answer does not matter.
                    #expect(channel.sent.count == 1, "\(field.name) \(value): error \(result)")
                } else {
                    #expect(result == error && channel.sent.isEmpty, "\(field.name) \(value)")
                }
            }
        }
    }

    static let d = Data([9])

    static func custom(
        maker: Int = 7,
        code: Int = 0xA0,
        retries: Int = 0,
        interval: TimeInterval = 0
    ) -> NFCISO15693CustomCommandConfiguration {
        NFCISO15693CustomCommandConfiguration(
            manufacturerCode: maker,
            customCommandCode: code,
            requestParameters: nil,
            maximumRetries: retries,
            retryInterval: interval
        )
    }

    static let iso15693: [Field<any NFCISO15693Tag>] = [
        Field("extended read, block", 0...65_535, 5, 5) {
            _ = try await $0.extendedReadSingleBlock(requestFlags: [], blockNumber: $1)
        },
        Field("extended write, block", 0...65_535, 5, 5) {
            try await $0.extendedWriteSingleBlock(requestFlags: [], blockNumber: $1, dataBlock: d)
        },
        Field("authenticate, suite", 0...255, 5, 5) {
            _ = try await $0.authenticate(requestFlags: [], cryptoSuiteIdentifier: $1, message: d)
        },
        // okadan/flutter-nfc-manager#11; community.st.com, topic 602149.
        Field("custom command, code", 0xA0...0xDF, 3, 3) {
            _ = try await $0.customCommand(
                requestFlags: [],
                customCommandCode: $1,
                customRequestParameters: Data()
            )
        },
        Field("custom configuration, code", 0xA0...0xDF, 300, 300) {
            _ = try await $0.sendCustomCommand(commandConfiguration: custom(code: $1))
        },
        Field("custom configuration, manufacturer", 0...255, 300, 300) {
            _ = try await $0.sendCustomCommand(commandConfiguration: custom(maker: $1))
        },
        Field("custom configuration, retries", 0...256, 300, 300) {
            _ = try await $0.sendCustomCommand(commandConfiguration: custom(retries: $1))
        },
        Field("custom configuration, seconds between retries", 0...60, 300, 300) {
            _ = try await $0.sendCustomCommand(commandConfiguration: custom(interval: TimeInterval($1)))
        },
        Field("raw request, flags", 0...255, 5, 5) {
            _ = try await $0.sendRequest(requestFlags: $1, commandCode: 0xA0, data: d)
        },
        Field("raw request, code", 0...255, 5, 5) {
            _ = try await $0.sendRequest(requestFlags: 2, commandCode: $1, data: d)
        },
        Field("write, bytes", 1...32, 4, 4) {
            try await $0.writeSingleBlock(requestFlags: [], blockNumber: 255, dataBlock: Data(count: max(0, $1)))
        },
        Field("extended write, bytes", 1...32, 4, 4) {
            try await $0.extendedWriteSingleBlock(
                requestFlags: [],
                blockNumber: 65_535,
                dataBlock: Data(count: max(0, $1))
            )
        },
    ]

    // okadan/flutter-nfc-manager#240, nfcim/flutter_nfc_kit#150; community.st.com, topic 132860.
    @Test func `customCommand with the address flag: error 102 with the text Stack Error, and nothing is sent`()
        async throws
    {
        let (channel, tag) = try await ScriptedTag.iso15693("0110")
        let error = await #expect(throws: NFCReaderError.self) {
            try await tag.customCommand(
                requestFlags: [.highDataRate, .address],
                customCommandCode: 0xA0,
                customRequestParameters: Data(tag.identifier.reversed())
            )
        }
        #expect(error?.code.rawValue == 102 && error?.localizedDescription == "Stack Error" && channel.sent.isEmpty)
    }

    @Test func `ISO 15693 parameters: sent up to their limits; a value beyond a limit is an error and sends nothing`()
        async throws
    {
        try await Self.check(Self.iso15693) { try await ScriptedTag.iso15693("0110") }
        let (channel, tag) = try await ScriptedTag.iso15693("0110")
        for interval in [60.001, -0.5, TimeInterval.infinity, .nan] {
            let error = await code {
                try await tag.sendCustomCommand(commandConfiguration: Self.custom(interval: interval))
            }
            #expect(error == 300, "\(interval)")
        }
        // With its checksum a frame has 256 bytes.
        let long = await code { try await tag.sendRequest(requestFlags: 0, commandCode: 0xA0, data: Data(count: 253)) }
        #expect(long == 105 && channel.sent.isEmpty)
        _ = await code { try await tag.sendRequest(requestFlags: 0, commandCode: 0xA0, data: Data(count: 252)) }
        #expect(channel.sent.map(\.count) == [2 * 254])
    }

    @Test
    func `ISO 15693 blocks: a range beyond 256 (extended: 65536), or data that does not match the range, is an error`()
        async throws
    {
        // The first block and the number of blocks; then what follows the name of the tag, and nil for an error.
        let rows: [(Int, Int, short: String?, extended: String?)] = [
            (0, 1, "0000", "00000000"), (0, 256, "00ff", "0000ff00"), (255, 1, "ff00", "ff000000"),
            (1, 255, "01fe", "0100fe00"), (0, 257, nil, "00000001"), (1, 256, nil, "0100ff00"),
            (256, 1, nil, "00010000"), (0, 65_536, nil, "0000ffff"), (65_535, 1, nil, "ffff0000"),
            (0, 65_537, nil, nil), (1, 65_536, nil, nil), (65_536, 1, nil, nil), (-1, 1, nil, nil),
            (-1, 2, nil, nil), (0, 0, nil, nil), (0, -1, nil, nil), (Int.max, 1, nil, nil), (1, Int.max, nil, nil),
        ]
        for (first, count, short, extended) in rows {
            let range = NSRange(location: first, length: count)
            let fixture = try await ScriptedTag(ScriptedTag.vicinity, [String](repeating: "0110", count: 7))
            let tag = try fixture.tag.iso15693
            let configuration = NFCISO15693ReadMultipleBlocksConfiguration(range: range, chunkSize: 256)
            let codes = [
                await code { try await tag.readMultipleBlocks(requestFlags: [], blockRange: range) },
                await code { try await tag.fastReadMultipleBlocks(requestFlags: [], blockRange: range) },
                await code { try await tag.getMultipleBlockSecurityStatus(requestFlags: [], blockRange: range) },
                await code { try await tag.readMultipleBlock(readConfiguration: configuration) },
                await code { try await tag.extendedReadMultipleBlocks(requestFlags: [], blockRange: range) },
                await code { try await tag.extendedFastReadMultipleBlocks(requestFlags: [], blockRange: range) },
                await code {
                    try await tag.extendedGetMultipleBlockSecurityStatus(requestFlags: [], blockRange: range)
                },
            ]
            let (s, e) = (short == nil ? 5 : 102, extended == nil ? 5 : 102)
            #expect(codes == [s, s, s, short == nil ? 300 : 102, e, e, e], "\(range)")
            let parameters = fixture.channel.sent.compactMap { $0.split(separator: "|").last.map(String.init) }
            #expect(parameters == [short, short, short, short, extended, extended, extended].compactMap(\.self))
        }
        let (channel, tag) = try await ScriptedTag.iso15693()
        let two = NSRange(location: 0, length: 2)
        for sizes in [[], [4], [4, 3], [3, 4], [4, 0], [0, 0], [4, 4, 4]] {
            let blocks = sizes.map { Data(count: $0) }
            let write = await code {
                try await tag.writeMultipleBlocks(requestFlags: [], blockRange: two, dataBlocks: blocks)
            }
            #expect(write == 4 && channel.sent.isEmpty, "\(sizes)")
        }
    }

    // MARK: FeliCa, MIFARE and ISO 7816

    static let element = Data([0x80, 0])

    static let feliCa: [Field<any NFCFeliCaTag>] = [
        Field("read, services", 1...16, 4, 4) {
            _ = try await $0.readWithoutEncryption(serviceCodeList: list($1), blockList: [element])
        },
        // The packet has a code, an IDm, one service, a count, and two bytes for each block: 254 in all.
        Field("read, blocks", 1...120, 4, 105) {
            _ = try await $0.readWithoutEncryption(serviceCodeList: list(1), blockList: list($1))
        },
        Field("request service, nodes", 1...32, 4, 4) { _ = try await $0.requestService(nodeCodeList: list($1)) },
        Field("request service v2, nodes", 1...32, 4, 4) { _ = try await $0.requestServiceV2(nodeCodeList: list($1)) },
        Field("packet, bytes", 1...254, 4, 105) {
            _ = try await $0.sendFeliCaCommand(commandPacket: Data(count: max(0, $1)))
        },
    ]

    private static func list(_ count: Int) -> [Data] { [Data](repeating: element, count: max(0, count)) }

    @Test func `FeliCa parameters: sent up to their limits; a value beyond a limit is an error and sends nothing`()
        async throws
    {
        try await Self.check(Self.feliCa) { try await ScriptedTag.feliCa() }
        let (channel, tag) = try await ScriptedTag.feliCa()
        let (service, block) = (Data([9, 0]), Data(count: 16))
        func read(_ services: [Data], _ blocks: [Data]) async -> Int {
            await code { try await tag.readWithoutEncryption(serviceCodeList: services, blockList: blocks) }
        }
        func write(_ data: [Data]) async -> Int {
            let list = Self.list(2)
            return await code {
                try await tag.writeWithoutEncryption(serviceCodeList: [service], blockList: list, blockData: data)
            }
        }
        // A code has two bytes. A list element has two when its first bit is 1, and three otherwise.
        for wrong in [Data(), Data([1]), Data([1, 2, 3])] {
            #expect(await code { try await tag.requestService(nodeCodeList: [service, wrong]) } == 4)
            #expect(await code { try await tag.requestServiceV2(nodeCodeList: [wrong]) } == 4)
            #expect(await read([wrong], [Self.element]) == 4)
        }
        for wrong in [Data(), Data([0x80]), Data([0x80, 0, 0]), Data([0, 0]), Data([0, 0, 0, 0])] {
            #expect(await read([service], [Self.element, wrong]) == 4, "\([UInt8](wrong))")
        }
        #expect(await read([service], Self.list(256)) == 4)
        // Each block has 16 bytes.
        for data in [[], [block], [block, block, block], [block, Data(count: 15)], [Data(count: 17), block]] {
            #expect(await write(data) == 4)
        }
        #expect(channel.sent.isEmpty)
    }

    static let apdus: [Field<any NFCISO7816Tag>] = [
        Field("APDU, bytes of data", 0...65_535, 0, 4) {
            _ = try await $0.sendCommand(apdu: APDUTests.apdu(max(0, $1), -1)) as NFCISO7816ResponseAPDU
        },
        Field("APDU, expected length", -1...65_536, 5, 5) {
            _ = try await $0.sendCommand(apdu: APDUTests.apdu(0, $1)) as NFCISO7816ResponseAPDU
        },
    ]

    @Test
    func `APDU and MIFARE parameters: sent up to their limits; a value beyond a limit is an error and sends nothing`()
        async throws
    {
        try await Self.check(Self.apdus) { try await ScriptedTag.iso7816("9000") }
        let packets: [Field<any NFCMiFareTag>] = [
            Field("MIFARE command, bytes", 1...253, 4, 105) {
                _ = try await $0.sendMiFareCommand(commandPacket: Data(count: $1))
            }
        ]
        try await Self.check(packets) { try await ScriptedTag.miFare() }
    }
}
