// SPDX-License-Identifier: Apache-2.0

extension TagImage {
    /// A file format.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// The text files of Flipper Zero, `Filetype: Flipper NFC device`, versions 2 to 4.
        case flipper
        /// The project's own format: one JSON object with `type`, `product`, `uid`, and the members of the type. An
        /// electronic travel document (`eMRTD`) has `mrz`, its machine readable zone, and `files` only if they differ
        /// from those that follow from the zone.
        case json
        /// The JSON files of the Proxmark3 client, `"FileType"` `mfu`, `mfc v2`, `mfc v3`, `15693 v1` to `v5` and `topaz`.
        case proxmarkJSON = "proxmark-json"
        /// The `.bin` files of the Proxmark3 client: MIFARE Ultralight and NTAG with a header of 56 bytes, ISO 15693
        /// with a header of 15 bytes, MIFARE Classic without one.
        case proxmarkBinary = "proxmark-bin"
        /// The `.eml` files of the Proxmark3 client: the bytes of its `.bin` file as lines of hexadecimal digits, for MIFARE
        /// Classic, MIFARE Ultralight and NTAG.
        case proxmarkText = "proxmark-eml"
        /// Only the memory, as the tools of libnfc write it: MIFARE Classic, MIFARE Ultralight and NTAG.
        case mfd
        /// The XML reports of NXP's TagInfo. They can be read but not written, because they lack everything that a
        /// phone can't read.
        case tagInfo = "taginfo"

        /// The format's name, for sentences.
        var name: String {
            switch self {
            case .flipper: "A Flipper file"
            case .json: "A JSON image"
            case .proxmarkJSON: "A Proxmark3 JSON file"
            case .proxmarkBinary: "A Proxmark3 .bin file"
            case .proxmarkText: "A Proxmark3 .eml file"
            case .mfd: "An .mfd file"
            case .tagInfo: "A TagInfo report"
            }
        }

        /// Whether files of the format can be written. TagInfo's reports can only be read.
        public var isWritten: Bool { self != .tagInfo }
    }
}
