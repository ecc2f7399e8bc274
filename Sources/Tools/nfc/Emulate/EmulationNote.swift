// SPDX-License-Identifier: Apache-2.0
import Glibc
import PrivateStorage
import VirtualTags

/// Something that a person has to know before a tag is shown to other programs.
struct EmulationNote {
    /// Its name, as programs read it.
    var name: String
    /// What is so, and what to do about it, as sentences.
    var text: String

    /// What there is to know of an image.
    ///
    /// - Parameters:
    ///   - file: the image.
    ///   - out: the file that the person wants it saved to; nil for the image's own.
    /// - Throws: ``CommandFailure`` when the person's own choice of a file can't hold the tag.
    static func all(_ file: ImageFile, out: String?) throws(CommandFailure) -> [EmulationNote] {
        // Nobody can write to a card that nobody can open.
        if case .classic(let contents) = file.contents { return [uidAlone(contents.product)] }
        guard let obstacle = obstacle(file, out) else { return [] }
        guard out == nil else { throw CommandFailure(.refused, obstacle.name, obstacle.text) }
        let step = "What programs write to the tag is lost; to keep it, name a file: --out card.json"
        return [EmulationNote(name: "not-saved", text: obstacle.text + " " + step)]
    }

    private static func uidAlone(_ product: ClassicProduct) -> EmulationNote {
        EmulationNote(
            name: "uid-only",
            text: """
                A \(product) shows its UID here and no data: its sectors are behind a cipher that OpenCoreNFC does not have. \
                Programs find the card, and each authentication fails.
                """
        )
    }

    /// Why what is written to the tag can't be saved; nil when nothing is in the way.
    private static func obstacle(_ file: ImageFile, _ out: String?) -> EmulationNote? {
        let path = file.path(out)
        let format = out.flatMap { TagImage.Format(path: $0) } ?? file.format
        if format == .tagInfo {
            return EmulationNote(
                name: "unsupported-format",
                text: "\(path) is not written: a TagInfo report is read, and never saved."
            )
        }
        if format != file.format {
            do throws(TagImageError) {
                _ = try TagImage(file.contents, format: format).encoded()
            } catch {
                return EmulationNote(name: error.code.description, text: "\(path) is not written: \(error.reason)")
            }
        }
        guard path == "-" || mayBeWritten(path) else {
            return EmulationNote(
                name: "unwritable-file",
                text: "\(path) can't be written. Check the folder and its owner."
            )
        }
        return nil
    }

    /// Whether a file may be written, or be made in its folder.
    private static func mayBeWritten(_ path: String) -> Bool {
        if unsafe access(path, F_OK) == 0 { return unsafe access(path, W_OK) == 0 }
        guard let parts = PathParts(path) else { return false }
        return unsafe access(parts.folder, W_OK) == 0
    }
}
