// SPDX-License-Identifier: Apache-2.0

/// Finds the end of the code that a comment on its own line applies to. Reads all lines only once, so that many
/// comments take no longer than few.
struct SuppressedBlocks {
    private let count: Int
    /// The indexes of the lines with `nfclint:enable`, in order, by rule id. The empty id has the lines that name no
    /// rule.
    private var enables: [String: [Int]] = [:]
    /// For each line, the number of the last line of the block that begins there; nil if the block doesn't end.
    private var ends: [Int?] = []

    init(_ lines: [String]) {
        count = lines.count
        // The number of open braces before each line, and after the last line.
        var depths = [0]
        for (index, line) in lines.enumerated() {
            depths.append(depths[index] + line.count { $0 == "{" } - line.count { $0 == "}" })
            guard let mark = line.firstRange(of: "nfclint:enable") else { continue }
            let ids = Set(Suppressions.ids(line[mark.upperBound...]))
            for id in ids.isEmpty ? [""] : ids { enables[id, default: []].append(index) }
        }
        ends = Array(repeating: nil, count: lines.count)
        // The lines whose block has not ended yet, outermost first, so that their depths increase.
        var open: [Int] = []
        for (index, depth) in depths.enumerated() {
            while let last = open.last, depth <= depths[last] {
                ends[last] = index
                open.removeLast()
            }
            if index < lines.count { open.append(index) }
        }
    }

    /// The number of the last line of the code that begins at a line.
    ///
    /// - Parameters:
    ///   - start: the index of the line.
    ///   - ids: the rules that the comment names; empty for all rules.
    func end(from start: Int, _ ids: Set<String>) -> Int {
        guard start < count else { return start }
        let enable = ids.union([""]).compactMap { id in enables[id]?.firstInOrder { $0 >= start } }.min()
        if let enable { return enable + 1 }
        return ends[start] ?? min(start + 1, max(count, 1))
    }
}
