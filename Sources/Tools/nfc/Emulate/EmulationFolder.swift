// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import ReaderEmulation

/// The folder for an emulation's socket. pcscd's configuration is in its subfolder `reader.conf.d`.
struct EmulationFolder {
    let folder: PrivateFolder
    private let configuration: PrivateFolder
    /// Whether the folder has a random name and is used only by this run.
    private let isTemporary: Bool
    /// Whether the folder is OpenCoreNFC's own in the user's runtime folder, so that the last run removes it.
    private let isShared: Bool
    /// Whether this run created the folder chosen by the user.
    private let isNew: Bool

    /// Creates the folders. Without a path, uses the user's default folder or a folder with a random name.
    init(_ path: String?) throws(EmulationError) {
        let chosen = path.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        isNew = chosen.map { !FileManager.default.fileExists(atPath: $0) } ?? false
        let usual = chosen == nil ? PCSCInstallation.defaultFolder() : nil
        isTemporary = chosen == nil && usual == nil
        isShared = usual.map { !$0.path.hasPrefix(PCSCInstallation.systemFolder + "/") } ?? false
        do throws(StorageError) {
            folder =
                if let chosen {
                    try PrivateFolder(chosen, guests: .mayRead)
                } else if let usual {
                    usual
                } else {
                    try PrivateFolder.random("opencorenfc")
                }
            configuration = try folder.folder("reader.conf.d")
        } catch {
            throw EmulationError(error.reason + " Give another folder: --folder FOLDER.")
        }
    }

    private static let fileName = "opencorenfc"

    var socketPath: String { folder.path + "/" + PCSCInstallation.socketName }

    var configurationFolder: String { configuration.path }

    /// The name of the reader that root installed for this folder's socket; nil if there is none.
    var installedName: String? {
        ReaderOwner.current.flatMap { Self.name(of: SystemReader($0), at: socketPath) }
    }

    /// The name of a reader that root installed; nil if it uses a different socket.
    static func name(of reader: SystemReader, at socketPath: String) -> String? {
        reader.socketPath == socketPath ? reader.installedName : nil
    }

    /// Writes pcscd's configuration. Returns the file's path.
    func write(_ text: String) throws(EmulationError) -> String {
        do throws(StorageError) {
            try configuration.write(Self.fileName, Array(text.utf8))
        } catch {
            throw EmulationError(error.reason)
        }
        return configuration.path + "/" + Self.fileName
    }

    /// Removes this run's files, but keeps a folder chosen by the user. After a failure, a folder that this run created
    /// is removed too.
    func remove(afterFailure: Bool = false) {
        try? configuration.remove(Self.fileName)
        // The folder may contain other files that the user put there.
        configuration.removeIfEmpty()
        if isTemporary {
            try? folder.remove(PCSCInstallation.socketName)
            try? folder.remove("pcscd.log")
        }
        // A folder with files from an app or another run is kept.
        if isShared || isTemporary || afterFailure && isNew { folder.removeIfEmpty() }
    }
}
