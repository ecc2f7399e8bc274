// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

/// nfc emulate with a pcscd that it starts itself.
@Suite(
    .ownThreads,
    .enabled(if: unsafe access("/usr/sbin/pcscd", X_OK) == 0, "pcscd is not installed"),
    .timeLimit(.minutes(5))
)
struct `A private pcscd of nfc emulate` {
    private let images: Images
    private let card: String

    init() throws {
        images = try Images()
        card = try images.blank("NTAG213", format: "json")
    }

    /// Runs a script beside an emulation that has its reader in a pcscd; the output of both is in files.
    private func run(_ options: String, _ script: String) throws -> [String] {
        let head = """
            export XDG_RUNTIME_DIR="$PWD"
            '\(Command(name: "nfc").path)' emulate --image '\(card)' --pcsc --start-pcscd --timeout 120 \(options) \
                > events 2> errors & emulation=$!
            \(Command.happens)

            """
        return try Command.shell(head + script, in: images.folder.path("")).lines
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: images.folder.path(name), encoding: .utf8)
    }

    @Test func `It is named with its settings, has the reader, and goes with the emulation`() throws {
        let script = """
            happens '"ready"'; ls opencorenfc
            kill $emulation; wait $emulation; echo $?; ls -d opencorenfc 2>/dev/null
            """
        let lines = try run("--json", script)
        #expect(lines == ["pcscd.comm", "pcscd.log", "reader.conf.d", "reader.sock", "0"])
        let events = try Command.Outcome(status: 0, output: text("events"), error: "").objects()
        // It is ready when pcscd has the reader.
        #expect(events.prefix(2).map { $0["event"] as? String } == ["connected", "ready"])
        #expect(events.last?["reason"] as? String == "termination")
        let ready = try #require(events.first { $0["event"] as? String == "ready" })
        #expect((ready["reader"] as? String)?.hasSuffix(" 00 00") == true)
        #expect((ready["reader_conf"] as? String)?.hasSuffix("/opencorenfc/reader.conf.d/opencorenfc") == true)
        #expect((ready["pcsclite_csock_name"] as? String)?.hasSuffix("/opencorenfc/pcscd.comm") == true)
        #expect((ready["pcscd_log"] as? String)?.hasSuffix("/opencorenfc/pcscd.log") == true)
        #expect(ready["pcscd_pid"] is Int)
    }

    @Test func `People read how a program finds it, and what became of it when it ended by itself`() throws {
        let script = """
            happens 'Ctrl-C ends'
            for process in /proc/[0-9]*; do
                read -r number name state parent rest 2>/dev/null < $process/stat || continue
                [ "$name $parent" = "(pcscd) $emulation" ] && kill -KILL $number
            done
            wait $emulation; echo $?
            """
        let lines = try run("--reader-name Desk", script)
        let errors = try text("errors")
        #expect(lines == ["3"], "\(errors)")
        let said = try text("events").split(separator: "\n").map(String.init)
        #expect(said.first == "pcscd has the reader.")
        #expect(
            said.dropFirst().prefix(4) == [
                "The reader Desk 00 00, with NTAG213, UID 04a1b2c3d4e580, on it",
                "  Start programs with these settings to find it:",
                "    export PCSCLITE_CSOCK_NAME=\(images.folder.path("opencorenfc/pcscd.comm"))", "Ctrl-C ends.",
            ]
        )
        #expect(errors.hasPrefix("Error: pcscd was ended by signal 9 (Killed)."), "\(errors)")
    }
}
