// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import TagLink
import TagProtocols
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

    private struct CardB: Decodable {
        var pupi: String
        var message: String
        var present: Bool
        var again: String
        var selected_again: Bool
    }

    @Test(.enabled(if: PythonInterpreter.path != nil, Comment(rawValue: PythonInterpreter.reason)))
    func `libnfc: sends commands to a Type 4B tag, and finds it present`() async throws {
        let tag = try await EmulatedTag(Samples.type4(isTypeB: true), on: .pn532)
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "libnfc_peer.py").path
        let output = try await run(PythonInterpreter.path ?? "", [script], tag)
        let line = output.split(separator: "\n").last ?? ""
        let card = try JSONDecoder().decode(CardB.self, from: Data(line.utf8))
        #expect(card.pupi == "0a0b0c0d")
        #expect(card.message == Samples.message.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        #expect(card.present)
        #expect(card.again == "00" + String(Samples.message.count, radix: 16))
        #expect(card.selected_again)
        _ = try await tag.stop()
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
        var bytes = [UInt8](try Data(contentsOf: dump))
        guard case .type2(let before) = Samples.type2(product) else { return }
        #expect(bytes.count == product.pageCount * 4)
        // The last pages hold passwords, which read as zeros.
        #expect(bytes.prefix(160) == before.memory.prefix(160))
        bytes.replaceSubrange(80..<84, with: [0xCA, 0xFE, 0xF0, 0x0D])
        try Data(bytes).write(to: dump)
        let written = try await run(
            "nfc-mfultralight",
            ["w", dump.path, "--partial"],
            tag,
            input: String(repeating: "n\n", count: 8)
        )
        #expect(written.contains("0 pages failed"), "\(written)")
        // The program reads back what it wrote.
        _ = try await run("nfc-mfultralight", ["r", dump.path], tag)
        #expect([UInt8](try Data(contentsOf: dump))[80..<84] == [0xCA, 0xFE, 0xF0, 0x0D])
        guard case .type2(let after) = try await tag.stop() else { return }
        #expect(Array(after.memory[80..<84]) == [0xCA, 0xFE, 0xF0, 0x0D])
        #expect(after.memory.prefix(80) == before.memory.prefix(80))
    }

    /// Our reader's side of a card.
    private func reader(of card: ClassicTag) async throws -> MIFAREClassic {
        let field = VirtualField()
        field.bring(card)
        let link = try #require(field.link(for: .nfcA))
        return MIFAREClassic(target: try #require(try await NFCAActivation(link: link).activateAll().last), link: link)
    }

    @Test(.enabled(if: Program.areInstalled("mifare-classic-read-ndef"), "libfreefare-bin is not installed."))
    func `libfreefare: formats a MIFARE Classic and writes its message, and reads the card that we formatted`()
        async throws
    {
        let blank = ClassicContents(blank: .classic1K, uid: [0x9C, 0x0C, 0x37, 0x01])
        let tag = try await EmulatedTag(.classic(blank), on: .pn532)
        _ = try await run("nfc-mfclassic", ["r", "a", "u", tag.file("dump.mfd").path], tag)
        #expect([UInt8](try Data(contentsOf: tag.file("dump.mfd"))).prefix(48) == blank.memory.prefix(48))
        _ = try await run("mifare-classic-format", ["-y"], tag)
        try Data(Samples.message).write(to: tag.file("message"))
        _ = try await run("mifare-classic-write-ndef", ["-y", "-i", tag.file("message").path], tag)
        guard case .classic(let theirs) = try await tag.stop() else { return }
        #expect(try await reader(of: ClassicTag(theirs)).readNDEF() == Samples.message)

        let card = ClassicTag(blank)
        try await reader(of: card).format()
        try await reader(of: card).writeNDEF(Samples.message)
        let ours = try await EmulatedTag(.classic(card.contents), on: .pn532)
        _ = try await run("mifare-classic-read-ndef", ["-y", "-o", ours.file("read").path], ours)
        #expect([UInt8](try Data(contentsOf: ours.file("read"))) == Samples.message)
        _ = try await ours.stop()
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
    func `mifare-ultralight-info distinguishes Ultralight and Ultralight C`() async throws {
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

    /// The configuration of a DESFire, and its ATS.
    private func configuration(_ contents: TagContents) throws -> (DESFireConfiguration, ats: [UInt8]) {
        guard case .type4(let tag) = contents, case .desfire(let desfire) = tag.kind,
            case .nfcA(_, _, _, let ats) = tag.frontEnd
        else {
            Issue.record("The image is not a DESFire's.")
            return (DESFireConfiguration(), [])
        }
        return (desfire.configuration, ats)
    }

    @Test(.enabled(if: Program.areInstalled("mifare-desfire-ev1-configure-ats"), "libfreefare-bin is not installed."))
    func `libfreefare gives a DESFire another ATS`() async throws {
        guard case .type4(var contents) = Samples.desfire(),
            case .nfcA(let uid, let atqa, let sak, _) = contents.frontEnd
        else { return }
        // The program sets the factory ATS.
        contents.frontEnd = .nfcA(uid: uid, atqa: atqa, sak: sak, ats: [0x06, 0x75, 0x77, 0x81, 0x02, 0xAA])
        let tag = try await EmulatedTag(.type4(contents), on: .pn532)
        let first = plain(try await run("nfc-list", [], tag))
        #expect(first.contains("ATS: 75 77 81 02 aa"), "\(first)")
        _ = try await run("mifare-desfire-ev1-configure-ats", ["-y"], tag)
        let second = plain(try await run("nfc-list", [], tag))
        #expect(second.contains("ATS: 75 77 81 02 80"), "\(second)")
        #expect(try configuration(await tag.stop()).ats == [0x06, 0x75, 0x77, 0x81, 0x02, 0x80])
    }

    @Test(
        .enabled(
            if: Program.areInstalled("mifare-desfire-ev1-configure-random-uid"),
            "libfreefare-bin is not installed."
        )
    )
    func `libfreefare: sets a DESFire to a random UID, and reads its own UID with the key`() async throws {
        let tag = try await EmulatedTag(Samples.desfire(), on: .pn532)
        let configured = try await run("mifare-desfire-ev1-configure-random-uid", ["-y"], tag)
        #expect(configured.contains("with UID 04112233445566"), "\(configured)")
        let info = plain(try await run("mifare-desfire-info", [], tag))
        #expect(info.contains("Use random UID: yes"), "\(info)")
        let again = try await run("mifare-desfire-ev1-configure-random-uid", ["-y"], tag)
        #expect(again.contains("with UID 08"), "\(again)")
        #expect(again.contains("Old card UID: 04112233445566"), "\(again)")
        #expect(try configuration(await tag.stop()).0.usesRandomUID)
    }

    @Test(
        .enabled(
            if: Program.areInstalled("mifare-desfire-ev1-configure-default-key"),
            "libfreefare-bin is not installed."
        )
    )
    func `libfreefare: sets the default key of a DESFire, and formats it`() async throws {
        let tag = try await EmulatedTag(Samples.desfire(), on: .pn532)
        // It proves the key, sets zeros again and formats the card.
        _ = try await run("mifare-desfire-ev1-configure-default-key", ["-y"], tag)
        guard case .type4(let contents) = try await tag.stop(), case .desfire(let desfire) = contents.kind else {
            return
        }
        #expect(desfire.applications.isEmpty)
        #expect(desfire.configuration == DESFireConfiguration())
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
