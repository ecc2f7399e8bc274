// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Foundation
import TagScripts
import TestThreads
import Testing
import VirtualCards

/// What a travel document is made of.
@Suite struct `The contents of a travel document` {
    /// Zones of ICAO 9303-4, 9303-5 and 9303-11, appendix D, and the data that the keys are derived from.
    static let zones = [
        (EMRTDTerminal.zone, "L898902C3", "L898902C3674081221204159"),
        (
            "I<UTOD23145890<7349<<<<<<<<<<<\n3407127M9507122UTO<<<<<<<<<<<2\nSTEVENSON<<PETER<JOHN<<<<<<<<<",
            "D23145890734", "D23145890734934071279507122"
        ),
        (
            "I<UTOSTEVENSON<<PETER<JOHN<<<<<<<<<<\nD23145890<UTO3407127M95071227349<<<8",
            "D23145890734", "D23145890734934071279507122"
        ),
        (
            "I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<",
            "D23145890", "D23145890774081221204159"
        ),
    ]

    @Test(arguments: zones) func `Zones of every size tell what opens the document`(
        text: String,
        number: String,
        information: String
    ) throws {
        let zone = try MachineReadableZone(text)
        #expect(zone.documentNumber == number)
        #expect(zone.accessInformation == Array(information.utf8))
        #expect(zone.lines.joined(separator: "\n") == text)
        let first = try #require(EMRTDContents(zone, signer: .test).files[0x0101])
        let characters = text.filter { $0 != "\n" }.utf8
        #expect(first == [0x61, UInt8(characters.count + 3), 0x5F, 0x1F, UInt8(characters.count)] + characters)
        var terminal = try EMRTDTerminal.open(EMRTDContents(zone, signer: .test))
        #expect(try terminal.read(1) == first)
    }

    @Test func `The seed of the keys is that of ICAO 9303-11, appendix D`() throws {
        let zone = try MachineReadableZone(Self.zones[2].0)
        let seed = try MessageDigest.sha1.hash(zone.accessInformation).prefix(16)
        #expect(hexText(seed) == hexText(hex("b366ad857ddca2b08c0e299811714730")))
    }

    @Test(
        arguments: [
            ("", "The zone has 0 characters; TD1 has 90, TD2 72 and TD3 88."),
            (
                zones[0].0.replacingOccurrences(of: "C36UTO", with: "C35UTO"),
                "The check digit of the document number is 5 and should be 6."
            ),
            (
                zones[0].0.replacingOccurrences(of: "C36UTO7408122", with: "C35UTO7409122"),
                "The check digit of the document number is 5 and should be 6."
            ),
            (
                zones[0].0.replacingOccurrences(of: "7408122", with: "7409122"),
                "The check digit of the date of birth is 2 and should be 9."
            ),
            (
                zones[0].0.replacingOccurrences(of: "7408122F1204159", with: "7409122F1304159"),
                "The check digit of the date of birth is 2 and should be 9."
            ),
            (
                zones[0].0.replacingOccurrences(of: "<<10", with: "<<17"),
                "The check digit of the whole zone is 7 and should be 0."
            ),
            (
                zones[0].0.replacingOccurrences(of: "ANNA", with: "Anna"),
                "The zone has characters other than A to Z, 0 to 9 and <."
            ),
        ]
    )
    func `A zone that is wrong is refused with the place`(text: String, reason: String) {
        let error = #expect(throws: EMRTDError.self) { try MachineReadableZone(text) }
        #expect(error?.reason == reason)
    }

    /// The second line of a passport's zone, and what is wrong with it.
    @Test(
        arguments: [
            ("L898902C36UTO7408122F1204159<<<<<<<<<<<<<<<8", nil),
            ("L898902C36UTO7408122F1204159<<<<<<<<<<<<<<08", nil),
            ("L898902C36UTO7408122F1204159<<<<<<<<<<<<<<19", "personal number is 1 and should be 0."),
            ("L898902C36UTO7408122F1204159ZE184226B<<<<<<9", "personal number is < and should be 1."),
            ("L898902C36UTO7408122F1204159ZE184226B<<<<<21", "personal number is 2 and should be 1."),
            ("L898902C36UTO7408122F1304159ZE184226B<<<<<17", "date of expiry is 9 and should be 2."),
        ] as [(String, String?)]
    )
    func `The check digits of a passport's second line`(line: String, reason: String?) throws {
        let text = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<" + line
        guard let reason else {
            #expect(try MachineReadableZone(text).lines[1] == line)
            return
        }
        let error = #expect(throws: EMRTDError.self) { try MachineReadableZone(text) }
        #expect(error?.reason == "The check digit of the " + reason)
    }

