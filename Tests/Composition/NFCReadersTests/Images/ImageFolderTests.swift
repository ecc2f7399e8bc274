// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NFCRuntime
import NFCTestKit
import ProgramTesting
import SystemLibrary
import TagImages
import TagLink
import TestThreads
import Testing
import VirtualCards
import VirtualTags

@testable import NFCReaders

/// Checks the folder whose files are tags near a virtual field, with files that change as a person or a program does it.
@Suite(.timeLimit(.minutes(2)))
struct ImageFolderTests {
    /// A folder of a test's own, and the field of the images in a folder of it.
    private final class Place {
        let root: String
        let path: String
        let field = VirtualField()
        private var changes: AsyncStream<Void>.Iterator
        private var observation: PresenceObservation?

        init(exists: Bool = true) throws {
            root = NSTemporaryDirectory() + "images-\(UUID().uuidString.prefix(8))"
            path = root + "/above/tags"
            try FileManager.default.createDirectory(
                atPath: exists ? path : root,
                withIntermediateDirectories: true
            )
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            changes = stream.makeAsyncIterator()
            observation = field.observePresence { continuation.yield() }
        }

        deinit { try? FileManager.default.removeItem(atPath: root) }

        func make() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        func remove(_ name: String = "") throws { try FileManager.default.removeItem(atPath: path + "/" + name) }

        func bring(_ number: UInt8, as name: String? = nil) throws {
            let contents = TagContents.type2(Type2Contents(blank: .ntag213, uid: [0x04, 1, 2, 3, 4, 5, number]))
            let bytes = try TagImage(contents).encoded()
            try put(String(decoding: bytes, as: UTF8.self), as: name ?? "\(number).json")
        }

        /// Puts a file into the folder whole. No program that another test starts at this moment has it open any more: the system
        /// would say later that it was written.
        func put(_ text: String, as name: String) throws {
            let aside = root + "/new"
            try ProgramFile.write(text, to: aside)
            #expect(unsafe rename(aside, "\(path)/\(name)") == 0)
        }

        /// Waits until the tags of these numbers, and no others, are near.
        func wait(for numbers: Set<UInt8>) async {
            while near != numbers { _ = await changes.next(isolation: #isolation) }
        }

        var near: Set<UInt8> {
            Set((1...9).filter { field.arrival(of: [0x04, 1, 2, 3, 4, 5, $0]) != nil })
        }
    }

    @Test func `Files bring their tags and take them along`() async throws {
        let place = try Place()
        try place.bring(1)
        _ = try ImageFolder(place.path, field: place.field) { _ in }
        #expect(place.near == [1])
        try place.bring(2)
        await place.wait(for: [1, 2])
        try place.remove("1.json")
        await place.wait(for: [2])
        // A file that is written again is another tag.
        try place.bring(3, as: "2.json")
        await place.wait(for: [3])
    }

    @Test func `A folder that is deleted and made again brings its tags again`() async throws {
        let place = try Place()
        try place.bring(1)
        _ = try ImageFolder(place.path, field: place.field) { _ in }
        for round: UInt8 in 2...4 {
            try place.remove()
            await place.wait(for: [])
            try place.make()
            try place.bring(round)
            await place.wait(for: [round])
            try place.bring(9)
            await place.wait(for: [round, 9])
        }
        // Those above it go too.
        try FileManager.default.removeItem(atPath: place.root)
        await place.wait(for: [])
        try place.make()
        try place.bring(5)
        await place.wait(for: [5])
    }

    @Test func `Where events were lost, the tags stay whose files are as they were, and no change is missed`()
        async throws
    {
        let place = try Place()
        for number: UInt8 in 1...3 { try place.bring(number) }
        let folder = try ImageFolder(place.path, field: place.field) { _ in }
        func arrival(_ number: UInt8) -> UInt64? { place.field.arrival(of: [0x04, 1, 2, 3, 4, 5, number]) }
        let before = try [1, 2, 3].map { try #require(arrival($0)) }
        try place.bring(2)
        // The folder hears of the file itself too.
        while arrival(2) == nil || arrival(2) == before[1] { await Task.yield() }
        let second = arrival(2)
        var lost = FolderWatch.Changes(written: [], isThere: true)
        lost.isAll = true
        folder.take(lost)
        #expect([1, 2, 3].map(arrival) == [before[0], second, before[2]])
        // A program that writes where the file is says nothing before it closes it.
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: place.path + "/3.json"))
        defer { withExtendedLifetime(file) {} }
        try file.seekToEnd()
        try file.write(contentsOf: Data("\n".utf8))
        folder.take(lost)
        let third = arrival(3)
        // Otherwise it is not read before it is closed.
        try file.write(contentsOf: Data("\n".utf8))
        folder.take(FolderWatch.Changes(written: [], isThere: true))
        #expect(arrival(3) == third)
        #expect(arrival(1) == before[0] && third != nil && third != before[2])
        // Named, it was written whatever it is like.
        folder.take(FolderWatch.Changes(written: ["1.json"], isThere: true))
        #expect(arrival(1) != nil && arrival(1) != before[0] && arrival(3) == third)
    }

