// SPDX-License-Identifier: Apache-2.0

/// A version of iOS, such as 15.6.
public struct Version: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number before the first full stop.
    public var major: Int
    /// The number after the first full stop.
    public var minor: Int

    /// Creates a version.
    public init(_ major: Int, _ minor: Int = 0) {
        self.major = major
        self.minor = minor
    }

    /// Parses `15`, `15.0` or `15.0.1`; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".")
        guard let first = parts.first, let major = Int(first) else { return nil }
        guard parts.count > 1 else {
            self.init(major)
            return
        }
        // Reject a bad minor number. Ignoring it would result in another version.
        guard let minor = Int(parts[1]) else { return nil }
        self.init(major, minor)
    }

    /// Compares the numbers.
    public static func < (left: Version, right: Version) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    /// The version as text, such as `15.6`.
    public var description: String { "\(major).\(minor)" }
}
