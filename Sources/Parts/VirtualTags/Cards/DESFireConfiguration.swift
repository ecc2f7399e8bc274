// SPDX-License-Identifier: Apache-2.0
public import CardCryptography

/// What SET CONFIGURATION has changed of a MIFARE DESFire; the defaults are those of a card as delivered.
public struct DESFireConfiguration: Sendable, Hashable {
    /// Whether FORMAT PICC is refused. It can't be taken back.
    public var isFormatDisabled = false
    /// Whether the card is activated with a random UID of 4 bytes, another one each time that it gets power. It can't be
    /// taken back; a reader with a key gets the card's own UID by GET CARD UID.
    public var usesRandomUID = false
    /// The key that the keys of a new application are, 24 bytes of which each kind of key takes as many as it has; nil for
    /// zeros.
    @Hidden public var defaultKey: [UInt8]? = nil
    /// The version of ``defaultKey``.
    public var defaultKeyVersion: UInt8 = 0
    /// The ATS that takes the place of the one that the tag was made with, from its next power on; nil for none.
    public var answerToSelect: [UInt8]?

    /// How many bytes a default key has, whatever the kinds of keys.
    public static let defaultKeyLength = 24
    /// The longest ATS that a card takes.
    public static let maximumAnswerToSelect = 20

    /// Creates the configuration of a card as delivered.
    public init() {}

    /// The key that each key of a new application is.
    func key(for kind: DESFireKey.Kind) -> DESFireKey {
        guard let defaultKey else { return .zero(kind) }
        var octets = Array(defaultKey.prefix(kind.length))
        // The version of a DES key is in the lowest bits of its bytes.
        if kind != .aes {
            for index in octets.indices where index < 16 {
                octets[index] = octets[index] & 0xFE | defaultKeyVersion >> (7 - index % 8) & 1
            }
        }
        return DESFireKey(kind, octets, version: defaultKeyVersion) ?? .zero(kind)
    }
}
