// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TextSafety

/// The reader that a process uses, by name.
public struct ReaderConfiguration: Sendable, Hashable {
    /// The reader: `virtual`, `pcsc[:NAME]`, `pn532:PATH`, `simulator[:PATH]`, `replay:FILE` or `none`; nil
    /// to choose one automatically.
    public var reader: String?
    /// The image files whose tags are in the virtual field, separated by commas; nil for a demonstration tag.
    public var tags: String?
    /// Whether changed images are written back after each session.
    public var savesTags: Bool
    /// The reader for card emulation: `pcsc[:SOCKET]`; nil for none.
    public var cardReader: String?
    /// The file for a recording of the reader's traffic; nil for none.
    public var recording: String?
    /// The maximum time to search for the reader; nil for the time that a service may need to start.
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

    /// The name of the reader that the background service uses. Without a given name, this is `virtual` if tag images
    /// are given, or else `pcsc`.
    package var backgroundReader: String { reader ?? (tags == nil ? "pcsc" : "virtual") }
}

extension ReaderConfiguration {
    /// A sentence that says why the background service can't use this reader; nil when it can. A reader that is not
    /// plugged in is not a problem, because it may be connected later.
    package var serviceProblem: String? {
        guard let reader else { return nil }
        let name = ReaderName(reader)
        let use = "Use \(ReaderKind.forms(for: .service))."
        guard let kind = ReaderKind.named(name) else { return backgroundProblem(use: use) }
        guard kind.use == .service else {
            let trial = "To try background reading: nfc background run --tags FOLDER"
            return "The background service can't use the reader \"\(kind.scheme)\". \(use) \(trial)"
        }
        return kind.serviceProblem(name) ?? backgroundProblem(use: use)
    }

    /// A sentence that says why this reader can never be used for background reading, including trials; nil when it can
    /// be used, may be connected later, or is not named.
    public var backgroundProblem: String? {
        backgroundProblem(use: "Use \(ReaderKind.forms(for: .sessions)).")
    }

    private func backgroundProblem(use: String) -> String? {
        guard let reader else { return nil }
        let name = ReaderName(reader)
        let kind = ReaderKind.named(name)
        switch kind == nil ? .unknown : kind?.problem(name) {
        case .unknown: return "The reader \"\(VisibleText.escaped(reader))\" is unknown. \(use)"
        case .unnamed: return "The reader \"\(VisibleText.escaped(reader))\" has no name. \(use)"
        case .other(let reason): return reason
        case nil: return nil
        }
    }

    /// The device path of the named reader, such as the line of a PN532; nil for other readers.
    package var serialLine: String? {
        guard let name = reader.map(ReaderName.init) else { return nil }
        return ReaderKind.named(name)?.devicePath(name)
    }
}
