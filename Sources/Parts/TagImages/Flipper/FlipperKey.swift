// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Identifies a `Key: value` line of a Flipper file.
///
/// Most keys occur once in a file. A FeliCa card with several systems repeats the keys of a system for each of them,
/// and long data of a Type 4 tag has several lines with the same key.
struct FlipperKey: Sendable, Hashable {
    /// The system that the line belongs to, such as `System 00`; empty before the first.
    var section = ""
    /// The key as it is written.
    var name: String
    /// The number of earlier lines with the same key in the section.
    var ordinal = 0

    /// The key with its section, for people.
    var description: String { section.isEmpty || section == name ? name : "\(name) of \(section)" }
}

/// Distinguishes lines with the same key, from the first line of a file to the last.
struct FlipperKeyCounter {
    private var section = ""
    private var counts: [String: Int] = [:]

    /// Returns the key of the next line.
    mutating func next(_ name: String) -> FlipperKey {
        if Self.beginsSection(name), name != section {
            section = name
            counts = [:]
        }
        defer { counts[name, default: 0] += 1 }
        return FlipperKey(section: section, name: name, ordinal: counts[name, default: 0])
    }

    /// Returns whether a key starts the lines of a FeliCa system: `System` and two hexadecimal digits.
    private static func beginsSection(_ name: String) -> Bool {
        let digits = name.utf8.dropFirst(7)
        return name.hasPrefix("System ") && digits.count == 2 && digits.allSatisfy { $0.hexDigitValue != nil }
    }
}
