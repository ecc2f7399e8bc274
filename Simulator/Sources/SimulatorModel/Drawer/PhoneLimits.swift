// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// Tags that an iPhone can't read, although the simulator shows them to apps.
enum PhoneLimits {
    /// A sentence that says why a phone can't read the tag; nil if it can.
    static func reason(_ contents: TagContents) -> String? {
        switch contents {
        case .classic:
            "An app's tag session does not find a MIFARE Classic, and an NDEF session finds a tag without NDEF. Use an NTAG."
        case .nfcA: "The simulator knows only this tag's activation, so a phone can't read anything from it."
        case .type4(let contents):
            switch contents.kind {
            case .emv:
                "A phone gives apps no access to payment cards: Core NFC does not select their applications."
            case .version, .unspecified:
                "The simulator knows only this card's activation. A phone detects it, but can't read anything."
            case .ndef, .desfire, .ntag424, .emrtd, .mifarePlus, .applications: nil
            }
        case .type3(.standard(let contents)) where !contents.systems.contains { $0.code == 0x12FC }:
            "An app must list this card's system codes in its Info.plist. In some regions, only the Wallet reads this card."
        case .type1, .type2, .type3, .type5: nil
        }
    }
}
