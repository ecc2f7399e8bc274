// SPDX-License-Identifier: Apache-2.0
import Glibc
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

    /// A file, its tag, and the octets that it holds.
    struct Entry: Sendable {
        fileprivate var path: String
        fileprivate var image: TagImage
        var tag: any VirtualTag
        fileprivate var saved: [UInt8]
    }

    /// Loads the images that a configuration names, or the demonstration tag when it names none.
    init(_ configuration: ReaderConfiguration) throws(Failure) {
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
        saver = configuration.savesTags ? Self.saver(of: entries) : nil
    }

    /// Loads one image.
    static func load(_ path: String) throws(Failure) -> Entry {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(path)
        } catch {
            throw Failure(reason: "NFC_TAGS: \(TerminalText.escaped(error.reason))")
        }
        do throws(TagImageError) {
            let image = try TagImage(parsing: bytes)
            return Entry(path: path, image: image, tag: image.makeTag(), saved: bytes)
        } catch {
            let place = error.line.map { ", line \($0)" } ?? ""
            throw Failure(reason: TerminalText.escaped("NFC_TAGS: \(path)\(place): \(error.reason)"))
        }
    }

    /// Makes what is called after each session: a file whose tag has changed is written anew.
    private static func saver(of entries: [Entry]) -> @Sendable () -> Void {
        let entries = Locked(entries)
        return {
            entries.withLock { entries in
                for index in entries.indices {
                    entries[index].image.update(from: entries[index].tag)
                    if let reason = save(&entries[index]) {
                        OutputDescriptor.standardError.write("\(TerminalText.escaped(reason))\n")
                    }
                }
            }
        }
    }

    /// Writes an image that has changed; returns why it could not be, if so.
    private static func save(_ entry: inout Entry) -> String? {
        do throws(TagImageError) {
            let bytes = try entry.image.encoded()
            guard bytes != entry.saved else { return nil }
            do throws(SmallFile.Failure) {
                try SmallFile.write(entry.path, bytes)
                entry.saved = bytes
                return nil
            } catch {
                return error.reason
            }
        } catch {
            return "\(entry.path) is not saved. \(error.reason)"
        }
    }
}
