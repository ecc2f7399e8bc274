// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import Testing
import VirtualTags

@Suite(.serialized, .enabled(if: Program.areInstalled("nfc-list"), "libnfc-bin is not installed."))
struct `libnfc, libfreefare and our tags` {
    private func run(
        _ name: String,
        _ arguments: [String],
        _ tag: EmulatedTag,
        input: String = "",
        folder: URL? = nil
    ) async throws -> String {
        let program = try #require(Program(name))
        let result = try await program.run(arguments, environment: tag.environment, input: input, folder: folder)
        #expect(result.status == 0, "\(result.output)")
        return result.output
    }

    /// A text without the spaces that align its columns.
    private func plain(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }

    @Test func `nfc-list names every kind of tag that a PN532 finds`() async throws {
        let expectations: [(TagContents, [String])] = [
            (Samples.type2(), ["1 ISO14443A passive", "UID (NFCID1): 04 a1 b2 c3 d4 e5 80", "SAK (SEL_RES): 00"]),
            (Samples.type3(), ["1 Felica (212 kbps)", "ID (NFCID2): 02 fe 00 11 22 33 44 55"]),
            (Samples.type4(), ["1 ISO14443A passive", "SAK (SEL_RES): 20", "ATS: 75 77 81 02 80"]),
            (Samples.type4(isTypeB: true), ["1 ISO14443B passive", "PUPI: 0a 0b 0c 0d"]),
        ]
        for (contents, expected) in expectations {
            let tag = try await EmulatedTag(contents, on: .pn532)
            let output = plain(try await run("nfc-list", ["-v"], tag))
            for text in expected { #expect(output.contains(text), "\(output)") }
            #expect(try await tag.stop() == contents)
        }
    }

    @Test func `pn53x-diagnose finds the chip in order`() async throws {
        try #require(Program.areInstalled("pn53x-diagnose"))
        let tag = try await EmulatedTag(Samples.type2(), on: .pn532)
        let output = try await run("pn53x-diagnose", [], tag)
        for test in ["Communication line", "ROM", "RAM"] { #expect(output.contains("\(test) test: OK"), "\(output)") }
        _ = try await tag.stop()
    }

    @Test(arguments: [Type2Product.ntag213, .ntag215, .ntag216])
    func `nfc-mfultralight reads all pages, and what it writes is in the image`(_ product: Type2Product) async throws {
        let tag = try await EmulatedTag(Samples.type2(product), on: .pn532)
        let dump = tag.file("dump.mfd")
        let read = try await run("nfc-mfultralight", ["r", dump.path], tag)
        #expect(read.contains("(0 pages failed)"), "\(read)")
        #expect(read.contains("NTAG Type: \(product.name)"), "\(read)")
        var octets = [UInt8](try Data(contentsOf: dump))
        guard case .type2(let before) = Samples.type2(product) else { return }
        #expect(octets.count == product.pageCount * 4)
        // The last pages hold passwords, which read as zeros.
        #expect(octets.prefix(160) == before.memory.prefix(160))
        octets.replaceSubrange(80..<84, with: [0xCA, 0xFE, 0xF0, 0x0D])
        try Data(octets).write(to: dump)
        let written = try await run(
            "nfc-mfultralight",
            ["w", dump.path, "--partial"],
            tag,
            input: String(repeating: "n\n", count: 8)
        )
        #expect(written.contains("0 pages failed"), "\(written)")
        // It reads its own writing back.
        _ = try await run("nfc-mfultralight", ["r", dump.path], tag)
        #expect([UInt8](try Data(contentsOf: dump))[80..<84] == [0xCA, 0xFE, 0xF0, 0x0D])
        guard case .type2(let after) = try await tag.stop() else { return }
        #expect(Array(after.memory[80..<84]) == [0xCA, 0xFE, 0xF0, 0x0D])
        #expect(after.memory.prefix(80) == before.memory.prefix(80))
    }

    @Test func `nfc-read-forum-tag3 reads the message of a Type 3 tag`() async throws {
        try #require(Program.areInstalled("nfc-read-forum-tag3"))
        let tag = try await EmulatedTag(Samples.type3(), on: .pn532)
        let file = tag.file("out.ndef")
        let output = try await run("nfc-read-forum-tag3", ["-o", file.path], tag)
        #expect(output.contains("Checksum: ok"), "\(output)")
        #expect([UInt8](try Data(contentsOf: file)) == Samples.message)
        _ = try await tag.stop()
    }

    @Test(.enabled(if: Program.areInstalled("mifare-ultralight-info"), "libfreefare-bin is not installed."))
    func `mifare-ultralight-info tells Ultralight from Ultralight C`() async throws {
        for (product, name) in [(Type2Product.ntag213, "UltraLight\n"), (.ultralightC, "UltraLightC")] {
            let tag = try await EmulatedTag(Samples.type2(product), on: .pn532)
            let program = try #require(Program("mifare-ultralight-info"))
            let output = try await program.run([], environment: tag.environment).output
            #expect(output.contains("Tag with UID 04a1b2c3d4e580 is a Mifare " + name), "\(output)")
            _ = try await tag.stop()
        }
    }

    @Test(.enabled(if: Program.areInstalled("mifare-desfire-info"), "libfreefare-bin is not installed."))
    func `mifare-desfire-info reads version, settings and free memory of a DESFire`() async throws {
        let tag = try await EmulatedTag(Samples.desfire(), on: .pn532)
        let output = plain(try await run("mifare-desfire-info", [], tag))
        for text in [
            "UID: 0x04112233445566", "Storage size: 0x16 (=2048 bytes)", "Master Key settings (0x0f)", "Free memory:",
        ] {
            #expect(output.contains(text), "\(output)")
        }
        _ = try await tag.stop()
    }

    @Test(.enabled(if: Program.areInstalled("mrtdreader"), "mrtdreader is not installed."))
    func `mrtdreader opens a travel document by basic access control and reads all of it`() async throws {
        let tag = try await EmulatedTag(Samples.travelDocument(), on: .pn532)
        // It writes the portrait to the folder in which it runs.
        let output = try await run("mrtdreader", [Samples.travelDocumentLine], tag, folder: tag.file(""))
        for text in [
            "Challenge successful!", "Found: EF_DG1", "Found: EF_DG2", "Getting EF.SOD... done",
            "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<" + Samples.travelDocumentLine,
        ] {
            #expect(output.contains(text), "\(output)")
        }
        let portrait = [UInt8](try Data(contentsOf: tag.file("image.jpg")))
        #expect(portrait.prefix(3) == [0xFF, 0xD8, 0xFF])
        _ = try await tag.stop()
    }
}
