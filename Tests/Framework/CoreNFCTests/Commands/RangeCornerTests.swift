// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import TagLink
import Testing

/// Checks parameters of ISO 15693 and FeliCa commands just inside and outside of their ranges.
@Suite struct `Parameters at the ends of their ranges` {
    private static func code(_ operation: () async throws -> Void) async -> Int? {
        await readerError(operation)?.errorCode
    }

    /// The block numbers and counts in the requests, without flags, command and UID.
    private static func parameters(_ channel: ScriptedChannel) -> [[UInt8]] {
        channel.sent.map { Array($0.bytes.dropFirst(10)) }
    }

    @Test(
        arguments: [
            (0, 256, [0, 255]), (255, 1, [255, 0]), (1, 255, [1, 254]), (0, 1, [0, 0]), (0, 257, nil), (1, 256, nil),
            (-1, 1, nil), (-1, 2, nil), (256, 1, nil), (0, 0, nil), (0, -1, nil), (Int.max, 1, nil), (1, Int.max, nil),
        ] as [(Int, Int, [UInt8]?)]
    ) func `A range of blocks is within the 256 that one byte can name`(
        first: Int,
        count: Int,
        parameters: [UInt8]?
    ) async throws {
        let range = NSRange(location: first, length: count)
        let data = [UInt8](repeating: 0, count: parameters == nil ? 0 : count)
        let (channel, tag) = try ScriptedTag.iso15693(.success([0] + data), .success([0] + data), .success([0] + data))
        let expected = parameters == nil ? 5 : nil
        #expect(
            await Self.code { _ = try await tag.readMultipleBlocks(requestFlags: [], blockRange: range) } == expected
        )
        #expect(
            await Self.code { _ = try await tag.fastReadMultipleBlocks(requestFlags: [], blockRange: range) }
                == expected
        )
        #expect(
            await Self.code { _ = try await tag.getMultipleBlockSecurityStatus(requestFlags: [], blockRange: range) }
                == expected
        )
        #expect(Self.parameters(channel) == (parameters.map { [$0, $0, $0] } ?? []))
        let configuration = NFCISO15693ReadMultipleBlocksConfiguration(range: range, chunkSize: 256)
        let (other, another) = try ScriptedTag.iso15693(.success([0] + data))
        let read = await Self.code { _ = try await another.readMultipleBlock(readConfiguration: configuration) }
        #expect(read == (parameters == nil ? 300 : nil) && Self.parameters(other) == (parameters.map { [$0] } ?? []))
    }

    @Test(
        arguments: [
            (0, 65_536, [0, 0, 255, 255]), (256, 2, [0, 1, 1, 0]), (65_535, 1, [255, 255, 0, 0]), (1, 65_536, nil),
            (0, 65_537, nil), (-1, 1, nil), (65_536, 1, nil), (0, 0, nil),
        ] as [(Int, Int, [UInt8]?)]
    ) func `A range of blocks is within the 65536 that two bytes can name`(
        first: Int,
        count: Int,
        parameters: [UInt8]?
    ) async throws {
        let range = NSRange(location: first, length: count)
        // The tag's own error shows that the request was sent.
        let refused = Result<[UInt8], NFCReaderError>.success([1, 0x10])
        let (channel, tag) = try ScriptedTag.iso15693(refused, refused, refused)
        let expected = parameters == nil ? 5 : 102
        #expect(
            await Self.code { _ = try await tag.extendedReadMultipleBlocks(requestFlags: [], blockRange: range) }
                == expected
        )
        #expect(
            await Self.code { _ = try await tag.extendedFastReadMultipleBlocks(requestFlags: [], blockRange: range) }
                == expected
        )
        #expect(
            await Self.code {
                _ = try await tag.extendedGetMultipleBlockSecurityStatus(requestFlags: [], blockRange: range)
            } == expected
        )
        #expect(Self.parameters(channel) == (parameters.map { [$0, $0, $0] } ?? []))
    }

    @Test(
        arguments: [(-1, nil), (0, [0, 0]), (256, [0, 1]), (65_535, [255, 255]), (65_536, nil)] as [(Int, [UInt8]?)]
    ) func `A block that two bytes name is from 0 to 65535`(block: Int, number: [UInt8]?) async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0, 7]), .success([0]), .success([0]))
        let expected = number == nil ? 5 : nil
        #expect(
            await Self.code { _ = try await tag.extendedReadSingleBlock(requestFlags: [], blockNumber: block) }
                == expected
        )
        #expect(
            await Self.code {
                try await tag.extendedWriteSingleBlock(requestFlags: [], blockNumber: block, dataBlock: Data([7]))
            } == expected
        )
        #expect(
            await Self.code { try await tag.extendedLockBlock(requestFlags: [], blockNumber: block) } == expected
        )
        #expect(Self.parameters(channel) == (number.map { [$0, $0 + [7], $0] } ?? []))
    }

    @Test(arguments: [(-1, 5), (0, nil), (255, nil), (256, 5)] as [(Int, Int?)])
    func `An identifier of cryptography is one byte`(identifier: Int, code: Int?) async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([4, 1]), .success([4, 1]))
        let message = Data([9])
        #expect(
            await Self.code {
                _ = try await tag.authenticate(
                    requestFlags: [],
                    cryptoSuiteIdentifier: identifier,
                    message: message
                )
            } == code
        )
        #expect(
            await Self.code {
                _ = try await tag.keyUpdate(requestFlags: [], keyIdentifier: identifier, message: message)
            } == code
        )
        #expect(
            await Self.code {
                try await tag.challenge(requestFlags: [], cryptoSuiteIdentifier: identifier, message: message)
            } == code
        )
        #expect(channel.sent.count == (code == nil ? 3 : 0))
        #expect(channel.sent.allSatisfy { $0.bytes.suffix(2) == [UInt8(truncatingIfNeeded: identifier), 9] })
    }

    @Test func `A status comes for each block that was asked for, and an answer with another number is none`()
        async throws
    {
        let range = NSRange(location: 0, length: 2)
        for statuses in [[], [1], [1, 0], [1, 0, 1]] as [[UInt8]] {
            let (_, tag) = try ScriptedTag.iso15693(.success([0] + statuses), .success([0] + statuses))
            let short = await readerError {
                try await tag.getMultipleBlockSecurityStatus(requestFlags: [], blockRange: range)
            }
            let long = await readerError {
                try await tag.extendedGetMultipleBlockSecurityStatus(requestFlags: [], blockRange: range)
            }
            for error in [short, long] {
                let isLength = error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] as? Bool
                #expect(isLength == (statuses.count == 2 ? nil : true))
            }
        }
    }

    @Test func `A custom command keeps the caller's flags, and no UID is put in it`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0]), .success([0]))
        for flags in [[.highDataRate, .address], [.option, .select]] as [NFCISO15693RequestFlag] {
            let answer = try await tag.customCommand(
                requestFlags: flags,
                customCommandCode: 0xA0,
                customRequestParameters: Data([9])
            )
            #expect(answer.isEmpty)
        }
        #expect(channel.sent.map(\.bytes) == [[0x22, 0xA0, 0x07, 9], [0x50, 0xA0, 0x07, 9]])
    }

    @Test func `The option flag changes what a read answers, and nothing else of the request`() async throws {
        let one = Result<[UInt8], NFCReaderError>.success([0, 1, 7])
        let (channel, tag) = try ScriptedTag.iso15693(one, one, .success([0, 1, 7, 0, 8]))
        let option: NFCISO15693RequestFlag = [.highDataRate, .option]
        #expect(try await tag.readSingleBlock(requestFlags: option, blockNumber: 3) == Data([1, 7]))
        #expect(try await tag.extendedReadSingleBlock(requestFlags: option, blockNumber: 3) == Data([1, 7]))
        let blocks = try await tag.fastReadMultipleBlocks(
            requestFlags: option,
            blockRange: NSRange(location: 3, length: 2)
        )
        #expect(blocks == [Data([1, 7]), Data([0, 8])])
        #expect(channel.sent.map { $0.bytes.first } == [0x62, 0x62, 0x62])
        #expect(Self.parameters(channel) == [[3], [3, 0], [3, 1]])
        // A status without a block is no answer to a read with it.
        let (_, other) = try ScriptedTag.iso15693(.success([0, 1]))
        let error = await readerError { try await other.readSingleBlock(requestFlags: option, blockNumber: 3) }
        #expect(error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] as? Bool == true)
    }

    @Test(
        arguments: [
            (.noRequest, .max1, [0, 0]), (.systemCode, .max2, [1, 1]), (.communicationPerformance, .max4, [2, 3]),
            (.noRequest, .max8, [0, 7]), (.systemCode, .max16, [1, 15]),
        ] as [(NFCFeliCaPollingRequestCode, NFCFeliCaPollingTimeSlot, [UInt8])]
    ) func `Polling asks for what is wanted, in as many slots`(
        request: NFCFeliCaPollingRequestCode,
        slots: NFCFeliCaPollingTimeSlot,
        bytes: [UInt8]
    ) async throws {
        let (channel, tag) = try ScriptedTag.feliCa(.success([1] + ScriptedTag.idm + [UInt8](1...8)))
        let (parameter, data) = try await tag.polling(
            systemCode: Data([0xFE, 0x0F]),
            requestCode: request,
            timeSlot: slots
        )
        #expect(parameter == Data(1...8) && data.isEmpty)
        #expect(channel.sent.map(\.bytes) == [[0x00, 0xFE, 0x0F] + bytes])
    }

    @Test func `A node, a service and a block of no length or of another one are refused in every command`()
        async throws
    {
        let (channel, tag) = try ScriptedTag.feliCa()
        for node in [Data(), Data([1]), Data([1, 2, 3])] {
            #expect(await Self.code { _ = try await tag.requestService(nodeCodeList: [Data([0, 0]), node]) } == 4)
            #expect(await Self.code { _ = try await tag.requestServiceV2(nodeCodeList: [node]) } == 4)
            #expect(
                await Self.code {
                    _ = try await tag.writeWithoutEncryption(
                        serviceCodeList: [node],
                        blockList: [Data([0x80, 0])],
                        blockData: [Data(count: 16)]
                    )
                } == 4
            )
        }
        #expect(await Self.code { _ = try await tag.requestService(nodeCodeList: []) } == 4)
        #expect(channel.sent.isEmpty)
    }
}
