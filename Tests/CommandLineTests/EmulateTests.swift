// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite struct `nfc emulate` {
    private let folder: URL

    init() throws {
        // A UNIX socket's path is short.
        folder = URL(fileURLWithPath: "/tmp/ocn-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func image(_ name: String = "card.json") throws -> String {
        let path = folder.appending(path: name).path
        let made = try NFCTool.run(["tag", "create", "--product", "NTAG213", "--uid", "04a1b2c3d4e580", "--out", path])
        #expect(made.status == 0)
        return path
    }

    @Test func `A PN532 says what libnfc and nfcpy have to be told, and leaves nothing behind`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let line = folder.appending(path: "line").path
        let run = try NFCTool.run(["emulate", "--image", try image(), "--pn532", line, "--timeout", "0.2"])
        #expect(run.status == 0)
        #expect(run.lines.first == "A PN532 at \(line), with NTAG213, UID 04a1b2c3d4e580, in its field")
        #expect(run.text.contains("LIBNFC_DEVICE=pn532_uart:\(line) nfc-list"))
        #expect(run.text.contains("nfcpy:"))
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: line)) == nil)
    }

    @Test func `A reader of pcscd says what pcscd has to be told`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let conf = folder.appending(path: "conf").path
        let run = try NFCTool.run([
            "emulate", "--image", try image(), "--pcsc", "--folder", folder.path, "--reader-conf", conf, "--json",
            "--timeout", "0.2",
        ])
        #expect(run.status == 0)
        #expect(run.lines.first?.hasPrefix(#"{"event":"ready","reader":"ACS ACR122U PICC Interface 00 00","#) == true)
        #expect(run.lines.last == #"{"event":"ended","reason":"timeout"}"#)
        let lines = try String(contentsOfFile: conf + "/opencorenfc", encoding: .utf8)
        #expect(lines.contains(#"FRIENDLYNAME "ACS ACR122U PICC Interface""#))
        #expect(lines.contains("DEVICENAME   /dev/null:\(folder.path)/reader.sock"))
        #expect(lines.contains("libOpenCoreNFCReader.so"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/reader.sock"))
    }

    @Test func `What can't be shown is refused with a reason`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let missing = try NFCTool.run(["emulate", "--image", folder.path + "/none", "--pn532", folder.path + "/line"])
        #expect(missing.status == 1)
        let card = try image()
        let facing = try NFCTool.run(["emulate", "--pn532", folder.path + "/line", "--facing", card])
        #expect(facing.status == 3)
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: folder.path + "/line")) == nil)
        let taken = try NFCTool.run(["emulate", "--image", card, "--pn532", card])
        #expect(taken.status == 3)
        #expect(taken.errorText.contains("is a file already"))
        let long = folder.path + "/" + String(repeating: "x", count: 100)
        let socket = try NFCTool.run(["emulate", "--image", card, "--pcsc", "--folder", long])
        #expect(socket.status == 3)
        #expect(socket.errorText.contains("107 octets"))
        let spaces = try NFCTool.run(["emulate", "--image", card, "--pcsc", "--folder", folder.path + "/a b", "--json"])
        #expect(spaces.status == 3)
        #expect(spaces.text.hasPrefix(#"{"ok":false,"error":"no-reader""#))
        let type5 = folder.appending(path: "five.json").path
        let memory = String(repeating: "00", count: 112)
        let text =
            #"{"type":"T5T","product":"ICODE SLIX","uid":"e004015000112233","block_size":4,"blocks":28,"#
            + #""memory_hex":""# + memory + #""}"#
        try text.write(toFile: type5, atomically: true, encoding: .utf8)
        let noTechnology = try NFCTool.run(["emulate", "--image", type5, "--pn532", folder.path + "/line"])
        #expect(noTechnology.status == 1)
        #expect(noTechnology.errorText.contains("--pcsc"))
    }
}
