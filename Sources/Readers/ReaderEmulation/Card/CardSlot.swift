// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// A field in which a chip can appear as a card.
package protocol CardSlot: Sendable {
    /// Brings the card into the field, and replaces an earlier one.
    func bring(_ card: HostedCard)

    /// Removes the card from the field.
    func remove()
}
