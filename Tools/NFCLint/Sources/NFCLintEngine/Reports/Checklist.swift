// SPDX-License-Identifier: Apache-2.0

/// The review checklist of an app as a table: each row is met, not met, or not known.
public struct Checklist: Sendable {
    /// The state of a row.
    public enum State: String, Sendable {
        /// The app does it.
        case met
        /// It does not.
        case notMet = "not met"
        /// The files don't say.
        case unknown = "could not be told"
    }

    /// A row.
    public struct Row: Sendable {
        /// What is asked.
        public var title: String
        /// Whether the app does it.
        public var state: State
        /// Where this is seen; empty for nowhere.
        public var place: String
        /// The rules that found this.
        public var rules: [String]
    }

    /// The app.
    public let target: String
    /// The rows in order.
    public private(set) var rows: [Row] = []

    struct Question {
        var title: String
        var rules: [String]
        /// Whether the row applies to the app; otherwise the state is not known.
        var concerns: Bool
        /// Where the app has it.
        var seen: Place?
    }

    /// Checks one target.
    ///
    /// - Parameters:
    ///   - unit: the target.
    ///   - report: the report, for the names of files.
    ///   - findings: all findings, also those that a baseline or the choices leave out; nil for those of the report.
    public init(_ unit: Unit, _ report: Report, findings: [Finding]? = nil) {
        target = unit.target.name
        let findings = (findings ?? report.findings).filter { $0.target == unit.target.name }
        for question in Self.questions(unit) {
            let found = findings.filter { question.rules.contains($0.id) && $0.severity > .info }
            let proven = found.first { $0.isProven }
            let doubt = found.first ?? findings.first { question.rules.contains($0.id) && !$0.isProven }
            let state: State =
                proven != nil ? .notMet : doubt != nil || !question.concerns ? .unknown : .met
            var place = (proven ?? doubt).map { "\(Self.text($0.place, report)) (\($0.id))" }
            if place == nil, state == .met { place = question.seen.map { Self.text($0, report) } }
            rows.append(
                Row(title: question.title, state: state, place: place ?? "", rules: question.rules)
            )
        }
    }

    private static func text(_ place: Place, _ report: Report) -> String {
        "\(report.path(place.path)):\(place.position.line)"
    }

    /// The table in lines of text.
    public var text: String {
        let width = rows.map(\.title.count).max() ?? 0
        var output = "\(target.visible)\n"
        for row in rows {
            let title = row.title + String(repeating: " ", count: width - row.title.count)
            let state = row.state.rawValue + String(repeating: " ", count: 17 - row.state.rawValue.count)
            output += "  \(title)  \(state)  \(row.place.visible)".trimmedAtEnd + "\n"
        }
        return output
    }

    /// The table as one JSON object.
    public var json: String {
        JSONOutput.line(
            .object([
                ("target", .text(target)),
                (
                    "rows",
                    .list(
                        rows.map { row in
                            .object([
                                ("title", .text(row.title)),
                                ("state", .text(row.state.rawValue.replacing(" ", with: "-"))),
                                ("place", row.place.isEmpty ? .null : .text(row.place)),
                                ("rules", .list(row.rules.map { .text($0) })),
                            ])
                        }
                    )
                ),
            ])
        )
    }
}

extension String {
    var trimmedAtEnd: String {
        var part = self[...]
        while part.last?.isWhitespace == true { part.removeLast() }
        return String(part)
    }
}
