// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Testing

@Suite struct `Command APDUs` {
    struct Example: Sendable {
        var bytes: [UInt8]
        var data: [UInt8]?
        var expected: Int
    }

    static let header: [UInt8] = [0x00, 0xB0, 0x01, 0x02]
    static let long = [UInt8](repeating: 0xAB, count: 300)

    static let examples: [Example] = [
        Example(bytes: header, data: nil, expected: -1),
        Example(bytes: header + [0x00], data: nil, expected: 256),
        Example(bytes: header + [0x10], data: nil, expected: 16),
        Example(bytes: header + [0x02, 7, 8], data: [7, 8], expected: -1),
        Example(bytes: header + [0x02, 7, 8, 0x00], data: [7, 8], expected: 256),
        Example(bytes: header + [0x02, 7, 8, 0x05], data: [7, 8], expected: 5),
        Example(bytes: header + [0x00, 0x00, 0x00], data: nil, expected: 65_536),
        Example(bytes: header + [0x00, 0x01, 0x01], data: nil, expected: 257),
        Example(bytes: header + [0x00, 0x01, 0x2C] + long, data: long, expected: -1),
        Example(bytes: header + [0x00, 0x01, 0x2C] + long + [0x00, 0x00], data: long, expected: 65_536),
        Example(bytes: header + [0x00, 0x01, 0x2C] + long + [0x01, 0x00], data: long, expected: 256),
    ]

    @Test(arguments: examples) func `Each form is read, and written as it was`(example: Example) throws {
        let apdu = try #require(NFCISO7816APDU(data: Data(example.bytes)))
        #expect(apdu.instructionClass == 0x00 && apdu.instructionCode == 0xB0)
        #expect(apdu.p1Parameter == 0x01 && apdu.p2Parameter == 0x02)
        #expect(apdu.data.map { [UInt8]($0) } == example.data)
        #expect(apdu.expectedResponseLength == example.expected)
        #expect(try apdu.encoded().get() == example.bytes)
        let slice = (Data([0xFF]) + Data(example.bytes)).dropFirst()
        #expect(NFCISO7816APDU(data: slice)?.expectedResponseLength == example.expected)
    }

    @Test(
        arguments: [
            [], [0], [0, 0xB0], [0, 0xB0, 0],
            // Lc says more, or less, than there is.
            [0, 0xD6, 0, 0, 5, 1, 2], [0, 0xD6, 0, 0, 1, 1, 2, 3],
            // The extended form without its second byte, with Lc of 0 before a Le, and with half a Le.
            [0, 0xD6, 0, 0, 0, 1], [0, 0xD6, 0, 0, 0, 0, 0, 1], [0, 0xD6, 0, 0, 0, 0, 0, 0, 1],
            [0, 0xD6, 0, 0, 0, 0, 1, 9, 0],
            [0, 0xD6, 0, 0, 0, 0, 2, 9],
        ] as [[UInt8]]
    ) func `Lengths that can't be are refused`(bytes: [UInt8]) {
        #expect(NFCISO7816APDU(data: Data(bytes)) == nil)
    }

    @Test(
        arguments: [
            ([0, 0, 2, 7, 8], -1), ([0, 0, 2, 7, 8, 0, 5], 5), ([0, 0, 2, 7, 8, 1, 0], 256),
            ([0, 0, 2, 7, 8, 0, 0], 65_536),
        ] as [([UInt8], Int)]
    ) func `The extended form may hold what the short one could`(body: [UInt8], expected: Int) throws {
        let apdu = try #require(NFCISO7816APDU(data: Data(Self.header + body)))
        #expect(apdu.data == Data([7, 8]) && apdu.expectedResponseLength == expected)
    }

    @Test(arguments: [255, 256, 65_535], [-1, 1, 256, 257, 65_535, 65_536])
    func `The longest command is read as it was written`(count: Int, expected: Int) throws {
        let bytes = try Self.apdu(count, expected).encoded().get()
        let apdu = try #require(NFCISO7816APDU(data: Data(bytes)))
        #expect(apdu.data?.count == count && apdu.expectedResponseLength == expected)
    }

