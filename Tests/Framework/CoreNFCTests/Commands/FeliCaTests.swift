// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Testing

@Suite struct `Commands of FeliCa` {
    static let idm = ScriptedTag.idm
    static let pmm: [UInt8] = [0x10, 0x0B, 0x4B, 0x42, 0x84, 0x85, 0xD0, 0xFF]

    @Test func `Polling selects a system of the card`() async throws {
        let other: [UInt8] = [9, 9, 9, 9, 9, 9, 9, 9]
        let (channel, tag) = try ScriptedTag.feliCa(.success([0x01] + other + Self.pmm + [0xFE, 0x00]))
        let (parameter, data) = try await tag.polling(
            systemCode: Data([0xFE, 0x00]),
            requestCode: .systemCode,
            timeSlot: .max4
        )
        #expect([UInt8](parameter) == Self.pmm)
        #expect([UInt8](data) == [0xFE, 0x00])
        #expect(channel.sent.map(\.bytes) == [[0x00, 0xFE, 0x00, 1, 3]])
        #expect([UInt8](tag.currentIDm) == other)
        #expect([UInt8](tag.currentSystemCode) == [0xFE, 0x00])
    }

    @Test func `A system that does not answer leaves no IDm`() async throws {
        let (_, tag) = try ScriptedTag.feliCa()
        #expect([UInt8](tag.currentIDm) == Self.idm)
        let error = await readerError {
            try await tag.polling(systemCode: Data([0x12, 0xFC]), requestCode: .noRequest, timeSlot: .max1)
        }
        #expect(error?.code == .readerTransceiveErrorTagResponseError)
        #expect(tag.currentIDm.isEmpty && [UInt8](tag.currentSystemCode) == [0x00, 0x03])
    }

    @Test func `Commands go to the system that was polled last, and their answers come from it`() async throws {
        let other: [UInt8] = [9, 9, 9, 9, 9, 9, 9, 9]
        let (channel, tag) = try ScriptedTag.feliCa(
            .success([0x01] + other + Self.pmm),
            .success([0x05] + other + [2]),
            .success([0x05] + Self.idm + [2]),
            .failure(.noAnswer),
            .success([0x01] + Self.idm + Self.pmm),
            .success([0x05] + Self.idm + [3])
        )
        _ = try await tag.polling(systemCode: Data([0xFE, 0x00]), requestCode: .noRequest, timeSlot: .max1)
        #expect(try await tag.requestResponse() == 2)
        // That is the answer of the system before.
        let error = await readerError { try await tag.requestResponse() as Int }
        #expect(error?.code == .readerTransceiveErrorTagResponseError)
        // A system that does not answer does not keep the next one from it.
        for code in [Data([0x12, 0xFC]), Data([0x00, 0x03])] {
            _ = try? await tag.polling(systemCode: code, requestCode: .noRequest, timeSlot: .max1)
        }
        #expect([UInt8](tag.currentIDm) == Self.idm && [UInt8](tag.currentSystemCode) == [0x00, 0x03])
        #expect(try await tag.requestResponse() == 3)
        let commands = channel.sent.map(\.bytes).filter { $0.first == 0x04 }
        #expect(commands.map { Array($0.dropFirst()) } == [other, other, Self.idm])
    }

    @Test func `A card that is lost while it is polled keeps its system and its IDm`() async throws {
        let (_, tag) = try ScriptedTag.feliCa(.failure(.lost))
        let error = await readerError {
            try await tag.polling(systemCode: Data([0x12, 0xFC]), requestCode: .noRequest, timeSlot: .max1)
        }
        #expect(error?.code == .readerTransceiveErrorTagConnectionLost)
        #expect([UInt8](tag.currentIDm) == Self.idm && tag.currentSystemCode == Data([0x00, 0x03]))
    }

    @Test func `A system that the app does not list is not polled for`() async throws {
        let codes = "com.apple.developer.nfc.readersession.felica.systemcodes"
        let list = AppConfiguration.PropertyFile(path: "Info.plist", values: [codes: ["fe00"]])
        let (channel, tag) = try ScriptedTag.feliCa(
            .success([0x01] + Self.idm + Self.pmm),
            configuration: AppConfiguration(infoPlist: list)
        )
        let error = await readerError {
            try await tag.polling(systemCode: Data([0x88, 0xB4]), requestCode: .noRequest, timeSlot: .max1)
        }
        #expect(error?.code == .readerErrorSecurityViolation)
        #expect(channel.sent.isEmpty && [UInt8](tag.currentIDm) == Self.idm)
        _ = try await tag.polling(systemCode: Data([0xFE, 0x00]), requestCode: .noRequest, timeSlot: .max1)
        #expect(channel.sent.map(\.bytes) == [[0x00, 0xFE, 0x00, 0, 0]])
    }

