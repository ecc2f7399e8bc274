// SPDX-License-Identifier: Apache-2.0
import Glibc
import TextSafety

/// Standard error.
enum StandardError {
    /// Writes a line for people. Invisible characters are escaped.
    ///
    /// - Parameters:
    ///   - text: the line.
    ///   - keepsLineBreaks: whether line breaks are kept, because the program itself made them.
    static func writeLine(_ text: String, keepsLineBreaks: Bool = false) {
        let text = VisibleText.escaped(text, keepsLineBreaks: keepsLineBreaks) + "\n"
        // If standard error can't be written either, there is nowhere to report it.
        _ = FileDescriptorOutput.write(Array(text.utf8), to: STDERR_FILENO)
    }
}
