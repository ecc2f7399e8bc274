// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import Testing
import VirtualTags

private let readerName = "ACS ACR122U PICC Interface 00 00"

@Suite(.serialized, .enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed."))
struct `PC/SC programs and our tags` {
    /// The program's output, as hexadecimal bytes without spaces or line breaks.
    private func bytes(_ text: String) -> String {
        text.filter(\.isHexDigit).lowercased()
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private struct PyscardAnswer: Decodable {
        var readers: [String]
        var atr: String
        var answers: [String]
    }

    private func pyscard(_ tag: EmulatedTag, _ commands: [String]) async throws -> PyscardAnswer {
        // Debian's package works only with Debian's interpreter.
        let python = try #require(Program("/usr/bin/python3"))
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "pyscard_peer.py").path
        let result = try await python.run([script] + commands, environment: tag.environment)
        try #require(result.status == 0, "\(result.output)")
        return try JSONDecoder().decode(PyscardAnswer.self, from: Data(result.output.utf8))
    }

    private static let hasPyscard = FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/smartcard")

    @Test(.enabled(if: hasPyscard, "python3-pyscard is not installed."))
    func `pyscard reads a Type 2 tag and writes it`() async throws {
        let tag = try await EmulatedTag(Samples.type2(), on: .pcsc)
        let link = "d1010c550465786d616d706c652e6f7267"
        let answer = try await pyscard(
            tag,
            [
                "ffca000000", "ffb0000610", "ffd60006040c550465", "ffd600080465782e6f",
                "-e", "ff00480000", "-e", "ff00000002d402", "ff00000005d440013004",
            ]
        )
        #expect(answer.readers == [readerName])
        #expect(answer.atr == "3b8f8001804f0ca0000003060300030000000068")
        #expect(answer.answers[0] == Self.hex(Samples.uid) + "9000")
        #expect(answer.answers[1].hasSuffix("9000"))
        #expect(answer.answers[2...3] == ["9000", "9000"])
        #expect(answer.answers[4] == Self.hex(Array("ACR122U215".utf8)))
        #expect(answer.answers[5] == "d503320106079000")
        #expect(answer.answers[6].hasPrefix("d54100"))
        #expect(link.count > 0)
        guard case .type2(let contents) = try await tag.stop() else {
            Issue.record("The image has to stay one of a Type 2 tag.")
            return
        }
        #expect(Array(contents.memory[24..<28]) == [0x0C, 0x55, 0x04, 0x65])
        #expect(Array(contents.memory[32..<36]) == [0x65, 0x78, 0x2E, 0x6F])
    }

    private static let hasOpenPACE = ["x86_64", "aarch64"].contains {
        FileManager.default.fileExists(atPath: "/usr/lib/\($0)-linux-gnu/libeac.so.3")
    }

    @Test(
        .enabled(if: hasPyscard && hasOpenPACE, "python3-pyscard or libeac3 is not installed."),
        arguments: [(1, 13), (2, 12), (3, 16), (4, 18)] as [(UInt8, UInt8)]
    )
    func `OpenPACE opens a travel document by its access number`(cipher: UInt8, curve: UInt8) async throws {
        let zone = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"
        var document = try EMRTDContents(MachineReadableZone(zone), signer: .test)
        document.accessNumber = "123456"
        document.cardAccess = EMRTDContents.pace
        document.cardAccess?[15] = cipher
        document.cardAccess?[21] = curve
        let tag = try await EmulatedTag(
            .type4(Type4Contents(frontEnd: .randomEMRTD, kind: .emrtd(document))),
            on: .pcsc
        )
        let python = try #require(Program("/usr/bin/python3"))
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "openpace_peer.py").path
        let result = try await python.run([script, "123456"], environment: tag.environment)
        let file = try #require(document.files[EMRTDContents.comIdentifier])
        #expect(result.output == Self.hex(file) + "\n")
        _ = try await tag.stop()
    }

    @Test(.enabled(if: Program.areInstalled("opensc-tool"), "opensc is not installed."))
    func `opensc-tool lists the reader, and reads and writes a Type 4 tag`() async throws {
        let opensc = try #require(Program("opensc-tool"))
        let tag = try await EmulatedTag(Samples.type4(), on: .pcsc)
        let list = try await opensc.run(["-l"], environment: tag.environment)
        #expect(list.output.contains("Yes             \(readerName)"), "\(list.output)")
        let atr = try await opensc.run(["-r", "0", "-a"], environment: tag.environment)
        #expect(atr.output.contains("3b:81:80:01:80:80"), "\(atr.output)")
        let read = try await opensc.run(
            [
                "-r", "0", "-c", "default", "-s", "00A4040007D276000085010100", "-s", "00A4000C02E104", "-s",
                "00B0000012", "-s", "00D6000003AABBCC", "-s", "00B0000003",
            ],
            environment: tag.environment
        )
        // Three status words, the message's 18 bytes in lines of 16, and what was written.
        #expect(read.output.components(separatedBy: "SW1=0x90, SW2=0x00").count == 6, "\(read.output)")
        #expect(read.output.contains("00 10 D1 01 0C 55 04 65 78 61 6D 70 6C 65 2E 63"), "\(read.output)")
        #expect(read.output.contains("AA BB CC"), "\(read.output)")
        guard case .type4(let contents) = try await tag.stop(), case .ndef(let files) = contents.kind else {
            Issue.record("The image has to stay one of a Type 4 tag.")
            return
        }
        #expect(files[0xE104]?.prefix(3) == [0xAA, 0xBB, 0xCC])
    }

    @Test(.enabled(if: Program.areInstalled("pkcs11-tool", "pkcs15-tool", "openssl"), "opensc or openssl is missing."))
    func `opensc lists the certificates of a PIV card, and signs with RSA and ECDSA; a wrong PIN takes a try`()
        async throws
    {
        let contents = try #require(TagProduct(named: "PIV card")).blank()
        let tag = try await EmulatedTag(contents, on: .pcsc)
        let folder = FileManager.default.temporaryDirectory.appending(path: "piv-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (openssl, tool) = (try #require(Program("openssl")), try #require(Program("pkcs11-tool")))
        let list = try await #require(Program("pkcs15-tool")).run(["--list-certificates"], environment: tag.environment)
        #expect(list.output.components(separatedBy: "Certificate for").count == 5, "\(list.output)")
        try Data("hello".utf8).write(to: folder.appending(path: "data"))
        _ = try await openssl.run(["dgst", "-sha256", "-binary", "-out", "hash", "data"], folder: folder)
        func login(_ pin: String, _ arguments: String...) async throws -> Program.Result {
            try await tool.run(["--login", "--pin", pin] + arguments, environment: tag.environment, folder: folder)
        }
        for (id, mechanism, input) in [("01", "ECDSA", "hash"), ("02", "SHA256-RSA-PKCS", "data")] {
            let signed = try await login(
                "123456",
                "--sign",
                "--id",
                id,
                "-m",
                mechanism,
                "--signature-format",
                "openssl",
                "-i",
                input,
                "-o",
                "signature"
            )
            #expect(signed.status == 0, "\(signed.output)")
            let read = ["--read-certificate", id, "-o", "certificate"]
            _ = try await #require(Program("pkcs15-tool")).run(read, environment: tag.environment, folder: folder)
            _ = try await openssl.run(
                ["x509", "-in", "certificate", "-pubkey", "-noout", "-out", "key"],
                folder: folder
            )
            let check = ["dgst", "-sha256", "-verify", "key", "-signature", "signature", "data"]
            #expect(try await openssl.run(check, folder: folder).output.contains("Verified OK"), "\(mechanism)")
        }
        #expect(try await login("654321", "-O").output.contains("CKR_PIN_INCORRECT"))
        guard case .type4(let card) = try await tag.stop(), case .applications(let applications) = card.kind else {
            Issue.record("The image has to stay one of a card of applications.")
            return
        }
        #expect(applications.values["piv"]?["tries"] == [3, 2])
    }

    @Test(.enabled(if: Program.areInstalled("pcsc_scan"), "pcsc-tools is not installed."))
    func `pcsc_scan shows the reader, the inserted card and its ATR`() async throws {
        let tag = try await EmulatedTag(Samples.type2(), on: .pcsc)
        let scan = try await #require(Program("pcsc_scan")).run(["-t", "1"], environment: tag.environment)
        #expect(scan.output.contains(readerName), "\(scan.output)")
        #expect(scan.output.contains("Card inserted"), "\(scan.output)")
        #expect(scan.output.contains("3B 8F 80 01 80 4F 0C A0 00 00 03 06 03 00 03 00 00 00 00 68"))
        _ = try await tag.stop()
    }

    private func scriptor(_ tag: EmulatedTag, _ reader: String, _ lines: [String]) async throws -> String {
        let input = lines.joined(separator: "\n") + "\n"
        let scriptor = try #require(Program("scriptor"))
        let result = try await scriptor.run(["-r", reader], environment: tag.environment, input: input)
        #expect(result.status == 0, "\(result.output)")
        return result.output
    }

    @Test(.enabled(if: Program.areInstalled("scriptor"), "pcsc-tools is not installed."))
    func `scriptor reads and writes a Type 3 tag through the reader's chip`() async throws {
        let tag = try await EmulatedTag(Samples.type3(), on: .pcsc)
        let idm = "02fe001122334455"
        let poll = "d44a010100ffff0100"
        // Read without encryption of blocks 0 and 1, and write of block 2.
        let read = "d4400112" + "06\(idm)010b00028000" + "8001"
        let write = "d4400120" + "08\(idm)010900018002" + "00112233445566778899aabbccddeeff"
        let output = bytes(
            try await scriptor(
                tag,
                readerName,
                ["ffca000000"]
                    + [poll, read, write].map { command in
                        let length = String(command.count / 2, radix: 16)
                        return "ff000000" + (length.count == 1 ? "0" : "") + length + command
                    }
            )
        )
        #expect(output.contains(idm + "9000"))
        #expect(output.contains("d54b010114"))
        #expect(output.contains(Self.hex(Samples.message.prefix(8))))
        #expect(output.contains("d541000c09" + idm + "00009000"), "\(output)")
        guard case .type3(.liteS(let contents)) = try await tag.stop() else {
            Issue.record("The image has to stay one of a FeliCa Lite-S.")
            return
        }
        #expect(Self.hex(contents.userMemory[32..<48]) == "00112233445566778899aabbccddeeff")
    }

    @Test(.enabled(if: Program.areInstalled("scriptor"), "pcsc-tools is not installed."))
    func `scriptor reads and writes a Type 5 tag by blocks and in a transparent session`() async throws {
        let tag = try await EmulatedTag(Samples.type5(), on: .pcsc)
        let output = bytes(
            try await scriptor(
                tag,
                tag.ready["reader"] ?? "",
                [
                    "ffca000000", "ffb0000108", "ffd600080401020304", "ffc2000002810000", "ffc20002048f02020000",
                    "ffc2000105950302200800", "ffc2000002820000",
                ]
            )
        )
        #expect(output.contains("e0040150001122339000"), "\(output)")
        #expect(output.contains("0310d1010c5504659000"), "\(output)")
        #expect(output.contains("c00300900092010096020000970500010203049000"), "\(output)")
        guard case .type5(let contents) = try await tag.stop() else {
            Issue.record("The image has to stay one of a Type 5 tag.")
            return
        }
        #expect(Array(contents.memory[32..<36]) == [1, 2, 3, 4])
    }

    @Test func `nfc emulate with its own pcscd and a folder: SIGTERM removes the socket of pcscd`() async throws {
        let tag = try await EmulatedTag(Samples.type2(), on: .pcsc)
        let socket = try #require(tag.environment["PCSCLITE_CSOCK_NAME"])
        let process = try #require(tag.ready["pcscd_log"])
        #expect(FileManager.default.fileExists(atPath: socket))
        #expect(FileManager.default.fileExists(atPath: process))
        _ = try await tag.stop()
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    private static let hasHeaders = FileManager.default.fileExists(atPath: "/usr/include/PCSC/ifdhandler.h")

    @Test(.enabled(if: hasHeaders, "libpcsclite-dev is not installed."))
    func `IFD handler: constants and sizes of our header are those of pcscd's ifdhandler.h`() async throws {
        let compiler = try #require(Program("clang") ?? Program("cc") ?? Program("gcc"))
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "same_interface.c").path
        let result = try await compiler.run(["-fsyntax-only", "-I/usr/include/PCSC", source])
        #expect(result.status == 0, "\(result.output)")
    }
}
