// SPDX-License-Identifier: Apache-2.0

/// A tag, as it was read.
public struct TagReading: Sendable, Hashable {
    /// The tag's identifier.
    public var identifier: [UInt8]
    /// The bytes of its message; nil when it has none.
    public var message: [UInt8]?
    /// Whether the tag has the identifier each time.
    public var hasStableIdentifier: Bool

    /// Creates a reading.
    ///
    /// - Parameters:
    ///   - identifier: the tag's identifier.
    ///   - message: the bytes of its message; nil when it has none.
    ///   - hasStableIdentifier: nil takes it from the identifier, by ``isMadeUp(_:)``.
    public init(identifier: [UInt8], message: [UInt8]?, hasStableIdentifier: Bool? = nil) {
        self.identifier = identifier
        self.message = message
        self.hasStableIdentifier = hasStableIdentifier ?? !Self.isMadeUp(identifier)
    }

    /// Whether an identifier tells a tag from no other: one of four bytes that begins with 08 is made up each time
    /// (ISO/IEC 14443-3, 6.5.4), and an empty one says nothing.
    public static func isMadeUp(_ identifier: [UInt8]) -> Bool {
        identifier.isEmpty || identifier.count == 4 && identifier.first == 0x08
    }
}
