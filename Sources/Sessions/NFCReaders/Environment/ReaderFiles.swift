// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
public import TagTrace

/// The files that belong to a reader: its recording, and the images of its tags.
final class ReaderFiles: SessionEndObserver {
    let recorder: Recorder?
    let recordingError: RecordingError?
    let tagFileError: TagFileError?
    let tagSaver: TagFileSaver?

    init(
        recorder: Recorder? = nil,
        recordingError: RecordingError? = nil,
        tagFileError: TagFileError? = nil,
        tagSaver: TagFileSaver? = nil
    ) {
        self.recorder = recorder
        self.recordingError = recordingError
        self.tagFileError = tagFileError
        self.tagSaver = tagSaver
    }

    func sessionEnded() { tagSaver?.save() }
}

extension NFCEnvironment {
    private var files: ReaderFiles? { companion as? ReaderFiles }

    /// Records everything at the reader; nil when nothing is recorded.
    public var recorder: Recorder? { files?.recorder }
    /// Why the recording can't be written or replayed. Then there is no reader.
    public var recordingError: RecordingError? { files?.recordingError }
    /// Why a file of `NFC_TAGS` can't be used. Then there is no reader.
    public var tagFileError: TagFileError? { files?.tagFileError }
    /// Saves the images of virtual tags after each session; nil when they are not saved.
    public var tagSaver: TagFileSaver? { files?.tagSaver }
}
