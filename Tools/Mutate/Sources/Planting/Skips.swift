// SPDX-License-Identifier: Apache-2.0

/// The lines of a file on which nothing is planted, because a comment explains why a bug there has no effect.
///
///     // mutate: equivalent, because both branches end the session.
///
/// The comment is on the line itself, or above it, where it can have several lines.
struct Skips {
    /// The lines, counted from 1.
    var lines: Set<Int> = []
    /// The lines of comments that give no reason.
    var withoutReason: [Int] = []

    init(source: String) {
        let all = source.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in all.enumerated() {
            guard let comment = line.range(of: "// mutate:") else { continue }
            let said = line[comment.upperBound...].drop { $0 == " " }
            let opening = "equivalent, because "
            guard said.hasPrefix(opening), said.dropFirst(opening.count).count >= 5 else {
                withoutReason.append(index + 1)
                continue
            }
            var target = index
            while target < all.count, all[target].drop(while: { $0 == " " }).hasPrefix("//") { target += 1 }
            lines.insert(target + 1)
        }
    }
}

extension Substring {
    /// The first range of `text`.
    func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) {
                return start..<index(start, offsetBy: text.count)
            }
            formIndex(after: &start)
        }
        return nil
    }
}
