// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagImages
import VirtualTags

/// The image files for the tags in a process's virtual field.
struct ImageFiles: Sendable {
    /// The tags, in the order of their files.
    let tags: [any VirtualTag]
    /// Writes changed images back; nil when they are not saved.
    let saver: TagFileSaver?

    /// A file, its tag, and the bytes in the file.
    struct Entry: Sendable {
        var path: String
        var image: TagImage
        var tag: any VirtualTag
        var saved: [UInt8]
    }

    /// Loads the images that a configuration names, or the demonstration tag when it names none.
    init(_ configuration: ReaderConfiguration) throws(TagFileError) {
        guard let names = configuration.tags else {
            tags = [DemonstrationTag.make()]
            saver = nil
            return
        }
        var entries: [Entry] = []
        for path in names.split(separator: ",").map(String.init) {
            entries.append(try Self.load(path))
        }
        tags = entries.map(\.tag)
        saver = configuration.savesTags ? TagFileSaver(entries) : nil
    }

    /// Loads one image.
    static func load(_ path: String) throws(TagFileError) -> Entry {
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try InputFile(path, limit: TagImage.maximumSize).readToEnd()
        } catch {
            // The replacement character stands for bytes that are not UTF-8 in a variable or argument. So this path
            // names another file.
            guard error.code == .missing, path.contains("\u{FFFD}") else {
                throw TagFileError(error.code == .tooLarge ? .image(.tooLarge) : .unreadable, error.reason)
            }
            throw TagFileError(.unreadable, "The name of the file \(path) is not UTF-8. Rename the file.")
        }
        do throws(TagImageError) {
            let image = try TagImage(parsing: bytes)
            return Entry(path: path, image: image, tag: image.makeTag(), saved: bytes)
        } catch {
            let place = error.line.map { ", line \($0)" } ?? ""
            throw TagFileError(.image(error.code), "\(path)\(place): \(error.reason)")
        }
    }
}
