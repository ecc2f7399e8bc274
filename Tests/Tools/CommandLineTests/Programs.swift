// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting
import Testing

/// The repository's folder.
let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

extension TestProgram {
    /// For a script with an emulation: `happens` waits until its events have a text, or until it has ended.
    static let happens =
        #"happens() { while ! grep -q "$1" events && kill -0 $emulation; do sleep 0.01; done; }"#

    /// Runs a script in a folder. `nfc` is the program that was built with the tests.
    ///
    /// A command that waits without end ends with status 124.
    static func shell(_ script: String, in folder: String, _ environment: [String: String] = [:]) throws -> Outcome {
        let head = "cd '\(folder)' || exit 99\nnfc() { timeout --foreground 60 '\(TestProgram("nfc").path)' \"$@\"; }\n"
        let variables = ["NFC_SHEET": "none"].merging(environment) { $1 }
        return try TestProgram("bash", variables).run("-c", head + script)
    }
}

extension TestFolder {
    /// Makes the image of an NTAG213 with a link, or of another file of the cases.
    ///
    /// - Returns: its path.
    func card(_ name: String = "card.json", from file: String = "ntag213-link.json") throws -> String {
        try copy(SnapshotCase.folder.appendingPathComponent("Files/\(file)").path, to: name)
        return path(name)
    }
}

/// A program that runs beside a test, and is killed with this object.
final class RunningProgram {
    let process = Process()
    private let output: TestFolder

    init(_ program: TestProgram, _ arguments: [String], input: Any? = FileHandle.nullDevice) throws {
        output = try TestFolder()
        for name in ["out", "err"] { try output.write(name, "") }
        process.executableURL = URL(fileURLWithPath: program.path)
        process.arguments = arguments
        process.environment = program.variables
        process.standardInput = input
        process.standardOutput = FileHandle(forWritingAtPath: output.path("out"))
        process.standardError = FileHandle(forWritingAtPath: output.path("err"))
        try process.run()
    }

    deinit {
        kill()
    }

    /// What it has printed to standard output, and to standard error.
    var text: (output: String, error: String) { (output.text("out"), output.text("err")) }

    /// Sends it a signal, and waits for its end.
    func end(by signal: Int32) -> Int32 {
        Glibc.kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Ends it at once. What a thread of the tests starts may have other signals blocked.
    func kill() {
        guard process.isRunning else { return }
        _ = end(by: SIGKILL)
    }
}
