// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// What `nfc emulate` reports while a program writes to its tag.
@Suite(.ownThreads) struct `The events of an emulation` {
    /// The members of an event about a line that is no command.
    private static func unknown(_ line: String) -> String {
        #""command","line":"\#(line)","ok":false,"error":"unknown-command","#
            + #""message":"Unknown command: \#(line). For the commands: nfc emulate show --help""#
    }

    @Test func `What is done is reported in JSON, and it is a failure when the last that was written can't be saved`()
        throws
    {
        let images = try Images()
        let card = try images.blank("NTAG213")
        // Standard input does not end, so that the commands stay possible.
        let script = """
            mkdir out; mkfifo commands
            '\(Command(name: "nfc").path)' emulate --image '\(card)' --out out/card.nfc \
                --pn532 line --json --trace --commands --timeout 120 <> commands > events & emulation=$!
            \(Command.happens)
            write() { nfc tag write --reader "pn532:$PWD/line" --text "$1" >/dev/null; echo $?; }
            printf '%s\\n' remove insert 'insert 1' 'remove-at-write 0' 'remove-at-exchange 0' plug turn > commands
            happens '"turn"'
            write one; happens '"saved"'
            rm -r out; write two
            kill $emulation; wait $emulation; echo $?
            """
        let outcome = try Command.shell(script, in: images.folder.path(""))
        #expect(outcome.lines == ["0", "0", "1"], "\(outcome.error)")
        let events = try String(contentsOfFile: images.folder.path("events"), encoding: .utf8)
        let lines = events.split(separator: "\n")
        for event in [
            #""command","line":"remove","ok":true"#, #""command","line":"insert","ok":true"#,
            Self.unknown("insert 1"), Self.unknown("remove-at-write 0"), Self.unknown("remove-at-exchange 0"),
            Self.unknown("plug"), Self.unknown("turn"), #""saved","file":"out/card.nfc""#,
        ] {
            #expect(lines.contains { $0 == #"{"event":\#(event)}"# }, "\(event) in \(events)")
        }
        let exchanges = lines.filter { $0.hasPrefix(#"{"event":"exchange","#) }
        let keys = Set(exchanges.map { $0.matches(of: /[{,]"(\w+)":/).map { String($0.1) } })
        #expect(
            keys == [["event", "layer", "name", "request", "response", "failure", "meaning", "answer_meaning"]]
        )
        #expect(lines.last?.hasPrefix(#"{"ok":false,"error":"unwritable-file","#) == true, "\(events)")
    }

    @Test func `A reader is unplugged and plugged in, and the last line may be of the greatest length`() throws {
        let images = try Images()
        let card = try images.blank("NTAG213")
        let script = """
            mkfifo commands
            '\(Command(name: "nfc").path)' emulate --image '\(card)' --pcsc --folder "$PWD" --reader-conf "$PWD/conf" \
                --json --commands --timeout 60 < commands > events & emulation=$!
            exec 3> commands
            \(Command.happens)
            echo unplug >&3; happens '"unplug"'; [ -e reader.sock ]; echo $?
            echo plug >&3; happens '"plug"'; [ -e reader.sock ]; echo $?
            printf '%04096d' 0 >&3; exec 3>&-; happens '"line":"0000'
            kill -INT $emulation; wait $emulation; echo $?
            """
        let outcome = try Command.shell(script, in: images.folder.path(""))
        #expect(outcome.lines == ["1", "0", "130"], "\(outcome.error)")
        let events = try String(contentsOfFile: images.folder.path("events"), encoding: .utf8)
        let last = #"{"event":\#(Self.unknown(String(repeating: "0", count: 4096)))}"#
        #expect(events.split(separator: "\n").contains(Substring(last)), "\(events)")
        #expect(events.hasSuffix(#"{"event":"ended","reason":"interrupt"}"# + "\n"), "\(events)")
    }

    @Test func `Two PN532 that face each other are named, tell what a host asks, and go together`() throws {
        let scratch = try ScratchFolder()
        let script = """
            '\(Command(name: "nfc").path)' emulate --pn532 "$PWD/one" --facing "$PWD/other" --json --trace --timeout 120 \
                > events & emulation=$!
            \(Command.happens)
            happens '"ready"'; readlink one other
            nfc readers --reader "pn532:$PWD/other" >/dev/null; echo $?; happens '"layer":"pn532"'
            kill $emulation; wait $emulation; echo $?; ls
            """
        let outcome = try Command.shell(script, in: scratch.path(""))
        let lines = outcome.lines
        try #require(lines.count == 5, "\(outcome)")
        #expect(Array(lines.dropFirst(2)) == ["0", "0", "events"])
        let events = try Command.Outcome(
            status: 0,
            output: String(contentsOfFile: scratch.path("events"), encoding: .utf8),
            error: ""
        ).objects()
        let ready = try #require(events.first)
        #expect(ready["event"] as? String == "ready" && ready["reader"] as? String == "pn532")
        #expect((ready["path"] as? String)?.hasSuffix("/one") == true)
        #expect((ready["facing_path"] as? String)?.hasSuffix("/other") == true)
        #expect(ready["terminal"] as? String == lines[0] && ready["facing_terminal"] as? String == lines[1])
        #expect(lines[0] != lines[1])
        let exchanges = events.filter { $0["event"] as? String == "exchange" }
        #expect(exchanges.contains { $0["layer"] as? String == "pn532" && $0["response"] is String })
        #expect(events.last?["event"] as? String == "ended" && events.last?["reason"] as? String == "termination")
    }
}
