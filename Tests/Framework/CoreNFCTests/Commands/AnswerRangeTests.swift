// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// Checks an app's commands and answers at both limits of their ranges.
@Suite struct `Commands at the ends of their ranges` {
    private static let idm = ScriptedTag.idm

    private static func code(_ operation: () async throws -> Void) async -> NFCReaderError.Code? {
        await readerError(operation)?.code
    }

    private static func isLength(_ operation: () async throws -> Void) async -> Bool {
        await readerError(operation)?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] as? Bool == true
    }

    // MARK: FeliCa

    @Test func `A FeliCa packet has 254 bytes, and one with more is 105`() async throws {
        let (channel, tag) = try ScriptedTag.feliCa(.success([0x05] + Self.idm))
        _ = try await tag.sendFeliCaCommand(commandPacket: Data(count: 254))
        #expect(
            await Self.code { _ = try await tag.sendFeliCaCommand(commandPacket: Data(count: 255)) }
                == .readerTransceiveErrorPacketTooLong
        )
        #expect(
            await Self.code { _ = try await tag.sendFeliCaCommand(commandPacket: Data()) }
                == .readerErrorInvalidParameterLength
        )
        #expect(channel.sent.map(\.bytes.count) == [254])
    }

    @Test(arguments: [(120, nil), (121, 105), (255, 105), (256, 4), (0, 4)] as [(Int, Int?)])
    func `So many blocks can be read at once`(count: Int, code: Int?) async throws {
        let (channel, tag) = try ScriptedTag.feliCa(
            .success(
                [0x07] + Self.idm + [0, 0, UInt8(truncatingIfNeeded: count)] + [UInt8](repeating: 0, count: 16 * count)
            )
        )
        let list = [Data](repeating: Data([0x80, 0]), count: count)
        // A code, an IDm, one service, a count, and two bytes for each block: 254 in all.
        let error = await readerError {
            try await tag.readWithoutEncryption(serviceCodeList: [Data([0x0B, 0])], blockList: list)
        }
        #expect(error?.errorCode == code)
        #expect(channel.sent.count == (code == nil ? 1 : 0))
    }

    @Test(arguments: [(1, nil), (16, nil), (17, 4), (0, 4)] as [(Int, Int?)])
    func `So many services can be read at once`(count: Int, code: Int?) async throws {
        let (_, tag) = try ScriptedTag.feliCa(
            .success([0x07] + Self.idm + [0, 0, 1] + [UInt8](repeating: 0, count: 16))
        )
        let services = [Data](repeating: Data([0x0B, 0]), count: count)
        let error = await readerError {
            try await tag.readWithoutEncryption(serviceCodeList: services, blockList: [Data([0x80, 0])])
        }
        #expect(error?.errorCode == code)
    }

    @Test(arguments: [1, 2, 32]) func `Key versions come for as many nodes as were asked`(count: Int) async throws {
        let nodes = [Data](repeating: Data([0, 0]), count: count)
        let versions = (0..<2 * count).map { Data([UInt8($0), 1]) }
        for (encryption, lists) in [(UInt8(0x4F), 1), (0x41, 2)] {
            let body = versions.prefix(lists * count).flatMap { [UInt8]($0) }
            let answer = [0x33] + Self.idm + [0, 0, encryption, UInt8(count)] + body
            let (_, tag) = try ScriptedTag.feliCa(.success(answer), .success(answer.dropLast()), .success(answer + [0]))
            let response = try await tag.requestServiceV2(nodeCodeList: nodes)
            #expect(response.0 == 0 && response.1 == 0 && response.2.rawValue == Int(encryption))
            #expect(response.3 == Array(versions.prefix(count)))
            #expect(response.4 == (lists == 2 ? Array(versions.suffix(count)) : []))
            for _ in 0..<2 { #expect(await Self.isLength { _ = try await tag.requestServiceV2(nodeCodeList: nodes) }) }
        }
        #expect(
            await Self.code {
                let (_, tag) = try ScriptedTag.feliCa()
                _ = try await tag.requestServiceV2(nodeCodeList: [Data](repeating: Data([0, 0]), count: 33))
            } == .readerErrorInvalidParameterLength
        )
    }

    @Test(arguments: [0, 1, 3]) func `Key versions of both kinds for another number of nodes are no answer`(count: Int)
        async throws
    {
        let nodes = [Data([0, 0]), Data([1, 1])]
        for (encryption, lists) in [(UInt8(0x4F), 1), (0x41, 2)] {
            let versions = (0..<2 * count * lists).map { UInt8($0) }
            let (_, tag) = try ScriptedTag.feliCa(
                .success([0x33] + Self.idm + [0, 0, encryption, UInt8(count)] + versions)
            )
            let error = await readerError { try await tag.requestServiceV2(nodeCodeList: nodes) }
            #expect(error?.code == .readerTransceiveErrorTagResponseError)
            #expect(error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] as? Bool == true)
        }
    }

    @Test func `A card that refuses answers with flags alone`() async throws {
        let flags: [UInt8] = [0xFF, 0xA1]
        let (_, tag) = try ScriptedTag.feliCa(
            .success([0x33] + Self.idm + flags),
            .success([0x3D] + Self.idm + flags),
            .success([0x07] + Self.idm + flags + [0]),
            .success([0x33] + Self.idm + [0]),
            .success([0x3D] + Self.idm + [0]),
            .success([0x33] + Self.idm + [0, 0, 0x42, 0])
        )
        let services = try await tag.requestServiceV2(nodeCodeList: [Data([0, 0])])
        #expect(services.0 == 0xFF && services.1 == 0xA1 && services.3.isEmpty && services.4.isEmpty)
        let version = try await tag.requestSpecificationVersion()
        #expect(version.0 == 0xFF && version.1 == 0xA1 && version.2.isEmpty && version.3.isEmpty)
        #expect(
            await Self.isLength {
                _ = try await tag.readWithoutEncryption(serviceCodeList: [Data([0, 0])], blockList: [Data([0x80, 0])])
            }
        )
        #expect(await Self.isLength { _ = try await tag.requestServiceV2(nodeCodeList: [Data([0, 0])]) })
        #expect(await Self.isLength { _ = try await tag.requestSpecificationVersion() })
        #expect(await Self.isLength { _ = try await tag.requestServiceV2(nodeCodeList: [Data([0, 0])]) })
    }

    @Test(arguments: [0, 1, 3]) func `A version has as many options as it says`(count: Int) async throws {
        let options = (0..<2 * count).map { UInt8($0) }
        let answer = [0x3D] + Self.idm + [0, 0, 0, 1, 5, UInt8(count)] + options
        let (_, tag) = try ScriptedTag.feliCa(.success(answer), .success(answer.dropLast()), .success(answer + [0]))
        let version = try await tag.requestSpecificationVersion()
        #expect(version.2 == Data([1, 5]) && version.3 == Data(options))
        for _ in 0..<2 { #expect(await Self.isLength { _ = try await tag.requestSpecificationVersion() }) }
    }

    @Test(arguments: [0, 1, 2, 30]) func `Systems are as many as the card says`(count: Int) async throws {
        let codes = (0..<count).map { [UInt8($0), 3] }
        let answer = [0x0D] + Self.idm + [UInt8(count)] + codes.flatMap(\.self)
        let (_, tag) = try ScriptedTag.feliCa(.success(answer), .success(answer.dropLast()), .success(answer + [0]))
        #expect(try await tag.requestSystemCode() == codes.map { Data($0) })
        for _ in 0..<2 { #expect(await Self.isLength { _ = try await tag.requestSystemCode() }) }
    }

    @Test(arguments: [6, 7, 8, 9, 10, 11]) func `An answer to Polling has a PMm, and two bytes more or none`(count: Int)
        async throws
    {
        let (_, tag) = try ScriptedTag.feliCa(.success([0x01] + Self.idm + (0..<count).map { UInt8($0) }))
        let isWhole = count == 8 || count == 10
        let error = await readerError {
            let (parameter, data) = try await tag.polling(
                systemCode: Data([0, 3]),
                requestCode: .noRequest,
                timeSlot: .max1
            )
            #expect(parameter == Data(0..<8) && data == Data((8..<count).map { UInt8($0) }))
        }
        #expect((error == nil) == isWhole)
    }

    // MARK: ISO 15693

    @Test(arguments: [(1, nil), (32, nil), (33, 4), (0, 4)] as [(Int, Int?)])
    func `A block that is written has from 1 to 32 bytes`(count: Int, code: Int?) async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0]), .success([0]))
        let block = Data(count: count)
        let short = await readerError {
            try await tag.writeSingleBlock(requestFlags: [], blockNumber: 255, dataBlock: block)
        }
        let long = await readerError {
            try await tag.extendedWriteSingleBlock(requestFlags: [], blockNumber: 65_535, dataBlock: block)
        }
        #expect(short?.errorCode == code && long?.errorCode == code)
        #expect(channel.sent.count == (code == nil ? 2 : 0))
    }

    @Test(arguments: [(1, true), (32, true), (33, false), (0, false)])
    func `A block that is read has from 1 to 32 bytes, and its status besides where that is wanted`(
        count: Int,
        isOne: Bool
    ) async throws {
        let bytes = (0..<count).map { UInt8($0) }
        let (_, tag) = try ScriptedTag.iso15693(
            .success([0] + bytes),
            .success([0, 1] + bytes),
            .success([0] + bytes),
            .success([0, 1] + bytes + [1] + bytes)
        )
        let plain = try? await tag.readSingleBlock(requestFlags: [], blockNumber: 0)
        let status = try? await tag.readSingleBlock(requestFlags: .option, blockNumber: 0)
        #expect(plain == (isOne ? Data(bytes) : nil) && status == (isOne ? Data([1] + bytes) : nil))
        let one = try? await tag.readMultipleBlocks(requestFlags: [], blockRange: NSRange(location: 0, length: 1))
        #expect(one == (isOne ? [Data(bytes)] : nil))
        let two = try? await tag.readMultipleBlocks(requestFlags: .option, blockRange: NSRange(location: 0, length: 2))
        #expect(two == (isOne ? [Data([1] + bytes), Data([1] + bytes)] : nil))
    }

    @Test func `Blocks are numbered up to 255, or 65535 in two bytes`() async throws {
        let block = Result<[UInt8], NFCReaderError>.success([0, 1])
        let (channel, tag) = try ScriptedTag.iso15693(block, block, block, block)
        _ = try await tag.readSingleBlock(requestFlags: [], blockNumber: 255)
        _ = try await tag.extendedReadSingleBlock(requestFlags: [], blockNumber: 65_535)
        _ = try await tag.readMultipleBlocks(requestFlags: [], blockRange: NSRange(location: 255, length: 1))
        _ = try await tag.extendedReadMultipleBlocks(requestFlags: [], blockRange: NSRange(location: 65_535, length: 1))
        #expect(
            channel.sent.map { Array($0.bytes.dropFirst(10)) } == [[255], [255, 255], [255, 0], [255, 255, 0, 0]]
        )
        for range in [
            NSRange(location: 65_535, length: 2), NSRange(location: 65_536, length: 1),
            NSRange(location: 0, length: 65_537), NSRange(location: 0, length: 0),
        ] {
            #expect(
                await Self.code { _ = try await tag.extendedReadMultipleBlocks(requestFlags: [], blockRange: range) }
                    == .readerErrorParameterOutOfBound
            )
        }
        #expect(channel.sent.count == 4)
    }

    @Test(arguments: [(0x9F, 3), (0xA0, nil), (0xDF, nil), (0xE0, 3), (-1, 3), (256, 3)] as [(Int, Int?)])
    func `A custom command has a code from A0 to DF, and parameters of its own`(command: Int, code: Int?) async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0, 9]))
        let error = await readerError {
            let configuration = NFCISO15693CustomCommandConfiguration(
                manufacturerCode: 7,
                customCommandCode: command,
                requestParameters: Data([1, 2, 3])
            )
            let answer = try await tag.sendCustomCommand(commandConfiguration: configuration)
            #expect(answer == Data([9]))
        }
        #expect((error == nil) == (code == nil))
        if code != nil { #expect(error?.code == .tagCommandConfigurationErrorInvalidParameters) }
        #expect(
            channel.sent.map(\.bytes) == (code == nil ? [[0x02, UInt8(truncatingIfNeeded: command), 7, 1, 2, 3]] : [])
        )
    }

    @Test func `A custom command's manufacturer is one byte`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0]))
        for (maker, isOne) in [(-1, false), (255, true), (256, false)] {
            let configuration = NFCISO15693CustomCommandConfiguration(
                manufacturerCode: maker,
                customCommandCode: 0xA0,
                requestParameters: nil
            )
            let error = await readerError { try await tag.sendCustomCommand(commandConfiguration: configuration) }
            #expect((error == nil) == isOne)
        }
        #expect(channel.sent.map(\.bytes) == [[0x02, 0xA0, 255]])
    }

    @Test(arguments: [(252, nil), (253, 105)] as [(Int, Int?)])
    func `A request has 256 bytes with its checksum`(count: Int, code: Int?) async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0]))
        let error = await readerError {
            try await tag.sendRequest(requestFlags: 2, commandCode: 0xA0, data: Data(count: count))
        }
        #expect(error?.errorCode == code && channel.sent.count == (code == nil ? 1 : 0))
        for (flags, command) in [(-1, 0), (256, 0), (0, -1), (0, 256)] {
            #expect(
                await Self.code {
                    _ = try await tag.sendRequest(requestFlags: flags, commandCode: command, data: Data())
                } == .readerErrorParameterOutOfBound
            )
        }
    }

    @Test(
        arguments: [
            (0x01, "The tag does not know the command."), (0x02, "The tag does not recognise the command."),
            (0x03, "The tag does not support the option."), (0x0F, "The tag reports an error without more detail."),
            (0x10, "The block does not exist."), (0x11, "The block is already locked."),
            (0x12, "The block is locked and can't be changed."), (0x13, "The block was not programmed."),
            (0x14, "The block was not locked."), (0x15, "The block is protected."),
            (0x40, "The tag reports an error of its cryptography."), (0xA1, "The tag reports error 0xa1."),
        ] as [(UInt8, String)]
    ) func `An error of a tag is said in words`(code: UInt8, reason: String) async throws {
        let (_, tag) = try ScriptedTag.iso15693(.success([0x01, code]))
        let error = await readerError { try await tag.select(requestFlags: []) }
        #expect((error?.userInfo[NSLocalizedFailureReasonErrorKey] as? String)?.lowercased() == reason.lowercased())
    }

    @Test func `What a command has no data for may have none in its answer`() async throws {
        let (_, tag) = try ScriptedTag.iso15693(.success([0, 1]), .success([0]))
        #expect(await Self.isLength { try await tag.lockBlock(requestFlags: [], blockNumber: 1) })
        try await tag.lockBlock(requestFlags: [], blockNumber: 1)
    }

    @Test(arguments: [1, 2, 3, 5, 6, 7]) func `Blocks are read in chunks of a size, and joined`(size: Int) async throws
    {
        let starts = Array(stride(from: 0, to: 6, by: size))
        let chunks: [[UInt8]] = starts.map { start in
            (start..<min(start + size, 6)).map { UInt8($0) }
        }
        let fixture = ScriptedTag(ScriptedTag.vicinityTarget, chunks.map { .success([0] + $0) })
        guard case .iso15693(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        let configuration = NFCISO15693ReadMultipleBlocksConfiguration(
            range: NSRange(location: 3, length: 6),
            chunkSize: size
        )
        #expect(try await tag.readMultipleBlock(readConfiguration: configuration) == Data(chunks.flatMap(\.self)))
        let ranges = starts.map { [UInt8(3 + $0), UInt8(min(size, 6 - $0) - 1)] }
        #expect(fixture.channel.sent.map { Array($0.bytes.suffix(2)) } == ranges)
    }

    @Test func `A chunk of no blocks is refused`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693()
        for size in [0, -1] {
            let configuration = NFCISO15693ReadMultipleBlocksConfiguration(
                range: NSRange(location: 0, length: 2),
                chunkSize: size
            )
            #expect(
                await Self.code { _ = try await tag.readMultipleBlock(readConfiguration: configuration) }
                    == .tagCommandConfigurationErrorInvalidParameters
            )
        }
        #expect(channel.sent.isEmpty)
    }

    // MARK: Through a session

    @Test func `A frame that is too long for the reader is 105, and the tag stays`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let found = try await `A session for tags`.detect()
            let tag = try #require(found.miFare)
            try await found.session.connect(to: .miFare(tag))
            let longest = try #require(field.tags.link(for: .nfcA)).maximumFrameLength
            let error = await readerError { try await tag.sendMiFareCommand(commandPacket: Data(count: longest + 1)) }
            #expect(error?.code == .readerTransceiveErrorPacketTooLong && error?.errorCode == 105)
            #expect(tag.isAvailable)
            #expect(try await tag.sendMiFareCommand(commandPacket: Data([0x30, 3])).first == 0xE1)
            // What the tag can't do is another error.
            let other = await readerError {
                let apdu = try #require(NFCISO7816APDU(data: Data([0, 0xB0, 0, 0, 0])))
                _ = try await tag.sendMiFareISO7816Command(apdu)
            }
            #expect(other?.code == .readerErrorUnsupportedFeature)
            found.session.invalidate()
        }
    }
}
