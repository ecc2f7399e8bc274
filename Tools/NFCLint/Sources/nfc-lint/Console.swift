// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine

/// Writes to standard output and standard error.
enum Console {
    /// Whether standard output is a terminal with colours.
    static var hasColour: Bool {
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
    }

    /// Writes to standard output.
    ///
    /// - Throws: ``Failure`` if the text can't be written completely, so that a check with a lost result fails.
    static func print(_ text: String) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            throw Failure("The output can't be written\(Failure.reason(error)).")
        }
    }

    /// Writes a line to standard error.
    static func note(_ line: String) {
        // Ignore failures, because there is nowhere left to report them.
        try? FileHandle.standardError.write(contentsOf: Data((line.visible + "\n").utf8))
    }
}
