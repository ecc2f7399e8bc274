// SPDX-License-Identifier: Apache-2.0

/// A version of iOS, such as 15.6.
public struct Version: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number before the full stop.
    public var major: Int
    /// The number behind it.
    public var minor: Int

    /// A version.
    public init(_ major: Int, _ minor: Int = 0) {
        self.major = major
        self.minor = minor
    }

    /// Reads `15`, `15.0` or `15.0.1`; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".")
        guard let first = parts.first, let major = Int(first) else { return nil }
        guard parts.count > 1 else {
            self.init(major)
            return
        }
        // An incomplete version would be another version.
        guard let minor = Int(parts[1]) else { return nil }
        self.init(major, minor)
    }

    /// By number.
    public static func < (left: Version, right: Version) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    /// As it is written.
    public var description: String { "\(major).\(minor)" }
}