    @Test func `EF.COM lists the data groups`() throws {
        let zone = try MachineReadableZone(EMRTDTerminal.zone)
        let group = hex("6b 03 5c 01 00")
        let contents = try EMRTDContents(zone, otherGroups: [11: group], signer: .test)
        let expected = "60 15 5f 01 04 30 31 30 37 5f 36 06 30 34 30 30 30 30 5c 03 61 75 6b"
        #expect(contents.files[0x011E].map(hexText) == expected)
        #expect(contents.files[0x010B] == group)
        #expect(throws: EMRTDError.self) { try EMRTDContents(zone, otherGroups: [12: group], signer: .test) }
        #expect(throws: EMRTDError.self) { try EMRTDContents(zone, otherGroups: [17: group], signer: .test) }
        #expect(throws: EMRTDError.self) { try EMRTDContents(zone, portrait: [1, 2, 3], signer: .test) }
        #expect(throws: EMRTDError.self) {
            try EMRTDContents(zone, signer: EMRTDSigner(certificate: [0x30, 0], privateKey: []))
        }
        #expect(throws: EMRTDError.self) {
            try EMRTDContents(zone, signer: EMRTDSigner(certificate: EMRTDSigner.test.certificate, privateKey: [1]))
        }
        #expect(try EMRTDContents(zone, signer: .test) == EMRTDContents(zone, signer: .test))
    }

    @Test func `Data group 2 holds a facial record with the portrait`() throws {
        let contents = try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test)
        let group = try #require(contents.files[0x0102])
        let portrait = EMRTDContents.samplePortrait
        #expect(
            hexText(group.prefix(32)) == """
                75 82 04 47 7f 61 82 04 42 02 01 01 7f 60 82 04 3a a1 0e 81 01 02 82 01 00 87 02 01 01 88 02 00
                """
        )
        let start = try #require(group.indices.first { group[$0...].starts(with: Array("FAC\0".utf8)) })
        let record = Array(group[start...])
        #expect(hexText(group[(start - 5)..<start]) == "5f 2e 82 04 25")
        #expect(hexText(record.prefix(14)) == "46 41 43 00 30 31 30 00 00 00 04 25 00 01")
        #expect(hexText(record[14..<18]) == "00 00 04 17" && record[18..<34].allSatisfy { $0 == 0 })
        // Full frontal, JPEG, 90 by 120, 8 bits of grey.
        #expect(hexText(record[34..<46]) == "01 00 00 5a 00 78 03 00 00 00 00 00")
        #expect(Array(record[46...]) == portrait && record.count == 0x425)
        #expect(portrait.starts(with: [0xFF, 0xD8]) && portrait.suffix(2) == [0xFF, 0xD9])
    }

    /// Passive authentication by another implementation; needs openssl.
    @Test(.ownThreads)
    func `openssl verifies EF.SOD with the test CSCA, and its hashes are those of the data groups`() throws {
        let group = hex("6b 03 5c 01 00")
        let contents = try EMRTDContents(
            MachineReadableZone(EMRTDTerminal.zone),
            otherGroups: [11: group],
            signer: .test
        )
        let file = try #require(contents.files[0x011D])
        #expect(file.starts(with: [0x77, 0x82]))
        let signed = try verified(Array(file.dropFirst(4)))
        // Version 0, SHA-256, and hashes of the groups 1, 2 and 11.
        var expected = hex("30 81 87 02 01 00 30 0b 06 09 60 86 48 01 65 03 04 02 01 30 75")
        for number in [UInt8(1), 2, 11] {
            let data = try #require(contents.files[0x0100 | UInt16(number)])
            expected += [0x30, 0x25, 0x02, 0x01, number, 0x04, 0x20] + (try MessageDigest.sha256.hash(data))
        }
        #expect(hexText(signed) == hexText(expected))
        // One bit of a hash or of the signature, and openssl refuses.
        let place = try #require(file.indices.first { file[$0...].starts(with: expected.suffix(32)) })
        for changed in [place, file.count - 1] {
            var damaged = file
            damaged[changed] ^= 1
            #expect(throws: (any Error).self) { try verified(Array(damaged.dropFirst(4))) }
        }
    }

    struct Refused: Error { var output: String }

    /// What a message of CMS has signed, when its signer is certified by the test CSCA.
    private func verified(_ message: [UInt8]) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "emrtd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(message).write(to: folder.appending(path: "message.der"))
        let certificate = Data(EMRTDSigner.testAuthorityCertificate).base64EncodedString(
            options: .lineLength64Characters
        )
        try Data("-----BEGIN CERTIFICATE-----\n\(certificate)\n-----END CERTIFICATE-----\n".utf8)
            .write(to: folder.appending(path: "authority.pem"))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.currentDirectoryURL = folder
        process.arguments = [
            "openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", "message.der", "-CAfile", "authority.pem",
            "-out", "signed.der",
        ]
        let output = Pipe()
        process.standardError = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd().map { String(decoding: $0, as: UTF8.self) }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Refused(output: text ?? "") }
        return [UInt8](try Data(contentsOf: folder.appending(path: "signed.der")))
    }
}