    @Test(arguments: [1, 3]) func `Key versions for another number of nodes than asked for are no answer`(count: Int)
        async throws
    {
        let versions = (0..<2 * count).map { UInt8($0) }
        let (_, tag) = try ScriptedTag.feliCa(.success([0x03] + Self.idm + [UInt8(count)] + versions))
        let error = await readerError {
            try await tag.requestService(nodeCodeList: [Data([0, 0]), Data([1, 1])])
        }
        #expect(error?.code == .readerTransceiveErrorTagResponseError)
        #expect(error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] as? Bool == true)
    }

    @Test(arguments: [
        (Data([0xFF, 0x00]), NFCReaderError.Code.readerErrorInvalidParameter),
        (Data([0x00, 0xFF]), .readerErrorInvalidParameter), (Data([0x00]), .readerErrorInvalidParameterLength),
    ]) func `A system code that matches several, or is invalid, is refused`(
        code: Data,
        expected: NFCReaderError.Code
    ) async throws {
        let (channel, tag) = try ScriptedTag.feliCa()
        let error = await readerError {
            try await tag.polling(systemCode: code, requestCode: .noRequest, timeSlot: .max1)
        }
        #expect(error?.code == expected)
        #expect(channel.sent.isEmpty)
    }

    @Test func `Blocks are read, and status flags are answers and no errors`() async throws {
        let block = [UInt8](repeating: 0x5A, count: 16)
        let (channel, tag) = try ScriptedTag.feliCa(
            .success([0x07] + Self.idm + [0, 0, 2] + block + block),
            .success([0x07] + Self.idm + [0xFF, 0xA6])
        )
        let list = [Data([0x80, 0]), Data([0x00, 1, 0])]
        let service = [Data([0x0F, 0x09])]
        let (flag1, flag2, blocks) = try await tag.readWithoutEncryption(serviceCodeList: service, blockList: list)
        #expect(flag1 == 0 && flag2 == 0)
        #expect(blocks.map { [UInt8]($0) } == [block, block])
        let packet: [UInt8] = [0x06] + Self.idm + [1, 0x0F, 0x09, 2, 0x80, 0, 0x00, 1, 0]
        #expect(channel.sent.map(\.bytes) == [packet])
        let refused = try await tag.readWithoutEncryption(serviceCodeList: service, blockList: list)
        #expect(refused.0 == 0xFF && refused.1 == 0xA6 && refused.2.isEmpty)
    }

    @Test func `Blocks are written`() async throws {
        let (channel, tag) = try ScriptedTag.feliCa(.success([0x09] + Self.idm + [0, 0]))
        let (flag1, flag2) = try await tag.writeWithoutEncryption(
            serviceCodeList: [Data([0x09, 0x00])],
            blockList: [Data([0x80, 1])],
            blockData: [Data(repeating: 7, count: 16)]
        )
        #expect(flag1 == 0 && flag2 == 0)
        #expect(channel.sent.first?.bytes.count == 31)
        #expect(channel.sent.first?.answer == .write)
    }

    @Test func `Lists that no packet can hold are refused`() async throws {
        let (channel, tag) = try ScriptedTag.feliCa()
        let service = Data([0x0F, 0x09])
        let element = Data([0x80, 0])
        let cases: [([Data], [Data])] = [
            ([], [element]), ([Data([1])], [element]), ([service], []), ([service], [Data([0x80])]),
            ([service], [Data([0x00, 1])]), ([service], [Data()]),
            ([Data](repeating: service, count: 17), [element]),
            // One that fits does not make up for one that doesn't.
            ([service, Data([1])], [element]), ([service], [element, Data([0x80, 0, 0])]),
        ]
        for (services, blocks) in cases {
            let error = await readerError {
                try await tag.readWithoutEncryption(serviceCodeList: services, blockList: blocks)
            }
            #expect(error?.code == .readerErrorInvalidParameterLength)
        }
        let long = await readerError {
            try await tag.readWithoutEncryption(
                serviceCodeList: [service],
                blockList: [Data](repeating: element, count: 130)
            )
        }
        #expect(long?.code == .readerTransceiveErrorPacketTooLong)
        #expect(channel.sent.isEmpty)
    }

