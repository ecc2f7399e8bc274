// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProgramTesting
import SystemLibrary
import TagImages
import TagLink
import TestThreads
import Testing
import VirtualCards
import VirtualTags

@testable import NFCReaders

/// Checks a folder of images that is looked at when the test says so, so that it is known how often each file was looked at.
@Suite(.timeLimit(.minutes(2))) struct `A look at a folder of images` {
    /// A folder of a test's own.
    private final class Place {
        let path = NSTemporaryDirectory() + "look-\(UUID().uuidString.prefix(8))"
        let field = VirtualField()
        let notices = Locked<[String]>([])
        let presence = Locked<[Bool]>([])

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func folder() throws -> ImageFolder {
            try ImageFolder(path, field: field) { [presence] isThere in
                presence.withLock { $0.append(isThere) }
            } onNotice: { [notices] text in
                notices.withLock { $0.append(text) }
            }
        }

        /// Puts the image of a tag into the folder.
        func bring(_ number: UInt8, as name: String) throws {
            let contents = TagContents.type2(Type2Contents(blank: .ntag213, uid: Self.uid(number)))
            try put(String(decoding: try TagImage(contents).encoded(), as: UTF8.self), as: name)
        }

        /// Puts a file into the folder, which no program that another test starts has open any more.
        func put(_ text: String, as name: String) throws { try ProgramFile.write(text, to: "\(path)/\(name)") }

        /// Gives a file another name, too. That does not count as writing.
        func link(_ name: String, as other: String) throws {
            try FileManager.default.linkItem(atPath: "\(path)/\(name)", toPath: "\(path)/\(other)")
        }

        func isNear(_ number: UInt8) -> Bool { field.arrival(of: Self.uid(number)) != nil }

        private static func uid(_ number: UInt8) -> [UInt8] { [0x04, 1, 2, 3, 4, 5, number] }
    }

    private static var nothing: FolderWatch.Changes { FolderWatch.Changes(written: [], isThere: true) }

    private static var lost: FolderWatch.Changes {
        var changes = nothing
        changes.isAll = true
        return changes
    }

    @Test func `Of a thousand images the first hundred by their names are near, wherever they are in the folder`()
        throws
    {
        let place = try Place()
        // Folders name their files in the order in which they were made, in the other one, or in none.
        for number: UInt8 in 101...150 { try place.bring(number, as: "a\(number).json") }
        try place.bring(250, as: "b0.json")
        for number in 1..<900 { try place.link("b0.json", as: "b\(number).json") }
        for number: UInt8 in 151...200 { try place.bring(number, as: "a\(number).json") }
        let folder = try place.folder()
        #expect((101...200).allSatisfy(place.isNear) && !place.isNear(250))
        #expect(place.field.tags.count == 100)
        withExtendedLifetime(folder) {}
    }

    @Test func `A file without an image is read again when it may have been written, and not otherwise`() throws {
        let place = try Place()
        try place.put("{", as: "0.json")
        let folder = try place.folder()
        let counts = [Self.nothing, Self.lost, Self.nothing, FolderWatch.Changes(written: ["0.json"], isThere: true)]
            .map { changes in
                folder.take(changes)
                return place.notices.withLock { $0.count }
            }
        #expect(counts == [1, 2, 2, 3])
    }

    @Test func `A file without an image that had no room for a while is read again`() async throws {
        let place = try Place()
        try place.bring(100, as: "1000.json")
        for number in 1001..<1099 { try place.link("1000.json", as: "\(number).json") }
        try place.put("{", as: "2000.json")
        let folder = try place.folder()
        #expect(place.notices.withLock { $0.count } == 1)
        try place.link("1000.json", as: "0999.json")
        folder.take(Self.nothing)
        // The folder hears of this itself.
        try FileManager.default.removeItem(atPath: place.path + "/0999.json")
        try await waitWhile(place.notices.withLock { $0.count } == 1)
        #expect(place.notices.withLock { $0.count } == 2)
        #expect(place.notices.withLock { $0 }.allSatisfy { $0.contains("2000.json") })
    }

    @Test func `A folder that is gone, or there again, is reported once each time`() throws {
        let place = try Place()
        let folder = try place.folder()
        #expect(place.presence.withLock { $0 } == [true] && place.notices.withLock { $0.isEmpty })
        let gone = FolderWatch.Changes(written: [], isThere: false)
        for changes in [gone, gone, Self.nothing, Self.nothing, gone] { folder.take(changes) }
        #expect(place.presence.withLock { $0 } == [true, false, true, false])
        let notice = "The folder \(place.path) is not there. Its tags are near when it is."
        #expect(place.notices.withLock { $0 } == [notice, notice])
    }
}
