// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport
package import Glibc

/// UNIX sockets in private folders, with a check of the process at the other end.
public enum PrivateSocket {
    /// The process at the other end of a connection, as reported by the system (`SO_PEERCRED`).
    public struct Peer: Sendable, Hashable {
        /// The process that created the connection or the socket.
        public var process: Int32
        /// The user of the process.
        public var user: UInt32

        /// Whether the other process runs as this process's user or as root.
        public var isOwnOrRoot: Bool { user == geteuid() || user == 0 }
    }

    /// The longest path that other programs can connect to.
    public static let maximumPathLength = 107

    /// Creates a listening socket.
    ///
    /// The socket gets its mode before anyone can see it: 0600, or 0660 in a folder that is shared with a group. An
    /// existing socket is replaced, unless a program is listening on it. Any other existing file is kept.
    ///
    /// - Parameters:
    ///   - name: the socket's name in the folder.
    ///   - folder: the folder.
    ///   - backlog: how many connections may wait.
    /// - Returns: the descriptor, which the caller closes. It does not block.
    /// - Throws: ``StorageError``, with code `inUse` when another program is listening there, and `occupied` when
    ///   another kind of file has this name.
    public static func listen(
        _ name: String,
        in folder: PrivateFolder,
        backlog: Int32 = 4
    ) throws(StorageError) -> Int32 {
        try PathParts.check(name)
        let path = folder.path + "/" + name
        // Uses the folder's descriptor, because the path may lead elsewhere by now.
        let inFolder = "/proc/self/fd/\(folder.descriptor)/\(name)"
        guard path.utf8.count <= maximumPathLength, let address = SocketAddress(inFolder) else {
            throw StorageError(
                .denied,
                "\(path) is too long for a socket: at most \(maximumPathLength) bytes are allowed. Use a shorter path."
            )
        }
        if isInUse(address) { throw StorageError(.inUse, "Another program is already listening at \(path).") }
        // Only an abandoned socket may be removed, because other files may be important.
        if let status = FileStatus.ofEntry(inFolder), FileKind(status) != .socket {
            throw StorageError(
                .occupied,
                "\(path) is not a socket. Move it away, and start the program again."
            )
        }
        try folder.remove(name)
        guard let descriptor = make() else { throw .system("A socket can't be created") }
        // `bind` gives the socket's mode to its file. The process's mask (`umask`) removes the group's access, so that
        // access is added again.
        let isShared = folder.isSharedWithGroup
        guard fchmod(descriptor, isShared ? 0o660 : 0o600) == 0,
            unsafe address.with({ unsafe bind(descriptor, $0, $1) }) == 0,
            unsafe !isShared || chmod(inFolder, 0o660) == 0,
            Glibc.listen(descriptor, backlog) == 0
        else {
            let error = StorageError.system("The socket \(path) can't be created")
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Connects to a socket of the same user or of root.
    ///
    /// - Parameter path: the socket's path, which may not be a symbolic link.
    /// - Returns: the descriptor, which does not block and which the caller closes; nil when no program is listening
    ///   there, or when the socket or the program belongs to another user.
    public static func connect(_ path: String) -> Int32? {
        let node = unsafe open(path, openPathOnly | O_NOFOLLOW | O_CLOEXEC)
        defer { close(node) }
        // `connect` fails unless the path leads to a socket.
        guard let status = try? FileStatus.ofOpen(node, path), status.st_uid == geteuid() || status.st_uid == 0,
            let address = SocketAddress("/proc/self/fd/\(node)"), let descriptor = make()
        else { return nil }
        guard unsafe address.with({ unsafe Glibc.connect(descriptor, $0, $1) }) == 0,
            peer(of: descriptor)?.isOwnOrRoot == true
        else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Accepts a waiting connection.
    ///
    /// - Parameter listener: a descriptor from ``listen(_:in:backlog:)``.
    /// - Returns: the connection, which does not block and is closed in child programs; nil when none is waiting.
    public static func accept(_ listener: Int32) -> Int32? {
        let descriptor = ocn_accept(listener)
        return descriptor < 0 ? nil : descriptor
    }

    /// Returns the process at the other end of a connection; nil when it is unknown.
    public static func peer(of connection: Int32) -> Peer? {
        // Process, user and group, in the layout of the system's `ucred`.
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard unsafe getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        return Peer(process: credentials.0, user: credentials.1)
    }

    private static func make() -> Int32? {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        return descriptor < 0 ? nil : descriptor
    }

    private static func isInUse(_ address: SocketAddress) -> Bool {
        guard let descriptor = make() else { return false }
        defer { close(descriptor) }
        // A listener whose queue is full is in use too.
        return unsafe address.with { unsafe Glibc.connect(descriptor, $0, $1) } == 0 || errno == EAGAIN
    }
}

package struct SocketAddress {
    private var address = sockaddr_un()

    /// Creates an address; nil when the path is empty or too long.
    package init?(_ path: String) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
            return nil
        }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    }

    package func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
