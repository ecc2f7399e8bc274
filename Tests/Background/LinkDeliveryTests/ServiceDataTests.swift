// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import Testing

struct ServiceDataTests {
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

    @Test func `service data: lists each folder and file that exists, with its number of files`() throws {
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

    @Test func `service data removed: its files are deleted, and other programs' files stay`() throws {
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

    @Test func `service data that can't be removed: throws StorageError, which names the folder`() throws {
        let inbox = folders.state + "/nfc/inbox"
        try FileManager.default.createDirectory(atPath: inbox, withIntermediateDirectories: true)
        // A name that is not UTF-8.
        let odd = Array(inbox.utf8CString.dropLast()) + [0x2F, 0x61, CChar(bitPattern: 0xE9), 0]
        #expect(unsafe mkdir(odd, 0o700) == 0)
        let error = #expect(throws: StorageError.self) { try ServiceData(folders).remove() }
        #expect(error?.reason.hasPrefix(inbox + " can't be removed") == true)
        #expect(unsafe rmdir(odd) == 0)
    }

    @Test func `service data removed: symbolic links are deleted, their targets stay`() throws {
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
}
