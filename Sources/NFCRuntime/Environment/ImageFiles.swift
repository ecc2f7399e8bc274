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

/// Reads and writes small files whole, without Foundation.
enum SmallFile {
    /// Why a file could not be read or written, as a sentence for people.
    struct Failure: Error {
        var reason: String
    }

    /// No image of a tag is as large as this; what is larger is not one.
    static let maximumSize = 16 << 20

    /// Reads a file.
    ///
    /// - Parameter path: the file's path.
    /// - Returns: its octets.
    static func read(_ path: String) throws(Failure) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, "can't be read") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw failure(path, "can't be read")
            }
            bytes += buffer[..<count]
            guard bytes.count <= maximumSize else {
                throw Failure(reason: "\(path) is larger than any image of a tag.")
            }
        }
    }

    /// Writes a file so that it holds the old or the new octets, whatever happens meanwhile.
    ///
    /// - Parameters:
    ///   - path: the file's path.
    ///   - bytes: its new octets.
    static func write(_ path: String, _ bytes: [UInt8]) throws(Failure) {
        let temporary = "\(path).\(getpid()).tmp"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(temporary, "can't be written") }
        var written = 0
        var isWhole = true
        while isWhole, written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
            }
            if count > 0 { written += count } else if errno != EINTR { isWhole = false }
        }
        isWhole = isWhole && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWhole, unsafe rename(temporary, path) == 0 else {
            let failure = failure(path, "can't be written")
            unsafe unlink(temporary)
            throw failure
        }
    }

    private static func failure(_ path: String, _ what: String) -> Failure {
        Failure(reason: "\(path) \(what): \(unsafe String(cString: strerror(errno))).")
    }
}

/// The tag in the virtual field of a process that has no reader and names no images.
enum DemonstrationTag {
    /// An NTAG215 with a link and a text.
    static func make() -> Type2Tag {
        var contents = Type2Contents(blank: .ntag215, uid: [0x04, 0x68, 0x95, 0x71, 0xFA, 0x5C, 0x64])
        let link = Array("example.com/welcome".utf8)
        let text = Array("Welcome to the gallery.".utf8)
        var message: [UInt8] = [0x91, 0x01, UInt8(link.count + 1), 0x55, 0x04] + link
        message += [0x51, 0x01, UInt8(text.count + 3), 0x54, 0x02] + Array("en".utf8) + text
        let messageTLV = [0x03, UInt8(message.count)] + message + [0xFE]
        contents.memory.replaceSubrange(16..<16 + messageTLV.count, with: messageTLV)
        return Type2Tag(contents)
    }
}
