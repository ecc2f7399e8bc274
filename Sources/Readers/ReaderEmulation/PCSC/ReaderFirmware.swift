// SPDX-License-Identifier: Apache-2.0

/// The part behind a ``ReaderServer`` that answers: a reader with a field, or another kind of card.
package protocol ReaderFirmware: Sendable {
    /// Checks whether the card is still present, or whether another one has arrived.
    mutating func look() async -> EmulatedReader.Change

    /// Looks for a card, for a host that knows of none, when pcscd has just connected.
    mutating func lookAnew() async -> EmulatedReader.Change

    /// Changes the card's power; the answer to `up` and `reset` is its ATR.
    mutating func setPower(_ power: EmulatedReader.Power) async -> EmulatedReader.Reply

    /// Answers a command APDU.
    mutating func transmit(_ apdu: [UInt8]) async -> EmulatedReader.Reply

    /// Answers a control code. A card is not necessary.
    mutating func control(_ code: UInt32, _ data: [UInt8]) async -> EmulatedReader.Reply

    /// Returns an attribute of the reader.
    func attribute(_ tag: UInt32) -> EmulatedReader.Reply

    /// Called when pcscd has disconnected.
    mutating func hostLeft()
}

extension ReaderFirmware {
    package mutating func hostLeft() {}
}
