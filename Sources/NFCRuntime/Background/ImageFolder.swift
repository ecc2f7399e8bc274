// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import TagLink
import VirtualTags

/// A folder whose images are near a virtual field: a file that is put there brings its tag, and takes it along.
final class ImageFolder: Sendable {
    /// More files than that are not looked at.
    private static let maximumCount = 100

    private struct State {
        var tags: [String: any VirtualTag] = [:]
        var source: (any DispatchSourceRead)?
    }

    private let path: String
    private let field: VirtualField
    private let state = Locked(State())

    /// Whether a path is that of a folder.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Brings what is in the folder now, and follows it for as long as the process lives.
    init(_ path: String, field: VirtualField) throws(ImageFiles.Failure) {
        self.path = path
        self.field = field
        let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)
        guard descriptor >= 0, unsafe inotify_add_watch(descriptor, path, events) >= 0 else {
            if descriptor >= 0 { close(descriptor) }
            throw ImageFiles.Failure(reason: "NFC_TAGS: the folder \(TerminalText.escaped(path)) can't be watched.")
        }
        let queue = DispatchQueue(label: "org.opencorenfc.images")
        state.withLock { state in
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler { [self] in take(descriptor) }
            source.activate()
            state.source = source
        }
        update(anew: [])
    }

    /// Reads what happened; files that were written are loaded anew.
    private func take(_ descriptor: Int32) {
        var written: Set<String> = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            var offset = 0
            // wd, mask, cookie, length of the name, name.
            while offset + 16 <= count {
                func word(_ index: Int) -> UInt32 {
                    UInt32(octets: buffer[(offset + 4 * index)...].prefix(4).reversed())
                }
                let end = min(offset + 16 + Int(word(3)), count)
                let name = String(decoding: buffer[(offset + 16)..<end].prefix { $0 != 0 }, as: UTF8.self)
                if word(1) & UInt32(IN_CLOSE_WRITE | IN_MOVED_TO) != 0 { written.insert(name) }
                offset = end
            }
        }
        update(anew: written)
    }

    private func update(anew written: Set<String>) {
        let names = Set(Self.names(in: path))
        let known = state.withLock { $0.tags }
        for (name, tag) in known where !names.contains(name) || written.contains(name) {
            state.withLock { $0.tags[name] = nil }
            field.remove(tag)
        }
        for name in names.sorted().prefix(Self.maximumCount) where known[name] == nil || written.contains(name) {
            do throws(ImageFiles.Failure) {
                let tag = try ImageFiles.load(path + "/" + name).tag
                state.withLock { $0.tags[name] = tag }
                field.bring(tag)
            } catch {
                OutputDescriptor.standardError.write(error.reason + "\n")
            }
        }
    }

    private static func names(in path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder), names.count < 10 * maximumCount {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix("."), name.hasSuffix(".json") || name.hasSuffix(".nfc") { names.append(name) }
        }
        return names
    }
}
