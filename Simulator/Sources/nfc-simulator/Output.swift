// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import SimulatorModel

/// What the program prints.
enum Output {
    /// A line of JSON on standard output.
    static func line(_ json: JSON) { write(json.text, to: .standardOutput) }

    /// A line for people on standard output.
    static func text(_ text: String) { write(text, to: .standardOutput) }

    /// A line for people on standard error.
    static func note(_ text: String) { write(text, to: .standardError) }

    /// Prints why a command failed.
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
