// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import TagLink
import Testing

/// Command APDUs by ISO/IEC 7816-4, 5.1, and what a card's answer must have.
@Suite struct APDUTests {
    /// A command with so many bytes of data, for an answer of a length.
    static func apdu(_ count: Int, _ expected: Int) -> NFCISO7816APDU {
        NFCISO7816APDU(
            instructionClass: 0x0C,
            instructionCode: 0xB0,
            p1Parameter: 1,
            p2Parameter: 2,
            data: Data(count: count),
            expectedResponseLength: expected
        )
    }

    static let long = String(repeating: "ab", count: 300)
    /// The most data of a short form.
    static let most = String(repeating: "cd", count: 255)

    /// What follows the header, the data, and the expected length.
    static let forms: [(body: String, data: String?, expected: Int)] = [
        ("", nil, -1), ("00", nil, 256), ("10", nil, 16), ("02 0708", "0708", -1), ("02 0708 00", "0708", 256),
        ("02 0708 05", "0708", 5), ("000000", nil, 65_536), ("000101", nil, 257), ("00012c \(long)", long, -1),
        ("00012c \(long) 0000", long, 65_536), ("00012c \(long) 0100", long, 256), ("ff \(most) 00", most, 256),
        ("000001 07 0101", "07", 257), ("0000ff \(most) 0101", most, 257),
    ]

    @Test func `APDU: each form is parsed and written as the same bytes`() async throws {
        for (body, data, expected) in Self.forms {
            let hex = "0cb00102" + body.replacing(" ", with: "")
            // A slice, as of a larger buffer.
            let slice = (Data([0xFF]) + bytes(hex)).dropFirst()
            let apdu = try #require(NFCISO7816APDU(data: slice), "\(body)")
            #expect((apdu.instructionClass, apdu.instructionCode) == (0x0C, 0xB0))
            #expect((apdu.p1Parameter, apdu.p2Parameter) == (1, 2))
            #expect(apdu.data?.hexText() == data && apdu.expectedResponseLength == expected, "\(body)")
            let (channel, tag) = try await ScriptedTag.iso7816("9000")
            _ = try await tag.send(hex)
            #expect(channel.sent == [hex])
            for count in 0..<hex.count / 2 {
                // A cut command is another one, or none.
                guard let cut = NFCISO7816APDU(data: Data(bytes(hex).prefix(count))) else { continue }
                #expect(try cut.encoded().count <= count)
            }
        }
        // A length of 0 stands for 256 in both forms, as 65536 is two zeros in the extended one.
        #expect(try Self.apdu(0, 0).encoded().suffix(1) == [0])
        #expect(try Self.apdu(256, 0).encoded().suffix(2) == [1, 0])
        #expect(try Self.apdu(65_535, 65_536).encoded().count == 4 + 3 + 65_535 + 2)
    }

    @Test func `APDU in extended form with short lengths: parsed, and encoded in the short form`() throws {
        let rows = [("000002 0708", -1), ("000002 0708 0005", 5), ("000002 0708 0100", 256)]
        for (body, expected) in rows {
            let apdu = try #require(NFCISO7816APDU(data: Data(bytes("0cb00102" + body))))
            #expect(apdu.data == Data([7, 8]) && apdu.expectedResponseLength == expected)
            #expect(try apdu.encoded().count == (expected == -1 ? 7 : 8))
        }
    }

    @Test(
        arguments: [
            "", "00", "00b0", "00b000", "00d60000 05 0102", "00d60000 01 010203", "00d60000 00 01",
            "00d60000 000000 01", "00d60000 000000 0001", "00d60000 000001 09 00", "00d60000 000002 09",
        ]
    ) func `APDU from bytes: nil if cut, or if Lc or Le does not match the bytes that follow`(hex: String) {
        #expect(NFCISO7816APDU(data: Data(bytes(hex))) == nil)
    }

    @Test func `APDU answer without a status word: error 102 with the key for an unexpected length`() async throws {
        for answer in ["", "90"] {
            let (_, tag) = try await ScriptedTag.iso7816(answer)
            let error = await readerError { try await tag.send("00b0000000") }
            #expect(error?.errorCode == 102)
            #expect(error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] as? Bool == true)
        }
    }

    @Test func `APDU to a MIFARE tag: error 1 without ISO-DEP, and nothing is sent`() async throws {
        let (channel, ultralight) = try await ScriptedTag.miFare()
        #expect(await code { try await ultralight.sendAPDU("00b0000000") } == 1)
        #expect(channel.sent.isEmpty)
    }

    // MARK: The app's list of applications

    @Test func `SELECT by name: an application that the app does not list is error 2, and nothing is sent`()
        async throws
    {
        let app = AppConfiguration.app(applications: ["a0000002471001"])
        let name = "d2760000850101"
        for instructionClass in ["00", "01", "03", "0c", "40"] {
            // With a Le, without, the next occurrence, and in the extended form.
            for form in ["0400 07 \(name) 00", "040c 07 \(name)", "0402 07 \(name) 00", "0400 000007 \(name) 0000"] {
                for name in [name, AID.document] {
                    let hex = "\(instructionClass)a4" + form.replacing("d2760000850101", with: name)
                    let (channel, tag) = try await ScriptedTag.iso7816("9000", app: app)
                    let isListed = name == AID.document
                    #expect(await code { try await tag.send(hex) } == (isListed ? 0 : 2), "\(hex)")
                    #expect(channel.sent.isEmpty == !isListed)
                }
            }
        }
        let desfire = try await ScriptedTag(ScriptedTag.desfire, ["9000"], app: app)
        #expect(await code { try await desfire.tag.miFare.sendAPDU("00a4040007\(name)") } == 2)
        #expect(desfire.channel.sent.isEmpty)
        let (channel, tag) = try await ScriptedTag.iso7816("9000", app: app)
        #expect(await code { try await tag.send("00a40400") } == 2 && channel.sent.isEmpty)
        // UPDATE BINARY at 0400 and SELECT by file are not looked at.
        for command in ["00d604000107", "00a4020c02e103"] {
            let (channel, tag) = try await ScriptedTag.iso7816("9000", app: app)
            #expect(try await tag.send(command) == "9000" && channel.sent == [command])
        }
    }
}
