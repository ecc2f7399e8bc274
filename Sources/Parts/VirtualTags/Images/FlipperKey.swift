// SPDX-License-Identifier: Apache-2.0
import TagLink

/// What tells one `Key: value` line of a Flipper file from all others.
///
/// Most keys are in a file once. A FeliCa card with several systems repeats the keys of a system for each of them, and
/// long data of a Type 4 tag is in several lines with the same key.
struct FlipperKey: Sendable, Hashable {
    /// The system that the line belongs to, such as `System 00`; empty before the first.
    var section = ""
    /// The key as it is written.
    var name: String
    /// How many lines of the section had the same key before.
    var ordinal = 0

    /// The key with its section, as people read it.
    var description: String { section.isEmpty || section == name ? name : "\(name) of \(section)" }
}

/// Tells lines with the same key apart, from the first line of a file to its last.
struct FlipperKeyCounter {
    private var section = ""
    private var counts: [String: Int] = [:]

    /// The key of the next line.
    mutating func next(_ name: String) -> FlipperKey {
        if Self.beginsSection(name), name != section {
            section = name
            counts = [:]
        }
        defer { counts[name, default: 0] += 1 }
        return FlipperKey(section: section, name: name, ordinal: counts[name, default: 0])
    }

    /// Whether a key begins the lines of a FeliCa system: `System` and two hexadecimal digits.
    private static func beginsSection(_ name: String) -> Bool {
        let digits = name.utf8.dropFirst(7)
        return name.hasPrefix("System ") && digits.count == 2 && digits.allSatisfy { $0.hexDigitValue != nil }
    }
}
