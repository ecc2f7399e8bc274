// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// Tags that an iPhone can't read, although the simulator shows them to apps.
enum PhoneLimits {
    /// A sentence that says why a phone can't read the tag; nil if it can.
    static func reason(_ contents: TagContents) -> String? {
        switch contents {
        case .classic:
            "A phone does not find a MIFARE Classic, and has no commands for its memory. Use an NTAG or a DESFire."
        case .nfcA: "Only the activation of this tag is known, so there is nothing that a phone could read."
        case .type4(let contents):
            switch contents.kind {
            case .emv: "A phone keeps payment cards from apps: Core NFC refuses their applications."
            case .version, .unspecified:
                "Only the activation of this card is known; a phone finds it, and reads nothing."
            case .ndef, .desfire, .ntag424, .emrtd: nil
            }
        case .type3(.standard(let contents)) where !contents.systems.contains { $0.code == 0x12FC }:
            "An app has to name the system codes of this card in its Info.plist; phones of some regions read it in the "
                + "Wallet alone."
        case .type1, .type2, .type3, .type5: nil
        }
    }
}
