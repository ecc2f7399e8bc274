// SPDX-License-Identifier: Apache-2.0
public import CardCryptography

/// The changes of SET CONFIGURATION to a MIFARE DESFire. The defaults are those of a new card.
public struct DESFireConfiguration: Sendable, Hashable {
    /// Whether FORMAT PICC is refused. This can't be undone.
    public var isFormatDisabled = false
    /// Whether the card is activated with a random UID of 4 bytes that changes at each power-up. This can't be undone.
    /// A reader with a key gets the card's own UID with GET CARD UID.
    public var usesRandomUID = false
    /// The key for new applications: 24 bytes, of which each kind of key uses as many as it needs; nil for zeros.
    @Hidden public var defaultKey: [UInt8]? = nil
    /// The version of ``defaultKey``.
    public var defaultKeyVersion: UInt8 = 0
    /// The ATS that replaces the tag's original one from the next power-up on; nil for none.
    public var answerToSelect: [UInt8]?

    /// The length of a default key, for all kinds of keys.
    public static let defaultKeyLength = 24
    /// The maximum length of an ATS.
    public static let maximumAnswerToSelect = 20

    /// Creates the configuration of a new card.
    public init() {}

    /// Returns the key for each key of a new application.
    func key(for kind: DESFireKey.Kind) -> DESFireKey {
        guard let defaultKey else { return .zero(kind) }
        var bytes = Array(defaultKey.prefix(kind.length))
        // A DES key's version is in the lowest bits of its bytes.
        if kind != .aes {
            for index in bytes.indices where index < 16 {
                bytes[index] = bytes[index] & 0xFE | defaultKeyVersion >> (7 - index % 8) & 1
            }
        }
        return DESFireKey(kind, bytes, version: defaultKeyVersion) ?? .zero(kind)
    }
}
