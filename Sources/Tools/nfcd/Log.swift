// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinuxSupport
import NFCSessions
import TextSafety

/// Writes the log, one line per event. Tag contents are omitted unless the options enable them.
struct Log {
    private let json: Bool
    private let hasTime: Bool
    let logsContent: Bool
    private let output: @MainActor (String) -> Void
    private let errors: @MainActor (String) -> Void

    init(
        _ options: Options,
        output: @escaping @MainActor (String) -> Void = Log.standardOutput,
        errors: @escaping @MainActor (String) -> Void = Log.standardError
    ) {
        json = options.json
        logsContent = options.logsContent
        self.output = output
        self.errors = errors
        // The journal already records the time of each line.
        hasTime = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] == nil
    }

    /// Writes a line. `event` is one word for programs, and `text` is a sentence for people. `content` is written only
    /// if the options enable it.
    func write(_ event: String, _ text: String, content: String? = nil, _ fields: KeyValuePairs<String, String> = [:]) {
        var line = DisplayText.plain(text, limit: 1000)
        if logsContent, let content { line += " " + DisplayText.plain(content, limit: 400) }
        guard json else { return errors((hasTime ? Self.timeText() + " " : "") + line + "\n") }
        output(
            Self.object { writer in
                writer.member("event", event)
                writer.member("message", line)
                for (key, value) in fields {
                    writer.key(key)
                    writer.value(value)
                }
            }
        )
    }

    /// Logs a failure. Its JSON has the members `ok` and `error`, like all failures of the tools.
    func fail(_ error: String, _ text: String) {
        guard json else { return write("failed", text) }
        output(Self.failure(error, DisplayText.plain(text, limit: 1000)))
    }

    static func failure(_ error: String, _ message: String) -> String {
        object { writer in
            writer.member("ok", false)
            writer.member("event", "failed")
            writer.member("error", error)
            writer.member("message", message)
        }
    }

    private static func object(_ members: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        members(&writer)
        writer.endObject()
        return String(decoding: writer.text, as: UTF8.self) + "\n"
    }

    static func standardError(_ text: String) { OutputDescriptor.standardError.write(text) }

    static func standardOutput(_ text: String) {
        // Foundation's file handle would crash if a line can't be written, for example on a full disk.
        OutputDescriptor.standardOutput.write(text)
    }

    private static func timeText() -> String {
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: .current)
        return Date.now.formatted(style.year().month().day().time(includingFractionalSeconds: false))
    }
}
