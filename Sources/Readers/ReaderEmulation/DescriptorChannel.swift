// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import TagLink

/// A file descriptor that is read when bytes arrive, and written with a time limit. The channel closes the descriptor,
/// at the latest when the channel is freed.
final class DescriptorChannel: Sendable {
    let descriptor: Int32
    /// Nil when the process can't open more descriptors. Then the channel has ended from the start.
    private let watch: ReadWatch?
    private let ended: Locked<Bool>
    /// The rest of a frame of which only the first part was sent.
    private let unsent = Locked<[UInt8]>([])

    /// The maximum time in which the other side accepts no bytes, in milliseconds.
    private let sendLimit: Int32
    /// How often to check during that time whether the channel was closed, in milliseconds.
    private static let sendStep: Int32 = 50

    /// Takes ownership of a descriptor. The queue calls `onBytes`. It calls `onEnd` once, when the other side has
    /// closed or the descriptor has failed, but never after ``close()``. `sendLimit` is in milliseconds.
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

    func close() {
        ended.withLock { $0 = true }
        watch?.cancel()
    }

    /// Sends all bytes, unless the other side accepts no bytes until the time limit. If only a part was sent, the rest
    /// is sent before the next bytes, so a frame is never cut off by the next frame. Returns whether all bytes were
    /// sent.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        guard !ended.withLock({ $0 }) else { return false }
        let rest = unsent.withLock { $0 }
        let all = rest + bytes
        let count = sendPart(of: all)
        // If no byte of the new bytes was sent, they are dropped.
        let end = count > rest.count ? all.count : rest.count
        unsent.withLock { $0 = Array(all[count..<end]) }
        return count == all.count
    }

    /// Sends bytes until the other side accepts none until the time limit. Returns how many were sent.
    private func sendPart(of bytes: [UInt8]) -> Int {
        unsafe bytes.withUnsafeBytes { memory in
            var offset = 0
            while offset < memory.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: memory[offset...])
                // If the other side has closed the socket, the process must not be ended by a signal.
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

final class ListeningSocket: @unchecked Sendable {
    // Sendable because the dispatch source is only cancelled, which any thread may do.
    private let source: any DispatchSourceRead
    private let folder: PrivateFolder
    private let name: String

    /// Starts to listen. An existing socket is replaced unless another program is listening on it. `onConnection` must
    /// close the descriptors that it receives. Only programs of this user and of root can connect. If the folder is
    /// shared with a group, programs of that group can connect too.
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

    func remove() {
        source.cancel()
        try? folder.remove(name)
    }

    /// Creates a listening socket. An existing socket is replaced unless another program is listening on it.
    static func descriptor(_ name: String, in folder: PrivateFolder, backlog: Int32 = 4) throws(EmulationError) -> Int32
    {
        do throws(StorageError) {
            return try PrivateSocket.listen(name, in: folder, backlog: backlog)
        } catch {
            guard error.code == .inUse else { throw EmulationError(error.reason) }
            throw EmulationError(
                "Another program already emulates the reader at \(folder.path)/\(name). Stop it, or choose another "
                    + "folder."
            )
        }
    }
}
