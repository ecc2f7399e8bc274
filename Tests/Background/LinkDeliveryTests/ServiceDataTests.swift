// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import PrivateStorage
import Testing

@Suite struct `What the service keeps of a user` {
    private let scratch: Scratch
    private let folders: UserFolders

    init() throws {
        scratch = try Scratch()
        folders = scratch.folders
        // What is removed here is a user's, so that no folder may be the real one.
        for folder in [folders.state, folders.cache, folders.config, folders.data] {
            try #require(folder.hasPrefix(scratch.path + "/"))
        }
    }

    private func write(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try Data("x".utf8).write(to: URL(fileURLWithPath: path))
    }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test func `is each place with its content and how much of it there is, where it is there`() throws {
        #expect(ServiceData(folders).items.isEmpty)
        for name in ["1.new", "2.entry"] { try write(folders.state + "/nfc/inbox/" + name) }
        try write(folders.state + "/nfc/background/marks")
        try write(folders.cache + "/nfc/links/a.example.links")
        try write(folders.config + "/nfc/browser-domains")
        try FileManager.default.createDirectory(
            atPath: folders.config + "/nfc/links",
            withIntermediateDirectories: true
        )
        let items = ServiceData(folders).items
        #expect(items.map(\.count) == [2, 1, 1, 0, 1])
        #expect(
            items.map(\.path) == [
                folders.state + "/nfc/inbox", folders.state + "/nfc/background", folders.cache + "/nfc/links",
                folders.config + "/nfc/links", folders.config + "/nfc/browser-domains",
            ]
        )
        #expect(items.allSatisfy { $0.content.hasPrefix("the ") || $0.content.hasPrefix("what ") })
    }

    @Test func `goes when it is removed, and what others keep beside it stays`() throws {
        try write(folders.state + "/nfc/inbox/1.new")
        try write(folders.config + "/nfc/browser-domains")
        try write(folders.config + "/nfc/of another")
        try write(folders.state + "/other")
        let removed = try ServiceData(folders).remove()
        #expect(removed.map(\.count) == [1, 1])
        #expect(!exists(folders.state + "/nfc") && exists(folders.state + "/other"))
        #expect(!exists(folders.config + "/nfc/browser-domains") && exists(folders.config + "/nfc/of another"))
        #expect(ServiceData(folders).items.isEmpty)
        #expect(try ServiceData(folders).remove().isEmpty)
    }

    @Test func `goes with each folder that holds nothing else`() throws {
        try write(folders.state + "/nfc/inbox/1.new")
        try write(folders.cache + "/nfc/links/a.example.links")
        try write(folders.config + "/nfc/browser-domains")
        _ = try ServiceData(folders).remove()
        for folder in [folders.state, folders.cache, folders.config] {
            #expect(!exists(folder + "/nfc") && exists(folder))
        }
    }

    @Test func `says which of it can't be removed`() throws {
        try write(folders.state + "/nfc/inbox/folder/in it")
        let error = #expect(throws: StorageError.self) { try ServiceData(folders).remove() }
        #expect(error?.reason.hasPrefix(folders.state + "/nfc/inbox/folder can't be removed") == true)
    }

    @Test func `is not said to be removed where something without a readable name is left in it`() throws {
        let inbox = folders.state + "/nfc/inbox"
        try FileManager.default.createDirectory(atPath: inbox, withIntermediateDirectories: true)
        // A name that is not UTF-8.
        let odd = Array(inbox.utf8CString.dropLast()) + [0x2F, 0x61, CChar(bitPattern: 0xE9), 0]
        #expect(unsafe mkdir(odd, 0o700) == 0)
        let error = #expect(throws: StorageError.self) { try ServiceData(folders).remove() }
        #expect(error?.reason.hasPrefix(inbox + " can't be removed") == true)
        #expect(unsafe rmdir(odd) == 0)
    }

    @Test func `is not looked for behind links`() throws {
        try write(folders.state + "/others/file")
        try FileManager.default.createDirectory(atPath: folders.state + "/nfc", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folders.state + "/nfc/inbox",
            withDestinationPath: folders.state + "/others"
        )
        #expect(ServiceData(folders).items.map(\.count) == [1])
        _ = try ServiceData(folders).remove()
        #expect(!exists(folders.state + "/nfc/inbox") && exists(folders.state + "/others/file"))
    }

    // MARK: Marks and entries at their ends

    @Test func `As many marks as there are entries are read again`() throws {
        let disk = SimulatedDisk()
        var marks = EntryMarks(disk, boot: "0f3b6c1e-0000-4000-8000-000000000000")
        let ids = (0..<BackgroundReader.maximumEntries).map { InboxEntry.ID(received: .max - UInt64($0), number: .max) }
        for id in ids { try marks.keep(.dismissed, of: id) }
        let size = try disk.read("marks", limit: .max).count / ids.count
        // A mark's line with the number of a boot is shorter than the room for it.
        #expect(size < 100)
        #expect(EntryMarks(disk, boot: "other").marks.count == ids.count)
    }
}
