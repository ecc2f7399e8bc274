// SPDX-License-Identifier: Apache-2.0
package import Testing

/// A tag or a card that plays cases written as text.
///
///     == PWD_AUTH: the right password returns PACK
///     tag NTAG213; 2b = 01 02 03 04; 2c = aa 55
///     # NTAG213/215/216, 10.7
///     1b 01 02 03 04 -> aa 55; 30 2b -> 00*16
///
/// A case begins with `==` and a title, and has a tag of its own. Under a title with `**` each line has its own tag.
/// A line `tag …` says which tag the case has; what follows it is up to the test. `;` separates exchanges, a line
/// that begins with `#` is a comment, `00*16` is a byte sixteen times, and the stage's names stand for their bytes.
///
/// Answers are bytes, `-` for silence, `?` for anything, `#8` for any eight bytes, or the code of an error. `aa ..` is
/// how an answer begins, `.. aa` how it ends, and `! aa` any other answer. A request without `->` is answered `ok`.
package final class Stage {
    /// Answers a request; the text is what follows the verb.
    package typealias Verb = (_ text: String) async throws -> String

    package var names: [String: String]
    package var verbs: [String: Verb]
    private let exchange: Verb

    /// - Parameter exchange: answers what begins with no verb.
    package init(names: [String: String] = [:], verbs: [String: Verb] = [:], exchange: @escaping Verb) {
        self.names = names
        self.verbs = verbs
        self.exchange = exchange
    }

    /// Answers a request, as the lines of a case do.
    package func send(_ request: String) async throws -> String {
        let words = request.split(separator: " ", maxSplits: 1).map(String.init)
        guard let first = words.first, let verb = verbs[first] else { return try await exchange(expanded(request)) }
        return try await verb(expanded(words.count > 1 ? words[1] : ""))
    }

    /// Plays the exchanges of a line, and returns what went wrong.
    package func play(_ line: String) async throws -> String? {
        for step in line.split(separator: ";").map(String.init) {
            let sides = step.split(separator: "->", maxSplits: 1).map { $0.trimmingSpaces() }
            guard let request = sides.first, !request.isEmpty else { continue }
            let answer = try await send(request)
            let expected = sides.count > 1 ? sides[1] : "ok"
            guard matches(answer, expected) else { return "\(request) -> \(answer), not \(expected)" }
        }
        return nil
    }

    /// Plays the exchanges of a line, and records what goes wrong.
    package func check(
        _ line: String,
        _ comment: @autoclosure () -> String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        guard let fault = try await play(line) else { return }
        Issue.record("\(comment()) \(fault)", sourceLocation: sourceLocation)
    }

    private func expanded(_ text: String) -> String {
        text.split(separator: " ").map { word in
            if let name = names[String(word)] { return name }
            let parts = word.split(separator: "*")
            guard parts.count == 2, let count = Int(parts[1]) else { return String(word) }
            return Array(repeating: names[String(parts[0])] ?? String(parts[0]), count: count).joined(separator: " ")
        }.joined(separator: " ")
    }

    private func matches(_ answer: String, _ pattern: String) -> Bool {
        if pattern == "?" { return true }
        if pattern == "-" { return answer == "timeout" }
        if pattern.hasPrefix("! ") { return !matches(answer, String(pattern.dropFirst(2))) }
        if pattern.hasPrefix("#") { return hex(answer).count == Int(pattern.dropFirst()) && answer.contains(" ") }
        if pattern.hasSuffix("..") { return answer.hasPrefix(expanded(String(pattern.dropLast(2)))) }
        if pattern.hasPrefix("..") { return answer.hasSuffix(expanded(String(pattern.dropFirst(2)))) }
        return answer == expanded(pattern)
    }
}

/// Plays cases, each on a stage of its own, and reports the first line of each that goes wrong.
///
/// - Parameters:
///   - cases: the text; see ``Stage``.
///   - make: makes the stage from the line `tag …`; the text is empty where a case has none.
package func play(
    _ cases: String,
    sourceLocation: SourceLocation = #_sourceLocation,
    on make: (String) async throws -> Stage
) async throws {
    var (title, tag) = ("", "")
    var (isEach, isOver) = (false, false)
    var stage: Stage?
    for whole in cases.split(separator: "\n") {
        let line = whole.trimmingSpaces()
        if line.hasPrefix("== ") || line.hasPrefix("** ") {
            (title, tag, stage) = (String(line.dropFirst(3)), "", nil)
            (isEach, isOver) = (line.hasPrefix("** "), false)
        } else if line == "tag" || line.hasPrefix("tag ") {
            (tag, stage) = (String(line.dropFirst(4)), nil)
        } else if !line.isEmpty, !line.hasPrefix("# "), !isOver {
            let current = if let stage, !isEach { stage } else { try await make(tag) }
            stage = current
            if let fault = try await current.play(line) {
                Issue.record("\(title): \(fault)", sourceLocation: sourceLocation)
                isOver = !isEach
            }
        }
    }
}

extension StringProtocol {
    package func trimmingSpaces() -> String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
