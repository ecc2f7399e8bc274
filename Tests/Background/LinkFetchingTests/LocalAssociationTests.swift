// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinkFetching
import PrivateStorage
import Testing
import UniversalLinks

@Suite final class `Association files of the user's own` {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-own-\(UUID().uuidString)")
        .path
    private static let file = Array(#"{"applinks":{"details":[{"appIDs":["T.x"],"components":[{}]}]}}"#.utf8)

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private var folders: UserFolders {
        UserFolders(environment: ["HOME": root, "XDG_CONFIG_HOME": root + "/config", "XDG_CACHE_HOME": root + "/cache"])
    }

    @Test func `Their folder is made when the first one is added, and not to look`() throws {
        #expect(LocalAssociations(of: folders) == nil)
        #expect(!FileManager.default.fileExists(atPath: root + "/config"))
        let local = try LocalAssociations(making: folders)
        try local.add(Self.file, for: "a.example")
        #expect(
            try Data(contentsOf: URL(filePath: root + "/config/nfc/links/a.example.association")) == Data(Self.file)
        )
        #expect(LocalAssociations(of: folders)?.domains == ["a.example"])
    }

    @Test("The largest file that a site may serve may be theirs too, and a larger one counts as none")
    func largestFile() throws {
        let local = try LocalAssociations(making: folders)
        for (size, isTaken) in [(AssociationFile.maximumSize, true), (AssociationFile.maximumSize + 1, false)] {
            let file = Self.file + [UInt8](repeating: 0x20, count: size - Self.file.count)
            try local.add(file, for: "a.example")
            #expect((local.file(of: "a.example") == file) == isTaken, "\(size)")
            #expect((local.file(of: "a.example") == nil) == !isTaken, "\(size)")
        }
    }

    @Test func `Files with other names are not theirs`() throws {
        let local = try LocalAssociations(making: folders)
        let long = String(repeating: String(repeating: "a", count: 59) + ".", count: 4)
        let domains = ["b.example", String(long.suffix(236)) + "aaa"]
        for domain in domains { try local.add(Self.file, for: domain) }
        for name in ["c.example", "c.example.links", "C.example.association", ".association", "d e.association"] {
            let path = root + "/config/nfc/links/" + name
            #expect(FileManager.default.createFile(atPath: path, contents: Data(Self.file)))
        }
        #expect(local.domains.sorted() == domains.sorted())
        #expect(local.file(of: "b.example") == Self.file && local.file(of: "C.example") == nil)
        #expect(local.file(of: "c.example") == nil)
        let tooLong = String(long.suffix(237)) + "aaa"
        let failure = #expect(throws: StorageError.self) { try local.add(Self.file, for: tooLong) }
        #expect(failure?.reason == "'\(tooLong)' is no domain. Give a name such as example.org.")
        #expect(local.file(of: tooLong) == nil)
        // Only what is there, and theirs, is removed.
        for domain in ["c.example", "C.example", tooLong, "nothing.example"] {
            #expect(try !local.remove(domain), "\(domain)")
        }
        #expect(try local.remove("b.example") && local.file(of: "b.example") == nil)
        #expect(FileManager.default.fileExists(atPath: root + "/config/nfc/links/c.example.links"))
    }

    @Test func `The cache of the user has files of its own, and theirs before them`() async throws {
        let cache = try LinkCache(of: folders)
        for answer in [Self.file, []] {
            let found = try await cache.refresh(["a.example"], now: 5, isForced: true) { _ throws(FetchError) in answer
            }
            #expect(found.first?.file == answer && found.first?.isLocal == false)
        }
        #expect(FileManager.default.fileExists(atPath: root + "/cache/nfc/links/a.example.links"))
        try LocalAssociations(making: folders).add(Self.file, for: "a.example")
        let later = try LinkCache(of: folders)
        #expect(later.association(of: "a.example")?.isLocal == true)
        #expect(later.association(of: "a.example")?.file == Self.file)
    }
}
