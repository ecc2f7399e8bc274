// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagImages
import VirtualTags

/// A warning for the person before a tag is shown to other programs.
struct EmulationNote {
    /// The name, for programs.
    var name: String
    /// What is wrong and what to do next, as sentences.
    var text: String

    /// The notes about an image.
    ///
    /// - Parameters:
    ///   - file: the image.
    ///   - out: the file to save to; nil for the image's own file.
    /// - Throws: ``CommandFailure`` when the file of the person's choice can't hold the tag.
    static func all(_ file: ImageFile, out: String?) throws(CommandFailure) -> [EmulationNote] {
        // Programs can't authenticate to this card, so they can't write to it.
        if case .classic(let contents) = file.contents { return [uidAlone(contents.product)] }
        guard let obstacle = obstacle(file, out) else { return [] }
        guard out == nil else { throw CommandFailure(.refused, obstacle.name, obstacle.text) }
        let step = "What programs write to the tag is lost. To save it, name a file: --out card.json"
        return [EmulationNote(name: "not-saved", text: obstacle.text + " " + step)]
    }

    private static func uidAlone(_ product: ClassicProduct) -> EmulationNote {
        EmulationNote(
            name: "uid-only",
            text: """
                A \(product) shows only its UID here, and no data: its sectors need a cipher that OpenCoreNFC does not have. \
                Programs find the card, but each authentication fails.
                """
        )
    }

    /// Why writes to the tag can't be saved; nil when they can.
    private static func obstacle(_ file: ImageFile, _ out: String?) -> EmulationNote? {
        let path = file.path(out)
        let format = out.flatMap { TagImage.Format(path: $0) } ?? file.format
        if format == .tagInfo {
            return EmulationNote(
                name: "unsupported-format",
                text: "\(path) is not written: TagInfo reports can only be read."
            )
        }
        if format != file.format {
            do throws(TagImageError) {
                _ = try TagImage(file.contents, format: format).encoded()
            } catch {
                return EmulationNote(name: error.code.description, text: "\(path) is not written: \(error.reason)")
            }
        }
        guard mayBeWritten(path) else {
            return EmulationNote(
                name: "unwritable-file",
                text: "\(path) can't be written. Check the folder and its owner."
            )
        }
        return nil
    }

    /// Whether a file can be written, or created in its folder.
    private static func mayBeWritten(_ path: String) -> Bool {
        if unsafe access(path, F_OK) == 0 { return unsafe access(path, W_OK) == 0 }
        guard let parts = PathParts(path) else { return false }
        return unsafe access(parts.folder, W_OK) == 0
    }
}
