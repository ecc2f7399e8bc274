// SPDX-License-Identifier: Apache-2.0

/// Applies the edits that fix findings.
public struct Fixes: Sendable {
    /// A file before and after its edits.
    public struct Change: Sendable {
        /// The file's path.
        public var path: String
        /// The original contents.
        public var before: [UInt8]
        /// The new contents.
        public var after: [UInt8]
    }

    /// The files that change.
    public private(set) var changes: [Change] = []
    /// The number of findings that are fixed.
    public private(set) var count = 0

    /// Applies the edits of findings. If findings have overlapping edits, only the first finding is fixed.
    public init(_ findings: [Finding], _ files: any ProjectFiles) {
        var edits: [String: [Edit]] = [:]
        for finding in findings where !finding.edits.isEmpty {
            let isFree = finding.edits.allSatisfy { edit in
                edits[edit.path, default: []].allSatisfy { !Self.overlap($0.range, edit.range) }
            }
            guard isFree else { continue }
            count += 1
            for edit in finding.edits { edits[edit.path, default: []].append(edit) }
        }
        for (path, list) in edits.sorted(by: { $0.key < $1.key }) {
            guard let before = files.bytes(path) else { continue }
            var after = before
            for edit in list.sorted(by: { $0.range.lowerBound > $1.range.lowerBound })
            where edit.range.upperBound <= after.count {
                after.replaceSubrange(edit.range, with: Array(edit.replacement.utf8))
            }
            changes.append(Change(path: path, before: before, after: after))
        }
    }

    private static func overlap(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        left == right || left.overlaps(right)
    }

    /// The changes as a unified diff. Invisible characters are escaped, so that file contents can't control a terminal.
    public var diff: String { changes.map(Self.diff).joined() }

    private static func diff(_ change: Change) -> String {
        let before = TextLines.exact(change.before)
        let after = TextLines.exact(change.after)
        // The diff has one hunk. It excludes the equal lines at the start and at the end.
        var start = 0
        while start < min(before.count, after.count), before[start] == after[start] { start += 1 }
        var tail = 0
        while tail < min(before.count, after.count) - start,
            before[before.count - 1 - tail] == after[after.count - 1 - tail]
        {
            tail += 1
        }
        let first = max(0, start - 3)
        let beforeEnd = min(before.count, before.count - tail + 3)
        let afterEnd = min(after.count, after.count - tail + 3)
        let name = change.path.visible
        var output = "--- a/\(name)\n+++ b/\(name)\n"
        output += "@@ -\(first + 1),\(beforeEnd - first) +\(first + 1),\(afterEnd - first) @@\n"
        for line in before[first..<start] { output += shown(" ", line) }
        for step in steps(Array(before[start..<(before.count - tail)]), Array(after[start..<(after.count - tail)])) {
            output += step
        }
        for line in before[(before.count - tail)..<beforeEnd] { output += shown(" ", line) }
        return output
    }

    /// A line with its diff marker. A carriage return at the end is kept, because patch programs need it.
    private static func shown(_ mark: String, _ line: String) -> String {
        line.utf8.last == 0x0D ? mark + String(line.dropLast()).visible + "\r\n" : mark + line.visible + "\n"
    }

    /// The unchanged, removed and inserted lines of the diff.
    private static func steps(_ before: [String], _ after: [String]) -> [String] {
        let difference = after.difference(from: before)
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for step in difference {
            switch step {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var result: [String] = []
        var old = 0
        var new = 0
        while old < before.count || new < after.count {
            if old < before.count, removed.contains(old) {
                result.append(shown("-", before[old]))
                old += 1
            } else if new < after.count, inserted.contains(new) {
                result.append(shown("+", after[new]))
                new += 1
            } else {
                result.append(shown(" ", before[old]))
                old += 1
                new += 1
            }
        }
        return result
    }
}
