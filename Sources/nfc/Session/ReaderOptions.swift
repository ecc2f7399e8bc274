// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import NFCRuntime
import TagLink

/// Which reader a command uses, by its options or by NFC_READER and NFC_TAGS.
struct ReaderOptions: ParsableArguments {
    @Option(help: "The reader: virtual, pcsc[:NAME] or pn532:PATH. NFC_READER unless given.")
    var reader: String?

    @Option(help: ArgumentHelp("Images to bring near the virtual reader, with commas between.", valueName: "files"))
    var tags: String?

    /// The surroundings of the command's session.
    func environment() throws(CommandFailure) -> NFCEnvironment {
        // The process's own environment is made on first use, from these.
        if let reader { unsafe setenv("NFC_READER", reader, 1) }
        if let tags {
            unsafe setenv("NFC_TAGS", tags, 1)
            if reader == nil { unsafe setenv("NFC_READER", "virtual", 1) }
        }
        let environment = NFCEnvironment.process
        if case .none(let reason) = environment.reader {
            throw CommandFailure(.noReader, "no-reader", reason)
        }
        return environment
    }
}
