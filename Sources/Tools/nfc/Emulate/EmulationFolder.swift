// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import ReaderEmulation

/// The folder of an emulation's socket, with pcscd's configuration in `reader.conf.d` below it.
struct EmulationFolder {
    let folder: PrivateFolder
    private let configuration: PrivateFolder
    /// Whether the folder has a random name, so that only this run uses it.
    private let isTemporary: Bool
    /// Whether the last run that uses the folder removes it: it is the project's own, in the user's runtime folder.
    private let isShared: Bool
    /// Whether this run has created the folder of the person's choice.
    private let isNew: Bool

    /// Creates the folders. Without a path it is the user's own folder, or one with a random name.
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
            throw EmulationError(error.reason + " Give another one: --folder FOLDER.")
        }
    }

    private static let fileName = "opencorenfc"

    var socketPath: String { folder.path + "/" + PCSCInstallation.socketName }

    var configurationFolder: String { configuration.path }

    /// The name of the reader that root has installed for this folder's socket; nil when there is none.
    var installedName: String? {
        ReaderOwner.current.flatMap { Self.name(of: SystemReader($0), at: socketPath) }
    }

    /// The name of a reader that root has installed; nil when its socket is another one.
    static func name(of reader: SystemReader, at socketPath: String) -> String? {
        reader.socketPath == socketPath ? reader.installedName : nil
    }

    /// Writes pcscd's configuration. Returns the path of the file.
    func write(_ text: String) throws(EmulationError) -> String {
        do throws(StorageError) {
            try configuration.write(Self.fileName, Array(text.utf8))
        } catch {
            throw EmulationError(error.reason)
        }
        return configuration.path + "/" + Self.fileName
    }

    /// Removes the files of this run. The folder of the person's choice stays.
    /// After a failure, a folder that this run has created is removed too.
    func remove(afterFailure: Bool = false) {
        try? configuration.remove(Self.fileName)
        // Other files in it were put there by a person.
        configuration.removeIfEmpty()
        if isTemporary {
            try? folder.remove(PCSCInstallation.socketName)
            try? folder.remove("pcscd.log")
        }
        // Files of an app or of another run stay.
        if isShared || isTemporary || afterFailure && isNew { folder.removeIfEmpty() }
    }
}
