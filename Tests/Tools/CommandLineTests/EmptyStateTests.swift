// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// What a person reads where there is no bus, no systemd and nothing in the inbox.
@Suite(.ownThreads) struct `Sentences where there is nothing` {
    private let user: User

    init() throws {
        user = try User(environment: ["XDG_RUNTIME_DIR": "", "DBUS_SESSION_BUS_ADDRESS": ""])
        // No systemctl: that of this machine may run a systemd.
        try user.write("bin/systemctl", "#!/bin/sh\nexit 127\n", mode: 0o755)
    }

    /// Runs a program as in a session without a bus: an empty variable is not set.
    private func run(_ name: String, _ arguments: String...) throws -> Command.Outcome {
        let words = ["-u", "XDG_RUNTIME_DIR", "-u", "DBUS_SESSION_BUS_ADDRESS", Command(name: name).path] + arguments
        return try Command(name: "/usr/bin/env", environment: user.nfc.environment).run(words)
    }

    @Test func `Without systemd, disable does not speak of enabling, and says what to do`() throws {
        let outcome = try run("nfc", "background", "disable")
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(
            outcome.error.contains("there is no service to disable. If you started nfcd yourself, stop it with Ctrl-C.")
        )
        #expect(!outcome.error.contains("enable,") && !outcome.error.contains("to enable"))
        let purged = try run("nfc", "background", "disable", "--purge")
        #expect(purged.status == 0)
        #expect(purged.output == "The service was not enabled, and there was nothing to remove.\n")
        let enabled = try run("nfc", "background", "enable").error
        #expect(enabled.hasSuffix("Start it yourself, or let your session start it: nfc background run\n"))
    }

    @Test func `Without a bus it says that there is none, and how to get one`() throws {
        let sentence =
            "There is no bus of the user: the environment names none. Log in to a desktop, or run the program in: "
            + "dbus-run-session\n"
        for name in ["status", "run"] {
            let outcome = try run("nfc", "background", name)
            #expect(outcome.status == 1)
            let text = outcome.error + outcome.output
            #expect(text.contains(sentence))
        }
    }

    @Test func `An empty inbox and an unknown entry are named`() throws {
        #expect(try run("nfc", "inbox", "list").output == "The inbox is empty.\n")
        let opened = try run("nfc", "inbox", "open").error
        #expect(opened == "Error: The inbox is empty, so there is nothing to open.\n")
        let id = "019fb0c2d4e11a2b3c4d"
        let cleared = try run("nfc", "inbox", "clear", id).error
        #expect(cleared.contains("The inbox has no entry \(id), and nothing was removed."))
        #expect(try run("nfc", "inbox", "clear").output == "Removed 0 entries.\n")
    }

    @Test(arguments: [(["--bogus"], "--bogus"), (["--plain", "more"], "more"), (["x\u{1B}[2J"], "x")])
    func `TagReader says which word is wrong`(arguments: [String], word: String) throws {
        let outcome = try Command(name: "TagReader").run(arguments)
        #expect(outcome.status == 2 && outcome.output == "")
        #expect(outcome.error.hasPrefix("TagReader does not take \(word)"))
        #expect(outcome.error.hasSuffix(" here. See: TagReader --help\n") && !outcome.error.contains("\u{1B}"))
    }
}
