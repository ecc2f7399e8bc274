// SPDX-License-Identifier: Apache-2.0

/// What a card says of its tag's activation over NFC-A, where it has been configured to.
package struct CardPresentation: Sendable {
    /// Whether the UID is a random one, and another one each time that the power comes.
    package var usesRandomUID = false
    /// The answer to RATS in place of the front end's; nil for that one.
    package var answerToSelect: [UInt8]?

    /// Creates a presentation.
    package init(usesRandomUID: Bool = false, answerToSelect: [UInt8]? = nil) {
        self.usesRandomUID = usesRandomUID
        self.answerToSelect = answerToSelect
    }
}

/// A card whose commands change how its tag presents itself. The tag asks it when the power comes.
package protocol SelfPresentingCard: Card {
    var presentation: CardPresentation { get }
}
