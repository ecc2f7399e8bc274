// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCSessions
import TagLink
import TagProtocols
import Testing
import VirtualTags

@testable import NFCTestKit  // the areas of a tag's memory are internal

/// A tag as a test describes it, what it holds, and the words about both.
@Suite(.timeLimit(.minutes(5))) struct TagSpecTests {
    @Test func `UID: the one that the test names, else one that follows from the seed`() async throws {
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
            (.product("NTAG215", uid: [1, 2, 3, 4]), .badTag, "A UID of NTAG215 has 7 bytes, not 4."),
            (.product("NTAG213", holding: .text(String(repeating: "x", count: 200))), .badTag, "A NTAG213 can't hold "),
            (.dump([1, 2, 3]), .badTag, "The dump can't be read. "),
            ("NTAG21", .unknownProduct, "The product \"NTAG21\" does not exist. Write \"NTAG210\","),
            (
                "MIFARE Ultralight EV1", .unknownProduct,
                "The product \"MIFARE Ultralight EV1\" does not exist. Write \"MIFARE Ultralight EV1 UL11\","
            ),
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

    @Test
    func `tag object: a field uses the object itself, an exploration a copy in each run; contents make a new tag`()
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

    // MARK: Contents

    @Test(arguments: ["NTAG215", "ICODE SLIX", "FeliCa Lite-S", "generic Type 4", "Topaz 512"])
    func `readOnly: the tag keeps its message, and a client is refused`(product: String) async throws {
        let tag = TagSpec.product(product, holding: .uri(oldLink)).readOnly
        #expect(tag.description == "\(product) with URI \(oldLink), locked")
        try await withField(tag) { field async throws in
            #expect(try await field.tags[0].contents().readNDEF().access == .readOnly)
            await #expect(throws: (any Error).self) { try await LinkClient.run(field) }
            #expect(try await field.tags[0].message() == .uri(oldLink))
        }
    }

    @Test func `array of messages: their records are joined in order; an invalid message makes the whole invalid`()
        async throws
    {
        let message: TagMessage = [
            .uri("https://example.com"), .empty, .text("Day pass"), .media("text/plain", [1]), .external("a:b", [2]),
        ]
        let words = "URI https://example.com, text Day pass, 1 bytes of type text/plain, 1 bytes of type a:b"
        #expect(message.description == words && ([] as TagMessage) == .empty)
        try await withField(.product("NTAG215", holding: [.uri(oldLink), .text("a")])) { field async throws in
            #expect(try await field.tags[0].message() == [.uri(oldLink), .text("a")])
        }
        let invalid: TagMessage = [.uri(oldLink), TagMessage(bytes: [1])]
        #expect(invalid.bytes == [0])
    }

    @Test func `bytes, services and password of a tag: written where the test says; badTag if the tag can't have them`()
        async throws
    {
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        for (product, block, start) in [("NTAG213", 10, 40), ("ICODE SLIX", 10, 40), ("FeliCa Lite-S", 2, 32)] {
            try await withField(TagSpec.product(product).writing(bytes, atBlock: block)) { field in
                let memory = MemoryArea.all(of: field.tags[0].virtual)[0].bytes
                #expect(Array(memory[start..<start + 8]) == bytes, "\(product)")
            }
        }
        let card = TagSpec.feliCa(system: 0x0003, services: [0x090F: bytes, 0x008B: []])
        try await withField(card) { field in
            let area = try #require(MemoryArea.all(of: field.tags[0].virtual).last)
            #expect(
                area.unitName.lowercased() == "service 090f, block"
                    && area.bytes == bytes + Array(repeating: 0, count: 8)
            )
        }
        try await withField(TagSpec.product("NTAG213").protected(by: [1, 2, 3, 4], fromPage: 8)) { field async throws in
            #expect(try field.tags[0].contents().type2?.firstProtectedPage == 8)
        }
        let wrong: [TagSpec] = [
            TagSpec.product("NTAG213").writing(bytes, atBlock: 44),
            TagSpec.product("NTAG213").writing(bytes, atBlock: -1),
            TagSpec.product("NTAG213").writing(bytes, atBlock: .max), card.writing(bytes, atBlock: 0),
            TagSpec.product("NTAG213").protected(by: [1]), TagSpec.product("ICODE SLIX").protected(by: [1, 2, 3, 4]),
            TagSpec.product("MIFARE Classic 1K").readOnly, .feliCa(system: 3, services: [:], idm: [1]),
        ]
        for spec in wrong {
            await #expect(throws: FieldError(.badTag, ""), "\(spec)") { try await withField(spec) { _ in } }
        }
    }

    @Test func `activity of a message: has its first link and the whole message; none without a link`() throws {
        let message: TagMessage = [.text("Welcome"), .uri("https://example.com/a")]
        let activity = try #require(message.makeUserActivity())
        #expect(activity.activityType == NSUserActivityTypeBrowsingWeb)
        #expect(activity.webpageURL?.absoluteString == "https://example.com/a")
        #expect(activity.ndefMessagePayload.records.count == 2)
        #expect(TagMessage.text("a").makeUserActivity() == nil && TagMessage.empty.makeUserActivity() == nil)
    }

    // MARK: An applet of the test's own

    /// Counts up with each command, and keeps the count.
    private struct Counter: CardApplication {
        var names: [[UInt8]] { [AppletReader.name] }
        var count: UInt8 = 0
        var persistentMemory: [UInt8] { [count] }

        mutating func select(_ command: CardCommand) -> CardAnswer { CardAnswer(status: .success) }
        mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer {
            count += 1
            return CardAnswer([count], status: .success, isWrite: true)
        }
        mutating func deselect() {}
    }

    /// Counts twice; without the second command if the first fails.
    private final class AppletClient: TagClient, @unchecked Sendable {
        init() { super.init(.iso14443, bug: .none) }

        @MainActor override func work(with tag: NFCTag) async throws -> String {
            guard case .iso7816(let tag) = tag, let command = NFCISO7816APDU(data: Data([0, 1, 0, 0])) else {
                throw Failure.wrongTag
            }
            _ = try await tag.sendCommand(apdu: command)
            let (data, _, _) = try await tag.sendCommand(apdu: command)
            return "\([UInt8](data))"
        }
    }

    @Test func `tag with an applet of the test: each run begins with the original memory, and memoryIntact checks it`()
        async throws
    {
        let tag = TagSpec.tag(VirtualType4Tag(card: ApplicationCard([Counter()])))
        let counts = Locked<[[UInt8]]>([])
        let report = try await explore(.cancels, near: tag, app: AppletReader.app) { field in
            counts.withLock { $0.append(MemoryArea.all(of: field.tags[0].virtual)[0].bytes) }
            return try await field.completion("count") { AppletClient().start($0) }.get()
        }
        #expect(counts.withLock { $0.count } >= report.runs && counts.withLock { $0.allSatisfy { $0 == [0] } })
        #expect(!report.unchecked.contains { $0.invariant == Invariant.memoryIntact.name })
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
