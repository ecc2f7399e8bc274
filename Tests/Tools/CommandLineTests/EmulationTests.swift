// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting
import TestThreads
import Testing

/// An emulation beside another program, which a case of text can't have.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct EmulationTests {
    private let folder: TestFolder
    private let nfc = TestProgram("nfc", ["NFC_SHEET": "none"])

    init() throws {
        folder = try TestFolder()
        _ = try folder.card(from: "ntag213-empty.json")
    }

    /// Runs a script beside an emulation, whose output is in the files `events` and `errors`.
    private func run(_ options: String, input: String = "/dev/null", _ script: String) throws -> [String] {
        let head = """
            export XDG_RUNTIME_DIR="$PWD"; mkfifo commands
            '\(nfc.path)' emulate \(options) < \(input) > events 2> errors & emulation=$!
            \(TestProgram.happens)

            """
        return try TestProgram.shell(head + script, in: folder.path).lines
    }

    private var events: [JSONLine] { folder.lines("events").map(JSONLine.init) }

    @Test
    func `PN532, a program writes twice: the first is saved; with the folder gone the emulation ends with status 1`()
        throws
    {
        let script = """
            happens '"ready"'
            write() { nfc tag write --reader "pn532:$PWD/line" --text "$1" >/dev/null; echo $?; }
            mkdir out; write one; happens '"saved"'
            rm -r out; write two
            kill $emulation; wait $emulation; echo $?
            """
        try folder.makeFolder("out")
        let options = "--image card.json --out out/card.json --pn532 line --json --trace --timeout 600"
        let lines = try run(options, script.replacing("mkdir out; ", with: ""))
        #expect(lines == ["0", "0", "1"], "\(folder.text("events"))")
        #expect(folder.text("events").contains(#"{"event":"saved","file":"out/card.json"}"#))
        let exchanges = folder.lines("events").filter { $0.hasPrefix(#"{"event":"exchange","#) }
        let keys = Set(exchanges.map { $0.matches(of: /[{,]"(\w+)":/).map { String($0.1) } })
        #expect(
            keys == [["event", "layer", "name", "request", "response", "failure", "meaning", "answer_meaning"]]
        )
        #expect(events.last?["error"] == "unwritable-file")
    }

    @Test func `PN532: nfc readers --verbose lists the calls of Core NFC that the reader supports`() throws {
        let script = """
            happens '"ready"'; nfc readers --verbose --reader "pn532:$PWD/line"
            nfc readers --verbose --reader "pn532:$PWD/line" --json; kill $emulation; wait $emulation
            """
        let lines = try run("--image card.json --pn532 line --json --timeout 600", script)
        #expect(lines.contains { $0.hasPrefix("  yes  NFCMiFareTag.sendMiFareCommand: ") }, "\(lines)")
        let object = JSONLine(try #require(lines.last))
        #expect(object["kind"] == "pn532" && object["chip"] != nil && object["presence"] == "null")
        let refused = #"{"name":"NFCISO15693Tag"#
        #expect(object["calls"]?.contains(#""support":"no"}"#) == true || object["calls"]?.contains(refused) == true)
    }

    @Test func `PN532: a second emulation at the same path is refused, the link of a killed one is replaced`() throws {
        let script = """
            happens '"ready"'; first=$(readlink line)
            nfc emulate --image card.json --pn532 line --timeout 0.1 2>&1; echo $?
            [ "$(readlink line)" = "$first" ] && echo same
            kill -KILL $emulation; wait $emulation 2>/dev/null; readlink line >/dev/null && echo left
            nfc emulate --image card.json --pn532 line --timeout 0.1 >/dev/null; echo $?; ls line 2>/dev/null
            """
        let lines = try run("--image card.json --pn532 line --json --timeout 600", script)
        let sentence = "Another program already emulates the PN532 at line."
        #expect(lines.first?.contains(sentence) == true, "\(lines)")
        #expect(Array(lines.dropFirst()) == ["3", "same", "left", "0"])
    }

    @Test func `two PN532: each is a reader, and a host's commands are traced`() throws {
        let script = """
            happens '"ready"'; nfc readers --reader "pn532:$PWD/other" >/dev/null; echo $?
            happens '"layer":"pn532"'; kill $emulation; wait $emulation; echo $?; ls one other 2>/dev/null
            """
        #expect(try run("--pn532 one --facing other --json --trace --timeout 600", script) == ["0", "0"])
        #expect(events.contains { $0["layer"] == "pn532" && $0["response"] != "null" })
        #expect(events.last?["reason"] == "termination")
    }

    @Test(arguments: [("generic Type 4", "1"), ("NTAG215", "0")])
    func `PN532 over the air: another reads the image's message, and can write a Type 4 tag alone`(
        product: String,
        saves: String
    ) throws {
        let script = """
            happens '"ready"'; reader="--reader pn532:$PWD/one"
            nfc tag create --product '\(product)' --link https://example.com --out air.json > /dev/null
            '\(nfc.path)' emulate air.json --pn532 other --air --trace --json > air 2> air-errors & air=$!
            until grep -q '"ready"' air; do sleep 0.01; done
            nfc tag read $reader --json | grep -c https://example.com
            nfc tag write $reader --text written > /dev/null; echo $?
            kill $air; wait $air; echo $?; nfc tag read air.json --json | grep -c written
            nfc emulate air.json --pn532 missing --air > /dev/null 2>&1; echo $?
            kill $emulation; wait $emulation
            """
        let lines = try run("--pn532 one --facing other --json --timeout 600", script)
        let wanted = ["1", saves == "1" ? "0" : "1", "0", saves, "3"]
        #expect(lines == wanted, "\(folder.text("air"))\(folder.text("air-errors"))")
        #expect(folder.lines("air").contains { $0.contains(#""meaning":"SELECT NDEF application""#) })
        #expect(folder.text("air").contains("message-only") == (saves == "0"))
    }

    @Test func `reader of pcscd: unplug and plug remove and make its socket, a command of 4096 bytes is answered`()
        throws
    {
        let script = """
            exec 3> commands; happens '"ready"'
            echo unplug >&3; happens '"unplug"'; [ -e reader.sock ]; echo $?
            echo plug >&3; happens '"plug"'; [ -e reader.sock ]; echo $?
            printf '%04096d' 0 >&3; exec 3>&-; happens '"line":"0000'
            kill -INT $emulation; wait $emulation; echo $?
            """
        let options =
            "--image card.json --pcsc --folder \(folder.path) --json --commands --timeout 60"
        #expect(try run(options, input: "commands", script) == ["1", "0", "130"])
        #expect(events.contains { $0["line"] == String(repeating: "0", count: 4096) && $0["ok"] == "false" })
        #expect(events.last?["reason"] == "interrupt")
    }

    @Test func `nfc emulate --pcsc without a folder: uses a private one, and leaves only other programs' files`() throws
    {
        let wasInstalled = FileManager.default.fileExists(atPath: "/run/opencorenfc")
        let card = folder.path("card.json")
        for (variables, kept) in [
            (["TMPDIR": folder.path("a"), "XDG_RUNTIME_DIR": "relative"], []),
            (["TMPDIR": folder.path("b"), "XDG_RUNTIME_DIR": folder.path("run")], ["other"]),
        ] {
            for name in ["a", "b", "run/opencorenfc"] { try folder.makeFolder(name) }
            try folder.write("run/opencorenfc/other", "")
            let nfc = TestProgram("nfc", variables)
            let outcome = try nfc.run("emulate", "--image", card, "--pcsc", "--timeout", "0.1")
            #expect(outcome.status == 0, "\(outcome)")
            // The advice gives nobody root rights.
            #expect(outcome.output.contains("nfc emulate install --for ") && !outcome.output.contains("cp "))
            #expect(folder.names(in: "a").isEmpty && folder.names(in: "b").isEmpty)
            if !kept.isEmpty { #expect(folder.names(in: "run/opencorenfc") == kept) }
        }
        #expect(FileManager.default.fileExists(atPath: "/run/opencorenfc") == wasInstalled)
    }

    // MARK: A private pcscd

    private static let hasDaemon = unsafe access("/usr/sbin/pcscd", X_OK) == 0

    @Test(.enabled(if: hasDaemon, "pcscd is not installed"))
    func `private pcscd: ready with its settings, and ends with the emulation`() throws {
        let script = """
            happens '"ready"'; ls opencorenfc
            kill $emulation; wait $emulation; echo $?; ls -d opencorenfc 2>/dev/null
            """
        let lines = try run("--image card.json --pcsc --start-pcscd --timeout 600 --json", script)
        #expect(lines == ["pcscd.comm", "pcscd.log", "reader.conf.d", "reader.sock", "0"], "\(folder.text("errors"))")
        #expect(events.prefix(2).map { $0["event"] } == ["connected", "ready"])
        let ready = try #require(events.first { $0["event"] == "ready" })
        #expect(ready["reader"]?.hasSuffix(" 00 00") == true && Int(ready["pcscd_pid"] ?? "") != nil)
        for (name, end) in [
            ("reader_conf", "reader.conf.d/opencorenfc"), ("pcsclite_csock_name", "pcscd.comm"),
            ("pcscd_log", "pcscd.log"),
        ] {
            #expect(ready[name]?.hasSuffix("/opencorenfc/\(end)") == true, "\(ready)")
        }
        #expect(events.last?["reason"] == "termination")
    }

    @Test(.enabled(if: hasDaemon, "pcscd is not installed"))
    func `private pcscd that is killed: nfc emulate ends with status 3 and names the signal`() throws {
        let script = """
            happens 'Ctrl-C'
            for process in /proc/[0-9]*; do
                read -r number name state parent rest 2>/dev/null < $process/stat || continue
                [ "$name $parent" = "(pcscd) $emulation" ] && kill -KILL $number
            done
            wait $emulation; echo $?
            """
        let options = "--image card.json --pcsc --start-pcscd --timeout 600 --reader-name Desk"
        #expect(try run(options, script) == ["3"], "\(folder.text("errors"))")
        let said = folder.lines("events")
        #expect(said.first == "pcscd has opened the reader.")
        #expect(
            said.dropFirst().prefix(4) == [
                "Reader Desk 00 00 is ready, with NTAG213, UID 04a1b2c3d4e580, on it.",
                "  Start programs with these settings to find it:",
                "    export PCSCLITE_CSOCK_NAME=\(folder.path("opencorenfc/pcscd.comm"))", "Press Ctrl-C to stop.",
            ]
        )
        #expect(folder.text("errors").hasPrefix("Error: pcscd was ended by signal 9 (Killed)."))
    }
}
