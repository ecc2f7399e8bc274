// SPDX-License-Identifier: Apache-2.0

/// The review checklist of an app as a table. Each row is met, not met, or unknown.
public struct Checklist: Sendable {
    /// The state of a row.
    public enum State: String, Sendable {
        /// The app meets the requirement.
        case met
        /// The app does not meet the requirement.
        case notMet = "not met"
        /// The files are not sufficient to decide.
        case unknown = "not known"
    }

    /// A row.
    public struct Row: Sendable {
        /// The requirement.
        public var title: String
        /// Whether the app meets the requirement.
        public var state: State
        /// The location that shows the state; empty if there is none.
        public var place: String
        /// The rules whose findings determine the state.
        public var rules: [String]
    }

    /// The name of the app's target.
    public let target: String
    /// The rows in order.
    public private(set) var rows: [Row] = []

    struct Question {
        var title: String
        var rules: [String]
        /// Whether the requirement applies to the app. If not, the state is unknown.
        var concerns: Bool
        /// The location where the app meets the requirement. Without it, the state is never met.
        var seen: Place?
    }

    /// Checks one target.
    ///
    /// - Parameters:
    ///   - unit: the target.
    ///   - report: the report, which supplies the file names.
    ///   - findings: all findings, including those that a baseline or settings suppress; nil for those of the report.
    public init(_ unit: Unit, _ report: Report, findings: [Finding]? = nil) {
        target = unit.target.name
        // Targets may share files, and a finding names only one of them.
        let paths = unit.checkedPaths
        let findings = (findings ?? report.findings).filter { finding in
            finding.target == unit.target.name || paths.contains(finding.place.path)
        }
        let isUnread = report.project.problems.contains { $0.isWhole && unit.target.files.contains($0.place.path) }
        for question in Self.questions(unit) {
            let found = findings.filter { question.rules.contains($0.id) && $0.severity > .info }
            let proven = found.first { $0.isProven }
            let doubt = found.first ?? findings.first { question.rules.contains($0.id) && !$0.isProven }
            let state: State =
                proven != nil
                ? .notMet
                : doubt != nil || !question.concerns || question.seen == nil || isUnread ? .unknown : .met
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

    /// The table as text.
    public var text: String {
        let width = rows.map(\.title.count).max() ?? 0
        let stateWidth = rows.map(\.state.rawValue.count).max() ?? 0
        var output = "\(target.visible)\n"
        for row in rows {
            let title = row.title + String(repeating: " ", count: width - row.title.count)
            let state = row.state.rawValue + String(repeating: " ", count: stateWidth - row.state.rawValue.count)
            output += "  \(title)  \(state)  \(row.place.visible)".trimmedAtEnd + "\n"
        }
        return output
    }

    /// Tables as one JSON object on a line.
    public static func json(_ lists: [Checklist]) -> String {
        JSONOutput.line(.object([("checklists", .list(lists.map(\.value)))]))
    }

    private var value: JSONOutput.Value {
        let rows = rows.map { row in
            JSONOutput.Value.object([
                ("title", .text(row.title)),
                ("state", .text(row.state.rawValue.replacing(" ", with: "-"))),
                ("place", row.place.isEmpty ? .null : .text(row.place)),
                ("rules", .list(row.rules.map { .text($0) })),
            ])
        }
        return .object([("target", .text(target)), ("rows", .list(rows))])
    }
}

extension String {
    var trimmedAtEnd: String {
        var part = self[...]
        while part.last?.isWhitespace == true { part.removeLast() }
        return String(part)
    }
}
