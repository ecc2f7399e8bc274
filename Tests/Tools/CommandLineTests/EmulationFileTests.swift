// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NFCSessions
import ProgramTesting
import ReaderEmulation
import TagImages
import TagLink
import TagProtocols
import TestThreads
import Testing
import VirtualTags

@testable import nfc  // no reader is needed so

/// What an emulation does with files, without a reader.
@Suite(.ownThreads) struct EmulationFileTests {
    private let scratch: TestFolder

    init() throws { scratch = try TestFolder() }

    /// An image of a blank tag.
    private func image() throws -> ImageFile {
        let product = try #require(TagProduct(named: "NTAG213"))
        let path = scratch.path("card.json")
        try ImageFile.save(TagImage(product.blank(), format: .json), to: path)
        return try ImageFile(path: path, id: nil)
    }

    /// Writes a message to a tag, as a program does.
    private func write(_ text: UInt8, to tag: any VirtualTag) async throws {
        let outcome = try await ImageTagRunner(tag).tag.write(
            [0xD1, 0x01, 0x02, 0x55, 0x04, text],
            checks: false,
            locks: false
        )
        #expect(outcome.failure?.error == nil)
    }

    @Test(.enabled(if: geteuid() == 0, "needs root, to give files to another user"))
    func `another user's folder or link: a reader in the folder and output through the link are refused`() throws {
        _ = try image()
        let (nfc, folder, victim) = (TestProgram("nfc"), scratch.path("foreign"), scratch.path("victim"))
        try "".write(toFile: victim, atomically: true, encoding: .utf8)
        #expect(unsafe mkdir(folder, 0o755) == 0 && chmod(folder, 0o1777) == 0)
        for name in ["link.json", "new.json"] {
            let target = name == "new.json" ? scratch.path("made") : victim
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: target)
            #expect(unsafe lchown("\(folder)/\(name)", 65534, 65534) == 0)
        }
        let card = scratch.path("card.json")
        let record = ["scan", "--tags", card, "--record"]
        let flow = scratch.path("flow.jsonl")
        #expect(try nfc.run(record + [flow]).status == 0)
        for name in ["link.json", "new.json"] {
            let path = "\(folder)/\(name)"
            for words in [
                record + [path], ["trace", flow, "--pcapng", path], ["tag", "convert", card, "--out", path],
            ] {
                let run = try nfc.run(words)
                #expect(
                    run.status == 1 && run.error.contains("\(path) can be changed by another user."),
                    "\(run.error)"
                )
            }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: victim)).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: scratch.path("made")))
        #expect(unsafe chown(folder, 65534, 65534) == 0)
        for words in [[], ["--start-pcscd"]] {
            let run = try nfc.run(
                ["emulate", "--image", card, "--pcsc", "--folder", folder + "/in", "--timeout", "0.1"] + words
            )
            #expect(run.status == 3 && run.error.contains("\(folder) can be changed by another user."), "\(run.error)")
        }
    }

    @Test func `saver of an emulated tag: what a program wrote is saved once, after a pause`() async throws {
        let file = try image()
        let path = scratch.path("card.json")
        let tag = file.makeTag()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let atPause = Locked<[Data?]>([])
        let saved = Locked<[String]>([])
        let saver = EmulationSaver(
            file: file,
            tag: tag,
            out: nil,
            pause: {
                let content = try? Data(contentsOf: URL(fileURLWithPath: path))
                atPause.withLock { $0.append(content) }
            },
            onSaved: { path in saved.withLock { $0.append(path) } }
        )
        try await write(0x61, to: tag)
        saver.mayHaveChanged()
        try await waitWhile(saved.withLock { $0.isEmpty })
        #expect(saved.withLock { $0 } == [path])
        #expect(atPause.withLock { $0 } == [before])
        #expect(try ImageFile(path: path, id: nil).contents == TagContents(of: tag))
        // Nothing is new.
        try saver.finish()
        #expect(saved.withLock { $0.count } == 1)
        // The last change needs no pause.
        try await write(0x62, to: tag)
        try saver.finish()
        #expect(saved.withLock { $0 } == [path, path])
        #expect(atPause.withLock { $0.count } == 1)
        #expect(try ImageFile(path: path, id: nil).contents == TagContents(of: tag))
    }

    @Test func `saver of an emulated tag whose file can't be written at the end: unwritable-file, the next try saves`()
        async throws
    {
        let file = try image()
        let tag = file.makeTag()
        let saved = Locked<[String]>([])
        let out = scratch.path("none/card.json")
        let saver = EmulationSaver(
            file: file,
            tag: tag,
            out: out,
            onSaved: { path in saved.withLock { $0.append(path) } }
        )
        // Without a change there is nothing to save.
        try saver.finish()
        try await write(0x61, to: tag)
        let error = #expect(throws: CommandFailure.self) { try saver.finish() }
        #expect(error?.status == .refused && error?.name == "unwritable-file")
        #expect(error?.message.hasSuffix(" Check the folder and its owner.") == true)
        #expect(saved.withLock { $0 } == [])
        try FileManager.default.createDirectory(atPath: scratch.path("none"), withIntermediateDirectories: false)
        try saver.finish()
        #expect(saved.withLock { $0 } == [out])
    }

    // MARK: The reader that root has installed

    @Test func `reader folder of the system: has the installed reader's name for its own socket only`() throws {
        let reader = SystemReader(try ReaderOwner("0"), root: scratch.path("root"))
        #expect(EmulationFolder.name(of: reader, at: reader.socketPath) == nil)
        let folder = (reader.configurationPath as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let lines = "FRIENDLYNAME \"Desk\"\nDEVICENAME   /dev/null:\(reader.socketPath)\n"
        try lines.write(toFile: reader.configurationPath, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: reader.configurationPath)
        #expect(EmulationFolder.name(of: reader, at: reader.socketPath) == "Desk")
        #expect(EmulationFolder.name(of: reader, at: scratch.path("reader.sock")) == nil)
    }

    // MARK: Folders

    @Test func `reader folder: its configuration is removed, and the folder too if no other file is in it`() throws {
        let own = scratch.path("own")
        let place = try EmulationFolder(own)
        #expect(place.socketPath == own + "/reader.sock" && place.configurationFolder == own + "/reader.conf.d")
        let file = try place.write("lines")
        #expect(file == own + "/reader.conf.d/opencorenfc")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "lines")
        let other = own + "/reader.conf.d/other"
        try Data().write(to: URL(fileURLWithPath: other))
        place.remove()
        #expect(try FileManager.default.contentsOfDirectory(atPath: own + "/reader.conf.d") == ["other"])
        try FileManager.default.removeItem(atPath: other)
        place.remove()
        // The folder of the person's choice stays.
        #expect(try FileManager.default.contentsOfDirectory(atPath: own).isEmpty)
    }

    @Test(arguments: [true, false])
    func `reader folder given by the person: removed only after a failure, and if it was new`(exists: Bool) throws {
        let own = scratch.path("own")
        if exists { try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: false) }
        try EmulationFolder(own).remove(afterFailure: true)
        #expect(FileManager.default.fileExists(atPath: own) == exists)
    }

    @Test func `reader folder that can't be used: the reason says what to do`() throws {
        try Data().write(to: URL(fileURLWithPath: scratch.path("file")))
        let error = #expect(throws: EmulationError.self) { try EmulationFolder(scratch.path("file")) }
        #expect(error?.reason.hasSuffix(" Give another folder: --folder FOLDER.") == true)
    }

    // MARK: Commands

    @Test func `commands remove and insert: the tag leaves and returns, at once or at the given exchange or write`()
        async throws
    {
        let tag = try image().makeTag()
        let field = VirtualField()
        field.bring(tag)
        let output = EmulationOutput(json: true, write: { _ in }, onBroken: {})
        let commands = EmulationCommands(field: field, tag: tag, output: output)
        let link = try #require(field.link(for: .nfcA))
        /// Sends a frame, and returns whether the tag is still there.
        func staysAfter(_ bytes: [UInt8]) -> Bool {
            _ = field.exchange(Frame(bytes), over: .nfcA, timeout: .microseconds(5000))
            return !field.tags.isEmpty
        }
        commands.take("remove")
        #expect(field.tags.isEmpty)
        commands.take("insert")
        #expect(field.tags.count == 1)
        for count in 1...2 {
            commands.take("remove-at-exchange \(count)")
            #expect((1...count).map { _ in staysAfter([0x60]) } == (1...count).map { $0 < count })
            commands.take("insert")
        }
        for count in 1...2 {
            commands.take("insert")
            _ = try await NFCAActivation(link: link).activateAll()
            commands.take("remove-at-write \(count)")
            #expect((1...count).map { _ in staysAfter([0xA2, 0x10, 1, 2, 3, 4]) } == (1...count).map { $0 < count })
        }
        // With the tag no removal comes that was to come before.
        commands.take("remove-at-exchange 1")
        commands.take("insert")
        #expect(staysAfter([0x60]))
        // These are no commands, and nothing happens.
        for line in [
            "remove 1", "insert 1", "remove-at-exchange", "remove-at-exchange 0", "remove-at-exchange 1 1", "",
        ] {
            commands.take(line)
        }
        #expect(staysAfter([0x60]))
    }
}