    @Test func `Every truncation of an example is read as something that it is, or not at all`() throws {
        for example in Self.examples {
            for count in 0..<example.bytes.count {
                let bytes = Array(example.bytes.prefix(count))
                guard let apdu = NFCISO7816APDU(data: Data(bytes)) else { continue }
                // An extended form is written as a short one if possible, otherwise unchanged.
                #expect(try apdu.encoded().get().count <= bytes.count)
            }
        }
    }

    @Test func `A command prints each of its fields`() throws {
        let apdu = try #require(NFCISO7816APDU(data: Data([0x0C, 0xD6, 0x01, 0x02, 0x02, 0xAB, 0xCD, 0x10])))
        #expect(apdu.description == "CLA=0c, INS=d6, P1=01, P2=02, Data=abcd, Le=16")
        let short = try #require(NFCISO7816APDU(data: Data([0x00, 0x84, 0x00, 0x00])))
        #expect(short.description == "CLA=00, INS=84, P1=00, P2=00, Data=, Le=-1")
    }

    /// A command with so many bytes of data, for an answer of a length.
    private static func apdu(_ count: Int, _ expected: Int) -> NFCISO7816APDU {
        NFCISO7816APDU(
            instructionClass: 0,
            instructionCode: 0,
            p1Parameter: 0,
            p2Parameter: 0,
            data: Data(count: count),
            expectedResponseLength: expected
        )
    }

    @Test func `The extended form is taken when the short one does not suffice`() throws {
        func bytes(_ count: Int, _ expected: Int) throws -> [UInt8] {
            try Self.apdu(count, expected).encoded().get()
        }
        #expect(try bytes(255, 256).count == 4 + 1 + 255 + 1)
        #expect(try bytes(256, -1).count == 4 + 3 + 256)
        #expect(try bytes(1, 257) == [0, 0, 0, 0, 0, 0, 1, 0, 1, 1])
        #expect(try bytes(0, 0) == [0, 0, 0, 0, 0])
        // 0 is 256 in the extended form too, where two zeros would be 65536.
        #expect(try bytes(256, 0).suffix(2) == [1, 0])
        #expect(try bytes(255, 0).count == 4 + 1 + 255 + 1)
        #expect(try bytes(65_535, 65_536).count == 4 + 3 + 65_535 + 2)
    }

    @Test func `Data and lengths beyond an APDU fail when it is sent`() async throws {
        let (channel, tag) = try ScriptedTag.iso7816()
        for (count, expected, code) in [
            (65_536, -1, NFCReaderError.Code.readerErrorInvalidParameterLength),
            (0, 65_537, .readerErrorParameterOutOfBound), (0, -2, .readerErrorParameterOutOfBound),
        ] {
            let apdu = Self.apdu(count, expected)
            let error = await readerError { () -> NFCISO7816ResponseAPDU in try await tag.sendCommand(apdu: apdu) }
            #expect(error?.code == code)
        }
        #expect(channel.sent.isEmpty)
    }
}

@Suite struct `Answers to APDUs` {
    static let read = NFCISO7816APDU(data: Data([0, 0xB0, 0, 0, 0]))

    @Test(
        arguments: [
            ([0x90, 0x00], []), ([0x61, 0x10], []), ([0x6C, 0x05], []), ([1, 2, 3, 0x90, 0x00], [1, 2, 3]),
        ] as [([UInt8], [UInt8])]
    ) func `Status words come to the app as the card gave them`(
        bytes: [UInt8],
        data: [UInt8]
    ) async throws {
        let (channel, tag) = try ScriptedTag.iso7816(.success(bytes))
        let apdu = try #require(Self.read)
        let (answer, sw1, sw2) = try await tag.sendCommand(apdu: apdu)
        #expect([UInt8](answer) == data)
        #expect([sw1, sw2] == Array(bytes.suffix(2)))
        #expect(channel.sent.map(\.bytes) == [[0, 0xB0, 0, 0, 0]])
    }

