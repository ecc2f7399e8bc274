// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Which image of a tag a command works with.
struct ImageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The image: a Flipper .nfc file, a Proxmark3 .json or .bin file, an .mfd file, a TagInfo report, "
                + "the project's JSON, or lines of that.",
            valueName: "file"
        )
    )
    var image: String

    @Option(help: "The image of that id, where the file has several; the first unless given.")
    var id: String?

    func load() throws(CommandFailure) -> ImageFile {
        try ImageFile(path: image, id: id)
    }
}
