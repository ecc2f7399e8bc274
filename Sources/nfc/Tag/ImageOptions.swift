// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Which image of a tag a command works with.
struct ImageOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The image: a Flipper .nfc file, a JSON image, or lines of those.", valueName: "file"))
    var image: String

    @Option(help: "The image of that id, where the file has several; the first unless given.")
    var id: String?

    func load() throws(CommandFailure) -> ImageFile {
        try ImageFile(path: image, id: id)
    }
}
