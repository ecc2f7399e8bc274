// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// A model of contactless readers: its names, the technologies that it finds, and its escape commands.
package struct ReaderProfile: Sendable {
    /// The reader's name in PC/SC, without the two numbers that pcscd adds.
    package var name: String
    /// The technologies that it looks for, in this order.
    package var technologies: [Technology]
    /// The firmware that the reader reports.
    package var firmware: String
    /// The USB vendor and product.
    package var usbIdentifiers: (vendor: UInt16, product: UInt16)
    /// The model's own commands.
    package var escapes: Escapes

    /// Commands that are not part of PC/SC.
    package enum Escapes: Sendable {
        /// `FF 00 00 00` passes commands to the PN532 inside; LED, buzzer and settings (ACR122U API 2.04, 6).
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

    /// The ACR1552U, which also supports ISO/IEC 15693 and the transparent session.
    package static let acr1552u = ReaderProfile(
        name: "ACS ACR1552 1S CL Reader PICC",
        technologies: [.nfcA, .nfcB, .nfcF, .nfcV],
        firmware: "ACR1552U-M1 FW 1.00",
        usbIdentifiers: (0x072F, 0x2303),
        escapes: .transparentSession
    )

    /// The model to use for a tag of a technology: the ACR122U if it supports the technology.
    package static func showing(_ technology: Technology) -> ReaderProfile {
        technology == .nfcV ? .acr1552u : .acr122u
    }
}
