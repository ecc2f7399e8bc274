// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PrivateStorage
import ReaderEmulation
import TagLink
import VirtualTags

/// Where an emulation keeps its socket and the lines for pcscd.
struct EmulationFolder {
    /// The folder of the socket.
    let folder: PrivateFolder
    /// The folder of the lines for pcscd.
    let configurationFolder: String
    /// The same folder, when it is this run's own: lines in a folder of the person's choice stay.
    private let ownConfiguration: PrivateFolder?
    /// Whether the folder goes with the last run that has it: it is one of the project's own, in a folder for such things.
    private let isPassing: Bool
    /// Whether the folder was made for this run alone.
    private let isTemporary: Bool

    /// Makes the folders.
    ///
    /// - Parameters:
    ///   - folder: the folder of the person's choice; one of the user's own when nil, or else one with a random name.
    ///   - readerConf: the folder for the lines; one in the folder when nil.
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
        guard let owner = ReaderOwner.current else { return nil }
        let reader = SystemReader(owner)
        return reader.socketPath == socketPath ? reader.installedName : nil
    }

    /// Refuses, as root, to give pcscd what others than root can change.
    ///
    /// - Parameter driverPath: the driver that the lines name.
    func checkRights(driverPath: String) throws(EmulationError) {
        guard ownConfiguration == nil, geteuid() == 0 else { return }
        let part =
            TrustedPath.partOpenToOthers(driverPath)
            ?? TrustedPath.partOpenToOthers(existingPartOf: configurationFolder)
        guard let part else { return }
        throw EmulationError(
            """
            \(part) can be changed by others than root, and pcscd would run what they put there. Install the reader \
            instead: sudo nfc emulate install --for USER
            """
        )
    }

    /// Writes the lines for pcscd.
    ///
    /// - Returns: the file.
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
            throw EmulationError("The folder \(configurationFolder) can't be made. Give another one.")
        }
        do throws(StorageError) {
            try OutputFile.write(Array(configuration.utf8), to: file, readers: .everyone)
        } catch {
            throw EmulationError("\(error.reason) Check the folder and its owner.")
        }
        return file
    }

    /// Takes away what was made for this run alone.
    func remove() {
        if let ownConfiguration {
            try? ownConfiguration.remove(Self.fileName)
            // Nothing else is in it unless the person put it there.
            ownConfiguration.removeIfEmpty()
        }
        if isTemporary {
            try? folder.remove(PCSCInstallation.socketName)
            try? folder.remove("pcscd.log")
        }
        // What an app or another run has in it stays.
        if isPassing { folder.removeIfEmpty() }
    }

    private static func absolute(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.path
    }
}

/// Saves what other programs write to a tag, soon after they do, and at the end.
final class EmulationSaver: Sendable {
    private let file: ImageFile
    private let tag: any VirtualTag
    private let out: String?
    private let output: EmulationOutput
    private let saved: Locked<TagContents?>
    private let changes: AsyncStream<Void>.Continuation
    private let work: Task<Void, Never>

    init(file: ImageFile, tag: any VirtualTag, out: String?, output: EmulationOutput) {
        self.file = file
        self.tag = tag
        self.out = out
        self.output = output
        saved = Locked(TagContents(of: tag))
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        changes = continuation
        let save = { [file, tag, out, output, saved] in
            _ = Self.save(file: file, tag: tag, out: out, output: output, saved: saved)
        }
        work = Task {
            for await _ in stream {
                // A program writes page after page: one file for many of them.
                try? await Task.sleep(for: .milliseconds(200))
                save()
            }
        }
    }

    /// Takes it that the tag may have been written.
    func mayHaveChanged() {
        changes.yield()
    }

    /// Saves what is not saved yet.
    func finish() throws(CommandFailure) {
        changes.finish()
        work.cancel()
        let failure = Self.save(file: file, tag: tag, out: out, output: output, saved: saved)
        if let failure { throw failure }
    }

    /// Saves the tag if it holds something else than before.
    ///
    /// - Returns: why it could not be saved.
    private static func save(
        file: ImageFile,
        tag: any VirtualTag,
        out: String?,
        output: EmulationOutput,
        saved: Locked<TagContents?>
    ) -> CommandFailure? {
        let result = saved.withLock { saved -> Result<Bool, CommandFailure> in
            let now = TagContents(of: tag)
            guard now != saved else { return .success(false) }
            do throws(CommandFailure) {
                try file.save(tag, to: out)
                saved = now
                return .success(true)
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let isNew):
            if isNew { output.saved(file.path(out)) }
            return nil
        case .failure(let failure): return failure
        }
    }
}
