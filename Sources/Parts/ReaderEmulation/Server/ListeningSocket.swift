// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import PrivateStorage

/// A UNIX socket in a private folder, at which this program waits for others.
final class ListeningSocket: @unchecked Sendable {
    // Sendable because a dispatch source may be cancelled from any thread, and nothing else is done with it.
    private let source: any DispatchSourceRead
    private let folder: PrivateFolder
    private let name: String

    /// Begins to listen. A socket that is there already is replaced unless somebody listens at it.
    ///
    /// - Parameters:
    ///   - name: the socket's name in the folder.
    ///   - folder: the folder.
    ///   - queue: the queue on which `onConnection` is called.
    ///   - onConnection: takes the descriptor of each connection, and closes it in the end. Only programs of this user and of root
    ///     connect, and those of the folder's group where it is shared.
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

    /// Stops listening and takes the socket away.
    func remove() {
        source.cancel()
        try? folder.remove(name)
    }

    /// A socket that listens. One that is there already is replaced unless somebody listens at it.
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
