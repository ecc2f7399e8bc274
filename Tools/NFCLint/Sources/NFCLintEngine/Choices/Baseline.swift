// SPDX-License-Identifier: Apache-2.0

/// The findings that a project had when it started to use the linter. They are left out, so that only new ones count.
///
/// A finding is identified by its rule, its file, and the text of its line, so that it is still known when lines move.
public struct Baseline: Sendable {
    private var counts: [String: Int] = [:]

    /// Reads a baseline.
    ///
    /// - Throws: ``FormatError`` when the file is not a baseline.
    public init(_ bytes: [UInt8]) throws(FormatError) {
        let root = try ConfigValue.json(bytes)
        guard let entries = root["findings"]?.array else { throw FormatError("The file is no baseline.", Position()) }
        for entry in entries {
            // A sloppy file would let findings through, or hold none back.
            guard let id = entry["id"]?.string, let file = entry["file"]?.string, let line = entry["line"]?.string
            else {
                throw FormatError("A finding has no id, file or line.", entry.position)
            }
            let key = Self.key(id, file, line)
            let count = max(0, entry["count"]?.scalar.flatMap { Int($0) } ?? 1)
            let sum = counts[key, default: 0].addingReportingOverflow(count)
            counts[key] = sum.overflow ? Int.max : sum.partialValue
        }
    }

    private static func key(_ id: String, _ file: String, _ line: String) -> String { "\(id)\u{0}\(file)\u{0}\(line)" }

    /// The findings that are not in the baseline.
    public func newFindings(_ report: Report) -> [Finding] {
        var left = self
        return left.takeNewFindings(report)
    }

    /// The findings that are not in the baseline. What it leaves out is used up, also for the next report.
    public mutating func takeNewFindings(_ report: Report) -> [Finding] {
        report.findings.filter { finding in
            let key = Self.key(finding.id, finding.place.path, report.line(finding.place)?.trimmed ?? "")
            guard let count = counts[key], count > 0 else { return true }
            counts[key] = count - 1
            return false
        }
    }

    /// A baseline of all findings, as JSON.
    public static func text(_ report: Report) -> String { text(Reports([report])) }

    /// A baseline of all findings of several reports, as JSON.
    public static func text(_ reports: Reports) -> String {
        var order: [String] = []
        var counts: [String: (finding: Finding, line: String, count: Int)] = [:]
        for (report, finding) in reports.all.flatMap({ report in report.findings.map { (report, $0) } }) {
            let line = report.line(finding.place)?.trimmed ?? ""
            let key = key(finding.id, finding.place.path, line)
            if counts[key] == nil { order.append(key) }
            counts[key, default: (finding, line, 0)].count += 1
        }
        let entries = order.compactMap { counts[$0] }.map { known in
            "  "
                + JSONOutput.line(
                    .object([
                        ("id", .text(known.finding.id)), ("file", .text(known.finding.place.path)),
                        ("line", .text(known.line)),
                        ("count", .number(known.count)),
                    ])
                )
        }
        return "{\"findings\":[\n\(entries.joined(separator: ",\n"))\n]}\n"
    }
}