    @Test func `A folder that goes and comes at any moment, with those above it, is followed`() async throws {
        let place = try Place()
        _ = try ImageFolder(place.path, field: place.field) { _ in }
        for round in 0..<300 {
            // The watch may be reading the folder at this moment.
            try FileManager.default.removeItem(atPath: place.root)
            try place.make()
            let number = UInt8(1 + round % 9)
            try place.bring(number)
            await place.wait(for: [number])
        }
    }

    @Test func `A folder that is moved away is another one, and what takes its place counts`() async throws {
        let place = try Place()
        try place.bring(1)
        _ = try ImageFolder(place.path, field: place.field) { _ in }
        let aside = place.root + "/aside"
        #expect(unsafe rename(place.path, aside) == 0)
        await place.wait(for: [])
        #expect(unsafe rename(aside, place.path) == 0)
        await place.wait(for: [1])
        try place.bring(2)
        await place.wait(for: [1, 2])
    }

    @Test func `When a folder above it is moved away, what takes its place counts`() async throws {
        let place = try Place()
        try place.bring(1)
        let presence = Locked<[Bool]>([])
        _ = try ImageFolder(place.path, field: place.field) { isThere in
            presence.withLock { $0.append(isThere) }
        } onNotice: { _ in
        }
        let (above, aside) = (place.root + "/above", place.root + "/aside")
        #expect(unsafe rename(above, aside) == 0)
        await place.wait(for: [])
        try place.make()
        try place.bring(2)
        await place.wait(for: [2])
        // Nothing counts that happens in the one of before.
        try FileManager.default.copyItem(atPath: place.path + "/2.json", toPath: aside + "/tags/3.json")
        try place.bring(4)
        await place.wait(for: [2, 4])
        #expect(presence.withLock { $0 } == [true, false, true])
        // One takes the place of the other in one go.
        #expect(unsafe rename(above, above + "-2") == 0 && rename(aside, above) == 0)
        try place.remove("3.json")
        await place.wait(for: [1])
    }

    @Test(arguments: ["above", "above/tags"])
    func `A symbolic link on the way that comes to lead elsewhere is followed`(name: String) async throws {
        let place = try Place()
        try place.bring(1)
        // The folder, or one above it, becomes a link to one of two.
        let link = "\(place.root)/\(name)"
        let (first, second) = (link + "-1", link + "-2")
        try FileManager.default.copyItem(atPath: link, toPath: second)
        #expect(unsafe rename(link, first) == 0)
        func lead(to folder: String) {
            #expect(unsafe symlink(folder, link + "-new") == 0 && rename(link + "-new", link) == 0)
        }
        lead(to: (first as NSString).lastPathComponent)
        _ = try ImageFolder(place.path, field: place.field) { _ in }
        #expect(place.near == [1])
        lead(to: second)
        try place.bring(2)
        await place.wait(for: [1, 2])
        lead(to: first)
        await place.wait(for: [1])
        #expect(unsafe unlink(link) == 0)
        await place.wait(for: [])
        lead(to: place.root + "/missing")
        lead(to: second)
        await place.wait(for: [1, 2])
    }

