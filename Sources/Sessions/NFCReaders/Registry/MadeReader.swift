// SPDX-License-Identifier: Apache-2.0
package import NFCSessions
package import TagLink
package import TagTrace
import TextSafety

/// A reader that a ``ReaderKind`` has made, with what belongs to it.
package struct ResolvedReader: Sendable {
    /// The reader, or why there is none.
    package var reader: AttachedReader
    /// Where apps that are cards meet readers; nil where this reader can't be a card.
    package var cardPort: (any CardReaderPort)?
    /// What saves the images of virtual tags; nil where nothing is saved.
    package var tagSaver: TagFileSaver?
    /// Why the recording can't be replayed.
    package var recordingError: RecordingError?
    /// Why a file of tags can't be used.
    package var tagFileError: TagFileError?
    /// The scanning sheet that the reader has; nil where the process chooses one.
    package var sheet: (any ScanSheet)?
    /// Asks for the reader where it has turns of its own; nil where the background service is asked.
    package var gate: (any ReaderSharing)?
    /// The phone around the reader; nil for a mere reader.
    package var host: (any SessionHost)?
    /// Whether the background service may use the same reader, so that a session has to ask for it. False for a recording.
    package var isShared = true

    /// Whether there is a reader.
    var isThere: Bool { reader.driver != nil }

    /// Creates a result.
    package init(
        _ reader: AttachedReader,
        cardPort: (any CardReaderPort)? = nil,
        tagSaver: TagFileSaver? = nil,
        isShared: Bool = true
    ) {
        self.reader = reader
        self.cardPort = cardPort
        self.tagSaver = tagSaver
        self.isShared = isShared
    }

    /// Creates a result without a reader.
    ///
    /// - Parameter reason: why, as a sentence for people. Control characters in it are escaped.
    package init(none reason: String) {
        reader = .none(reason: VisibleText.escaped(reason))
    }

    /// No reader, because the name means none.
    static func unknown(_ name: ReaderName) -> ResolvedReader {
        ResolvedReader(none: "There is no reader \"\(name.text)\"; use \(ReaderKind.shortForms).")
    }
}
