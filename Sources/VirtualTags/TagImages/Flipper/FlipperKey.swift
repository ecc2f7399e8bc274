// SPDX-License-Identifier: Apache-2.0

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
