// SPDX-License-Identifier: Apache-2.0
public import NFCRuntime
public import TagTrace

/// The files that belong to a reader: what records it, and the images of its tags.
final class ReaderFiles: EnvironmentCompanion {
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

    /// What records everything that goes on at the reader; nil where nothing is recorded.
    public var recorder: Recorder? { files?.recorder }
    /// Why a recording that was asked for can't be made or replayed; there is no reader then.
    public var recordingError: RecordingError? { files?.recordingError }
    /// Why a file of `NFC_TAGS` can't be used; there is no reader then.
    public var tagFileError: TagFileError? { files?.tagFileError }
    /// What saves the images of virtual tags after each session; nil where they are not saved.
    public var tagSaver: TagFileSaver? { files?.tagSaver }
}
