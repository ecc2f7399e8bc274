// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

@Suite(.ownThreads) struct `nfc emulate` {
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

    @Test func `A PN532 prints the settings for libnfc and nfcpy, and leaves nothing behind`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let line = folder.appending(path: "line").path
        let run = try NFCTool.run(["emulate", "--image", try image(), "--pn532", line, "--timeout", "0.2"])
        #expect(run.status == 0)
        #expect(run.lines.first == "A PN532 at \(line), with NTAG213, UID 04a1b2c3d4e580, in its field")
        #expect(run.text.contains("LIBNFC_DEVICE=pn532_uart:\(line) nfc-list"))
        #expect(run.text.contains("nfcpy:"))
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: line)) == nil)
    }

    @Test func `A second PN532 at the path of one that goes on is refused, and a link left behind is replaced`() throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        let line = folder.appending(path: "line").path
        let arguments = ["emulate", "--image", try image(), "--pn532", line, "--timeout"]
        func target() -> String? { try? FileManager.default.destinationOfSymbolicLink(atPath: line) }
        let first = Process()
        first.executableURL = URL(fileURLWithPath: Command(name: "nfc").path)
        first.arguments = arguments + ["600"]
        first.standardOutput = FileHandle.nullDevice
        try first.run()
        defer { if first.isRunning { kill(first.processIdentifier, SIGKILL) } }
        waitWhile(target() == nil)
        let terminal = try #require(target())
        let second = try NFCTool.run(arguments + ["0.2"])
        #expect(second.status == 3)
        #expect(second.errorText.contains("Another program is the PN532 at \(line) already."))
        #expect(target() == terminal)
        kill(first.processIdentifier, SIGKILL)
        first.waitUntilExit()
        #expect(target() == terminal)
        #expect(try NFCTool.run(arguments + ["0.2"]).status == 0)
        #expect(target() == nil)
    }

    @Test(arguments: ["device", "missing", "/proc/self/fd/1", "/dev/pts/ptmx", "/dev/pts/", "/dev/null"])
    func `A link that no emulation has made is not touched`(target: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let line = folder.appending(path: "line").path
        try Data("device".utf8).write(to: folder.appending(path: "device"))
        #expect(unsafe symlink(target, line) == 0)
        let run = try NFCTool.run(["emulate", "--image", try image(), "--pn532", line, "--timeout", "0.2"])
        #expect(run.status == 3)
        #expect(run.errorText.contains("\(line) is a link to something else already. Give another path"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: line) == target)
    }

    @Test func `A reader of pcscd prints the settings for pcscd`() throws {
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

    @Test func `Without a folder the reader of pcscd has a private one, and nothing stays`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let wasInstalled = FileManager.default.fileExists(atPath: "/run/opencorenfc")
        let image = try image()
        let temporary = folder.appending(path: "tmp").path
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
        let nfc = Command(name: "nfc", environment: ["TMPDIR": temporary, "XDG_RUNTIME_DIR": "relative"])
        let run = try nfc.run("emulate", "--image", image, "--pcsc", "--timeout", "0.2")
        #expect(run.status == 0, "\(run)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
        #expect(FileManager.default.fileExists(atPath: "/run/opencorenfc") == wasInstalled)
    }

    @Test func `In the user's folder for such things nothing stays but what others have there`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let image = try image()
        let own = folder.path + "/opencorenfc"
        let conf = folder.path + "/conf"
        let nfc = Command(name: "nfc", environment: ["XDG_RUNTIME_DIR": folder.path])
        for arguments in [[], ["--reader-conf", conf]] {
            let run = try nfc.run(["emulate", "--image", image, "--pcsc", "--timeout", "0.2"] + arguments)
            #expect(run.status == 0, "\(run)")
            #expect(!FileManager.default.fileExists(atPath: own))
        }
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: own + "/other"))
        #expect(try nfc.run("emulate", "--image", image, "--pcsc", "--timeout", "0.2").status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: own) == ["other"])
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
        #expect(socket.errorText.contains("107 bytes"))
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
        let script = "nfc emulate --image <(cat card.json) --pn532 line --json; echo $?; [ -L line ]; echo $?"
        let pipe = try Command.shell(script, in: folder.path)
        #expect(pipe.lines.first?.hasPrefix(#"{"ok":false,"error":"no-file","#) == true, "\(pipe)")
        #expect(Array(pipe.lines.dropFirst()) == ["2", "1"])
    }

    @Test func `A MIFARE Classic says at the start that it shows its UID alone`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "classic.json").path
        #expect(
            try NFCTool.run(["tag", "create", "--product", "MIFARE Classic 1K", "--uid", "01020304", "--out", path])
                .status == 0
        )
        let line = folder.appending(path: "line").path
        let run = try NFCTool.run(["emulate", "--image", path, "--pn532", line, "--timeout", "0.2"])
        #expect(run.status == 0)
        #expect(run.lines.first?.hasPrefix("Note: A MIFARE Classic 1K shows only its UID here, and no data") == true)
        #expect(run.lines.dropFirst().first?.hasPrefix("A PN532 at \(line)") == true)
        let json = try NFCTool.run(["emulate", "--image", path, "--pn532", line, "--timeout", "0.2", "--json"])
        #expect(
            json.lines.first?.hasPrefix(#"{"event":"note","name":"uid-only","message":"A MIFARE Classic 1K"#) == true
        )
        let ready = try #require(json.lines.dropFirst().first)
        let start = #"{"event":"ready","reader":"pn532","path":"\#(line)","terminal":"/dev/pts/"#
        #expect(ready.hasPrefix(start), "\(ready)")
        // nfcpy finds no line outside /dev.
        #expect(ready.contains(#","libnfc_device":"pn532_uart:\#(line)","nfcpy_path":null,"product":""#), "\(ready)")
    }

    @Test func `An image that can't be saved says so at the start, and goes on`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let report = Images.dump("taginfo-ntag213.xml")
        let line = folder.appending(path: "line").path
        let run = try NFCTool.run(["emulate", "--image", report, "--pn532", line, "--timeout", "0.2"])
        #expect(run.status == 0)
        #expect(run.lines.first?.contains("TagInfo reports can only be read") == true)
        #expect(run.lines.first?.hasSuffix("name a file: --out card.json") == true)
        #expect(run.lines.dropFirst().first?.hasPrefix("A PN532 at \(line)") == true)
        let out = folder.appending(path: "card.json").path
        let kept = try NFCTool.run([
            "emulate", "--image", report, "--pn532", line, "--timeout", "0.2", "--out", out,
        ])
        #expect(kept.lines.first?.hasPrefix("A PN532 at \(line)") == true)
    }

    @Test func `A file of the person's choice that can't be saved is refused before anything is shown`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let card = try image()
        let line = folder.appending(path: "line").path
        for (out, reason) in [
            (folder.path + "/none/card.json", "can't be written"), (folder.path + "/card.xml", "is not written"),
        ] {
            let run = try NFCTool.run(["emulate", "--image", card, "--pn532", line, "--timeout", "5", "--out", out])
            #expect(run.status == 1)
            #expect(run.lines.isEmpty)
            #expect(run.errorText.contains(reason))
        }
    }
}
