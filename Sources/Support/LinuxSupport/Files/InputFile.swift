// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file that is read from start to end, up to a limit.
///
/// The size of a file is checked before reading. A source without a size, such as a pipe, is read up to the limit.
public final class InputFile {
    private let descriptor: Int32
    private let name: String
    private let limit: Int
    private var total = 0

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - limit: the maximum number of bytes.
    ///   - takesPipes: whether the path may also lead to a pipe or a device. Reading then waits for data.
    ///   - takesForeignLinks: whether the path may end with another user's symbolic link. If nobody chose this file
    ///     itself, such a link could lead to a file that the other user is not allowed to read.
    /// - Throws: ``StorageError``, with code `notAFile` for an unsupported kind of file, `tooLarge` for more bytes than
    ///   the limit, and `unsafe` for another user's link that is not taken.
    public convenience init(
        _ path: String,
        limit: Int,
        takesPipes: Bool = false,
        takesForeignLinks: Bool = true
    ) throws(StorageError) {
        var flags: Int32 = takesPipes ? 0 : O_NONBLOCK
        if !takesForeignLinks, let entry = FileStatus.ofEntry(path) {
            if FileKind(entry) != .link {
                // If a link takes its place now, opening fails.
                flags |= O_NOFOLLOW
            } else if entry.st_uid != 0, entry.st_uid != geteuid() {
                throw StorageError(.unsafe, "\(path) is a symbolic link of another user.")
            }
        }
        guard let status = FileStatus.ofTarget(path) else { throw .system("\(path) can't be read") }
        let kind = FileKind(status)
        guard kind == .regular || takesPipes && [.pipe, .device].contains(kind) else {
            throw StorageError(.notAFile, "\(path) is a \(kind.rawValue). Name a file.")
        }
        try self.init(owning: try Self.open(path, flags), name: path, limit: limit)
    }

    /// Reads standard input.
    public static func standardInput(limit: Int) -> InputFile {
        InputFile(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), name: "Standard input", limit: limit)
    }

    /// Takes ownership of a descriptor, and closes it even if this throws. With `isRegular`, everything but a regular
    /// file throws code `unsafe`.
    convenience init(owning descriptor: Int32, name: String, limit: Int, isRegular: Bool = false) throws(StorageError) {
        self.init(descriptor, name: name, limit: limit)
        let status = try FileStatus.ofOpen(descriptor, name)
        if FileKind(status) == .regular {
            guard Int(status.st_size) <= limit else { throw tooLarge }
        } else if isRegular {
            throw .notRegular(name)
        }
    }

    private init(_ descriptor: Int32, name: String, limit: Int) {
        self.descriptor = descriptor
        self.name = name
        self.limit = limit
    }

    deinit { close(descriptor) }

    /// Opens a file for reading. A terminal does not become the controlling terminal of the process.
    private static func open(_ path: String, _ flags: Int32) throws(StorageError) -> Int32 {
        while true {
            let file = unsafe Glibc.open(path, flags | O_RDONLY | O_CLOEXEC | O_NOCTTY)
            if file >= 0 { return file }
            if errno != EINTR { throw .system("\(path) can't be read") }
        }
    }

    /// Waits for data, and appends at most `count` bytes to a buffer.
    ///
    /// - Returns: false at the end of the file.
    /// - Throws: ``StorageError``, with code `tooLarge` when the file has more bytes than the limit.
    public func read(into buffer: inout [UInt8], upTo count: Int = 64 << 10) throws(StorageError) -> Bool {
        var number: Int32 = 0
        let block = unsafe [UInt8](unsafeUninitializedCapacity: count) { memory, initialized in
            var result: Int
            repeat {
                result = unsafe Glibc.read(descriptor, memory.baseAddress, count)
                number = result < 0 ? errno : 0
                if number == EAGAIN {
                    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    _ = unsafe poll(&poller, 1, -1)
                }
            } while number == EINTR || number == EAGAIN
            initialized = max(result, 0)
        }
        guard number == 0 else { throw .system("\(name) can't be read", number) }
        total += block.count
        guard total <= limit else { throw tooLarge }
        buffer.append(contentsOf: block)
        return !block.isEmpty
    }

    /// Reads all bytes up to the end.
    public func readToEnd() throws(StorageError) -> [UInt8] {
        var bytes: [UInt8] = []
        while try read(into: &bytes) {}
        return bytes
    }

    private var tooLarge: StorageError {
        let size = limit % (1 << 20) == 0 ? "\(limit >> 20) MiB" : "\(limit) bytes"
        return StorageError(.tooLarge, "\(name) is larger than \(size), which is the limit.")
    }
}
