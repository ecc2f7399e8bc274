// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// How nfc ends when nobody reads its output any more.
@Suite(.ownThreads) struct `A reader of nfc that has gone` {
    /// Runs nfc with a pipe that nobody reads, and prints its exit status, or the number of its signal, negated.
    private func end(blocking mask: String, _ arguments: [String]) throws -> [String] {
        // Signals as a shell leaves them to a program, or one blocked, as some programs leave it.
        let script = """
            import os, signal, subprocess, sys
            signal.pthread_sigmask(signal.SIG_SETMASK, [\(mask)])
            reader, writer = os.pipe()
            os.close(reader)
            print(subprocess.run(sys.argv[1:], stdout=writer, stdin=subprocess.DEVNULL).returncode)
            """
        let words = ["python3", "-c", script, Command(name: "nfc").path] + arguments
        let outcome = try Command(name: "env").run(words)
        #expect(outcome.error == "")
        return outcome.lines
    }

    @Test(arguments: [["--version"], ["frob", "--json"]])
    func `It is ended by the signal that says so, or where that is blocked with the same status`(
        arguments: [String]
    ) throws {
        for (mask, status) in [("", "-13"), ("signal.SIGPIPE", "141")] {
            let lines = try end(blocking: mask, arguments)
            #expect(lines == [status], "\(mask)")
        }
    }
}
