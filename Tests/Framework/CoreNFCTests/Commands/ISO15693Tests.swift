// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import TagLink
import Testing

@testable import SourceCompatibilitySwift6

@Suite struct `Commands of ISO 15693` {
    static let reversedUID: [UInt8] = [6, 5, 4, 3, 2, 1, 0x07, 0xE0]

    /// A request with the UID.
    static func addressed(_ flags: UInt8, _ command: UInt8, _ parameters: UInt8...) -> [UInt8] {
        [flags, command] + reversedUID + parameters
    }

    @Test func `A request is addressed with the UID, least significant byte first, unless the tag is selected`()
        async throws
    {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0, 1, 2, 3, 4]), .success([0, 1, 2, 3, 4]))
        #expect(try await tag.readSingleBlock(requestFlags: [.highDataRate], blockNumber: 5) == Data([1, 2, 3, 4]))
        _ = try await tag.readSingleBlock(requestFlags: [.highDataRate, .address, .select], blockNumber: 5)
        #expect(
            channel.sent.map(\.bytes) == [Self.addressed(0x22, 0x20, 5), [0x12, 0x20, 5]]
        )
    }

    @Test func `The identifier reads as people write it`() throws {
        let (_, tag) = try ScriptedTag.iso15693()
        #expect([UInt8](tag.identifier) == ScriptedTag.uid)
        #expect(tag.icManufacturerCode == 0x07)
        #expect([UInt8](tag.icSerialNumber) == [1, 2, 3, 4, 5, 6])
    }

    @Test(arguments: [0x01, 0x02, 0x03, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0xA0] as [UInt8])
    func `The tag's error code is in the user info`(code: UInt8) async throws {
        let (_, tag) = try ScriptedTag.iso15693(.success([0x01, code]))
        let error = await readerError { try await tag.lockBlock(requestFlags: .highDataRate, blockNumber: 0) }
        #expect(error?.code == .readerTransceiveErrorTagResponseError)
        #expect(error?.userInfo[NFCISO15693TagResponseErrorKey] as? Int == Int(code))
        #expect((error as NSError?)?.userInfo[NFCISO15693TagResponseErrorKey] as? Int == Int(code))
    }

    @Test(arguments: [[], [0x01], [0x00], [0x00, 1, 2, 3, 4, 5]] as [[UInt8]])
    func `An answer of a wrong length says so`(bytes: [UInt8]) async throws {
        let (_, tag) = try ScriptedTag.iso15693(.success(bytes))
        let range = NSRange(location: 0, length: 2)
        let error = await readerError { try await tag.readMultipleBlocks(requestFlags: [], blockRange: range) }
        #expect(error?.code == .readerTransceiveErrorTagResponseError)
        #expect(error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] as? Bool == true)
    }

    @Test func `Blocks come with their security status when the option flag asks for it`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0, 1, 0xA, 0xB, 0, 0xC, 0xD]), .success([0, 1, 0, 1]))
        let blocks = try await tag.readMultipleBlocks(
            requestFlags: [.highDataRate, .option],
            blockRange: NSRange(location: 3, length: 2)
        )
        #expect(blocks.map { [UInt8]($0) } == [[1, 0xA, 0xB], [0, 0xC, 0xD]])
        let statuses = try await tag.getMultipleBlockSecurityStatus(
            requestFlags: .highDataRate,
            blockRange: NSRange(location: 0, length: 3)
        )
        #expect(statuses.map(\.intValue) == [1, 0, 1])
        #expect(channel.sent.map(\.bytes).first == Self.addressed(0x62, 0x23, 3, 1))
    }

    @Test(
        arguments: [
            ([0x0F] + reversedUID + [1, 2, 27, 3, 4], [1, 2, 4, 28, 4]),
            ([0x00] + reversedUID, [-1, -1, -1, -1, -1]),
            ([0x04] + reversedUID + [0xFF, 0x1F], [-1, -1, 32, 256, -1]),
            ([0x09] + reversedUID + [7, 8], [7, -1, -1, -1, 8]),
            // The three bits above the block size are reserved.
            ([0x04] + reversedUID + [0x00, 0xE3], [-1, -1, 4, 1, -1]),
        ] as [([UInt8], [Int])]
    ) func `System information has what the tag says, and -1 for the rest`(
        data: [UInt8],
        expected: [Int]
    ) async throws {
        let (_, tag) = try ScriptedTag.iso15693(.success([0] + data))
        let info = try await tag.systemInfo(requestFlags: .highDataRate)
        #expect([UInt8](info.uniqueIdentifier) == Self.reversedUID)
        #expect(
            [
                info.dataStorageFormatIdentifier, info.applicationFamilyIdentifier, info.blockSize, info.totalBlocks,
                info.icReference,
            ] == expected
        )
        for count in 0..<data.count where count > 0 {
            let (_, short) = try ScriptedTag.iso15693(.success([0] + Array(data.prefix(count))))
            #expect(await readerError { try await short.systemInfo(requestFlags: .highDataRate) } != nil)
        }
    }

    @Test func `Forms that have a newer one do the same`() async throws {
        let answer: [UInt8] = [0, 0x0F] + Self.reversedUID + [1, 2, 27, 3, 9]
        let fixture = ScriptedTag(ScriptedTag.vicinityTarget, [.success(answer), .success([0])])
        guard case .iso15693(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        let fields: [Int] = await handedOver { oldSystemInfo(of: tag, $0) }
        #expect(fields == [1, 2, 4, 28, 9])
        let isLocked: Bool = await handedOver { oldLockDSFID(of: tag, $0) }
        #expect(isLocked)
        #expect(fixture.channel.sent.map(\.bytes) == [Self.addressed(0x22, 0x2B), Self.addressed(0x22, 0x2A)])
    }

    @Test func `A custom command has the manufacturer's code after it, and no UID`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0, 9, 8]))
        let answer = try await tag.customCommand(
            requestFlags: .highDataRate,
            customCommandCode: 0xA1,
            customRequestParameters: Data([5])
        )
        #expect([UInt8](answer) == [9, 8])
        #expect(channel.sent.map(\.bytes) == [[0x02, 0xA1, 0x07, 5]])
    }

    @Test func `Nothing is put in a request of the caller's own making`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0x40, 1]))
        let (flags, data) = try await tag.sendRequest(requestFlags: 0x22, commandCode: 0xB5, data: Data([1, 2]))
        #expect(flags == .waitTimeExtension)
        #expect(data == Data([1]))
        #expect(channel.sent.map(\.bytes) == [[0x22, 0xB5, 1, 2]])
    }

    @Test func `Stay Quiet and Challenge are not answered, and end when they are sent`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693()
        try await tag.stayQuiet()
        try await tag.challenge(requestFlags: .highDataRate, cryptoSuiteIdentifier: 0, message: Data([7]))
        #expect(
            channel.sent == [
                .init(bytes: Self.addressed(0x22, 0x02), answer: AnswerTime.none),
                .init(bytes: [0x02, 0x39, 0, 7], answer: AnswerTime.none),
            ]
        )
    }

    @Test func `A Challenge is for all tags, though a UID is asked for`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693()
        try await tag.challenge(
            requestFlags: [.highDataRate, .address],
            cryptoSuiteIdentifier: 255,
            message: Data([7, 8])
        )
        #expect(channel.sent.map(\.bytes) == [[0x02, 0x39, 255, 7, 8]])
    }

    @Test func `A Select is addressed, and has no select flag`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0]))
        try await tag.select(requestFlags: [.highDataRate, .select])
        #expect(channel.sent.map(\.bytes) == [Self.addressed(0x22, 0x25)])
    }

    @Test func `Parameters out of bounds send nothing`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693()
        func code(_ operation: () async throws -> Void) async -> NFCReaderError.Code? {
            await readerError(operation)?.code
        }
        let one = NSRange(location: 0, length: 1)
        for range in [
            NSRange(location: 0, length: 0), NSRange(location: 255, length: 2), NSRange(location: 256, length: 1),
        ] {
            #expect(
                await code { _ = try await tag.readMultipleBlocks(requestFlags: [], blockRange: range) }
                    == .readerErrorParameterOutOfBound
            )
        }
        let two = NSRange(location: 0, length: 2)
        for sizes in [[4, 3], [3, 4], [4, 0], [0, 0]] {
            let blocks = sizes.map { Data(count: $0) }
            #expect(
                await code { try await tag.writeMultipleBlocks(requestFlags: [], blockRange: two, dataBlocks: blocks) }
                    == .readerErrorInvalidParameterLength
            )
        }
        #expect(
            await code { _ = try await tag.extendedReadSingleBlock(requestFlags: [], blockNumber: 65_536) }
                == .readerErrorParameterOutOfBound
        )
        for blocks in [[], [Data(count: 4), Data(count: 4)], [Data()]] {
            #expect(
                await code { try await tag.writeMultipleBlocks(requestFlags: [], blockRange: one, dataBlocks: blocks) }
                    == .readerErrorInvalidParameterLength
            )
        }
        #expect(
            await code {
                _ = try await tag.customCommand(
                    requestFlags: [],
                    customCommandCode: 0x9F,
                    customRequestParameters: Data()
                )
            } == .readerErrorParameterOutOfBound
        )
        #expect(
            await code { _ = try await tag.sendRequest(requestFlags: 0, commandCode: 0xA0, data: Data(count: 253)) }
                == .readerTransceiveErrorPacketTooLong
        )
        #expect(channel.sent.isEmpty)
    }
}
