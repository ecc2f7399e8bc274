// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Where a reader meets an emulated card: a virtual reader, or another program's through pcscd.
///
/// A port has one card at most. It tells the card what the reader does, one call at a time and in order.
package protocol CardReaderPort: AnyObject, Sendable {
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
package protocol EmulatedCard: AnyObject, Sendable {
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

/// The port at which apps of this process emulate cards.
package enum CardPort {
    /// The port of a test, for the task that set it and its children.
    @TaskLocal package static var scoped: (any CardReaderPort)?

    private static let process = Locked<(any CardReaderPort)?>(nil)

    /// Sets the port of the process.
    package static func set(_ port: (any CardReaderPort)?) {
        process.withLock { $0 = port }
    }

    /// The port that a session made now takes; nil when nothing here can be a card.
    package static var current: (any CardReaderPort)? {
        scoped ?? process.withLock { $0 }
    }
}
