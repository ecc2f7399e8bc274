// SPDX-License-Identifier: Apache-2.0

/// What answers behind a ``ReaderServer``: a reader with a field, or with something else that is a card.
package protocol ReaderFirmware: Sendable {
    /// Looks whether the card is still there, or whether one has come.
    mutating func look() async -> EmulatedReader.Change

    /// Looks for a card as for a host that knows of none, when pcscd has just come.
    mutating func lookAnew() async -> EmulatedReader.Change

    /// Changes the card's power; the answer to `up` and `reset` is its ATR.
    mutating func setPower(_ power: EmulatedReader.Power) async -> EmulatedReader.Reply

    /// Answers a command APDU.
    mutating func transmit(_ apdu: [UInt8]) async -> EmulatedReader.Reply

    /// Answers a control code, with or without a card.
    mutating func control(_ code: UInt32, _ data: [UInt8]) async -> EmulatedReader.Reply

    /// Answers for an attribute of the reader.
    func attribute(_ tag: UInt32) -> EmulatedReader.Reply

    /// Hears that pcscd has gone.
    mutating func hostLeft()
}

extension ReaderFirmware {
    package mutating func hostLeft() {}
}
