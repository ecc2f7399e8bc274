// SPDX-License-Identifier: Apache-2.0

/// A folder of small files, with the steps that keep it whole when the power fails between any two of them.
public protocol FileStore: Sendable {
    /// The names of all files.
    func names() throws(StorageError) -> [String]

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - limit: the most bytes; a larger file is ``StorageError/Code-swift.struct/tooLarge``.
    func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8]

    /// Writes a file anew, and waits until its bytes are on the disk. If that is interrupted, part of the file is there.
    func write(_ name: String, _ octets: [UInt8]) throws(StorageError)

    /// Gives a file another name, in one step; a file that had that name is gone.
    func rename(_ name: String, to new: String) throws(StorageError)

    /// Removes a file. One that is not there is no error.
    func remove(_ name: String) throws(StorageError)

    /// Waits until the names of files are on the disk.
    func synchronize() throws(StorageError)
}

extension FileStore {
    /// Puts a file in place so that at any time the old one is there or the new one, whole.
    ///
    /// - Parameters:
    ///   - name: the file's name.
    ///   - octets: what it holds.
    public func replace(_ name: String, with octets: [UInt8]) throws(StorageError) {
        let temporary = name + Self.unfinished
        do throws(StorageError) {
            try write(temporary, octets)
            try rename(temporary, to: name)
            try synchronize()
        } catch {
            try? remove(temporary)
            throw error
        }
    }

    /// What the names of files end in that are being written.
    public static var unfinished: String { ".tmp" }

    /// Removes what an interrupted ``replace(_:with:)`` left. Only for the one process that writes.
    ///
    /// What can't be removed, such as a folder of that name, stays and does no harm.
    public func removeUnfinished() throws(StorageError) {
        for name in try names() where name.hasSuffix(Self.unfinished) { try? remove(name) }
    }
}
