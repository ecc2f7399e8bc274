// SPDX-License-Identifier: Apache-2.0

/// The NFC-A activation data that a card was configured with.
package struct CardPresentation: Sendable {
    /// Whether the UID is random and changes at each power-up.
    package var usesRandomUID: Bool
    /// The answer to RATS; nil for the front end's.
    package var answerToSelect: [UInt8]?

    /// Creates activation data.
    package init(usesRandomUID: Bool = false, answerToSelect: [UInt8]? = nil) {
        self.usesRandomUID = usesRandomUID
        self.answerToSelect = answerToSelect
    }
}
