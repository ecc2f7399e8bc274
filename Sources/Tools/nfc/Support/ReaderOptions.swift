// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCReaders
import NFCSessions
import TagLink
import TagTrace

/// The reader that a command uses, from its options or from NFC_READER and NFC_TAGS.
struct ReaderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The reader: \(ReaderKind.usage(for: .sessions)). Default: NFC_READER, or the first contactless PC/SC reader, "
                + "or the virtual one.",
            valueName: "reader"
        )
    )
    var reader: String?

    @Option(
        help: ArgumentHelp(
            "Images to bring near the virtual reader, one in each file, separated by commas.",
            valueName: "files"
        )
    )
    var tags: String?

    func validate() throws {
        guard let tags, !tags.contains(where: { $0 != "," }) else { return }
        throw ValidationError("--tags names no image. Give one, or several separated by commas.")
    }

    /// Whether a reader is named, by these options or by a configuration.
    func isNamed(beside configuration: ReaderConfiguration) -> Bool { reader ?? configuration.reader != nil }

    /// The environment of the command's session.
    ///
    /// - Parameters:
    ///   - savesTags: whether to save changed images that `--tags` names.
    ///   - recording: the file to record the session in; nil for `NFC_RECORD`, an empty name
    ///     for none.
    ///   - seconds: how long the command waits for a tag and for the reader; nil for the default.
    ///   - imageOption: the option for an image, which a note on standard error names if the tag is the demonstration
    ///     tag, and nobody chose that; nil for no note.
    func environment(
        savesTags: Bool = false,
        recording: String? = nil,
        seconds: Double? = nil,
        imageOption: String? = nil
    ) throws(CommandFailure) -> NFCEnvironment {
        let choice = configuration(over: .ofProcess, savesTags: savesTags, recording: recording, seconds: seconds)
        let environment = NFCEnvironment(choice)
        if let error = environment.recordingError {
            throw CommandFailure(.refused, error.code.description, error.reason)
        }
        if let error = environment.tagFileError {
            throw CommandFailure(.refused, error.code.description, error.reason)
        }
        if case .none(let reason) = environment.reader {
            throw CommandFailure(.noReader, "no-reader", reason)
        }
        let isChosen = choice.reader != nil || choice.tags != nil
        if let imageOption, !isChosen, let driver = environment.driver, ReaderKind.virtual.owns(driver.unrecorded) {
            StandardError.writeLine(
                """
                No contactless reader was found, so the virtual reader and its demonstration tag are used. Name a reader \
                with --reader, or an image with \(imageOption).
                """
            )
        }
        return environment
    }

    /// The configuration of the command's session.
    ///
    /// - Parameters:
    ///   - own: that of this process, which applies where no option says otherwise.
    ///   - savesTags: whether to save changed images that `--tags` names.
    ///   - recording: the file to record the session in; nil for the process's, an empty name for none.
    ///   - seconds: how long the command waits for a tag and for the reader; nil for the default.
    func configuration(
        over own: ReaderConfiguration,
        savesTags: Bool = false,
        recording: String? = nil,
        seconds: Double? = nil
    ) -> ReaderConfiguration {
        var configuration = own
        configuration.patience = seconds.map(Duration.seconds)
        if let tags {
            configuration.tags = tags
            configuration.tagsSource = "--tags"
            configuration.reader = "virtual"
            configuration.savesTags = own.savesTags || savesTags
        }
        if let reader {
            configuration.reader = reader
            configuration.readerSource = "--reader"
        }
        if let recording { configuration.recording = recording.isEmpty ? nil : recording }
        return configuration
    }
}
