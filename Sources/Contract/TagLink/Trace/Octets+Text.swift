// SPDX-License-Identifier: Apache-2.0

extension Sequence<UInt8> {
    /// The octets as hex digits, lower case, two each.
    package func hexText(separator: String = "") -> String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: separator)
    }
}

extension FixedWidthInteger {
    /// The number as hex digits, upper case as data sheets write addresses, with zeros in front.
    package func hexText(digits: Int) -> String {
        let text = String(self, radix: 16, uppercase: true)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }
}

/// Takes octets from the front, as far as there are any: what is short is told, not trapped on.
struct OctetCursor {
    private(set) var rest: ArraySlice<UInt8>

    init(_ octets: some Collection<UInt8>) { rest = Array(octets)[...] }

    mutating func next() -> UInt8? { rest.popFirst() }

    mutating func take(_ count: Int) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func bigEndian() -> Int? { take(2).map { Int(high: $0[0], low: $0[1]) } }

    mutating func littleEndian(_ count: Int = 2) -> Int? {
        take(count).map { Int(octets: $0.reversed()) }
    }
}

/// A number of things, with the plural where it belongs.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
