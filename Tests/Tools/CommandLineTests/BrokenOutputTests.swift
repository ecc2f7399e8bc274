// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// Programs other than `nfc` whose standard output is full or closed.
@Suite(.ownThreads) struct `Standard output that can't be written` {
    private let images: Images
    private let environment: [String: String]

    init() throws {
        images = try Images()
        environment = [
            "TAGREADER_STORE": images.folder.path("messages.json"), "NFC_READER": "virtual",
            "NFC_TAGS": try images.poster(), "NFC_SHEET": "none",
        ]
    }

    /// Runs a program with its standard output redirected, and commands on its standard input.
    private func run(_ name: String, _ arguments: String, _ redirection: String) throws -> Command.Outcome {
        let program = Command(name: name).path
        let script = "printf 'scan\\nlist\\nfrob\\n' | '\(program)' \(arguments) \(redirection)"
        return try Command(name: "bash", environment: environment).run("-c", script)
    }

    private static let redirections = [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")]

    @Test(arguments: ["", "--plain", "--help"], redirections)
    func `TagReader ends with one sentence and status 1`(arguments: String, _ output: (String, String)) throws {
        let outcome = try run("TagReader", arguments, output.0)
        #expect(outcome.error == "Standard output can't be written: \(output.1).\n")
        #expect(outcome.status == 1)
    }

    @Test func `No file of TagReader's takes the place of a closed standard output`() throws {
        #expect(try run("TagReader", "", ">&-").status == 1)
        let list = try Command(name: "TagReader", environment: environment).run(input: "list\n")
        #expect(list.output == "1  2 records  Link: https://example.com/poster/12\n")
        #expect(list.status == 0)
    }

    @Test(arguments: redirections)
    func `The first example ends with 1`(redirection: String, reason: String) throws {
        let outcome = try run("FirstScan", "", redirection)
        #expect(outcome.status == 1, "\(outcome)")
    }

    @Test func `The end of who reads the log of nfcd does not end it by a signal`() throws {
        // Signals as a shell leaves them to a program.
        let script = """
            import os, signal, sys
            reader, writer = os.pipe()
            os.close(reader)
            os.dup2(writer, 1)
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.execv(sys.argv[1], [sys.argv[1], "--json"])
            """
        // Without a bus it fails with 1.
        let outcome = try Command(name: "env").run("python3", "-c", script, Command(name: "nfcd").path)
        #expect(outcome.status == 1, "\(outcome)")
    }

    @Test(arguments: redirections)
    func `The help of nfcd ends with 1`(redirection: String, reason: String) throws {
        let outcome = try run("nfcd", "--help", redirection)
        #expect(outcome.error == "Error: Standard output can't be written: \(reason).\n")
        #expect(outcome.status == 1)
    }
}
