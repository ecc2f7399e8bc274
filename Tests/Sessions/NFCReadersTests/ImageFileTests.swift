// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import NFCTestKit
import TagImages
import TagLink
import TagProtocols
import Testing
import VirtualTags

@testable import NFCReaders  // the demonstration tag is internal

/// The image files whose tags are near the virtual reader of a process.
@Suite(.timeLimit(.minutes(1))) struct ImageFileTests {
    private static func environment(_ tags: [String]?, saves: Bool = false) -> NFCEnvironment {
        let tags = tags?.joined(separator: ",")
        let made = NFCEnvironment(ReaderConfiguration(reader: "virtual", tags: tags, savesTags: saves))
        // Without its sheet, which would be lines on standard error.
        return NFCEnvironment(
            reader: made.reader,
            clock: made.clock,
            belongsToTest: false,
            sessionEndObserver: made.sessionEndObserver
        )
    }

    /// Runs a session that may write the tag with a number. Returns the identifiers that were found.
    @discardableResult
    private static func scan(_ environment: NFCEnvironment, writing bytes: [UInt8]? = nil, to number: UInt8 = 0)
        async throws
        -> Set<[UInt8]>
    {
        try await ReaderSession.with(environment) { session, tags in
            if let bytes, let tag = tags.first(where: { $0.target.identifier == uid(number) }) {
                try await session.use(tag) { tag throws(TagError) in
                    _ = try await tag.detectNDEF()
                    try await tag.writeNDEF(bytes)
                }
            }
            return Set(tags.map(\.target.identifier))
        }
    }

    private static func message(in bytes: [UInt8]) async throws -> [UInt8]? {
        try await TagImage(parsing: bytes).contents.readNDEF().message
    }

    @Test func `image files by name: their tags are in the field; files of changed tags are rewritten after a session`()
        async throws
    {
        let folder = try Folder()
        let paths = try (1...3).map { try folder.put(ntag($0), as: "\($0).json") }
        /// The numbers of the files on their disk: others when the files were written again.
        func numbers() throws -> [Int?] {
            try paths.map { try FileManager.default.attributesOfItem(atPath: $0)[.systemFileNumber] as? Int }
        }
        let environment = Self.environment(paths, saves: true)
        let before = try numbers()
        #expect(try await Self.scan(environment, writing: NFCReadersTests.message, to: 2) == Set((1...3).map(uid)))
        #expect(try await Self.message(in: folder.bytes("2.json")) == NFCReadersTests.message)
        let after = try numbers()
        #expect(after[0] == before[0] && after[1] != before[1] && after[2] == before[2])
        // A session that wrote nothing writes no file.
        try await Self.scan(environment)
        #expect(try numbers() == after)
        try await Self.scan(environment, writing: [], to: 2)
        #expect(try numbers()[1] != after[1] && environment.tagSaver?.failure == nil)
    }

    @Test
    func `write without saving: the image file stays; the demonstration tag is read-write, with a link and a text`()
        async throws
    {
        let folder = try Folder()
        let path = try folder.put(ntag(1), as: "1.json")
        let before = try folder.bytes("1.json")
        let environment = Self.environment([path])
        try await Self.scan(environment, writing: NFCReadersTests.message, to: 1)
        #expect(try environment.tagSaver == nil && folder.bytes("1.json") == before)
        let demonstration = Self.environment(nil, saves: true)
        #expect(demonstration.tagSaver == nil)
        #expect(try await Self.scan(demonstration) == [[0x04, 0x68, 0x95, 0x71, 0xFA, 0x5C, 0x64]])
        let tag = DemonstrationTag.make()
        let link: [UInt8] = [0x91, 0x01, 0x14, 0x55, 0x04] + Array("example.com/welcome".utf8)
        let text: [UInt8] = [0x51, 0x01, 0x1A, 0x54, 0x02] + Array("enWelcome to the gallery.".utf8)
        let read = try await TagContents.type2(tag.contents).readNDEF()
        #expect(read.message == link + text && read.access == .readWrite && read.capacity == 492)
    }

    @Test func `new image file: mode 0600 if the tag has a password, else readable for all users`() async throws {
        let folder = try Folder()
        var secret = Type2Contents(blank: .ntag213, uid: uid(1))
        secret.memory.replaceSubrange(0x2B * 4..<0x2C * 4, with: [1, 2, 3, 4])
        let paths = [try folder.put(.type2(secret), as: "secret.json"), try folder.put(ntag(2), as: "open.json")]
        let environment = Self.environment(paths, saves: true)
        // A file that is there keeps its mode.
        for path in paths { try FileManager.default.removeItem(atPath: path) }
        for number: UInt8 in 1...2 { try await Self.scan(environment, writing: NFCReadersTests.message, to: number) }
        let modes = try paths.map { try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int }
        #expect(modes[0] == 0o600 && modes[1].map { $0 & 0o444 } == 0o444)
    }

    @Test func `image file that can't be written: reported; others are written, and the file is written once possible`()
        async throws
    {
        let folder = try Folder()
        let gone = folder.path + "/gone"
        try FileManager.default.createDirectory(atPath: gone, withIntermediateDirectories: true)
        let paths = [try folder.put(ntag(1), as: "gone/1.json"), try folder.put(ntag(2), as: "2.json")]
        let environment = Self.environment(paths, saves: true)
        try FileManager.default.removeItem(atPath: gone)
        for number: UInt8 in 1...2 { try await Self.scan(environment, writing: NFCReadersTests.message, to: number) }
        #expect(environment.tagSaver?.failure?.code == .unwritable)
        #expect(environment.tagSaver?.failure?.reason.contains(gone) == true)
        #expect(try await Self.message(in: folder.bytes("2.json")) == NFCReadersTests.message)
        try FileManager.default.createDirectory(atPath: gone, withIntermediateDirectories: true)
        try await Self.scan(environment)
        #expect(environment.tagSaver?.failure == nil)
        #expect(try !folder.bytes("gone/1.json").isEmpty)
    }

    @Test func `image file that can't be used: there is no reader, and the reason names the file`() throws {
        let folder = try Folder()
        let good = try folder.put(ntag(1), as: "1.json")
        let missing = folder.path + "/missing.json"
        let large = [UInt8](repeating: 0x20, count: TagImage.maximumSize + 1)
        let flipper = "Filetype: Flipper NFC device\nVersion: 4\nDevice type: NTAG/Ultralight\n?"
        let rows: [(tags: [String], part: String, code: TagFileError.Code)] = [
            ([missing], missing, .unreadable), ([good, missing], missing, .unreadable),
            ([folder.path + "/\u{FFFD}.json"], "is not UTF-8. Rename the file.", .unreadable),
            ([try folder.put("hello".utf8, as: "text.json")], "text.json: ", .image(.unknownFormat)),
            ([try folder.put(flipper.utf8, as: "a.nfc")], "a.nfc, line 4: ", .image(.malformed)),
            ([try folder.put(large, as: "large.json")], "large.json", .image(.tooLarge)),
            ([try folder.put(large, as: "\u{FFFD}.nfc")], ".nfc", .image(.tooLarge)),
        ]
        for (tags, part, code) in rows {
            let environment = Self.environment(tags)
            let error = try #require(environment.tagFileError)
            #expect(error.code == code && error == TagFileError(code, ""), "\(error)")
            let text = reason(environment)
            #expect(text.hasPrefix("NFC_TAGS: ") && text.contains(part) && text.hasSuffix(error.reason), "\(text)")
            #expect(text.contains("UTF-8") == part.contains("UTF-8"))
        }
    }
}
