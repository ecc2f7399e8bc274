// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

@testable import nfc

/// A program of a demonstration, and the lines that it prints.
@Suite(.ownThreads, .timeLimit(.minutes(3))) struct `A program of a demonstration` {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func shell(_ script: String, input: String? = nil) throws -> DemoProgram {
        let variables = ["PATH": "/usr/bin:/bin", "WORD": "said"]
        return try DemoProgram("/bin/sh", ["-c", script], input: input, environment: variables)
    }

    /// Waits until the program has printed something, or has ended.
    private func wait(for program: DemoProgram) {
        var poller = pollfd(fd: program.descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&poller, 1, 1000)
    }

    /// The lines of the program from now on, until it ends. It is reaped, because the testing library hears of no other
    /// process as long as one waits that is not its own.
    private func lines(of program: DemoProgram) -> [String] {
        var lines: [String] = []
        while !program.isAtEnd {
            wait(for: program)
            lines += program.lines()
        }
        waitpid(program.identifier, nil, 0)
        return lines
    }

    @Test func `It reads its input and its variables, and the last line need not end`() throws {
        let input = scratch.path("input")
        try "x\n\ny\n".write(toFile: input, atomically: true, encoding: .utf8)
        let program = try shell("cat; echo \"$WORD\"; printf 'a\\n\\nb'", input: input)
        #expect(lines(of: program) == ["x", "y", "said", "a", "b"])
        #expect(program.lines() == [])
        #expect(lines(of: try shell("cat; echo end")) == ["end"])
    }

    @Test func `A line counts when it is whole`() throws {
        let input = scratch.path("input")
        try #require(unsafe mkfifo(input, 0o600) == 0)
        let end = unsafe open(input, O_RDWR | O_CLOEXEC)
        defer { close(end) }
        let program = try shell("printf ab; read -r line; printf 'c\\nd'", input: input)
        wait(for: program)
        #expect(program.lines() == [] && !program.isAtEnd)
        _ = unsafe write(end, "\n", 1)
        #expect(lines(of: program) == ["abc", "d"])
    }

    @Test func `One that can't be started, or not with its input, says what to do`() {
        for (path, input, reason) in [
            ("/nowhere/app", nil, "No such file or directory"), ("/bin/sh", "/nowhere/input", "Bad file descriptor"),
        ] as [(String, String?, String)] {
            do throws(CommandFailure) {
                _ = try DemoProgram(path, [], input: input, environment: [:])
                Issue.record("It was started.")
            } catch {
                #expect(error.status == .refused && error.name == "not-started")
                #expect(error.message == "\(path) can't be started: \(reason). Build it again: swift build")
            }
        }
    }
}
