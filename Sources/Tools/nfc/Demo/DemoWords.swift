// SPDX-License-Identifier: Apache-2.0

/// What the demonstration says, a step at a time.
struct DemoWords {
    let json: Bool

    /// Says a step.
    ///
    /// - Parameters:
    ///   - step: one word, for programs.
    ///   - text: a sentence, for people.
    ///   - lines: what is shown with it.
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

    /// Says what the person can do now. It is no answer, so that programs don't see it.
    func prompt(_ text: String) {
        let line = "  \(text)"
        if json { StandardError.writeLine(line) } else { printLine(line) }
    }
}
