// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine

/// Where the command writes to.
enum Console {
    /// Whether the output is a terminal that shows colours.
    static var hasColour: Bool {
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
    }

    /// Writes to the output.
    ///
    /// - Throws: when not all of the text can be written. A check with a lost result must not look successful.
    static func print(_ text: String) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            throw Failure("The output can't be written\(Failure.reason(error)).")
        }
    }

    /// Writes a line to the standard error.
    static func note(_ line: String) {
        // There is nowhere left to report to.
        try? FileHandle.standardError.write(contentsOf: Data((line.visible + "\n").utf8))
    }
}
