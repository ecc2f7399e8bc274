// SPDX-License-Identifier: Apache-2.0

/// What a card says of its tag's activation over NFC-A, where it has been configured to.
struct CardPresentation: Sendable {
    /// Whether the UID is a random one, and another one each time that the power comes.
    var usesRandomUID = false
    /// The answer to RATS in place of the front end's; nil for that one.
    var answerToSelect: [UInt8]?
}

/// A card whose commands change how its tag presents itself. The tag asks it when the power comes.
protocol SelfPresentingCard: Card {
    var presentation: CardPresentation { get }
}
