// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import NFCSessions
import ProgramTesting
import TagImages
import TagLink
import Testing
import VirtualTags

@testable import NFCReaders  // the folder is internal, and is told of changes

/// The folder whose files are tags near a virtual field, with files that change as a person or a program does it.
@Suite(.timeLimit(.minutes(2))) struct ImageFolderTests {
    /// A folder of a test's own, and the field of the images in a folder of it.
    private final class Place {
        let root: String
        let path: String
        let field = VirtualField()
        let notices = Locked<[String]>([])
        let presence = Locked<[Bool]>([])
        private var changes: AsyncStream<Void>.Iterator
        private var observation: PresenceObservation?

        init(exists: Bool = true) throws {
            root = NSTemporaryDirectory() + "images-\(UUID().uuidString.prefix(8))"
            path = root + "/above/tags"
            try FileManager.default.createDirectory(atPath: exists ? path : root, withIntermediateDirectories: true)
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            changes = stream.makeAsyncIterator()
            observation = field.observePresence { continuation.yield() }
        }

        deinit { try? FileManager.default.removeItem(atPath: root) }

        /// Watches the folder, until the process ends.
        @discardableResult func watch() throws -> ImageFolder {
            try ImageFolder(path, field: field) { [presence] exists in
                presence.withLock { $0.append(exists) }
            } onNotice: { [notices] text in
                notices.withLock { $0.append(text) }
            }
        }

        func make() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        func remove(_ name: String = "") throws { try FileManager.default.removeItem(atPath: path + "/" + name) }

        func bring(_ number: UInt8, as name: String? = nil) throws {
            try put(String(decoding: try TagImage(ntag(number)).encoded(), as: UTF8.self), as: name ?? "\(number).json")
        }

        /// Puts a file into the folder whole. No program that another test starts at this moment has it open any more:
        /// the system would say later that it was written.
        func put(_ text: String, as name: String) throws {
            let aside = root + "/new"
            try ProgramFile.write(text, to: aside)
            #expect(unsafe rename(aside, "\(path)/\(name)") == 0)
        }

        /// Waits until the tags of these numbers, and no others, are near.
        func wait(for numbers: Set<UInt8>) async {
            while near != numbers { _ = await changes.next(isolation: #isolation) }
        }

        func arrival(_ number: UInt8) -> UInt64? { field.arrival(of: uid(number)) }
        var near: Set<UInt8> { Set((1...9).filter { arrival($0) != nil }) }
    }

    private static let nothing = FolderWatch.Changes(written: [], exists: true)
    private static let gone = FolderWatch.Changes(written: [], exists: false)
    /// The system has lost events, so that everything may have changed.
    private static var lost: FolderWatch.Changes {
        var changes = nothing
        changes.isAll = true
        return changes
    }

    // MARK: Files

    @Test func `image files in a folder: each one is a tag near the reader as long as it exists`() async throws {
        let place = try Place()
        try place.bring(1)
        try place.watch()
        #expect(place.near == [1])
        try place.bring(2)
        await place.wait(for: [1, 2])
        try place.remove("1.json")
        await place.wait(for: [2])
        // A file that is written again is another tag.
        try place.bring(3, as: "2.json")
        await place.wait(for: [3])
    }

    @Test func `hidden files, other kinds of files, pipes, folders and devices: not images`() async throws {
        let place = try Place()
        for (number, name) in [".1.json", ".2.nfc", "3.jsonl", "4.json~", "5.txt", "6"].enumerated() {
            try place.bring(UInt8(number + 1), as: name)
        }
        #expect(unsafe mkfifo(place.path + "/0.json", 0o600) == 0)
        try FileManager.default.createDirectory(atPath: place.path + "/00.json", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: place.path + "/01.nfc", withDestinationPath: "/dev/tty")
        try FileManager.default.createSymbolicLink(atPath: place.path + "/02.json", withDestinationPath: "nowhere")
        try place.bring(7)
        try place.watch()
        #expect(place.near == [7])
        // An image in the pipe's place counts, and a link to one.
        try place.remove("0.json")
        try place.bring(8, as: "0.json")
        await place.wait(for: [7, 8])
        try FileManager.default.createSymbolicLink(atPath: place.path + "/9.json", withDestinationPath: "6")
        try place.bring(9)
        await place.wait(for: [7, 8, 9])
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can give a link to another user."))
    func `symbolic link of another user: not followed, and reported`() throws {
        let place = try Place()
        for number: UInt8 in 1...2 {
            try place.bring(number, as: "\(number)")
            let link = place.path + "/\(number).json"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(number)")
        }
        #expect(unsafe lchown(place.path + "/2.json", 12345, 12345) == 0)
        try place.watch()
        #expect(place.near == [1])
        #expect(place.notices.withLock { $0 } == [place.path + "/2.json is a symbolic link of another user."])
    }

    @Test func `file that is not an image: reported once, and again after it was rewritten or events were lost`() throws
    {
        let place = try Place()
        try place.put("{", as: "0.json")
        let folder = try place.watch()
        let written = FolderWatch.Changes(written: ["0.json"], exists: true)
        let counts = [Self.nothing, Self.lost, Self.nothing, written].map { changes in
            folder.apply(changes)
            return place.notices.withLock { $0.count }
        }
        #expect(counts == [1, 2, 2, 3])
        #expect(place.notices.withLock { $0 }.allSatisfy { $0.contains("0.json") })
    }

    @Test func `more than a hundred images: the first ones by their names are near`() async throws {
        let place = try Place()
        try place.bring(100, as: "1000.json")
        /// Gives a file another name, too. That does not count as writing.
        func link(_ name: String) throws {
            try FileManager.default.linkItem(atPath: "\(place.path)/1000.json", toPath: "\(place.path)/\(name)")
        }
        // Folders name their files in any order.
        for number in 1100..<1900 { try link("\(number).json") }
        for number in 1001..<1098 { try link("\(number).json") }
        try place.bring(2, as: "1099.json")
        try place.bring(1, as: "0999.json")
        try place.watch()
        #expect(place.near == [1, 2] && place.field.tags.count == 100)
        // An image before them takes the place of the last one until there is room.
        try place.bring(3, as: "0998.json")
        await place.wait(for: [1, 3])
        try place.remove("1001.json")
        await place.wait(for: [1, 2, 3])
    }

    // MARK: The folder

    @Test func `image folder that is deleted and made again: its tags are in the field again`() async throws {
        let place = try Place(exists: false)
        #expect(ImageFolder.mayBeCreated(place.path))
        let folder = try place.watch()
        for round in 0..<6 {
            // The watch may be reading the folder at this moment; and those above it go too.
            let number = UInt8(1 + round % 9)
            try place.make()
            try place.bring(number)
            await place.wait(for: [number])
            try FileManager.default.removeItem(atPath: round % 3 == 0 ? place.root : place.path)
            if round % 2 == 0 { await place.wait(for: []) }
        }
        try place.make()
        #expect(!ImageFolder.mayBeCreated(place.path))
        for name in ["", "/nowhere/a.json", "/nowhere/a,/nowhere/b"] {
            #expect(!ImageFolder.mayBeCreated(name), "\(name)")
        }
        withExtendedLifetime(folder) {}
    }

    @Test func `image folder that disappears or comes back: reported once each time`() throws {
        let place = try Place()
        let folder = try place.watch()
        #expect(place.presence.withLock { $0 } == [true] && place.notices.withLock { $0.isEmpty })
        for changes in [Self.gone, Self.gone, Self.nothing, Self.nothing, Self.gone] { folder.apply(changes) }
        #expect(place.presence.withLock { $0 } == [true, false, true, false])
        #expect(place.notices.withLock { $0.count } == 2)
    }

    @Test func `missing folder of the service: its reader is unavailable until the folder is made`() async throws {
        let place = try Place(exists: false)
        let notices = Locked<[String]>([])
        let environment = NFCEnvironment.background(ReaderConfiguration(tags: place.path)) { text in
            notices.withLock { $0.append(text) }
        }
        let driver = try #require(environment.driver as? FolderField)
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await driver.prepare() }
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await driver.setCarrier(true) }
        try await driver.setCarrier(false)
        #expect(notices.withLock { $0.count } == 1)
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        let observation = driver.observePresence { continuation.yield() }
        try place.make()
        for await _ in changes { break }
        try await driver.prepare()
        try await driver.setCarrier(true)
        withExtendedLifetime(observation) {}
    }
}
