// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink
import TagTrace
import TextSafety
import VirtualTags

extension ReaderKind {
    package static let virtual = ReaderKind(
        usage: "virtual",
        title: "virtual",
        use: .trials,
        make: { name, configuration, _ in
            name.rest == nil ? virtualReader(configuration) : .unknown(name)
        },
        makeForService: { name, configuration, onNotice in
            guard name.rest == nil else { return nil }
            guard let path = configuration.tags else { return ResolvedReader(.field(VirtualField())) }
            guard ImageFolder.isFolder(path) || ImageFolder.mayBeCreated(path) else { return nil }
            return folderReader(path, configuration, onNotice: onNotice)
        },
        problem: { $0.rest == nil ? nil : .unknown },
        owns: { $0 is VirtualField || $0 is FolderField },
        reports: { _ in
            [ReaderReport(name: "virtual", kind: "virtual", technologies: Set(Technology.allCases))]
        }
    )

    static func virtualReader(_ configuration: ReaderConfiguration) -> ResolvedReader {
        do throws(TagFileError) {
            if let path = configuration.tags, ImageFolder.isFolder(path) { return folderReader(path, configuration) }
            let images = try ImageFiles(configuration)
            let field = VirtualField()
            for tag in images.tags { field.bring(tag) }
            return ResolvedReader(.field(field), tagSaver: images.saver)
        } catch {
            return .failed(error, configuration)
        }
    }

    /// Creates a virtual field with the images of a folder, which may be created later.
    private static func folderReader(
        _ path: String,
        _ configuration: ReaderConfiguration,
        onNotice: Notice? = nil
    ) -> ResolvedReader {
        let reader = FolderField()
        let problem =
            "\(configuration.tagsSource): The folder of tags \(VisibleText.escaped(path)) is missing. Create it, or name another."
        do throws(TagFileError) {
            let folder = try ImageFolder(path, field: reader.field) { folderExists in
                reader.note(folderExists ? nil : problem)
            } onNotice: { text in
                let text = "\(configuration.tagsSource): \(text)"
                guard let onNotice else {
                    OutputDescriptor.standardError.write(VisibleText.escaped(text) + "\n")
                    return
                }
                onNotice(text)
            }
            // An app's session waits for tags even while the folder is missing. The service reports a missing reader.
            return ResolvedReader(
                .field(onNotice == nil ? reader.field : reader),
                tagSaver: configuration.savesTags ? folder.saver : nil
            )
        } catch {
            return .failed(error, configuration)
        }
    }
}

extension ResolvedReader {
    /// No reader, because a file of tags can't be used.
    fileprivate static func failed(_ error: TagFileError, _ configuration: ReaderConfiguration) -> ResolvedReader {
        var result = ResolvedReader(.none(reason: "\(configuration.tagsSource): \(VisibleText.escaped(error.reason))"))
        result.tagFileError = error
        return result
    }
}

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
                        "\(record) is the recording that is replayed. Record to another file."
                    )
                }
                let replay = RecordingReplay(try Recording(path: path), onDeparture: onDeparture)
                return ResolvedReader(replay.reader, isShared: false)
            } catch {
                var result = ResolvedReader(none: error.reason)
                result.recordingError = error
                return result
            }
        },
        problem: { $0.argument == nil ? .unknown : nil }
    )
}
