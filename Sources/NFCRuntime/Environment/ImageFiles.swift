// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// The image files whose tags are near the virtual field of a process.
struct ImageFiles: Sendable {
    /// Why a file can't be used, as a sentence for people.
    struct Failure: Error {
        var reason: String
    }

    /// The tags, in the order of their files.
    let tags: [any VirtualTag]
    /// Writes changed images back; nil when that is not wanted.
    let saver: (@Sendable () -> Void)?

    /// Loads the images that a configuration names, or the demonstration tag when it names none.
    init(_ configuration: ReaderConfiguration) throws(Failure) {
        guard let names = configuration.tags else {
            tags = [DemonstrationTag.make()]
            saver = nil
            return
        }
        var loaded: [(path: String, image: TagImage, tag: any VirtualTag)] = []
        for path in names.split(separator: ",").map(String.init) {
            do throws(SmallFile.Failure) {
                let image = try Self.image(from: SmallFile.read(path), path)
                loaded.append((path, image, image.makeTag()))
            } catch {
                throw Failure(reason: error.reason)
            }
        }
        let files = loaded
        tags = files.map(\.tag)
        guard configuration.savesTags else {
            saver = nil
            return
        }
        saver = {
            for file in files {
                var image = file.image
                image.update(from: file.tag)
                if image.contents == file.image.contents { continue }
                do throws(SmallFile.Failure) {
                    try SmallFile.write(file.path, image.encoded())
                } catch {
                    OutputDescriptor.standardError.write("\(TerminalText.escaped(error.reason))\n")
                }
            }
        }
    }

    private static func image(from bytes: [UInt8], _ path: String) throws(SmallFile.Failure) -> TagImage {
        do throws(TagImageError) {
            return try TagImage(parsing: bytes)
        } catch {
            let place = error.line.map { "line \($0): " } ?? ""
            throw SmallFile.Failure(reason: "\(path): \(place)\(error.reason)")
        }
    }
}
