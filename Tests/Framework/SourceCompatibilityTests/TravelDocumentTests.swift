// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import CoreNFC
import Foundation
import NFCTestKit
import TagImages
import Testing
import VirtualTags

@testable import SourceCompatibilitySwift6  // the clients' types are internal, as in an app

/// What a phone has in CommonCrypto.
private struct SystemCryptography: DocumentCryptography {
    func sha1(_ data: Data) throws -> Data { Data(try MessageDigest.sha1.hash([UInt8](data))) }

    func tripleDES(_ data: Data, key: Data, encrypts: Bool) throws -> Data {
        let cipher = try BlockCipher.des([UInt8](key))
        let mode = BlockCipher.Mode.blockChaining(vector: [UInt8](repeating: 0, count: 8))
        return Data(try encrypts ? cipher.encrypt([UInt8](data), mode) : cipher.decrypt([UInt8](data), mode))
    }

    func retailMAC(_ data: Data, key: Data) throws -> Data {
        Data(try BlockCipher.retailMAC([UInt8](data), key: [UInt8](key)))
    }
}

@Suite(.timeLimit(.minutes(5))) struct TravelDocumentTests {
    private static let lines = [
        "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<", "L898902C36UTO7408122F1204159ZE184226B<<<<<10",
    ]
    private static let access = "L898902C3674081221204159"

    @MainActor
    @Test(
        arguments: [
            Type4FrontEnd.randomEMRTD, .emrtd(uid: [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66]),
            .emrtd(pupi: [0x31, 0x32, 0x33, 0x34]),
        ]
    )
    func `Travel document: after basic access control, EF.COM, data groups 1 and 2 and EF.SOD are read`(
        frontEnd: Type4FrontEnd
    )
        async throws
    {
        let contents = try EMRTDContents(MachineReadableZone(Self.lines.joined()), signer: .test)
        try await withVirtualField { field in
            try await AppConfiguration.$scoped.withValue(VirtualTagTests.configuration) {
                field.tags.bring(VirtualType4Tag(contents, frontEnd: frontEnd))
                let scanner = DocumentScanner(access: Self.access, cryptography: SystemCryptography())
                let files = try await scanner.scan([0x011E, 0x0101, 0x0102, 0x011D])
                #expect(files == contents.files.mapValues { Data($0) })
                #expect(files[0x0101].map { String(decoding: $0.dropFirst(5), as: UTF8.self) } == Self.lines.joined())
            }
            try await field.untilIdle()
        }
    }

    @MainActor @Test func `Travel document from a JSON image with its machine readable zone: EF.COM is read`()
        async throws
    {
        let text = #"{"type": "T4T", "product": "eMRTD", "uid": "08112233", "mrz": "\#(Self.lines.joined())"}"#
        let image = try TagImage(parsing: Array(text.utf8))
        try await withVirtualField { field in
            try await AppConfiguration.$scoped.withValue(VirtualTagTests.configuration) {
                field.tags.bring(image.makeTag())
                let scanner = DocumentScanner(access: Self.access, cryptography: SystemCryptography())
                let files = try await scanner.scan([0x011E])
                #expect(files[0x011E]?.count == 22)
            }
            try await field.untilIdle()
        }
    }

    @MainActor @Test func `Travel document with another document's zone: wrongZone`() async throws {
        let contents = try EMRTDContents(MachineReadableZone(Self.lines.joined()), signer: .test)
        try await withVirtualField { field in
            await AppConfiguration.$scoped.withValue(VirtualTagTests.configuration) {
                field.tags.bring(VirtualType4Tag(contents))
                let scanner = DocumentScanner(access: "L898902C<369080619406236", cryptography: SystemCryptography())
                await #expect(throws: DocumentError.wrongZone) { try await scanner.scan([0x011E]) }
            }
            try await field.untilIdle()
        }
    }
}