    @Test(arguments: [[], [0x90]] as [[UInt8]])
    func `An answer without a status word is of an unexpected length`(bytes: [UInt8]) async throws {
        let (_, tag) = try ScriptedTag.iso7816(.success(bytes))
        let apdu = try #require(Self.read)
        let error = await readerError { () -> NFCISO7816ResponseAPDU in try await tag.sendCommand(apdu: apdu) }
        #expect(error?.code == .readerTransceiveErrorTagResponseError)
        #expect(error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] != nil)
    }

    @Test func `What the reader can't carry is an error of the command`() async throws {
        let (_, tag) = try ScriptedTag.iso7816(.failure(NFCReaderError(.readerTransceiveErrorPacketTooLong)))
        let long = NFCISO7816APDU(
            instructionClass: 0,
            instructionCode: 0xD6,
            p1Parameter: 0,
            p2Parameter: 0,
            data: Data(count: 400),
            expectedResponseLength: -1
        )
        let error = await readerError { () -> NFCISO7816ResponseAPDU in try await tag.sendCommand(apdu: long) }
        #expect(error?.code == .readerTransceiveErrorPacketTooLong)
    }

    @Test func `A MIFARE card without ISO-DEP refuses APDUs, and one with it takes them`() async throws {
        let apdu = try #require(Self.read)
        let (silent, ultralight) = try ScriptedTag.miFare()
        let error = await readerError { () -> (Data, UInt8, UInt8) in
            try await ultralight.sendMiFareISO7816Command(apdu)
        }
        #expect(error?.code == .readerErrorUnsupportedFeature)
        #expect(silent.sent.isEmpty)
        let (_, desfire) = try ScriptedTag.miFare(.success([0x91, 0xAF]), takesISODEP: true)
        let (data, sw1, sw2) = try await desfire.sendMiFareISO7816Command(apdu)
        #expect(data.isEmpty && sw1 == 0x91 && sw2 == 0xAF)
    }

    @Test func `A MIFARE command goes out as it is, and an acknowledgement is one byte`() async throws {
        let (channel, tag) = try ScriptedTag.miFare(.success([0x0A]), .failure(.lost))
        #expect(try await tag.sendMiFareCommand(commandPacket: Data([0xA2, 4, 1, 2, 3, 4])) == Data([0x0A]))
        #expect(channel.sent == [.init(bytes: [0xA2, 4, 1, 2, 3, 4], answer: .write)])
        let lost = await readerError { try await tag.sendMiFareCommand(commandPacket: Data([0x30, 4])) }
        #expect(lost?.code == .readerTransceiveErrorTagConnectionLost)
        let empty = await readerError { try await tag.sendMiFareCommand(commandPacket: Data()) }
        #expect(empty?.code == .readerErrorInvalidParameterLength)
        let long = await readerError { try await tag.sendMiFareCommand(commandPacket: Data(count: 254)) }
        #expect(long?.code == .readerTransceiveErrorPacketTooLong)
    }

    @Test(
        arguments: [(0xA2, .write), (0xA0, .write), (0x30, .usual), (0x60, .usual)] as [(UInt8, AnswerTime)]
    ) func `A MIFARE command that programs memory has the time for it`(code: UInt8, time: AnswerTime) async throws {
        let (channel, tag) = try ScriptedTag.miFare(.success([0x0A]))
        #expect(try await tag.sendMiFareCommand(commandPacket: Data([code, 4])) == Data([0x0A]))
        #expect(channel.sent == [.init(bytes: [code, 4], answer: time)])
    }

    @Test func `A MIFARE command has 253 bytes at most, and one that is longer is not sent`() async throws {
        let (channel, tag) = try ScriptedTag.miFare(.success([0x0A]))
        #expect(try await tag.sendMiFareCommand(commandPacket: Data(count: 253)) == Data([0x0A]))
        #expect(await readerError { try await tag.sendMiFareCommand(commandPacket: Data(count: 254)) } != nil)
        #expect(channel.sent.map(\.bytes.count) == [253])
    }
}
