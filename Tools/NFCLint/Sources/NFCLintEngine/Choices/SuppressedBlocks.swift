// SPDX-License-Identifier: Apache-2.0

/// Where the code ends that a comment alone on a line is for. All lines are read once, so that many comments take no longer
/// than few.
struct SuppressedBlocks {
    private let count: Int
    /// The indexes of the lines with `nfclint:enable`, in order, by the rules that they name; under the empty id those
    /// that name none.
    private var enables: [String: [Int]] = [:]
    /// For each line, the number of the last line of the block that begins there; nil when it has no end.
    private var ends: [Int?] = []

    init(_ lines: [String]) {
        count = lines.count
        // How many braces are open before each line, and after the last one.
        var depths = [0]
        for (index, line) in lines.enumerated() {
            depths.append(depths[index] + line.count { $0 == "{" } - line.count { $0 == "}" })
            guard let mark = line.firstRange(of: "nfclint:enable") else { continue }
            let ids = Set(Suppressions.ids(line[mark.upperBound...]))
            for id in ids.isEmpty ? [""] : ids { enables[id, default: []].append(index) }
        }
        ends = Array(repeating: nil, count: lines.count)
        // The lines whose block has not ended yet; the outermost first, so that the depths grow.
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
    ///   - ids: the rules that the comment names; none for all.
    func end(from start: Int, _ ids: Set<String>) -> Int {
        guard start < count else { return start }
        let enable = ids.union([""]).compactMap { id in enables[id]?.firstInOrder { $0 >= start } }.min()
        if let enable { return enable + 1 }
        return ends[start] ?? min(start + 1, max(count, 1))
    }
}
