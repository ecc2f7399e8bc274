// SPDX-License-Identifier: Apache-2.0

/// The offsets at which the lines of a text begin.
struct LineStarts: Sendable {
    private let offsets: [Int]

    init(_ bytes: some Sequence<UInt8>) {
        var offsets = [0]
        for (offset, byte) in bytes.enumerated() where byte == 0x0A { offsets.append(offset + 1) }
        self.offsets = offsets
    }

    /// The line and column of an offset in the text.
    func position(of offset: Int) -> Position {
        let line = offsets.firstIndexInOrder { $0 > offset }
        return Position(line: line, column: offset - offsets[line - 1] + 1)
    }
}
