// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An exclusive claim on a file, among all processes. It is released with this object, and whenever the process ends,
/// even when it crashes.
public final class FileClaim: Sendable {
    private let descriptor: Int32

    /// Takes ownership of an open file, which is closed with this object.
    fileprivate init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

extension DirectoryStore {
    /// Claims a file, without waiting.
    ///
    /// The claim is on the file itself, so it stays when the file is renamed. Others can't claim the file, but can
    /// still read or remove it.
    ///
    /// - Parameter name: the file's name.
    /// - Throws: ``StorageError``, with code `inUse` when the file is claimed already, and `missing` when it is gone.
    public func claim(_ name: String) throws(StorageError) -> FileClaim {
        try claim(openToClaim(name), name)
    }

    /// Claims an open file, and takes ownership of it.
    func claim(_ file: Int32, _ name: String) throws(StorageError) -> FileClaim {
        let claim = FileClaim(owning: file)
        guard let status = FileStatus.ofOpen(file), status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(.unsafe, "\(name) is no ordinary file.")
        }
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: break
            case EWOULDBLOCK: throw StorageError(.inUse, "Another program has \(path)/\(name).")
            // This file system has no locks, so it is unknown whether another program uses the file.
            case ENOLCK, EOPNOTSUPP, ENOSYS: return claim
            default: throw .system("\(path)/\(name) can't be locked")
            }
        }
        // The previous holder may have removed the file after it was opened here and before it was locked.
        guard let now = FileStatus.ofOpen(file), now.st_nlink > 0 else {
            throw StorageError(.missing, "\(path)/\(name) is gone.")
        }
        return claim
    }

    /// Opens the file for writing, because network file systems only allow exclusive locks on such files.
    private func openToClaim(_ name: String) throws(StorageError) -> Int32 {
        do throws(StorageError) {
            return try folder.open(name, O_RDWR | O_NONBLOCK)
        } catch  where error.code == .denied {
            return try folder.open(name, O_RDONLY | O_NONBLOCK)
        }
    }
}
