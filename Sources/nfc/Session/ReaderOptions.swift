// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCRuntime

/// Which reader a command uses, by its options or by NFC_READER and NFC_TAGS.
struct ReaderOptions: ParsableArguments {
    @Option(help: "The reader: virtual, pcsc[:NAME], pn532:PATH or replay:FILE. NFC_READER unless given.")
    var reader: String?

    @Option(help: ArgumentHelp("Images to bring near the virtual reader, with commas between.", valueName: "files"))
    var tags: String?

    /// The surroundings of the command's session.
    ///
    /// - Parameters:
    ///   - savesTags: writes images that `--tags` names back when they have changed.
    ///   - recording: the file that keeps all that goes on; nil for `NFC_RECORD`, and an empty
    ///     name for none.
    func environment(savesTags: Bool = false, recording: String? = nil) throws(CommandFailure) -> NFCEnvironment {
        var configuration = ReaderConfiguration.ofProcess
        if let tags {
            configuration.tags = tags
            configuration.reader = "virtual"
            configuration.savesTags = configuration.savesTags || savesTags
        }
        if let reader { configuration.reader = reader }
        if let recording { configuration.recording = recording.isEmpty ? nil : recording }
        let environment = NFCEnvironment(configuration)
        if let error = environment.recordingError {
            throw CommandFailure(.refused, error.code.description, error.reason)
        }
        if case .none(let reason) = environment.reader {
            throw CommandFailure(.noReader, "no-reader", reason)
        }
        return environment
    }
}
