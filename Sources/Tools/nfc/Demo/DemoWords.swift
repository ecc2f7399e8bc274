// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// The output of the demonstration, step by step.
struct DemoWords {
    let json: Bool

    /// Prints a step.
    ///
    /// - Parameters:
    ///   - step: one word, for programs.
    ///   - text: a sentence, for people.
    ///   - lines: further lines, for people.
    func say(_ step: String, _ text: String, lines: [String] = []) {
        guard json else {
            printLine("- \(text)")
            for line in lines { printLine("    \(line)") }
            return
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("step", step)
        writer.member("message", text)
        writer.key("lines")
        writer.values(lines)
        writer.endObject()
        writer.printLine()
    }

    /// Prints what the person can do now. JSON output leaves it out.
    func prompt(_ text: String) {
        let line = "  \(text)"
        if json { StandardError.writeLine(line) } else { printLine(line) }
    }
}
