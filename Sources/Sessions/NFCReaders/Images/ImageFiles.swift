// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
public import TagImages
import TagLink
import TextSafety
import VirtualTags

struct ImageFiles: Sendable {
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

    /// Loads the images that a configuration names. Without images, uses the demonstration tag.
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
    ///
    /// - Parameter takesForeignLinks: whether the path may end with another user's symbolic link.
    static func load(_ path: String, takesForeignLinks: Bool = true) throws(TagFileError) -> Entry {
        let bytes: [UInt8]
        do throws(StorageError) {
            let file = try InputFile(path, limit: TagImage.maximumSize, takesForeignLinks: takesForeignLinks)
            bytes = try file.readToEnd()
        } catch {
            // In a variable or argument, the replacement character stands for bytes that are not UTF-8, so the path is
            // not the one that the user meant.
            guard error.code == .missing, path.contains("\u{FFFD}") else {
                throw TagFileError(error.code == .tooLarge ? .image(.tooLarge) : .unreadable, error.reason)
            }
            throw TagFileError(.unreadable, "The name of the file \(path) is not UTF-8. Rename the file.")
        }
        do throws(TagImageError) {
            let image = try TagImage(parsing: bytes)
            return Entry(path: path, image: image, tag: image.makeTag(), saved: bytes)
        } catch {
            let line = error.line.map { ", line \($0)" } ?? ""
            throw TagFileError(.image(error.code), "\(path)\(line): \(error.reason)")
        }
    }
}

/// The tag in the virtual field of a process that has neither a reader nor tag images.
enum DemonstrationTag {
    /// An NTAG215 with a link and a text.
    static func make() -> VirtualType2Tag {
        var contents = Type2Contents(blank: .ntag215, uid: [0x04, 0x68, 0x95, 0x71, 0xFA, 0x5C, 0x64])
        let link = Array("example.com/welcome".utf8)
        let text = Array("Welcome to the gallery.".utf8)
        var message: [UInt8] = [0x91, 0x01, UInt8(link.count + 1), 0x55, 0x04] + link
        message += [0x51, 0x01, UInt8(text.count + 3), 0x54, 0x02] + Array("en".utf8) + text
        let messageTLV = [0x03, UInt8(message.count)] + message + [0xFE]
        contents.memory.replaceSubrange(16..<16 + messageTLV.count, with: messageTLV)
        return VirtualType2Tag(contents)
    }
}

/// Writes the images of virtual tags back to their files, if `NFC_TAGS_SAVE` is set.
public final class TagFileSaver: Sendable {
    /// Calls a function with each file. This process does nothing else with the files meanwhile.
    typealias Files = @Sendable (_ body: (inout ImageFiles.Entry) -> Void) -> Void

    private let files: Files
    private let lastFailure = Locked<TagFileError?>(nil)

    init(_ files: @escaping Files) { self.files = files }

    convenience init(_ entries: [ImageFiles.Entry]) {
        let entries = Locked(entries)
        self.init { body in
            entries.withLock { entries in
                for index in entries.indices { body(&entries[index]) }
            }
        }
    }

    /// Why the last save failed; nil when all images were saved.
    public var failure: TagFileError? { lastFailure.withLock { $0 } }

    /// Throws if an image could not be saved now: call this before a tag is changed.
    public func check() throws(TagFileError) {
        var failure: TagFileError?
        files { entry in
            do throws(StorageError) {
                try OutputFile.check(entry.path)
            } catch {
                failure = failure ?? TagFileError(.unwritable, error.reason)
            }
        }
        if let failure { throw failure }
    }

    /// Writes each image whose tag has changed. Failures are also printed to standard error.
    package func save() {
        var failure: TagFileError?
        files { entry in
            entry.image.update(from: entry.tag)
            do throws(TagFileError) {
                try Self.save(&entry)
            } catch {
                OutputDescriptor.standardError.write("\(VisibleText.escaped(error.reason))\n")
                failure = error
            }
        }
        lastFailure.withLock { [failure] in $0 = failure }
    }

    private static func save(_ entry: inout ImageFiles.Entry) throws(TagFileError) {
        let bytes: [UInt8]
        do throws(TagImageError) {
            bytes = try entry.image.encoded()
        } catch {
            throw TagFileError(.image(error.code), "\(entry.path) was not saved. \(error.reason)")
        }
        guard bytes != entry.saved else { return }
        // A file that can't be read is gone, or its replacement fails below.
        if let present = try? InputFile(entry.path, limit: TagImage.maximumSize).readToEnd(), present != entry.saved {
            let reason = "\(entry.path) was not saved: another program has changed it since it was read."
            throw TagFileError(.unwritable, reason)
        }
        do throws(StorageError) {
            try OutputFile.write(
                bytes,
                to: entry.path,
                readers: entry.image.contents.holdsSecrets ? .ownerAlone : .everyone
            )
        } catch {
            throw TagFileError(.unwritable, error.reason)
        }
        entry.saved = bytes
    }
}

/// Why a file of `NFC_TAGS` can't be used or saved. Errors are equal if their codes are.
public struct TagFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        private init(_ name: String) { self.name = name }

        /// The file can't be read.
        public static let unreadable = Code("unreadable-file")

        /// The file can't be written.
        public static let unwritable = Code("unwritable-file")

        /// The file is not an image, or the image is not usable.
        public static func image(_ code: TagImageError.Code) -> Code { Code(code.description) }

        public var description: String { name }
    }

    /// The kind of failure.
    public let code: Code
    /// Sentences for people: the problem, and how to solve it.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: TagFileError, rhs: TagFileError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
