// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProgramTesting
import TestThreads
import Testing

/// The commands that are programs of nested packages.
@Suite(.ownThreads) struct CompanionProgramTests {
    struct Companion: Sendable, CustomTestStringConvertible {
        var command: String
        var program: String
        var package: String
        var missing: String

        var testDescription: String { "nfc \(command)" }
    }

    static let all = [
        Companion(command: "lint", program: "nfc-lint", package: "Tools/NFCLint", missing: "no-linter"),
        Companion(command: "simulator", program: "nfc-simulator", package: "Simulator", missing: "no-simulator"),
        Companion(command: "fleet", program: "nfc-fleet", package: "Fleet", missing: "no-fleet"),
    ]

    /// Puts a program into a folder, which prints its words after a name of its own.
    private static func put(_ name: String, in folder: URL, saying word: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = "#!/bin/sh\necho \(word)\nprintf '%s\\n' \"$@\"\nexit 5\n"
        try ProgramFile.write(script, to: folder.appendingPathComponent(name).path)
    }

    /// Copies nfc to the place that it has in a clone.
    ///
    /// - Returns: the command, without anything in PATH.
    private static func nfc(in clone: URL, path: String = "/nowhere") throws -> TestProgram {
        let folder = clone.appendingPathComponent(".build/debug")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let copy = folder.appendingPathComponent("nfc")
        try ProgramFile.copy(TestProgram("nfc").path, to: copy.path)
        return TestProgram(copy.path, ["PATH": path])
    }

    @Test(arguments: all) func `companion program in PATH: gets all arguments, and its status is nfc's`(
        _ companion: Companion
    ) throws {
        let scratch = try TestFolder()
        let folder = URL(fileURLWithPath: scratch.path("programs"))
        try Self.put(companion.program, in: folder, saying: "path")
        let nfc = try Self.nfc(in: URL(fileURLWithPath: scratch.path("clone")), path: "\(folder.path):/usr/bin:/bin")
        let outcome = try nfc.run([companion.command, "--json", "My App", "--fix", "--help"])
        #expect(outcome.status == 5)
        #expect(outcome.output == "path\n--json\nMy App\n--fix\n--help\n")
    }

    @Test(arguments: all)
    func `companion command with --version: prints the version of nfc, also without the companion program`(
        _ companion: Companion
    ) throws {
        let scratch = try TestFolder()
        let nfc = try Self.nfc(in: URL(fileURLWithPath: scratch.path("clone")))
        for words in [["--version"], ["--version", "--json"]] {
            let version = try nfc.run(words).output
            let outcome = try nfc.run([companion.command] + words)
            #expect(outcome.status == 0 && outcome.error == "" && outcome.output == version, "\(outcome)")
        }
    }

    @Test(arguments: all)
    func `companion program: taken from beside nfc, else from its debug or release build, else from PATH`(
        _ companion: Companion
    ) throws {
        let scratch = try TestFolder()
        let clone = URL(fileURLWithPath: scratch.path("clone"))
        let folder = URL(fileURLWithPath: scratch.path("programs"))
        let nfc = try Self.nfc(in: clone, path: "\(folder.path):/usr/bin:/bin")
        let build = clone.appendingPathComponent("\(companion.package)/.build")
        for (word, place) in [
            ("path", folder), ("release", build.appendingPathComponent("release")),
            ("debug", build.appendingPathComponent("debug")), ("beside", clone.appendingPathComponent(".build/debug")),
        ] {
            try Self.put(companion.program, in: place, saying: word)
            #expect(try nfc.run(companion.command, "tap").output == "\(word)\ntap\n")
        }
    }

    @Test func `companion program that the system can't run: status 1 and the reason`() throws {
        let scratch = try TestFolder()
        let folder = URL(fileURLWithPath: scratch.path("programs"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A script whose first line does not name its shell.
        let program = folder.appendingPathComponent("nfc-lint").path
        try ProgramFile.write("echo here\n", to: program)
        let nfc = try Self.nfc(in: URL(fileURLWithPath: scratch.path("clone")), path: folder.path)
        let outcome = try nfc.run("lint", "--json", ".")
        #expect(outcome.status == 1)
        let message = "\(program) can't be started: Exec format error."
        #expect(outcome.output == #"{"ok":false,"error":"not-started","message":"\#(message)"}"# + "\n")
    }

    @Test(arguments: all) func `missing companion program: status 1, and the command that builds it`(
        _ companion: Companion
    ) throws {
        let scratch = try TestFolder()
        let nfc = try Self.nfc(in: URL(fileURLWithPath: scratch.path("clone")))
        let outcome = try nfc.run(companion.command, ".")
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(outcome.error.contains("dev/nested build \(companion.package)"))
        let json = try nfc.run(companion.command, "--json", ".")
        #expect(json.status == 1 && json.output.hasPrefix("{\"ok\":false,\"error\":\"\(companion.missing)\","))
    }
}
