// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReaderEmulation

/// Where an emulation keeps its socket and the lines for pcscd.
struct EmulationFolder {
    /// The folder.
    let path: String
    /// The folder of the lines for pcscd.
    let configurationFolder: String
    /// Whether the lines are ours to take away: those in a folder of the person's choice stay.
    private let ownsConfiguration: Bool

    /// Makes the folders.
    ///
    /// - Parameters:
    ///   - folder: the folder of the person's choice; one of the user's own when nil.
    ///   - readerConf: the folder for the lines; one in the folder when nil.
    init(_ folder: String?, readerConf: String?) throws(EmulationError) {
        path = Self.absolute(folder ?? PCSCInstallation.defaultFolder)
        configurationFolder = readerConf.map(Self.absolute) ?? path + "/reader.conf.d"
        ownsConfiguration = readerConf == nil
        for folder in [path, configurationFolder] {
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            } catch {
                throw EmulationError("The folder \(folder) can't be made. Give another one.")
            }
        }
    }

    /// The socket of the reader.
    var socketPath: String { path + "/reader.sock" }

    /// Writes the lines for pcscd.
    ///
    /// - Returns: the file.
    func write(_ configuration: String) throws(EmulationError) -> String {
        do {
            try Data(configuration.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw EmulationError("\(file) can't be written. Check the folder and its owner.")
        }
        return file
    }

    /// Takes the lines away that were written for this run alone.
    func remove() {
        guard ownsConfiguration else { return }
        try? FileManager.default.removeItem(atPath: file)
        // Nothing else is in it unless the person put it there.
        _ = unsafe rmdir(configurationFolder)
    }

    private var file: String { configurationFolder + "/opencorenfc" }

    private static func absolute(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.path
    }
}
