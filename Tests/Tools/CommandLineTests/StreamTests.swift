// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProgramTesting
import TestThreads
import Testing

@testable import nfc  // how bytes are written is internal

/// Standard input and output of nfc, and files that are none: what a case of text can't set up.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct StreamTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        _ = try folder.card()
    }

    private func lines(_ script: String) throws -> [String] { try TestProgram.shell(script, in: folder.path).lines }

    // MARK: Output

    @Test(arguments: [
        "--help", "--version", "readers --reader virtual", "tag create --list", "tag read --image card.json",
        "tag read --image card.json --json", "tag info --image card.json", "scan --tags card.json --json",
        "ndef decode --json", "ndef encode", "tag convert card.json --to json --out -", "frob --json",
    ])
    func `output on a full disk: status 1 and the reason`(arguments: String) throws {
        let outcome = try TestProgram.shell("echo d00000 | nfc \(arguments) >/dev/full; echo $?", in: folder.path)
        #expect(outcome.output == (arguments == "frob --json" ? "2\n" : "1\n"))
        #expect(outcome.error.hasSuffix("Error: Standard output can't be written: No space left on device.\n"))
    }

    @Test(.enabled(if: TestProgram.underPermissions != nil, "setpriv is not installed"), arguments: ["file", "folder"])
    func `write to an image that can't be saved: refused before the sheet asks for the tag`(cause: String) throws {
        let words = try #require(TestProgram.underPermissions) + [TestProgram("nfc").path]
        let closed = cause == "file" ? "chmod 400 card.json" : "chmod 500 ."
        let script =
            "\(closed); \(words.joined(separator: " ")) write --tags card.json https://example.com; echo $?; chmod 700 ."
        let outcome = try TestProgram.shell(script, in: folder.path, ["NFC_SHEET": "text"])
        #expect(outcome.output == "1\n")
        #expect(
            outcome.error == "Error: card.json can't be written: Permission denied.\n"
        )
    }

    @Test func `standard output or input that is closed: status 1, and no opened file takes its descriptor`() throws {
        let script = """
            nfc tag write --image card.json --text Hi >&-; echo $?
            nfc tag read --image card.json --json | grep -o d101055402656e4869
            nfc ndef decode <&- >/dev/null; echo $?
            """
        #expect(try lines(script) == ["1", "d101055402656e4869", "1"])
    }

    @Test func `standard error that is closed: descriptor 2 is /dev/null, and no opened file takes it`() throws {
        let script = """
            mkfifo in out
            '\(TestProgram("nfc").path)' ndef decode < in > out 2>&- &
            # Its answer comes after its start.
            exec 3> in 4< out; echo d00000 >&3; read -t 60 -r line <&4; echo "$line"
            readlink /proc/$!/fd/2; exec 3>&-; wait $!; echo $?
            """
        #expect(try lines(script) == ["Message 1: 1 record, 3 bytes", "/dev/null", "0"])
    }

    @Test(arguments: ["", "trap '' PIPE; "])
    func `output to a pipe that closes: status 141 without a message`(trap: String) throws {
        let script = """
            \(trap)yes d00000 2>/dev/null | nfc ndef decode --json | head -n 1; echo ${PIPESTATUS[1]}
            nfc scan --many --timeout 20 --tags card.json | true; echo ${PIPESTATUS[0]}
            """
        let outcome = try TestProgram.shell(script, in: folder.path)
        #expect(outcome.lines.first?.hasPrefix(#"{"ok":true"#) == true)
        #expect(Array(outcome.lines.dropFirst()) == ["141", "141"])
        #expect(outcome.error == "")
    }

    @Test func `output of an emulation to a pipe that closes: status 141, and its link is removed`() throws {
        let script = """
            exec 3< <(sleep 0.3; echo remove; exec sleep 30)
            nfc emulate --image card.json --pn532 line --json --timeout 30 --commands <&3 \
                | head -n 1 | grep -o '"event":"ready"'; echo ${PIPESTATUS[0]}
            # What is left would hold on to what tells of this script's end.
            kill -KILL $!; ls
            """
        #expect(try lines(script) == [#""event":"ready""#, "141", "card.json"])
    }

    @Test(arguments: [("", "-13"), ("signal.SIGPIPE", "141")])
    func `output to a closed pipe: ends by SIGPIPE, or with 141 where the signal is blocked`(
        mask: String,
        status: String
    ) throws {
        let script = """
            import os, signal, subprocess, sys
            signal.pthread_sigmask(signal.SIG_SETMASK, [\(mask)])
            reader, writer = os.pipe()
            os.close(reader)
            print(subprocess.run(sys.argv[1:], stdout=writer, stdin=subprocess.DEVNULL).returncode)
            """
        for words in [["--version"], ["frob", "--json"]] {
            let outcome = try TestProgram("env").run(["python3", "-c", script, TestProgram("nfc").path] + words)
            #expect(outcome.lines == [status] && outcome.error == "", "\(words)")
        }
    }

    // MARK: Input

    @Test func `input without an end: each command refuses it with the error of its limit, and status 1`() throws {
        let script = """
            ulimit -v 4000000
            nfc ndef decode --binary --json < /dev/zero; echo $?
            nfc ndef decode --json < /dev/zero; echo $?
            nfc ndef encode --json < /dev/zero; echo $?
            nfc links match --json < /dev/zero; echo $?
            nfc links check --json - < /dev/zero; echo $?
            nfc tag read --json --image - < /dev/zero; echo $?
            nfc trace --json - < /dev/zero; echo $?
            """
        let errors = [
            "input-too-large", "line-too-long", "line-too-long", "line-too-long", "bad-file", "too-large",
            "not-a-recording",
        ]
        let lines = try lines(script)
        #expect(lines.filter { $0.hasPrefix("{") }.map { JSONLine($0)["error"] } == errors)
        #expect(lines.filter { !$0.hasPrefix("{") } == errors.map { _ in "1" })
    }

    @Test func `input: a message of 8 MiB is taken, a byte more is input-too-large`() throws {
        let limit = 8 << 20
        #expect(try StandardInput.limited([UInt8](repeating: 0xD0, count: limit)).get().count == limit)
        let error = #expect(throws: CommandFailure.self) {
            try StandardInput.limited([UInt8](repeating: 0xD0, count: limit + 1)).get()
        }
        #expect(error?.name == "input-too-large" && error?.offset == limit)
    }

    @Test(arguments: [
        "ndef decode", "ndef decode --json", "ndef decode --quiet", "ndef decode --binary", "ndef encode",
        "ndef encode --json", "links match", "links match --json",
    ])
    func `input that is closed: the reason is printed in the place of the next answer`(words: String) throws {
        let outcome = try TestProgram.shell("nfc \(words) <&-; echo $?", in: "/")
        let sentence = "Standard input can't be read: Bad file descriptor."
        let object = #"{"ok":false,"error":"unreadable-input","offset":0,"message":"\#(sentence)"}"#
        let message = "Message 1: not readable (unreadable-input). \(sentence)"
        let summary = #"{"messages":1,"records":0,"errors":1,"bytes":0,"ns":0}"#
        let line = "Line 1: \(sentence) (unreadable-input)\n"
        switch words {
        case "ndef decode --quiet": #expect(outcome.output == "\(summary)\n1\n")
        case "ndef decode", "ndef decode --binary": #expect(outcome.output == "\(message)\n1\n")
        case "ndef encode": #expect(outcome.output == "\n1\n" && outcome.error == line)
        case "links match": #expect(outcome.output == "1\n" && outcome.error == line)
        default: #expect(outcome.output == "\(object)\n1\n" && outcome.error == "")
        }
    }

    @Test func `input: 12000 lines, none is lost or doubled`() throws {
        // More than is read at once.
        let count = 12_000
        let nfc = TestProgram("nfc")
        let input = String(repeating: "d00000\n", count: count)
        let decoded = try nfc.run("ndef", "decode", "--json", input: input).output
        let record = #"{"tnf":0,"type_hex":"","id_hex":"","payload_hex":"","decoded":{"kind":"empty"}}"#
        #expect(decoded == String(repeating: #"{"ok":true,"records":[\#(record)]}"# + "\n", count: count))
        #expect(try nfc.run("ndef", "encode", input: decoded).output == input)
        let summary = try nfc.run("ndef", "decode", "--quiet", input: input)
        #expect(summary["messages"] == "\(count)" && summary["bytes"] == "\(3 * count)")
    }

    @Test func `images and recordings from a pipe: read; writing to that image is refused`() throws {
        let script = """
            nfc tag read --image <(cat card.json) --json | grep -o '"ok":true'
            nfc scan --tags card.json --record rec >/dev/null; nfc trace --no-times <(cat rec) | head -n 1
            nfc tag write --image <(cat card.json) --text Hi; echo $?
            nfc emulate --image <(cat card.json) --pn532 line --json | grep -o no-file
            """
        let lines = try lines(script).map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines == [#""ok":true"#, "field on", "2", "no-file"])
    }

    // MARK: Words

    @Test func `arguments and file names that are not UTF-8: refused with what to do`() throws {
        let script = """
            cp card.json $'caf\\xe9.json'
            nfc $'\\xe9' x --json; echo $?
            nfc tag write --image card.json --text $'Caf\\xe9' --json; echo $?
            nfc tag info --json --image $'caf\\xe9.json'; echo $?
            NFC_TAGS=$'caf\\xe9.json' nfc scan --reader virtual --json; echo $?
            """
        let outcome = try lines(script)
        try #require(outcome.count == 8)
        let step = "is not UTF-8. Give text in UTF-8, and bytes in hex. If it is a file, rename it."
        let words = [(1, "\u{FFFD}"), (6, "Caf\u{FFFD}"), (5, "caf\u{FFFD}.json")]
        for (index, (number, word)) in words.enumerated() {
            #expect(JSONLine(outcome[2 * index])["message"] == "Argument \(number), '\(word)', \(step)")
        }
        let message = "The name of the file caf\u{FFFD}.json is not UTF-8. Rename the file."
        #expect(JSONLine(outcome[6])["message"] == message)
        #expect([outcome[1], outcome[3], outcome[5], outcome[7]] == ["2", "2", "2", "1"])
    }

    @Test(arguments: [
        (["nfc", "scan", "--json"], true), (["nfc", "--json"], true), (["nfc", "--json", "--", "x"], true),
        (["nfc", "--json=1"], true), (["nfc"], false), ([], false), (["--json"], false),
        (["nfc", "--", "--json"], false), (["nfc", "--jsonl"], false), (["nfc", "x--json"], false),
    ])
    func `--json among the arguments: counts before -- and after the program's name`(words: [String], isAsked: Bool) {
        #expect(CommandProcess.wantsJSON(words) == isAsked)
    }

    // MARK: Files

    @Test func `files on a full disk: the image stays, and a recording is cut or missing`() throws {
        _ = try folder.card("card.nfc", from: "ntag213-link.nfc")
        let script = """
            rm card.json; cp card.nfc before; trap '' XFSZ
            # A pipe takes more than a full disk.
            full() { (ulimit -f $1; shift; nfc "$@" --json; echo $?) | grep -o 'unwritable-file\\|^[0-9]$'; }
            full 1 tag write --image card.nfc --text a; full 1 tag create --product NTAG215 --out new.nfc
            full 1 write --tags card.nfc --text a
            cmp card.nfc before && ls -A
            full 0 scan --tags card.nfc --record rec; ls rec
            full 1 scan --tags card.nfc --record rec; stat -c %s rec
            """
        let failure = ["unwritable-file", "1"]
        let three = failure + failure + failure
        #expect(try lines(script) == three + ["before", "card.nfc"] + failure + failure + ["1024"])
    }

    @Test func `output file that is a pipe: written to, and stays a pipe`() throws {
        let script = """
            mkfifo pipe; cat pipe > got & while ! [ -p pipe ]; do sleep 0.01; done
            nfc tag write --image card.json --out pipe --text a >/dev/null; echo $?; wait; head -c 7 got; echo
            # Nobody reads it any more.
            nfc tag write --image card.json --out pipe --text a; echo $?
            stat -c %F pipe
            """
        #expect(try lines(script) == ["0", #"{"type""#, "1", "fifo"])
    }
}
