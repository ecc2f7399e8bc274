// SPDX-License-Identifier: Apache-2.0

/// The keys of a screen, at its lower edge.
///
/// If there is not enough room, the least important ones are left out first. `?` shows all of them.
struct Footer {
    /// A key and what it does.
    struct Hint {
        var key: String
        var does: String
        /// Hints of lower weight are left out first.
        var weight: Int
    }

    var hints: [Hint]

    static let list = Footer(hints: [
        Hint(key: "s", does: "scan", weight: 4), Hint(key: "m", does: "scan many", weight: 0),
        Hint(key: "Enter", does: "open", weight: 2), Hint(key: "w", does: "write", weight: 1),
        Hint(key: "d", does: "delete", weight: 5), Hint(key: "?", does: "help", weight: 3),
        Hint(key: "q", does: "quit", weight: 6),
    ])

    static let details = Footer(hints: [
        Hint(key: "w", does: "write", weight: 1), Hint(key: "d", does: "delete", weight: 4),
        Hint(key: "up/down", does: "scroll", weight: 2), Hint(key: "?", does: "help", weight: 3),
        Hint(key: "q", does: "back", weight: 5),
    ])

    static let help = Footer(hints: [
        Hint(key: "up/down", does: "scroll", weight: 0), Hint(key: "q", does: "back", weight: 1),
    ])

    /// The footer's lines.
    ///
    /// - Parameters:
    ///   - columns: the columns of the terminal.
    ///   - limit: the maximum number of lines.
    func lines(columns: Int, limit: Int) -> [String] {
        var hints = hints
        while true {
            let lines = Self.filled(hints.map { "\($0.key) \($0.does)" }, columns: columns)
            if lines.count <= limit, lines.allSatisfy({ Lines.width($0) <= columns }) { return lines }
            guard hints.count > 2, let least = hints.indices.min(by: { hints[$0].weight < hints[$1].weight }) else {
                break
            }
            hints.remove(at: least)
        }
        return [Lines.cut(hints.map(\.key).joined(separator: " "), columns: columns)]
    }

    /// Puts as many hints on each line as fit.
    private static func filled(_ texts: [String], columns: Int) -> [String] {
        var lines: [String] = []
        for text in texts {
            if let last = lines.last, Lines.width(last) + 2 + Lines.width(text) <= columns {
                lines[lines.count - 1] = last + "  " + text
            } else {
                lines.append(text)
            }
        }
        return lines
    }
}
