// SPDX-License-Identifier: Apache-2.0

extension Type4FrontEnd {
    /// How a card with a random UID presents itself over NFC-A: 4 bytes that begin with 08, and no maker (ISO/IEC
    /// 14443-3, 6.5.4). The UID changes each time that the field comes back.
    ///
    /// - Parameter generator: chooses the first UID.
    public static func randomUID(using generator: inout some RandomNumberGenerator) -> Type4FrontEnd {
        let uid = [0x08] + (0..<3).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return .nfcA(uid: uid, atqa: 0x0004, ats: [0x05, 0x78, 0x80, 0x70, 0x02])
    }
}

extension Type4Tag {
    /// Creates a tag of a scripted card. It has a random UID, so that readers don't take it for a card of a known maker.
    ///
    /// - Parameter card: the card.
    public convenience init(card: ScriptedCard) {
        var generator = SystemRandomNumberGenerator()
        self.init(card: card, frontEnd: .randomUID(using: &generator))
    }
}
