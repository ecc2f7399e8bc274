// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// A model of contactless readers: how it names itself, what it finds, and which escapes it has.
package struct ReaderProfile: Sendable {
    /// The reader's name in PC/SC, without the two numbers that pcscd adds.
    package var name: String
    /// The technologies that it looks for, in this order.
    package var technologies: [Technology]
    /// What the reader answers when it is asked for its firmware.
    package var firmware: String
    /// The USB vendor and product.
    package var usbIdentifiers: (vendor: UInt16, product: UInt16)
    /// Which commands of its own it has.
    package var escapes: Escapes

    /// Commands beside those of PC/SC.
    package enum Escapes: Sendable {
        /// `FF 00 00 00` takes commands of the PN532 inside; LED, buzzer and settings (ACR122U API 2.04, 6).
        case pn532
        /// The transparent session `FF C2` (PC/SC 2.02 part 3 supplement, 3.2.2.9).
        case transparentSession
    }

    /// The ACR122U: NFC-A, NFC-B and NFC-F, with a PN532 inside.
    package static let acr122u = ReaderProfile(
        name: "ACS ACR122U PICC Interface",
        technologies: [.nfcA, .nfcB, .nfcF],
        firmware: "ACR122U215",
        usbIdentifiers: (0x072F, 0x2200),
        escapes: .pn532
    )

    /// The ACR1552U, which has ISO/IEC 15693 too, and the transparent session.
    package static let acr1552u = ReaderProfile(
        name: "ACS ACR1552 1S CL Reader PICC",
        technologies: [.nfcA, .nfcB, .nfcF, .nfcV],
        firmware: "ACR1552U-M1 FW 1.00",
        usbIdentifiers: (0x072F, 0x2303),
        escapes: .transparentSession
    )

    /// The model that shows a tag of a technology: the ACR122U where it can.
    package static func showing(_ technology: Technology) -> ReaderProfile {
        technology == .nfcV ? .acr1552u : .acr122u
    }
}

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
