// SPDX-License-Identifier: Apache-2.0

/// The findings that a project had when it began to use the linter. They don't count as new findings.
///
/// A finding is identified by its rule, file and source line, so that it is recognized even if lines move.
public struct Baseline: Sendable {
    private var counts: [String: Int] = [:]

    /// Parses a baseline file.
    ///
    /// - Throws: ``FormatError`` if the file is not a baseline.
    public init(_ bytes: [UInt8]) throws(FormatError) {
        let root = try ConfigValue.json(bytes)
        guard let entries = root["findings"]?.array else {
            throw FormatError("The file is not a baseline.", Position())
        }
        for entry in entries {
            // Reject incomplete entries, because they would silently match no finding.
            guard let id = entry["id"]?.string, let file = entry["file"]?.string, let line = entry["line"]?.string
            else { throw FormatError("A finding has no id, file or line.", entry.position) }
            let key = Self.key(id, file, line)
            let count = max(0, entry["count"]?.scalar.flatMap { Int($0) } ?? 1)
            let sum = counts[key, default: 0].addingReportingOverflow(count)
            counts[key] = sum.overflow ? Int.max : sum.partialValue
        }
    }

    private static func key(_ id: String, _ file: String, _ line: String) -> String { "\(id)\u{0}\(file)\u{0}\(line)" }

    /// The findings that are not in the baseline.
    public func newFindings(_ report: Report) -> [Finding] {
        var remaining = self
        return remaining.takeNewFindings(report)
    }

    /// The findings that are not in the baseline. Each match uses up its baseline entry, also for later reports.
    public mutating func takeNewFindings(_ report: Report) -> [Finding] {
        report.findings.filter { finding in
            let key = Self.key(finding.id, finding.place.path, report.line(finding.place)?.trimmed ?? "")
            guard let count = counts[key], count > 0 else { return true }
            counts[key] = count - 1
            return false
        }
    }

    /// Creates a baseline of all findings, as JSON.
    public static func text(_ report: Report) -> String { text(Reports([report])) }

    /// Creates a baseline of all findings in several reports, as JSON.
    public static func text(_ reports: Reports) -> String {
        var order: [String] = []
        var counts: [String: (finding: Finding, line: String, count: Int)] = [:]
        for (report, finding) in reports.all.flatMap({ report in report.findings.map { (report, $0) } }) {
            let line = report.line(finding.place)?.trimmed ?? ""
            let key = key(finding.id, finding.place.path, line)
            if counts[key] == nil { order.append(key) }
            counts[key, default: (finding, line, 0)].count += 1
        }
        let entries = order.compactMap { counts[$0] }.map { entry in
            "  "
                + JSONOutput.line(
                    .object([
                        ("id", .text(entry.finding.id)), ("file", .text(entry.finding.place.path)),
                        ("line", .text(entry.line)),
                        ("count", .number(entry.count)),
                    ])
                )
        }
        return "{\"findings\":[\n\(entries.joined(separator: ",\n"))\n]}\n"
    }
}
