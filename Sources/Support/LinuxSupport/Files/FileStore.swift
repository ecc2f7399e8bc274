// SPDX-License-Identifier: Apache-2.0

/// A folder of small files. Its operations keep the files intact when the power fails between any two of them.
public protocol FileStore: Sendable {
    /// The names of all files.
    func names() throws(StorageError) -> [String]

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - limit: the most bytes. A larger file throws ``StorageError/Code-swift.struct/tooLarge``.
    func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8]

    /// Writes a new file, and waits until its bytes are on the disk. If this is interrupted, the file may be
    /// incomplete.
    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError)

    /// Renames a file in one step. A file that had the new name is replaced.
    func rename(_ name: String, to new: String) throws(StorageError)

    /// Removes a file. It is not an error when the file is missing.
    func remove(_ name: String) throws(StorageError)

    /// Waits until the names of all files are on the disk.
    func synchronize() throws(StorageError)
}

extension FileStore {
    /// Replaces a file. At any time either the old or the new file is there, complete.
    ///
    /// - Parameters:
    ///   - name: the file's name.
    ///   - bytes: the new content.
    public func replace(_ name: String, with bytes: [UInt8]) throws(StorageError) {
        let temporary = name + Self.unfinished
        do throws(StorageError) {
            try write(temporary, bytes)
            try rename(temporary, to: name)
            try synchronize()
        } catch {
            try? remove(temporary)
            throw error
        }
    }

    /// The suffix of files that are being written.
    public static var unfinished: String { ".tmp" }

    /// Removes the files that an interrupted ``replace(_:with:)`` left. Only call it in the one process that writes.
    ///
    /// What can't be removed, such as a folder with such a name, is left and does no harm.
    public func removeUnfinished() throws(StorageError) {
        for name in try names() where name.hasSuffix(Self.unfinished) { try? remove(name) }
    }
}
