// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NFCRuntime
import ReaderEmulation
import TagImages
import TagLink
import TagProtocols
import TestThreads
import Testing
import VirtualCards
import VirtualTags

@testable import nfc

/// What an emulation does with files, without a reader.
@Suite(.ownThreads) struct `The files of an emulation` {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// An image of a blank tag.
    private func image() throws -> ImageFile {
        let product = try #require(TagProduct(named: "NTAG213"))
        let path = scratch.path("card.json")
        try ImageFile.save(TagImage(product.blank(), format: .json), to: path)
        return try ImageFile(path: path, id: nil)
    }

    /// Writes a message to a tag, as a program does.
    private func write(_ text: UInt8, to tag: any VirtualTag) async throws {
        let bench = try await TagBench(tag)
        let outcome = await bench.tag.write([0xD1, 0x01, 0x02, 0x55, 0x04, text], checks: false, locks: false)
        #expect(outcome.failure?.error == nil)
    }

    @Test func `What a program writes is saved after a pause, once`() async throws {
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

    @Test func `What can't be saved in the end is a failure, and is not said to be saved`() async throws {
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
        do throws(CommandFailure) {
            try saver.finish()
            Issue.record("It was saved.")
        } catch {
            #expect(error.status == .refused && error.name == "unwritable-file")
            #expect(error.message.hasSuffix(" Check the folder and its owner."))
        }
        #expect(saved.withLock { $0 } == [])
        try FileManager.default.createDirectory(atPath: scratch.path("none"), withIntermediateDirectories: false)
        try saver.finish()
        #expect(saved.withLock { $0 } == [out])
    }

    // MARK: Notes

    @Test func `A note or a failure says why writes can't be saved`() throws {
        let file = try image()
        #expect(try EmulationNote.all(file, out: nil).isEmpty)
        #expect(try EmulationNote.all(file, out: scratch.path("new.json")).isEmpty)
        #expect(try EmulationNote.all(file, out: scratch.path("new.nfc")).isEmpty)
        for (name, code) in [("none/card.json", "unwritable-file"), ("card.xml", "unsupported-format")] {
            let out = scratch.path(name)
            do throws(CommandFailure) {
                _ = try EmulationNote.all(file, out: out)
                Issue.record("It can be saved.")
            } catch {
                #expect(error.status == .refused && error.name == code)
                #expect(error.message.hasPrefix(out + " "))
            }
        }
    }

    // MARK: The reader that root has installed

    @Test func `The name of an installed reader counts for its own socket alone`() throws {
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

    @Test func `The configuration is in a folder of its own, and goes again where nobody else has files there`() throws
    {
        let own = scratch.path("own")
        let place = try EmulationFolder(own, readerConf: nil)
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

    @Test func `A folder for the configuration that a person names is made, and stays with its file`() throws {
        let conf = scratch.path("a/b")
        let place = try EmulationFolder(scratch.path("own"), readerConf: conf + "/../b/")
        #expect(place.configurationFolder == conf)
        let file = try place.write("lines")
        #expect(file == conf + "/opencorenfc")
        place.remove()
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "lines")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("own")).isEmpty)
    }

    @Test func `A folder that can't be used is named, with what to do`() throws {
        try Data().write(to: URL(fileURLWithPath: scratch.path("file")))
        func problem(_ work: () throws(EmulationError) -> Void) -> String {
            do throws(EmulationError) {
                try work()
                return ""
            } catch {
                return error.reason
            }
        }
        let noFolder = problem { () throws(EmulationError) in
            _ = try EmulationFolder(scratch.path("file"), readerConf: nil)
        }
        #expect(noFolder.hasSuffix(" Give another one: --folder FOLDER."), "\(noFolder)")
        let conf = scratch.path("file/conf")
        let noConfiguration = problem { () throws(EmulationError) in
            _ = try EmulationFolder(scratch.path("own"), readerConf: conf).write("lines")
        }
        #expect(noConfiguration == "The folder \(conf) can't be created. Choose another one.")
        try FileManager.default.createDirectory(
            atPath: scratch.path("conf/opencorenfc"),
            withIntermediateDirectories: true
        )
        let taken = problem { () throws(EmulationError) in
            _ = try EmulationFolder(scratch.path("own"), readerConf: scratch.path("conf")).write("lines")
        }
        #expect(taken.hasSuffix(" Check the folder and its owner."), "\(taken)")
    }

    @Test(.enabled(if: geteuid() == 0, "Only for root do such lines give root away."))
    func `As root no driver is named that others can change`() throws {
        #expect(unsafe chmod(scratch.path(""), 0o755) == 0)
        let place = try EmulationFolder(scratch.path("own"), readerConf: scratch.path("conf"))
        let driver = scratch.path("driver.so")
        try Data().write(to: URL(fileURLWithPath: driver))
        #expect(unsafe chmod(driver, 0o644) == 0)
        try place.checkRights(driverPath: driver)
        #expect(unsafe chown(driver, 65534, 65534) == 0)
        let error = #expect(throws: EmulationError.self) { try place.checkRights(driverPath: driver) }
        #expect(error?.reason.hasPrefix("\(driver) can be changed by others than root") == true)
    }

    @Test func `Who is not root may name a driver of their own`() async {
        // In a process of its own, which can be another user's.
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            let place = try EmulationFolder(scratch.path("own"), readerConf: scratch.path("conf"))
            let driver = scratch.path("driver.so")
            try Data().write(to: URL(fileURLWithPath: driver))
            if geteuid() == 0 { #expect(unsafe chown(driver, 65534, 65534) == 0 && seteuid(65534) == 0) }
            try place.checkRights(driverPath: driver)
            #expect(seteuid(getuid()) == 0)
            withExtendedLifetime(scratch) {}
        }
    }

    // MARK: Commands

    @Test func `Commands remove and bring the tag, also at an exchange or a write that is still to come`() async throws
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
