// SPDX-License-Identifier: Apache-2.0

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
