// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// A tag as a test describes it, what it holds, and the words about both.
@Suite(.timeLimit(.minutes(5))) struct TagSpecTests {
    @Test func `UID: the one that is asked for, or one that follows from the seed`() async throws {
        for uid in [[1, 2, 3, 4], [4, 1, 2, 3, 4, 5, 6]] as [[UInt8]] {
            try await withField(.product("MIFARE Classic 1K", uid: uid)) { field in
                #expect(field.tags[0].virtual.identifier == uid)
            }
        }
        func names(_ seed: UInt64) async throws -> [String] {
            try await withField("NTAG215", "NTAG215", seed: seed) { $0.tags.map(\.description) }
        }
        let first = try await names(1)
        #expect(try await names(1) == first)
        #expect(Set(first + (try await names(9))).count == 4)
        // An exploration has the same tags.
        let lines = Lines()
        try await explore(.replay("cancel@1"), near: "NTAG215", "NTAG215", seed: 1, invariants: [lines.invariant]) {
            _ = try? await LinkReader.run($0)
        }
        #expect(lines.tags == [first, first])
    }

    @Test(
        arguments: [
            (.product("NTAG215", uid: [1, 2, 3, 4]), .badTag, "A UID of NTAG215 has 7 bytes, and not 4."),
            (.product("NTAG213", holding: .text(String(repeating: "x", count: 200))), .badTag, "A NTAG213 can't hold "),
            (.dump([1, 2, 3]), .badTag, "The dump can't be read. "),
            ("NTAG21", .unknownProduct, "The product \"NTAG21\" does not exist. Write \"NTAG210\","),
            ("icode slx", .unknownProduct, "The product \"icode slx\" does not exist. Write \"ICODE SLIX\","),
        ] as [(TagSpec, FieldError.Code, String)]
    ) func `invalid tag: is refused with what would be valid`(spec: TagSpec, code: FieldError.Code, start: String) async
    {
        let error = await #expect(throws: FieldError.self) { try await withField(spec) { _ in } }
        #expect(error?.code == code && error?.reason.hasPrefix(start) == true, "\(error?.reason ?? "")")
    }

    @Test func `tag from a dump: has its product, UID and message`() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../VirtualTags/TagImagesTests/Dumps/ntag215-uri.nfc")
        let dump = TagSpec.dump([UInt8](try Data(contentsOf: file)))
        let name = "NTAG215 045e2b8ad16f81"
        try await withField(dump) { field in
            #expect(field.tags.map(\.description) == [name] && dump.description == name)
            let message = try await field.tags[0].message()
            #expect(message == .uri("https://example.org/exhibits/bronze-bell?room=3&lang=en"))
        }
    }

    @Test func `tag given as object: used itself in a field, and copied for each run; contents make a new tag`()
        async throws
    {
        let contents = try #require(TagProduct(named: "NTAG213")).blank(uid: [4, 1, 2, 3, 4, 5, 6])
        let tag = contents.makeTag()
        try await withField(.tag(tag), .contents(contents)) { field in
            #expect(field.tags[0].virtual === tag && field.tags[1].virtual !== tag)
            let copy = try field.tags[1].contents()
            #expect(copy == contents)
        }
        let runs = RunCount()
        try await explore(.replay("cancel@3"), near: .tag(tag), invariants: []) { field in
            #expect(field.tags[0].virtual !== tag && field.tags[0].before == contents)
            runs.begin()
            try? await LinkClient.persist(field)
        }
        #expect(runs.value == 2 && TagContents(of: tag) == contents)
    }

    @Test func `message or contents of a tag that has none: badTag`() async throws {
        try await withField("NTAG215", "MIFARE Classic 1K", .script([])) { field in
            let empty = try await field.tags[0].message()
            #expect(empty == .empty)
            let contents = try field.tags[0].contents()
            #expect(field.tags[0].before == contents && field.tags[2].before == nil)
            await #expect(throws: FieldError(.badTag, "")) { try await field.tags[1].message() }
            #expect(throws: FieldError(.badTag, "")) { try field.tags[2].contents() }
            // It has no power before it is near, though its message was written: only a selected tag answers READ.
            let tag = try await field.make(.product("NTAG213", holding: .uri("https://example.com")))
            #expect(tag.virtual.answer(Frame([0x30, 0x04]), injectedFault: nil) == nil)
        }
    }

    // MARK: Words

    @Test func `description of a message: its records, with long text cut after 200 characters`() {
        let two: [UInt8] = [0x94, 0x03, 0x02] + Array("a:b".utf8) + [1, 2] + [0x51, 0x01, 0x02, 0x55, 0x00, 0x61]
        let long = String(repeating: "x", count: 200)
        let rows: [(TagMessage, String)] = [
            (.empty, "no message"), (TagMessage(bytes: [0xD1, 0x01]), "damaged: d1 01"),
            (TagMessage(bytes: two), "2 bytes of type a:b, URI a"), (.text(long), "text \(long)"),
            (.text(long + "y"), "text \(long)…"),
        ]
        for (message, words) in rows { #expect(message.description == words) }
        #expect(TagMessage.text("a", language: "de").bytes == [0xD1, 0x01, 0x04, 0x54, 0x02, 0x64, 0x65, 0x61])
        // What makes no record is no message, which a tag refuses.
        #expect(TagMessage.text("a", language: String(repeating: "x", count: 64)).bytes == [0])
    }
}
