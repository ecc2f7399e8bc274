// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Which reader a process uses, by name.
public struct ReaderConfiguration: Sendable, Hashable {
    /// The reader: `virtual`, `pcsc[:NAME]`, `pn532:PATH` or `none`; nil for what there is.
    public var reader: String?
    /// Image files to bring near the virtual field, with commas between; nil for a demonstration tag.
    public var tags: String?
    /// Whether images are written back after each session that changed their tag.
    public var savesTags: Bool

    /// Creates a configuration.
    public init(reader: String? = nil, tags: String? = nil, savesTags: Bool = false) {
        self.reader = reader
        self.tags = tags
        self.savesTags = savesTags
    }

    /// What `NFC_READER`, `NFC_TAGS` and `NFC_TAGS_SAVE` say.
    public static var ofProcess: ReaderConfiguration {
        ReaderConfiguration(
            reader: environmentValue("NFC_READER").flatMap { $0.isEmpty ? nil : $0 },
            tags: environmentValue("NFC_TAGS"),
            savesTags: !["", "0"].contains(environmentValue("NFC_TAGS_SAVE") ?? "")
        )
    }

    private static func environmentValue(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
