// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Reads bytes from the front. Returns nil when there are too few.
struct ByteCursor {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

    mutating func next() -> UInt8? { rest.popFirst() }

    mutating func take(_ count: Int) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func littleEndian(_ count: Int = 2) -> Int? {
        take(count).map { Int(bytes: $0.reversed()) }
    }
}

/// Returns a count with its noun, in the plural if needed.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
