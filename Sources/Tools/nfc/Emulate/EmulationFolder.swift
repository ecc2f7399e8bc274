// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import ReaderEmulation

/// The folders of an emulation's socket and of pcscd's configuration.
struct EmulationFolder {
    /// The folder of the socket.
    let folder: PrivateFolder
    /// The folder of pcscd's configuration.
    let configurationFolder: String
    /// The same folder, if this run created it. A folder of the person's choice stays.
    private let ownConfiguration: PrivateFolder?
    /// Whether the last run that uses the folder removes it: it is the project's own, in the user's runtime folder.
    private let isPassing: Bool
    /// Whether the folder was created for this run alone.
    private let isTemporary: Bool

    /// Creates the folders.
    ///
    /// - Parameters:
    ///   - folder: the folder of the person's choice; when nil, the user's own, or one with a random name.
    ///   - readerConf: the folder of pcscd's configuration; when nil, a folder below the first.
    init(_ folder: String?, readerConf: String?) throws(EmulationError) {
        do throws(StorageError) {
            if let folder {
                self.folder = try PrivateFolder(Self.absolute(folder), guests: .mayRead)
                isTemporary = false
                isPassing = false
            } else if let usual = PCSCInstallation.defaultFolder() {
                self.folder = usual
                isTemporary = false
                isPassing = !usual.path.hasPrefix(PCSCInstallation.systemFolder + "/")
            } else {
                self.folder = try .random("opencorenfc")
                isTemporary = true
                isPassing = true
            }
            ownConfiguration = readerConf == nil ? try self.folder.folder("reader.conf.d") : nil
        } catch {
            throw EmulationError(error.reason + " Give another one: --folder FOLDER.")
        }
        configurationFolder = readerConf.map(Self.absolute) ?? self.folder.path + "/reader.conf.d"
    }

    private static let fileName = "opencorenfc"

    /// The socket of the reader.
    var socketPath: String { folder.path + "/" + PCSCInstallation.socketName }

    /// The name of the reader that root has installed for this folder's socket; nil when there is none.
    var installedName: String? {
        ReaderOwner.current.flatMap { Self.name(of: SystemReader($0), at: socketPath) }
    }

    /// The name of a reader that root has installed.
    ///
    /// - Parameters:
    ///   - reader: the reader.
    ///   - socketPath: the socket that it has to have.
    static func name(of reader: SystemReader, at socketPath: String) -> String? {
        reader.socketPath == socketPath ? reader.installedName : nil
    }

    /// As root, refuses files for pcscd that other users can change.
    ///
    /// - Parameter driverPath: the driver that the configuration names.
    func checkRights(driverPath: String) throws(EmulationError) {
        guard ownConfiguration == nil, geteuid() == 0 else { return }
        let part =
            TrustedPath.partOpenToOthers(driverPath)
            ?? TrustedPath.partOpenToOthers(existingPartOf: configurationFolder)
        guard let part else { return }
        throw EmulationError(
            """
            \(part) can be changed by others than root, and pcscd would run their code. Install the reader \
            instead: sudo nfc emulate install --for USER
            """
        )
    }

    /// Writes pcscd's configuration.
    ///
    /// - Returns: the path of the file.
    func write(_ configuration: String) throws(EmulationError) -> String {
        let file = configurationFolder + "/" + Self.fileName
        if let ownConfiguration {
            do throws(StorageError) {
                try ownConfiguration.write(Self.fileName, Array(configuration.utf8))
            } catch {
                throw EmulationError(error.reason)
            }
            return file
        }
        do {
            try FileManager.default.createDirectory(atPath: configurationFolder, withIntermediateDirectories: true)
        } catch {
            throw EmulationError("The folder \(configurationFolder) can't be created. Choose another one.")
        }
        do throws(StorageError) {
            try OutputFile.write(Array(configuration.utf8), to: file, readers: .everyone)
        } catch {
            throw EmulationError("\(error.reason) Check the folder and its owner.")
        }
        return file
    }

    /// Removes what was created for this run alone.
    func remove() {
        if let ownConfiguration {
            try? ownConfiguration.remove(Self.fileName)
            // Other files in it were put there by a person.
            ownConfiguration.removeIfEmpty()
        }
        if isTemporary {
            try? folder.remove(PCSCInstallation.socketName)
            try? folder.remove("pcscd.log")
        }
        // Files of an app or of another run stay.
        if isPassing { folder.removeIfEmpty() }
    }

    private static func absolute(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.path
    }
}
