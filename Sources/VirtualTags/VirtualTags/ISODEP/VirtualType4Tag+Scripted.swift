// SPDX-License-Identifier: Apache-2.0

extension Type4FrontEnd {
    /// Returns NFC-A activation data with a random UID: 4 bytes that start with 08, without a manufacturer (ISO/IEC
    /// 14443-3, 6.5.4). The UID changes at each power-up.
    ///
    /// - Parameter generator: chooses the first UID.
    public static func randomUID(using generator: inout some RandomNumberGenerator) -> Type4FrontEnd {
        let uid = [0x08] + (0..<3).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return .nfcA(uid: uid, atqa: 0x0004, ats: [0x05, 0x78, 0x80, 0x70, 0x02])
    }
}

extension VirtualType4Tag {
    /// Creates a tag with a scripted card. It has a random UID, so that readers don't take it for a known
    /// manufacturer's card.
    ///
    /// - Parameter card: the card.
    public convenience init(card: ScriptedCard) {
        var generator = SystemRandomNumberGenerator()
        self.init(card: card, frontEnd: .randomUID(using: &generator))
    }
}
