// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@testable import nfc

@Suite(.ownThreads) struct `Standard input and output of nfc` {
    private let images: Images
    private let folder: String

    init() throws {
        images = try Images()
        folder = images.folder.path("")
        _ = try images.poster()
    }

    private func lines(_ script: String) throws -> [String] {
        try Command.shell(script, in: folder).lines
    }

    // MARK: Output

    @Test(arguments: [
        "--help", "--version", "readers --reader virtual", "tag create --list", "tag read --image poster.nfc",
        "tag read --image poster.nfc --json", "tag info --image poster.nfc", "scan --tags poster.nfc --json",
        "ndef decode --json", "ndef encode", "tag convert poster.nfc --to json --out -", "frob --json",
    ])
    func `An answer that can't be written is a failure`(arguments: String) throws {
        let script = "echo d00000 | nfc \(arguments) >/dev/full; echo $?"
        let outcome = try Command.shell(script, in: folder)
        #expect(outcome.output == (arguments == "frob --json" ? "2\n" : "1\n"))
        let sentence = "Error: Standard output can't be written: No space left on device.\n"
        #expect(outcome.error.hasSuffix(sentence))
    }

    @Test func `A closed standard output is a failure, and no file takes its place`() throws {
        let script = """
            nfc tag write --image poster.nfc --text Hi >&-; echo $?
            nfc tag read --image poster.nfc --json | grep -o d101055402656e4869
            nfc ndef decode <&- >/dev/null; echo $?
            """
        #expect(try lines(script) == ["1", "d101055402656e4869", "1"])
    }

    @Test func `The number of a closed standard error is not free for a file`() throws {
        let script = """
            mkfifo in out
            '\(Command(name: "nfc").path)' ndef decode < in > out 2>&- &
            # Its answer comes after its start.
            exec 3> in 4< out; echo d00000 >&3; read -t 60 -r line <&4; echo "$line"
            readlink /proc/$!/fd/2; exec 3>&-; wait $!; echo $?
            """
        #expect(try lines(script) == ["Message 1: 1 record, 3 bytes", "/dev/null", "0"])
    }

    @Test(arguments: ["", "trap '' PIPE; "])
    func `A reader that has gone ends a command without a word`(trap: String) throws {
        let script = """
            \(trap)yes d00000 2>/dev/null | nfc ndef decode --json | head -n 1; echo ${PIPESTATUS[1]}
            nfc scan --many --timeout 20 --tags poster.nfc | true; echo ${PIPESTATUS[0]}
            """
        let outcome = try Command.shell(script, in: folder)
        #expect(outcome.lines.first?.hasPrefix(#"{"ok":true"#) == true)
        #expect(Array(outcome.lines.dropFirst()) == ["141", "141"])
        #expect(outcome.error == "")
    }

    @Test func `An emulation ends in good order when nobody reads what it says`() throws {
        let script = """
            exec 3< <(sleep 0.5; echo remove; exec sleep 30)
            nfc emulate --image poster.nfc --pn532 line --json --timeout 30 --commands <&3 \
                | head -n 1 | grep -o '"event":"ready"'; echo ${PIPESTATUS[0]}
            # What is left would hold on to what tells of this script's end.
            kill -KILL $!; ls
            """
        #expect(try lines(script) == [#""event":"ready""#, "141", "poster.nfc"])
    }

    // MARK: Input

    @Test func `Input without an end is refused`() throws {
        let script = """
            ulimit -v 4000000
            nfc ndef decode --binary --json < /dev/zero; echo $?
            nfc ndef decode --json < /dev/zero; echo $?
            nfc ndef encode --json < /dev/zero; echo $?
            nfc links match --json < /dev/zero; echo $?
            nfc links check --json - < /dev/zero; echo $?
            nfc tag read --json --image - < /dev/zero; echo $?
            nfc tag read --json --image /dev/zero; echo $?
            nfc trace --json - < /dev/zero; echo $?
            """
        let errors = [
            "input-too-large", "line-too-long", "line-too-long", "line-too-long", "bad-file", "too-large", "too-large",
            "not-a-recording",
        ]
        let lines = try lines(script)
        #expect(lines.filter { $0.hasPrefix("{") }.map { $0.split(separator: "\"")[5] }.map(String.init) == errors)
        #expect(lines.filter { !$0.hasPrefix("{") } == errors.map { _ in "1" })
    }

    @Test func `A message in hex has the limit of one in bytes`() throws {
        let longest = [UInt8](repeating: 0xD0, count: 8 << 20)
        #expect(try StandardInput.limited(longest).get().count == longest.count)
        let script = "head -c 16777218 /dev/zero | tr '\\0' d | nfc ndef decode --json; echo ${PIPESTATUS[2]}"
        let message = "The message has more than 8 MiB."
        let error = #"{"ok":false,"error":"input-too-large","offset":8388608,"message":"\#(message)"}"#
        #expect(try lines(script) == [error, "1"])
    }

    @Test func `A size is looked at before a file is read`() throws {
        let script = """
            truncate -s 1T huge.nfc
            nfc tag read --image huge.nfc; echo $?; nfc scan --tags huge.nfc; echo $?; nfc trace huge.nfc; echo $?
            """
        #expect(try lines(script) == ["1", "1", "1"])
    }

    @Test(arguments: [
        "env NFC_TAGS=pipe nfc scan --json", "nfc scan --tags pipe --json", "nfc scan --tags /dev/zero --json",
        "nfc scan --reader replay:pipe --json", "nfc scan --tags none.nfc --json",
        "nfc scan --tags poster.nfc,. --json",
        "nfc links check none.json --json", "nfc tag read --image none.nfc --json",
    ])
    func `What can't be read ends with 1 at once`(command: String) throws {
        let script =
            "mkfifo pipe; \(command.replacingOccurrences(of: "env NFC_TAGS=pipe", with: "NFC_TAGS=pipe")); echo $?"
        let lines = try lines(script)
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix(#"{"ok":false,"error":"unreadable-"#) == true)
        #expect(lines.last == "1")
    }

    @Test func `An image or a recording may come through a pipe`() throws {
        let script = """
            nfc tag read --image <(cat poster.nfc) --json | grep -o '"ok":true'
            nfc scan --tags poster.nfc --record rec >/dev/null; nfc trace --no-times - < rec | head -n 1
            nfc trace --no-times <(cat rec) | head -n 1
            """
        let lines = try lines(script)
        #expect(lines.first == #""ok":true"#)
        #expect(lines.dropFirst().map { $0.trimmingCharacters(in: .whitespaces) } == ["field on", "field on"])
    }

    @Test func `A recording of 10 MB costs a moment`() throws {
        let hex = String(repeating: "00", count: 250)
        var text = #"{"opencorenfc_recording":1,"reader":"virtual","kind":"field","technologies":["nfc-a"],"#
        text += #""maximum_frame_length":256,"tells_presence":true}"# + "\n"
        for number in 1...9000 {
            text +=
                #"{"n":\#(number),"us":\#(number),"do":"send","technology":"nfc-a","hex":"\#(hex)","timeout_us":9}"#
                + "\n"
            text += #"{"n":\#(number),"us":\#(number),"got":"\#(hex)"}"# + "\n"
        }
        try text.write(toFile: images.folder.path("long"), atomically: true, encoding: .utf8)
        // It is left at its first exchange, when all of it has been read.
        let script = "TIMEFORMAT='%U'; time nfc scan --reader replay:long >/dev/null 2>&1"
        let outcome = try Command.shell(script, in: folder)
        let seconds = try #require(Double(outcome.error.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(seconds < 3)
    }
}
