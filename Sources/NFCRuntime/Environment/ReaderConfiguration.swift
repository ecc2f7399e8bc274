// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Which reader a process uses, by name.
public struct ReaderConfiguration: Sendable, Hashable {
    /// The reader: `virtual`, `pcsc[:NAME]`, `pn532:PATH`, `replay:FILE` or `none`; nil for what there is.
    public var reader: String?
    /// Image files to bring near the virtual field, with commas between; nil for a demonstration tag.
    public var tags: String?
    /// Whether images are written back after each session that changed their tag.
    public var savesTags: Bool
    /// Where apps that are cards meet readers: `pcsc[:SOCKET]`; nil where nothing can be a card.
    public var cardReader: String?
    /// The file that keeps all that goes on at the reader; nil for none.
    public var recording: String?

    /// Creates a configuration.
    public init(
        reader: String? = nil,
        tags: String? = nil,
        savesTags: Bool = false,
        cardReader: String? = nil,
        recording: String? = nil
    ) {
        self.reader = reader
        self.tags = tags
        self.savesTags = savesTags
        self.cardReader = cardReader
        self.recording = recording
    }

    /// What `NFC_READER`, `NFC_TAGS`, `NFC_TAGS_SAVE`, `NFC_CARD_READER` and `NFC_RECORD` say.
    public static var ofProcess: ReaderConfiguration {
        ReaderConfiguration(
            reader: environmentValue("NFC_READER").flatMap { $0.isEmpty ? nil : $0 },
            tags: environmentValue("NFC_TAGS"),
            savesTags: !["", "0"].contains(environmentValue("NFC_TAGS_SAVE") ?? ""),
            cardReader: environmentValue("NFC_CARD_READER").flatMap { $0.isEmpty ? nil : $0 },
            recording: environmentValue("NFC_RECORD").flatMap { $0.isEmpty ? nil : $0 }
        )
    }

    private static func environmentValue(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
