// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import SimulatorModel

/// Prints the program's output.
enum Output {
    /// Prints a line of JSON to standard output.
    static func line(_ json: JSON) { write(json.text, to: .standardOutput) }

    /// Prints a line of text to standard output.
    static func text(_ text: String) { write(text, to: .standardOutput) }

    /// Prints a line of text to standard error.
    static func note(_ text: String) { write(text, to: .standardError) }

    /// Prints the reason for a command's failure.
    static func failure(_ code: String, _ message: String, json: Bool) -> ExitCode {
        if json {
            line(["ok": false, "error": .string(code), "message": .string(message)])
        } else {
            note(message)
        }
        return ExitCode(1)
    }

    private static func write(_ text: String, to handle: FileHandle) {
        try? handle.write(contentsOf: Data((text + "\n").utf8))
    }
}