    @Test func `A folder may come later, with those above it`() async throws {
        let place = try Place(exists: false)
        #expect(ImageFolder.mayCome(place.path))
        _ = try ImageFolder(place.path, field: place.field) { _ in }
        try place.make()
        try place.bring(1)
        await place.wait(for: [1])
        #expect(!ImageFolder.mayCome(place.path))
        for name in ["", "/nowhere/a.json", "/nowhere/a,/nowhere/b", "/nowhere/a.nfc", "/dev/null/tags"] {
            #expect(!ImageFolder.mayCome(name))
        }
    }

    @Test func `A pipe, a folder, a device and a file without an image keep nobody waiting`() async throws {
        let place = try Place()
        #expect(unsafe mkfifo(place.path + "/0.json", 0o600) == 0)
        try FileManager.default.createDirectory(atPath: place.path + "/00.json", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: place.path + "/01.nfc", withDestinationPath: "/dev/tty")
        try FileManager.default.createSymbolicLink(atPath: place.path + "/02.json", withDestinationPath: "nowhere")
        try Data("{".utf8).write(to: URL(fileURLWithPath: place.path + "/03.json"))
        try place.bring(1)
        _ = try ImageFolder(place.path, field: place.field) { _ in }
        #expect(place.near == [1])
        #expect(unsafe mkfifo(place.path + "/2.json", 0o600) == 0)
        try place.bring(3)
        await place.wait(for: [1, 3])
        // An image in the pipe's place counts, and a link to one.
        try place.remove("0.json")
        try place.bring(4, as: "0.json")
        await place.wait(for: [1, 3, 4])
        try place.bring(5, as: "aside")
        try FileManager.default.createSymbolicLink(atPath: place.path + "/6.json", withDestinationPath: "aside")
        try place.bring(7)
        await place.wait(for: [1, 3, 4, 5, 7])
    }

    @Test(.ownThreads) func `A file without an image is reported once, until it is written again`() async throws {
        let place = try Place()
        try place.put("{", as: "0.json")
        let image = try TagImage(.type2(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 1]))).encoded()
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let count = Locked(0)
        _ = try ImageFolder(place.path, field: place.field) { [other = place.path + "/1.json"] text in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            continuation.yield(text)
            guard isFirst else { return }
            // While the first report is made, another file comes, and the folder is looked through again.
            #expect(throws: Never.self) {
                try Data(image).write(to: URL(fileURLWithPath: other), options: .atomic)
            }
        }
        try await waitWhile(place.near != [1])
        #expect(place.near == [1] && count.withLock { $0 } == 1)
        var reports = stream.makeAsyncIterator()
        #expect(await reports.next()?.contains("0.json") == true)
        try place.put("[", as: "0.json")
        #expect(await reports.next()?.contains("0.json") == true)
        #expect(count.withLock { $0 } == 2)
    }

    @Test func `Files that are hidden, or of another kind, are no images`() throws {
        let place = try Place()
        for (number, name) in [".1.json", ".2.nfc", "3.jsonl", "4.json~", "5.txt", "6"].enumerated() {
            try place.bring(UInt8(number + 1), as: name)
        }
        try place.bring(7)
        let notices = Locked(0)
        _ = try ImageFolder(place.path, field: place.field) { _ in notices.withLock { $0 += 1 } }
        #expect(place.near == [7] && notices.withLock { $0 } == 0)
    }

    @Test func `An image before a hundred others takes the place of the last one until there is room`() async throws {
        let place = try Place()
        for number in 0..<99 { try place.bring(100, as: "\(1000 + number).json") }
        try place.bring(2, as: "2000.json")
        _ = try ImageFolder(place.path, field: place.field) { _ in }
        #expect(place.near == [2])
        try place.bring(1, as: "0999.json")
        await place.wait(for: [1])
        try place.remove("1000.json")
        await place.wait(for: [1, 2])
    }

    @Test func `Of more than a hundred images the first ones by their names are near`() async throws {
        let place = try Place()
        for number in 0..<100 { try place.bring(100, as: "\(1000 + number).json") }
        try place.bring(1, as: "0999.json")
        try place.bring(2, as: "2000.json")
        _ = try ImageFolder(place.path, field: place.field) { _ in }
        #expect(place.near == [1])
        try place.remove("1000.json")
        try place.remove("1001.json")
        await place.wait(for: [1, 2])
    }
}
