// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagTrace

extension ReaderKind {
    /// A recording that serves as the reader.
    static let replay = ReaderKind(
        usage: "replay:FILE",
        title: "recording",
        use: .sessions,
        make: { name, configuration, onDeparture in
            guard let path = name.argument else { return ResolvedReader(none: "Name the recording: replay:FILE.") }
            do throws(RecordingError) {
                if let record = configuration.recording, OutputFile.isOneFile(path, record) {
                    throw RecordingError(
                        .unwritable,
                        "\(record) is the recording that is replayed. Record in another file."
                    )
                }
                let replay = RecordingReplay(try Recording(path: path), onDeparture: onDeparture)
                return ResolvedReader(replay.reader, isShared: false)
            } catch {
                var made = ResolvedReader(none: error.reason)
                made.recordingError = error
                return made
            }
        },
        problem: { $0.argument == nil ? .unknown : nil }
    )
}
