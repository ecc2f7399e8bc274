// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PrivateStorage
import SystemLibrary

/// What a demonstration leaves that was killed: its programs, and its folder.
///
/// Each demonstration has a locked file in its folder. The system takes the lock away when the process ends, however it ends.
enum DemoLeftovers {
    /// What the names of the folders begin with.
    static let prefix = "nfc-demo"
    private static let lockName = "lock"

    /// Marks a folder as that of this process, which has to end its demonstration.
    ///
    /// - Returns: the lock's descriptor, which the caller closes.
    static func lock(_ folder: PrivateFolder) throws(StorageError) -> Int32 {
        let file = try folder.makeFile(lockName)
        // Nobody else knows the folder yet.
        _ = flock(file, LOCK_EX | LOCK_NB)
        return file
    }

    /// Has ``remove(_:within:)`` done when this process is killed.
    static func lifeline(of folder: PrivateFolder) -> Lifeline? {
        guard let program = ProgramPath.own else { return nil }
        return Lifeline(script: #"exec "$0" demo --take-away "$1""#, words: [program, folder.path])
    }

    /// Removes what earlier demonstrations have left in the folder for temporary files.
    ///
    /// - Returns: the folders that were removed.
    static func removeAll() -> [String] {
        let parent = PrivateFolder.parentOfRandom
        return (FolderNames.read(parent) { $0.hasPrefix(prefix + ".") } ?? []).compactMap { name in
            let path = "\(parent)/\(name)"
            return remove(path, within: 0) ? path : nil
        }
    }

    /// Ends the programs of a demonstration whose own process is gone, and removes its folder.
    ///
    /// - Parameters:
    ///   - path: the folder.
    ///   - limit: how many tenths of a second the process may still take to be gone.
    /// - Returns: false where the folder is none of a demonstration, or one that still runs.
    @discardableResult
    static func remove(_ path: String, within limit: Int) -> Bool {
        guard (path as NSString).lastPathComponent.hasPrefix(prefix + "."),
            let folder = try? PrivateFolder(path, creates: false),
            let file = try? folder.open(lockName, O_RDWR)
        else {
            return false
        }
        defer { close(file) }
        for step in 0...limit {
            if flock(file, LOCK_EX | LOCK_NB) == 0 {
                DemoProcesses.endAll(of: path)
                return (try? FileManager.default.removeItem(atPath: path)) != nil
            }
            if step < limit { usleep(100_000) }
        }
        return false
    }
}
