// SPDX-License-Identifier: Apache-2.0

/// Where a reader meets an emulated card: a virtual reader, or another program through pcscd.
///
/// A port has one card at most. It reports the reader's actions to the card, one call at a time and in order.
public protocol CardReaderPort: AnyObject, Sendable {
    /// Attaches a card to the port.
    ///
    /// - Returns: false when the port already has a card.
    func attach(_ card: any EmulatedCard) -> Bool

    /// Detaches the card. A command that it has not answered stays without an answer.
    func detach(_ card: any EmulatedCard)

    /// Sets whether the card answers readers now.
    func setEmulating(_ isEmulating: Bool)
}
