// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import TagLink

/// A file descriptor that is read when bytes arrive, and written with a time limit. The channel closes it, at the latest
/// when it is freed, since that ends its watch.
final class DescriptorChannel: Sendable {
    let descriptor: Int32
    /// Nil when the process has no free descriptors: then the channel has ended from the start.
    private let watch: ReadWatch?
    private let ended: Locked<Bool>
    /// The end of bytes of which only the beginning was sent.
    private let unsent = Locked<[UInt8]>([])

    /// How long the other side may accept no bytes, in milliseconds.
    private let sendLimit: Int32
    /// How often to check meanwhile whether the channel was closed.
    private static let sendStep: Int32 = 50

    /// Takes over a descriptor, and closes it. The queue calls `onBytes`, and `onEnd` once when the other side has closed,
    /// or the descriptor failed, but never after ``close()``. The limit for a side that accepts no bytes is in milliseconds.
    init(
        _ descriptor: Int32,
        queue: DispatchQueue,
        sendLimit: Int32 = 2000,
        onBytes: @escaping @Sendable ([UInt8]) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.descriptor = descriptor
        self.sendLimit = sendLimit
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        let ended = Locked(false)
        self.ended = ended
        let read: @Sendable () -> Bool = {
            guard !ended.withLock({ $0 }) else { return false }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                buffer.removeLast(buffer.count - count)
                onBytes(buffer)
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                let isFirst = ended.withLock { ended in
                    defer { ended = true }
                    return !ended
                }
                if isFirst { onEnd() }
                return false
            }
            return true
        }
        watch = ReadWatch(descriptor, queue: queue, onReadable: read) { _ = Glibc.close(descriptor) }
        if watch == nil {
            _ = Glibc.close(descriptor)
            ended.withLock { $0 = true }
            queue.async(execute: onEnd)
        }
    }

    /// Stops reading and closes the descriptor.
    func close() {
        ended.withLock { $0 = true }
        watch?.cancel()
    }

    /// Sends all bytes, unless the other side accepts none for so long. If it accepted some of them, the others are
    /// sent before the next ones. So no frame that begins is cut by the frame after it. Returns whether all bytes were
    /// sent.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        guard !ended.withLock({ $0 }) else { return false }
        let rest = unsent.withLock { $0 }
        let all = rest + bytes
        let count = sendPart(of: all)
        // Bytes that have not begun are not sent later.
        let end = count > rest.count ? all.count : rest.count
        unsent.withLock { $0 = Array(all[count..<end]) }
        return count == all.count
    }

    /// Sends bytes until the other side accepts none for long. Returns how many were sent.
    private func sendPart(of bytes: [UInt8]) -> Int {
        unsafe bytes.withUnsafeBytes { memory in
            var offset = 0
            while offset < memory.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: memory[offset...])
                // If the other side has closed the socket, no signal must end the process.
                var count = unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                if count < 0, errno == ENOTSOCK { count = unsafe write(descriptor, rest.baseAddress, rest.count) }
                if count >= 0 {
                    offset += count
                } else if errno == EAGAIN {
                    guard waitUntilWritable() else { return offset }
                } else if errno != EINTR {
                    return offset
                }
            }
            return offset
        }
    }

    /// Waits until the other side accepts bytes, or the channel is closed.
    private func waitUntilWritable() -> Bool {
        var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        for _ in 0..<sendLimit / Self.sendStep {
            if ended.withLock({ $0 }) { return false }
            if unsafe poll(&writable, 1, Self.sendStep) > 0 { return true }
        }
        return false
    }
}

/// A UNIX socket in a private folder on which this program listens.
final class ListeningSocket: @unchecked Sendable {
    // Sendable because the only use of the dispatch source is its cancellation, which any thread may do.
    private let source: any DispatchSourceRead
    private let folder: PrivateFolder
    private let name: String

    /// Starts to listen. An existing socket is replaced unless another program listens on it. `onConnection` has to
    /// close the descriptors that it receives. Only programs of this user and of root can connect; and those of the
    /// folder's group if the folder is shared.
    init(
        _ name: String,
        in folder: PrivateFolder,
        queue: DispatchQueue,
        onConnection: @escaping @Sendable (Int32) -> Void
    ) throws(EmulationError) {
        self.folder = folder
        self.name = name
        let descriptor = try Self.descriptor(name, in: folder)
        let admitsGroup = folder.isSharedWithGroup
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler {
            guard let connection = PrivateSocket.accept(descriptor) else { return }
            guard admitsGroup || PrivateSocket.peer(of: connection)?.isOwnOrRoot == true else {
                _ = Glibc.close(connection)
                return
            }
            onConnection(connection)
        }
        source.setCancelHandler { _ = Glibc.close(descriptor) }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// Stops listening and removes the socket.
    func remove() {
        source.cancel()
        try? folder.remove(name)
    }

    /// Creates a listening socket. An existing one is replaced unless another program listens on it.
    static func descriptor(_ name: String, in folder: PrivateFolder, backlog: Int32 = 4) throws(EmulationError) -> Int32
    {
        do throws(StorageError) {
            return try PrivateSocket.listen(name, in: folder, backlog: backlog)
        } catch {
            guard error.code == .inUse else { throw EmulationError(error.reason) }
            throw EmulationError(
                "Another program is the reader at \(folder.path)/\(name) already. Stop it, or give another folder."
            )
        }
    }
}
