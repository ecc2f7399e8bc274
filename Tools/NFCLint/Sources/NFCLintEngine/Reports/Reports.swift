// SPDX-License-Identifier: Apache-2.0

/// The reports of all folders that were asked for, as one answer.
public struct Reports: Sendable {
    /// The reports in order.
    public let all: [Report]

    /// Reports; a finding of overlapping folders stays in the first.
    ///
    /// - Parameter absolute: returns one name for all names of a file.
    public init(_ reports: [Report], absolute: (String) -> String = { $0 }) {
        var seen: Set<Key> = []
        all = reports.map { report in
            var report = report
            report.findings = report.findings.filter { finding in
                let path = absolute(report.path(finding.place.path))
                return seen.insert(Key(id: finding.id, path: path, position: finding.place.position)).inserted
            }
            return report
        }
    }

    private struct Key: Hashable {
        var id: String
        var path: String
        var position: Position
    }

    /// Whether there are no findings that fail a build.
    public var isFine: Bool { all.allSatisfy(\.isFine) }

    /// The numbers in words.
    public var summary: String {
        func words(_ severity: Severity, _ one: String, _ many: String) -> String {
            let count = all.reduce(0) { $0 + $1.count(severity) }
            return "\(count) \(count == 1 ? one : many)"
        }
        let parts = [
            words(.error, "error", "errors"), words(.warning, "warning", "warnings"), words(.info, "note", "notes"),
        ]
        return parts.joined(separator: ", ") + "."
    }

    /// What was not found, as lines: a folder without an app was hardly meant.
    public var notices: [String] { all.compactMap(\.notice) }
}
