// SPDX-License-Identifier: Apache-2.0

/// The Proxmark3 client's files that can't become a virtual tag, and why.
extension ProxmarkJSON {
    /// Returns why files of a type are refused, as a sentence.
    static func refusal(of type: String) -> String {
        switch type {
        case "14b", "14b v2":
            "The file has the blocks of a Type B memory, and neither its UID nor its chip: no tag can be made of them. "
                + "The UID is in the name that the Proxmark3 gives the file; a Flipper file of the tag has all three."
        case "mfpkeys", "mfdes": "The file has the keys of a card, and nothing of its memory."
        case "ndef": "The file has a message, and no tag: write it to one with nfc tag write --message."
        case "hitag", "t55x7", "t5555", "EM4205/EM4305", "EM4469/EM4569", "EM4X50":
            "The file is of a tag for 125 kHz (\(type)); NFC tags work at 13.56 MHz."
        case "iclass":
            "A PicoPass or iCLASS is found by commands of its own and guarded by a cipher of its own: no phone sees it, "
                + "and there is no virtual tag of it."
        default: "A Proxmark3 file of type \(type) is of a tag that there is no virtual tag of."
        }
    }
}
