// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation

/// The log: a line for each thing that happens. Nothing of a tag is in it unless that is asked for.
struct Log {
    private let json: Bool
    private let hasTime: Bool
    let logsContent: Bool

    init(_ options: Options) {
        json = options.json
        logsContent = options.logsContent
        // The journal has the time of each line already.
        hasTime = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] == nil
    }

    /// Writes a line.
    ///
    /// - Parameters:
    ///   - event: one word, for programs.
    ///   - text: a sentence, for people.
    ///   - content: what of a tag it is about; left out unless it is asked for.
    ///   - fields: numbers, for programs.
    func write(_ event: String, _ text: String, content: String? = nil, _ fields: KeyValuePairs<String, String> = [:]) {
        var line = DisplayText.plain(text, limit: 1000)
        if logsContent, let content { line += " " + DisplayText.plain(content, limit: 400) }
        guard json else {
            Self.standardError((hasTime ? Self.timeText() + " " : "") + line + "\n")
            return
        }
        let members = [("event", event), ("message", line)] + fields.map { ($0, $1) }
        let text = members.map { "\(Self.quoted($0)):\(Self.quoted($1))" }.joined(separator: ",")
        FileHandle.standardOutput.write(Data("{\(text)}\n".utf8))
    }

    static func standardError(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }

    static func quoted(_ text: String) -> String {
        let octets = (try? JSONEncoder().encode(text)) ?? Data()
        return String(decoding: octets, as: UTF8.self)
    }

    private static func timeText() -> String {
        var now = time(nil)
        var parts = unsafe tm()
        unsafe localtime_r(&now, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = unsafe strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
