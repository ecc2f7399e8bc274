// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport

/// A UNIX socket in a private folder on which this program listens.
final class ListeningSocket: @unchecked Sendable {
    // Sendable because the only use of the dispatch source is its cancellation, which any thread may do.
    private let source: any DispatchSourceRead
    private let folder: PrivateFolder
    private let name: String

    /// Starts to listen. An existing socket is replaced unless another program listens on it.
    ///
    /// - Parameters:
    ///   - name: the socket's name in the folder.
    ///   - folder: the folder.
    ///   - queue: the queue on which `onConnection` is called.
    ///   - onConnection: receives the descriptor of each connection, and has to close it. Only programs of this user
    ///     and of root can connect; and those of the folder's group if the folder is shared.
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
