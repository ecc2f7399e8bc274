// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReaderEmulation
import TagLink
import VirtualTags

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
