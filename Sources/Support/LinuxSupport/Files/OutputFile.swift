// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Writes a complete file to a path that a person chose.
///
/// - A regular file is replaced in one step: at any time it has the old or the new content. It keeps its mode and its
///   owner. A symbolic link to it is kept.
/// - A regular file that can't be replaced without changing its properties is overwritten. This applies to a file with
///   several names (hard links), with an access list or other attributes, or of another owner, and to a file in a
///   folder where no files can be created, or that is a mount point.
/// - A pipe or a device, such as `/dev/null`, is written to. Folders, disks, sockets and pipes without a reader are
///   refused.
/// - A symbolic link that another user created in a folder where others may create files is not followed. Keys and
///   passwords are not written to another user's file.
package enum OutputFile {
    /// The users who may read a newly created file.
    package enum Readers: Sendable {
        /// Everyone that the process's mask (`umask`) allows.
        case everyone
        /// Only the owner, because the file has keys or passwords that aren't the factory defaults.
        case ownerAlone

        var mode: mode_t { self == .everyone ? 0o644 : 0o600 }
    }

    /// Writes a file.
    ///
    /// - Parameters:
    ///   - bytes: the complete new content.
    ///   - path: the path; relative to the process's current folder unless it starts with a slash.
    ///   - readers: the users who may read it, if it is new.
    /// - Throws: ``StorageError``. An existing file is unchanged then, except when it was being overwritten and its
    ///   disk fails.
    package static func write(_ bytes: [UInt8], to path: String, readers: Readers) throws(StorageError) {
        try refuseForeignLink(path)
        if let found = try FoundFile.find(path) {
            if readers == .ownerAlone, found.kind == .regular, found.status.st_uid != geteuid() {
                throw StorageError(
                    .unsafe,
                    "\(path) belongs to another user, who is not to read the keys or passwords. Name another file."
                )
            }
            return try write(bytes, to: found)
        }
        guard isLink(path) else { return try create(path, bytes, readers) }
        try createBehindLink(path, bytes, readers)
    }

    /// Returns whether two paths lead to the same file, so that writing one of them replaces the other.
    package static func isOneFile(_ one: String, _ other: String) -> Bool {
        guard let first = FileStatus.ofTarget(one), let second = FileStatus.ofTarget(other) else { return false }
        return FileStatus.areOfOneFile(first, second)
    }

    private static func write(_ bytes: [UInt8], to found: FoundFile) throws(StorageError) {
        switch found.kind {
        case .regular: try replace(found, with: bytes)
        case .pipe, .device:
            let file = try found.openForWriting(O_WRONLY)
            defer { close(file) }
            try OpenFile.write(file, bytes, name: found.path)
        case .folder, .disk, .socket: throw found.refusal
        }
    }

    // MARK: A file that is not there

    private static func create(_ path: String, _ bytes: [UInt8], _ readers: Readers) throws(StorageError) {
        guard let parts = PathParts(path) else {
            throw StorageError(.notAFile, "'\(path)' is no name of a file.")
        }
        let folder = try OpenFolder(parts.folder, followsLink: true, lists: false)
        let (temporary, file) = try folder.makeTemporary(mode: readers.mode, for: path)
        defer { close(file) }
        do throws(StorageError) {
            try OpenFile.save(file, bytes, name: path)
            try folder.rename(temporary, to: parts.name)
        } catch {
            try? folder.remove(temporary)
            throw error
        }
        try? folder.synchronize()
    }

    /// Refuses a symbolic link that another user created in a folder that others can write, as Linux does for sticky
    /// folders when `fs.protected_symlinks` is on.
    private static func refuseForeignLink(_ path: String) throws(StorageError) {
        guard let parts = PathParts(path), let link = FileStatus.ofEntry(path),
            link.st_mode & S_IFMT == S_IFLNK,
            let folder = FileStatus.ofTarget(parts.folder), folder.st_mode & 0o002 != 0
        else { return }
        guard link.st_uid == geteuid() || link.st_uid == folder.st_uid else {
            throw StorageError(
                .unsafe,
                "\(path) is a link of another user in a folder that others write. Name the file itself."
            )
        }
    }

    private static func isLink(_ path: String) -> Bool {
        guard let status = FileStatus.ofEntry(path) else { return false }
        return status.st_mode & S_IFMT == S_IFLNK
    }

    /// Creates the missing file that a symbolic link points to. The system follows the link, by its own rules for links
    /// of other users.
    private static func createBehindLink(_ path: String, _ bytes: [UInt8], _ readers: Readers) throws(StorageError) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, readers.mode)
        guard file >= 0 else { throw .system("\(path) can't be written") }
        close(file)
        guard let found = try FoundFile.find(path) else {
            throw .system("\(path) can't be written", ENOENT)
        }
        do throws(StorageError) {
            try write(bytes, to: found)
        } catch {
            if found.kind == .regular, found.size == 0, let place = found.place() {
                try? place.folder.remove(place.name)
            }
            throw error
        }
    }

    // MARK: A regular file

    private static func replace(_ found: FoundFile, with bytes: [UInt8]) throws(StorageError) {
        guard found.isWritable else { throw .system("\(found.path) can't be written") }
        if found.status.st_nlink == 1, !found.hasAttributes, let place = found.place(),
            try replace(found, with: bytes, in: place.folder, place.name)
        {
            return
        }
        try overwrite(found, with: bytes)
    }

    /// Puts a new file in place of the one that was found.
    ///
    /// - Returns: false when the new file can't have the same mode and owner, or can't be put there.
    private static func replace(
        _ found: FoundFile,
        with bytes: [UInt8],
        in folder: OpenFolder,
        _ name: String
    ) throws(StorageError) -> Bool {
        let temporary: String
        let file: Int32
        do throws(StorageError) {
            (temporary, file) = try folder.makeTemporary(mode: 0o600, for: found.path)
        } catch  where error.code == .denied {
            return false
        }
        defer { close(file) }
        do throws(StorageError) {
            try OpenFile.write(file, bytes, name: found.path)
            if giveMode(of: found.status, to: file) {
                try OpenFile.synchronize(file, name: found.path)
                if (try? folder.rename(temporary, to: name)) != nil {
                    try? folder.synchronize()
                    return true
                }
            }
        } catch {
            try? folder.remove(temporary)
            throw error
        }
        try folder.remove(temporary)
        return false
    }

    /// Sets the owner and the mode of a file to those of another one.
    private static func giveMode(of status: stat, to file: Int32) -> Bool {
        guard let now = FileStatus.ofOpen(file),
            now.st_uid == status.st_uid && now.st_gid == status.st_gid
                || fchown(file, status.st_uid, status.st_gid) == 0
        else { return false }
        let mode = status.st_mode & 0o777
        return now.st_mode & 0o777 == mode || fchmod(file, mode) == 0
    }

    /// Overwrites the file that was found. If it gets longer, the additional bytes are written first, so a full disk
    /// fails before anything is lost. After a failure the old bytes are restored.
    private static func overwrite(_ found: FoundFile, with bytes: [UInt8]) throws(StorageError) {
        let file = try found.open(O_WRONLY)
        defer { close(file) }
        let old = oldBytes(of: found)
        let kept = min(found.size, bytes.count)
        do throws(StorageError) {
            try write(file, Array(bytes[kept...]), at: kept, name: found.path)
            try write(file, Array(bytes[..<kept]), at: 0, name: found.path)
            guard ftruncate(file, off_t(bytes.count)) == 0 else { throw .system("\(found.path) can't be written") }
            try OpenFile.synchronize(file, name: found.path)
        } catch {
            if let old { try? write(file, old, at: 0, name: found.path) }
            _ = ftruncate(file, off_t(found.size))
            throw error
        }
    }

    /// Returns a file's content before it is written; nil when it can't be read, or is too large to keep.
    private static func oldBytes(of found: FoundFile) -> [UInt8]? {
        guard let file = try? found.open(O_RDONLY) else { return nil }
        return try? InputFile(owning: file, name: found.path, limit: 64 << 20).readToEnd()
    }

    private static func write(_ file: Int32, _ bytes: [UInt8], at offset: Int, name: String) throws(StorageError) {
        guard lseek(file, off_t(offset), SEEK_SET) >= 0 else { throw .system("\(name) can't be written") }
        try OpenFile.write(file, bytes, name: name)
    }
}

extension FoundFile {
    /// Opens a pipe or a device for writing, without waiting.
    func openForWriting(_ flags: Int32) throws(StorageError) -> Int32 {
        let file: Int32
        do throws(StorageError) {
            file = try open(flags | O_NONBLOCK)
        } catch {
            guard kind == .pipe, error.number == ENXIO else { throw error }
            throw StorageError(.failed, "\(path) is a pipe without a reader. Start its reader first.")
        }
        // Later writes may wait for the reader.
        _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK)
        return file
    }

    /// The error for a file that can't be written.
    var refusal: StorageError {
        kind == .folder
            ? StorageError(.notAFile, "\(path) is a folder. Name a file in it.")
            : StorageError(.notAFile, "\(path) is a \(kind.rawValue), which is not written to. Name a file.")
    }
}
