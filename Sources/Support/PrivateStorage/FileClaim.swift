// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file that one holder at a time has, among all processes. It is given back when this object goes, and when the process
/// ends, however it ends.
public final class FileClaim: Sendable {
    private let descriptor: Int32

    /// Takes over an open file, which is closed with this object.
    fileprivate init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

extension DirectoryStore {
    /// Claims a file, without waiting.
    ///
    /// The claim is one on the file, whatever its name becomes. It keeps nobody from reading or removing the file; it keeps
    /// others from claiming it.
    ///
    /// - Parameter name: the file's name.
    /// - Throws: ``StorageError``, of code `inUse` when somebody else has claimed it, and `missing` when it is gone.
    public func claim(_ name: String) throws(StorageError) -> FileClaim {
        let file = try openToClaim(name)
        let claim = FileClaim(owning: file)
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(.unsafe, "\(name) is no ordinary file.")
        }
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: throw StorageError(.inUse, "Another program has \(path)/\(name).")
            // A file system without locks: whether another program has it is not known there.
            case ENOLCK, EOPNOTSUPP, ENOSYS: return claim
            default: throw .system("\(path)/\(name) can't be locked")
            }
        }
        // Whoever had it before may have removed it, between its opening here and the lock.
        guard unsafe fstat(file, &status) == 0, status.st_nlink > 0 else {
            throw StorageError(.missing, "\(path)/\(name) is gone.")
        }
        return claim
    }

    /// Opened for writing, since a network's file system locks nothing else for one holder.
    private func openToClaim(_ name: String) throws(StorageError) -> Int32 {
        do throws(StorageError) {
            return try folder.open(name, O_RDWR | O_NONBLOCK)
        } catch  where error.code == .denied {
            return try folder.open(name, O_RDONLY | O_NONBLOCK)
        }
    }
}
