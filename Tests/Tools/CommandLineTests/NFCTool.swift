// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Runs the `nfc` that was built with the tests.
struct NFCTool {
    /// What a run left.
    struct Output {
        var status: Int32
        var text: String
        var errorText: String

        /// The lines of standard output, empty ones included.
        var lines: [String] {
            var lines = text.components(separatedBy: "\n")
            if lines.last == "" { lines.removeLast() }
            return lines
        }
    }

    /// Runs `nfc` to its end.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - input: its standard input.
    /// - Returns: its output and exit status.
    static func run(_ arguments: [String], input: Data = Data()) throws -> Output {
        let outcome = try Command(name: "nfc").run(arguments, input: input)
        return Output(status: outcome.status, text: outcome.output, errorText: outcome.error)
    }

    /// Runs `nfc` with lines on standard input.
    static func run(_ arguments: String..., lines: [String]) throws -> Output {
        try run(arguments, input: Data((lines.joined(separator: "\n") + "\n").utf8))
    }
}
