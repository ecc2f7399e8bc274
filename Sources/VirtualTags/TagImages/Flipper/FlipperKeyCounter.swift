// SPDX-License-Identifier: Apache-2.0
import TagLink

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
