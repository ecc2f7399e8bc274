// SPDX-License-Identifier: Apache-2.0

/// The reports of all checked folders, as one answer.
public struct Reports: Sendable {
    /// The reports in order.
    public let all: [Report]

    /// Combines reports. If folders overlap, a finding is kept only in the first report.
    ///
    /// - Parameter absolute: converts a path to a unique path of the file.
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

    /// Whether the build passes: no findings count as errors.
    public var passes: Bool { all.allSatisfy(\.passes) }

    /// The number of findings of each rule, the most frequent first.
    public var counts: [(id: String, count: Int)] {
        Dictionary(grouping: all.flatMap(\.findings), by: \.id).map { ($0.key, $0.value.count) }
            .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }

    /// The numbers of findings, as a sentence.
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

    /// Notes about folders without an app, which the user probably did not mean to check.
    public var notices: [String] { all.compactMap(\.notice) }
}
