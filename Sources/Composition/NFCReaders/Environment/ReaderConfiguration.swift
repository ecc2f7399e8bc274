// SPDX-License-Identifier: Apache-2.0
import SystemLibrary

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
    /// The longest that the search for the reader may take; nil for as long as a service may take to start.
    public var patience: Duration?
    /// What messages call the option or the variable that names the reader.
    public var readerSource = "NFC_READER"
    /// What messages call the option or the variable that names the images.
    public var tagsSource = "NFC_TAGS"

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
            reader: EnvironmentVariable.value("NFC_READER").flatMap { $0.isEmpty ? nil : $0 },
            tags: EnvironmentVariable.value("NFC_TAGS"),
            savesTags: !["", "0"].contains(EnvironmentVariable.value("NFC_TAGS_SAVE") ?? ""),
            cardReader: EnvironmentVariable.value("NFC_CARD_READER").flatMap { $0.isEmpty ? nil : $0 },
            recording: EnvironmentVariable.value("NFC_RECORD").flatMap { $0.isEmpty ? nil : $0 }
        )
    }
}
