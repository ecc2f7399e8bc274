// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file that is read from start to end, up to a limit.
///
/// The size of a file is checked before it is read. A source without a size, such as a pipe, is read up to the limit.
public final class InputFile {
    private let descriptor: Int32
    private let ownsDescriptor: Bool
    /// The file's name in messages.
    private let name: String
    private let limit: Int
    private var total = 0

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - limit: the most bytes.
    ///   - takesPipes: whether it may also be a pipe or a device. Reading then waits for data.
    /// - Throws: ``StorageError``, with code `notAFile` when it is of a kind that is not read, and `tooLarge` when it
    ///   has more bytes than the limit.
    public convenience init(_ path: String, limit: Int, takesPipes: Bool = false) throws(StorageError) {
        guard let found = try FoundFile.find(path) else {
            throw .system("\(path) can't be read", ENOENT)
        }
        let isTaken =
            switch found.kind {
            case .regular: true
            case .pipe, .device: takesPipes
            case .folder, .disk, .socket: false
            }
        guard isTaken else { throw StorageError(.notAFile, "\(path) is a \(found.kind.rawValue). Name a file.") }
        try self.init(owning: try found.open(O_RDONLY), name: path, limit: limit)
    }

    /// Reads standard input, which is not closed at the end.
    ///
    /// - Parameter limit: the most bytes.
    public static func standardInput(limit: Int) -> InputFile {
        InputFile(STDIN_FILENO, name: "Standard input", limit: limit, ownsDescriptor: false)
    }

    /// Takes ownership of a descriptor, and closes it even when this throws.
    convenience init(owning descriptor: Int32, name: String, limit: Int) throws(StorageError) {
        self.init(descriptor, name: name, limit: limit, ownsDescriptor: true)
        guard let status = FileStatus.ofOpen(descriptor) else { throw .system("\(name) can't be read") }
        guard status.st_mode & S_IFMT != S_IFREG || Int(status.st_size) <= limit else { throw tooLarge }
    }

    private init(_ descriptor: Int32, name: String, limit: Int, ownsDescriptor: Bool) {
        self.descriptor = descriptor
        self.name = name
        self.limit = limit
        self.ownsDescriptor = ownsDescriptor
    }

    deinit {
        if ownsDescriptor { close(descriptor) }
    }

    /// Waits for more bytes.
    ///
    /// - Parameters:
    ///   - buffer: the array to append them to.
    ///   - count: the most bytes to read.
    /// - Returns: false at the end of the file.
    /// - Throws: ``StorageError``, with code `tooLarge` when the file has more bytes than the limit.
    public func read(into buffer: inout [UInt8], upTo count: Int = 64 << 10) throws(StorageError) -> Bool {
        var number: Int32 = 0
        let block = unsafe [UInt8](unsafeUninitializedCapacity: count) { memory, initialized in
            var result: Int
            repeat {
                result = unsafe Glibc.read(descriptor, memory.baseAddress, count)
                number = result < 0 ? errno : 0
                if number == EAGAIN { waitUntilReadable() }
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

    private func waitUntilReadable() {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&poller, 1, -1)
    }

    private var tooLarge: StorageError {
        let size = limit % (1 << 20) == 0 ? "\(limit >> 20) MiB" : "\(limit) bytes"
        return StorageError(.tooLarge, "\(name) is larger than \(size), and no more is read.")
    }
}
