// SPDX-License-Identifier: Apache-2.0

/// The result of reading a tag.
public struct TagReading: Sendable, Hashable {
    /// The tag's identifier.
    public var identifier: [UInt8]
    /// The bytes of its message; nil when it has none.
    public var message: [UInt8]?
    /// Whether the tag always has the same identifier.
    public var hasStableIdentifier: Bool

    /// Creates a reading.
    ///
    /// - Parameters:
    ///   - identifier: the tag's identifier.
    ///   - message: the bytes of its message; nil when it has none.
    ///   - hasStableIdentifier: nil to derive it from the identifier; see ``isUnstable(_:)``.
    public init(identifier: [UInt8], message: [UInt8]?, hasStableIdentifier: Bool? = nil) {
        self.identifier = identifier
        self.message = message
        self.hasStableIdentifier = hasStableIdentifier ?? !Self.isUnstable(identifier)
    }

    /// Returns whether an identifier does not identify a tag: four bytes that start with 08 are random each time
    /// (ISO/IEC 14443-3, 6.5.4), and an empty identifier is unknown.
    public static func isUnstable(_ identifier: [UInt8]) -> Bool {
        identifier.isEmpty || identifier.count == 4 && identifier.first == 0x08
    }
}
