// SPDX-License-Identifier: Apache-2.0

/// Where a reader meets an emulated card: a virtual reader, or another program's through pcscd.
///
/// A port has one card at most. It tells the card what the reader does, one call at a time and in order.
public protocol CardReaderPort: AnyObject, Sendable {
    /// Gives the port its card.
    ///
    /// - Returns: false when it has one already.
    func attach(_ card: any EmulatedCard) -> Bool

    /// Takes the card away. A command that it has not answered is answered by nobody.
    func detach(_ card: any EmulatedCard)

    /// Says whether the card answers readers now.
    func setEmulating(_ isEmulating: Bool)
}

/// What a ``CardReaderPort`` tells of a reader.
public protocol EmulatedCard: AnyObject, Sendable {
    /// A reader's field is there.
    func readerDetected()

    /// A reader sends a command.
    ///
    /// - Parameters:
    ///   - apdu: the command.
    ///   - respond: takes the answer with its status word; called once at most, on any thread. Nobody answers when the
    ///     card is gone.
    func received(_ apdu: [UInt8], respond: @escaping @Sendable ([UInt8]) -> Void)

    /// The reader's field is gone, or the reader has deselected the card.
    func readerDeselected()
}
