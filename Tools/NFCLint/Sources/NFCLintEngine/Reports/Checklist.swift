// SPDX-License-Identifier: Apache-2.0

/// The review checklist of an app as a table: each row met, not met, or not to be told.
public struct Checklist: Sendable {
    /// What can be said of a row.
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
        /// The rules that say so.
        public var rules: [String]
    }

    /// The app.
    public let target: String
    /// The rows in order.
    public private(set) var rows: [Row] = []

    private struct Question {
        var title: String
        var rules: [String]
        /// Whether the app has what the row is about; without it nothing can be told.
        var concerns: Bool
    }

    /// Looks at one target.
    public init(_ unit: Unit, _ report: Report) {
        target = unit.target.name
        let findings = report.findings.filter { $0.target == unit.target.name }
        for question in Self.questions(unit) {
            let found = findings.filter { question.rules.contains($0.id) && $0.severity > .info }
            let proven = found.first { $0.isProven }
            let doubt = found.first ?? findings.first { question.rules.contains($0.id) && !$0.isProven }
            let state: State =
                proven != nil ? .notMet : doubt != nil || !question.concerns ? .unknown : .met
            let place = (proven ?? doubt).map { finding in
                "\(report.path(finding.place.path)):\(finding.place.position.line) (\(finding.id))"
            }
            rows.append(
                Row(title: question.title, state: state, place: place ?? "", rules: question.rules)
            )
        }
    }

    private static func questions(_ unit: Unit) -> [Question] {
        let variants = unit.target.variants
        let uses = unit.usesCoreNFC
        let hasInfo = variants.contains(where: \.isInfoKnown)
        let hasEntitlements = variants.contains(where: \.areEntitlementsKnown)
        let writes = unit.index.functions.contains { $0.calls.contains { $0.name == "writeNDEF" } }
        let ends = unit.sessions.delegates.contains { !$0.invalidation.isEmpty }
        return [
            Question(title: "Capability: reader sessions are entitled", rules: ["CFG010"], concerns: hasEntitlements),
            Question(
                title: "Usage text: the Info.plist says why the app scans",
                rules: ["CFG001", "CFG002", "CFG003"],
                concerns: hasInfo
            ),
            Question(
                title: "Formats: those that the least iOS version asks for",
                rules: ["CFG011", "CFG012", "CFG013", "CFG014", "CFG016"],
                concerns: hasEntitlements
            ),
            Question(title: "readingAvailable is checked before a session", rules: ["SRC001"], concerns: uses),
            Question(title: "The delegate is set and lives", rules: ["SRC002"], concerns: uses),
            Question(
                title: "The session is nil after it was invalidated",
                rules: ["SRC003", "SRC008"],
                concerns: ends
            ),
            Question(title: "Cancelling is told apart from errors", rules: ["SRC004", "SRC029"], concerns: ends),
            Question(title: "The status is queried before a write", rules: ["SRC005"], concerns: writes),
            Question(title: "The capacity is compared before a write", rules: ["SRC006"], concerns: writes),
            Question(
                title: "AIDs and system codes are listed",
                rules: ["SRC009", "SRC010", "CFG020", "CFG024", "CFG026", "CFG027"],
                concerns: hasInfo && uses
            ),
            Question(
                title: "Background: domains and a handler",
                rules: ["DOM001", "DOM002", "DOM010", "SRC017", "SRC018", "SRC032"],
                concerns: hasEntitlements
                    && variants.contains { $0.entitlements?.root["com.apple.developer.associated-domains"] != nil }
            ),
            Question(title: "One session at a time", rules: ["SRC007"], concerns: uses),
        ]
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
