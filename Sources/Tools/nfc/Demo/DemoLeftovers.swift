// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport

/// What a killed demonstration leaves: its programs and its folder.
///
/// Each demonstration has a locked file in its folder. The system releases the lock when the process ends, in any way.
enum DemoLeftovers {
    /// The prefix of the folders' names.
    static let prefix = "nfc-demo"
    private static let lockName = "lock"

    /// Locks a folder for this process, which must end its demonstration.
    ///
    /// - Returns: the lock's descriptor, which the caller closes.
    static func lock(_ folder: PrivateFolder) throws(StorageError) -> Int32 {
        let file = try folder.makeFile(lockName)
        // No other process knows the folder yet.
        _ = flock(file, LOCK_EX | LOCK_NB)
        return file
    }

    /// Makes sure that ``remove(_:within:)`` runs when this process is killed.
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

    /// Ends the programs of a demonstration whose process is gone, and removes its folder.
    ///
    /// - Parameters:
    ///   - path: the folder.
    ///   - limit: how many tenths of a second to wait for the process to end.
    /// - Returns: false when the folder is not a demonstration's, or its demonstration still runs.
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
            if step < limit { usleep(DemoProcesses.pause) }
        }
        return false
    }
}
