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

/// The card's side of a ``CardReaderPort``: it receives the reader's actions.
public protocol EmulatedCard: AnyObject, Sendable {
    /// The card is in a reader's field.
    func readerDetected()

    /// A reader sends a command.
    ///
    /// - Parameters:
    ///   - apdu: the command.
    ///   - respond: call it with the answer and its status word; once at most, on any thread. When the card is gone,
    ///     the answer is ignored.
    func received(_ apdu: [UInt8], respond: @escaping @Sendable ([UInt8]) -> Void)

    /// The reader's field is gone, or the reader has deselected the card.
    func readerDeselected()
}
