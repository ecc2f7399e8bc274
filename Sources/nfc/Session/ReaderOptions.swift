// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCRuntime

/// Which reader a command uses, by its options or by NFC_READER and NFC_TAGS.
struct ReaderOptions: ParsableArguments {
    @Option(help: "The reader: virtual, pcsc[:NAME] or pn532:PATH. NFC_READER unless given.")
    var reader: String?

    @Option(help: ArgumentHelp("Images to bring near the virtual reader, with commas between.", valueName: "files"))
    var tags: String?

    /// The surroundings of the command's session.
    ///
    /// - Parameter savesTags: writes images that `--tags` names back when they have changed.
    func environment(savesTags: Bool = false) throws(CommandFailure) -> NFCEnvironment {
        var configuration = ReaderConfiguration.ofProcess
        if let tags {
            configuration.tags = tags
            configuration.reader = "virtual"
            configuration.savesTags = configuration.savesTags || savesTags
        }
        if let reader { configuration.reader = reader }
        let environment = NFCEnvironment(configuration)
        if case .none(let reason) = environment.reader {
            throw CommandFailure(.noReader, "no-reader", reason)
        }
        return environment
    }
}
