// SPDX-License-Identifier: Apache-2.0

extension TagImage {
    /// The formats of files.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// The text files of Flipper Zero, `Filetype: Flipper NFC device`, versions 2 to 4.
        case flipper
        /// The project's own: one JSON object with `type`, `product`, `uid`, and what the type adds. An
        /// electronic travel document (`eMRTD`) has `mrz`, its machine readable zone, and `files` only where they don't
        /// follow from it.
        case json
        /// The JSON files of the Proxmark3 client, `"FileType"` `mfu`, `mfc v2`, `mfc v3`, `15693 v1` to `v5` and `topaz`.
        case proxmarkJSON = "proxmark-json"
        /// The `.bin` files of the Proxmark3 client: MIFARE Ultralight and NTAG with a header of 56 octets, ISO 15693 with
        /// one of 15, MIFARE Classic as it is.
        case proxmarkBinary = "proxmark-bin"
        /// The memory and nothing else, as the tools of libnfc have it: MIFARE Classic, MIFARE Ultralight and NTAG.
        case mfd
        /// The XML reports of NXP's TagInfo. They are read, and not written: they lack what a phone can't read.
        case tagInfo = "taginfo"

        /// The format's name, as sentences have it.
        var name: String {
            switch self {
            case .flipper: "A Flipper file"
            case .json: "A JSON image"
            case .proxmarkJSON: "A Proxmark3 JSON file"
            case .proxmarkBinary: "A Proxmark3 .bin file"
            case .mfd: "An .mfd file"
            case .tagInfo: "A TagInfo report"
            }
        }
    }
}

extension TagImage.Format {
    /// Whether a new file of the format can hold a tag without loss.
    public func canHold(_ contents: TagContents) -> Bool {
        (try? TagImage(contents, format: self).encoded()) != nil
    }

    /// A new file, or nil when the format has no place for a tag of the kind.
    func encoded(new contents: TagContents) -> [UInt8]? {
        switch self {
        case .flipper: FlipperFields.encoded(new: contents)
        case .json: JSONImage.encoded(new: contents)
        case .proxmarkJSON: ProxmarkJSON.encoded(new: contents)
        case .proxmarkBinary, .mfd: MemoryDump.encoded(new: contents, format: self)
        case .tagInfo: nil
        }
    }
}