    @Test func `The other commands read their answers`() async throws {
        let (channel, tag) = try ScriptedTag.feliCa(
            .success([0x03] + Self.idm + [2, 1, 0, 0xFF, 0xFF]),
            .success([0x05] + Self.idm + [3]),
            .success([0x0D] + Self.idm + [2, 0x00, 0x03, 0xFE, 0x00]),
            .success([0x33] + Self.idm + [0, 0, 0x41, 1, 1, 2, 3, 4]),
            .success([0x3D] + Self.idm + [0, 0, 0, 1, 5, 1, 0x20, 1]),
            .success([0x3F] + Self.idm + [0, 0])
        )
        let nodes = [Data([0, 0]), Data([1, 1])]
        #expect(try await tag.requestService(nodeCodeList: nodes) == [Data([1, 0]), Data([0xFF, 0xFF])])
        #expect(try await tag.requestResponse() == 3)
        #expect(try await tag.requestSystemCode() == [Data([0, 3]), Data([0xFE, 0])])
        let services = try await tag.requestServiceV2(nodeCodeList: [Data([0, 0])])
        #expect(services.2 == .AES_DES && services.3 == [Data([1, 2])] && services.4 == [Data([3, 4])])
        let version = try await tag.requestSpecificationVersion()
        #expect(version.2 == Data([1, 5]) && version.3 == Data([0x20, 1]))
        let reset = try await tag.resetMode()
        #expect(reset.0 == 0 && reset.1 == 0)
        #expect(channel.sent.map { $0.bytes[0] } == [0x02, 0x04, 0x0C, 0x32, 0x3C, 0x3E])
    }

    @Test func `A free packet is framed and its answer begins with its length`() async throws {
        let (channel, tag) = try ScriptedTag.feliCa(.success([0x05] + Self.idm + [0]))
        let answer = try await tag.sendFeliCaCommand(commandPacket: Data([0x04] + Self.idm))
        let expected: [UInt8] = [11, 0x05] + Self.idm + [0]
        #expect([UInt8](answer) == expected)
        #expect(channel.sent.map(\.bytes) == [[0x04] + Self.idm])
    }

    @Test func `An answer that is cut short, or from another card, is refused`() async throws {
        let whole: [UInt8] = [0x07] + Self.idm + [0, 0, 1] + [UInt8](repeating: 1, count: 16)
        for count in 0..<whole.count {
            let (_, tag) = try ScriptedTag.feliCa(.success(Array(whole.prefix(count))))
            let error = await readerError {
                try await tag.readWithoutEncryption(serviceCodeList: [Data([0, 0])], blockList: [Data([0x80, 0])])
            }
            #expect(error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] != nil)
        }
        var other = whole
        other[3] ^= 1
        let (_, tag) = try ScriptedTag.feliCa(.success(other))
        let error = await readerError {
            try await tag.readWithoutEncryption(serviceCodeList: [Data([0, 0])], blockList: [Data([0x80, 0])])
        }
        #expect(error?.code == .readerTransceiveErrorTagResponseError)
    }

    @Test func `The answer to another command is refused`() async throws {
        let block = [UInt8](repeating: 1, count: 16)
        for code: UInt8 in [0x06, 0x08, 0x09] {
            let (_, tag) = try ScriptedTag.feliCa(.success([code] + Self.idm + [0, 0, 1] + block))
            let error = await readerError {
                try await tag.readWithoutEncryption(serviceCodeList: [Data([0, 0])], blockList: [Data([0x80, 0])])
            }
            #expect(error?.code == .readerTransceiveErrorTagResponseError)
            #expect(error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] == nil)
        }
    }

    @Test func `An answer that is longer than its command's, or counts other blocks than it has, is refused`()
        async throws
    {
        let (service, element) = ([Data([0x09, 0])], [Data([0x80, 0])])
        let block = [UInt8](repeating: 1, count: 16)
        let commands: [(answer: [UInt8], call: (any NFCFeliCaTag) async throws -> Void)] = [
            ([0x05] + Self.idm, { _ = try await $0.requestResponse() as Int }),
            ([0x05] + Self.idm + [0, 0], { _ = try await $0.requestResponse() as Int }),
            (
                [0x09] + Self.idm + [0, 0, 0],
                {
                    _ = try await $0.writeWithoutEncryption(
                        serviceCodeList: service,
                        blockList: element,
                        blockData: [Data(count: 16)]
                    )
                }
            ),
            ([0x3F] + Self.idm + [0, 0, 0], { _ = try await $0.resetMode() }),
            (
                [0x07] + Self.idm + [0, 0, 2] + block,
                { _ = try await $0.readWithoutEncryption(serviceCodeList: service, blockList: element) }
            ),
        ]
        for (index, (answer, call)) in commands.enumerated() {
            let (_, tag) = try ScriptedTag.feliCa(.success(answer))
            let error = await readerError { try await call(tag) }
            #expect(error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] as? Bool == true, "\(index)")
        }
    }

    @Test func `Data that are not 16 bytes for each block are not written`() async throws {
        let (channel, tag) = try ScriptedTag.feliCa(.success([0x09] + Self.idm + [0, 0]))
        let (block, short, long) = (Data(count: 16), Data(count: 15), Data(count: 17))
        for data in [[], [block], [block, block, block], [block, short], [short, long]] {
            let error = await readerError {
                _ = try await tag.writeWithoutEncryption(
                    serviceCodeList: [Data([0x09, 0])],
                    blockList: [Data([0x80, 0]), Data([0x80, 1])],
                    blockData: data
                )
            }
            #expect(error?.code == .readerErrorInvalidParameterLength)
        }
        #expect(channel.sent.isEmpty)
    }
}
