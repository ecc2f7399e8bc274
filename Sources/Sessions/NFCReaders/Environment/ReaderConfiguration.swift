// SPDX-License-Identifier: Apache-2.0
import LinuxSupport

/// The reader that a process uses, by name.
public struct ReaderConfiguration: Sendable, Hashable {
    /// The reader: `virtual`, `pcsc[:NAME]`, `pn532:PATH`, `simulator[:PATH]`, `replay:FILE` or `none`; nil
    /// to choose one automatically.
    public var reader: String?
    /// The image files whose tags are in the virtual field, separated by commas; nil for a demonstration tag.
    public var tags: String?
    /// Whether changed images are written back after each session.
    public var savesTags: Bool
    /// The reader for apps that are cards: `pcsc[:SOCKET]`; nil for none.
    public var cardReader: String?
    /// The file that records everything at the reader; nil for none.
    public var recording: String?
    /// The maximum time to search for the reader; nil for as long as a service may take to start.
    public var patience: Duration?
    /// The name of the option or variable for the reader, for messages.
    public var readerSource = "NFC_READER"
    /// The name of the option or variable for the images, for messages.
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

    /// The values of `NFC_READER`, `NFC_TAGS`, `NFC_TAGS_SAVE`, `NFC_CARD_READER` and `NFC_RECORD`.
    public static var ofProcess: ReaderConfiguration {
        ReaderConfiguration(
            reader: EnvironmentVariable.value("NFC_READER").flatMap { $0.isEmpty ? nil : $0 },
            tags: EnvironmentVariable.value("NFC_TAGS"),
            savesTags: !["", "0"].contains(EnvironmentVariable.value("NFC_TAGS_SAVE") ?? ""),
            cardReader: EnvironmentVariable.value("NFC_CARD_READER").flatMap { $0.isEmpty ? nil : $0 },
            recording: EnvironmentVariable.value("NFC_RECORD").flatMap { $0.isEmpty ? nil : $0 }
        )
    }

    /// The name of the reader that the background service uses: the one that is named, else a reader of PC/SC, or the
    /// virtual one where images of tags are named.
    package var backgroundReader: String { reader ?? (tags == nil ? "pcsc" : "virtual") }
}
