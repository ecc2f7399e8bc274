// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import Testing
import VirtualCards

/// What a test writes for a tag, and what comes of it.
@Suite(.timeLimit(.minutes(5))) struct `A tag as a test describes it` {
    private static func reason(_ spec: TagSpec) async -> String {
        await StrangersReason.of { try await withField(spec) { _ in } }
    }

    @Test func `It has the UID that is asked for, or one that follows from the seed`() async throws {
        for uid in [[1, 2, 3, 4], [4, 1, 2, 3, 4, 5, 6]] as [[UInt8]] {
            try await withField(.product("MIFARE Classic 1K", uid: uid)) { field in
                #expect(field.tags[0].virtual.identifier == uid)
            }
        }
        func identifiers(_ seed: UInt64) async throws -> [[UInt8]] {
            try await withField("NTAG215", "NTAG215", seed: seed) { $0.tags.map(\.virtual.identifier) }
        }
        let first = try await identifiers(1)
        #expect(try await identifiers(1) == first)
        let second = try await identifiers(9)
        #expect(Set(first + second).count == 4)
    }

    @Test func `An exploration has the tags that a field has with the same seed`() async throws {
        let names = try await withField("NTAG215", "NTAG215", seed: 5) { $0.tags.map(\.description) }
        #expect(Set(names).count == 2)
        let found = Locked<[[String]]>([])
        let invariant = Invariant("tags are kept") { run in
            found.withLock { $0.append(run.tags.map(\.name)) }
            return nil
        }
        try await explore(.replay("cancel@1"), near: "NTAG215", "NTAG215", seed: 5, invariants: [invariant]) { field in
            _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
        }
        #expect(found.withLock { $0 } == [names, names])
    }

    @Test func `A UID of another length is refused, with those that the product has`() async {
        #expect(
            await Self.reason(.product("NTAG215", uid: [1, 2, 3, 4]))
                == "A UID of NTAG215 has 7 bytes, and not 4."
        )
        #expect(
            await Self.reason(.product("MIFARE Classic 1K", uid: []))
                == "A UID of MIFARE Classic 1K has 4 or 7 bytes, and not 0."
        )
    }

    @Test(arguments: [
        ("NTAG21", "NTAG210"), ("icode slx", "ICODE SLIX"), ("Topas 512", "Topaz 512"),
        ("DESFire EV1 2", "DESFire EV1 2K"), ("FeliCa Light-S", "FeliCa Lite-S"),
    ]) func `A name that is not quite right is answered with the nearest`(name: String, product: String) async {
        let reason = await Self.reason(TagSpec(stringLiteral: name))
        #expect(reason.contains("There is no product \"\(name)\". Write \"\(product)\","))
    }

    @Test func `A message that does not fit, and an invalid dump, are refused with a reason`() async {
        let long = TagMessage.text(String(repeating: "x", count: 200))
        #expect(await Self.reason(.product("NTAG213", holding: long)).hasPrefix("A NTAG213 can't hold "))
        let dump = await Self.reason(.dump([1, 2, 3]))
        #expect(dump.hasPrefix("The dump can't be read. ") && dump.hasSuffix(" nfc tag info FILE says more."))
    }

    @Test func `A dump of a real tag is that tag, with what it holds`() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Parts/TagImagesTests/Dumps/ntag215-uri.nfc")
        let dump = TagSpec.dump([UInt8](try Data(contentsOf: file)))
        let name = "NTAG215 045e2b8ad16f81"
        #expect(dump.description == name)
        try await withField(dump) { field in
            #expect(field.tags.map(\.description) == [name])
            let message = try await field.tags[0].message()
            #expect(message == .uri("https://example.org/exhibits/bronze-bell?room=3&lang=en"))
        }
        let report = try await explore(.replay("cancel@1"), near: dump, invariants: []) { field in
            _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
        }
        #expect(report.first.tags.map(\.name) == [name])
    }

    @Test func `It says in a few words what it is`() throws {
        let contents = try #require(TagProduct(named: "NTAG213")).blank(uid: [4, 1, 2, 3, 4, 5, 0xA6])
        let uid = "040102030405a6"
        for (spec, words) in [
            ("NTAG215", "NTAG215"), (.dump([1, 2, 3]), "a dump"), (.script([]), "a card"),
            (.contents(contents), "NTAG213 \(uid)"), (.tag(contents.makeTag()), "a tag \(uid)"),
        ] as [(TagSpec, String)] {
            #expect(spec.description == words)
        }
        let message = TagMessage.uri("https://example.com")
        #expect(TagSpec.product("NTAG215", holding: message).description == "NTAG215 with \(message)")
    }

    @Test func `It has no power before it is near, though its message was written`() async throws {
        try await withField { field in
            let tag = try await field.make(.product("NTAG213", holding: .uri("https://example.com")))
            // Only a tag that a reader has selected answers READ.
            #expect(tag.virtual.answer(Frame([0x30, 0x04]), disturbance: nil) == nil)
        }
    }

    @Test func `A tag of one's own is left as it is by an exploration, in which each run has one like it`() async throws
    {
        let contents = try #require(TagProduct(named: "NTAG215")).blank(uid: [4, 1, 2, 3, 4, 5, 6])
        let tag = contents.makeTag()
        let runs = Locked(0)
        try await explore(.replay("cancel@3"), near: .tag(tag), invariants: []) { field in
            #expect(field.tags[0].virtual !== tag && field.tags[0].before == contents)
            runs.withLock { $0 += 1 }
            try? await Patient.writeOrLimit("https://example.com/a", field)
        }
        #expect(runs.withLock { $0 } == 2 && TagContents(of: tag) == contents)
    }

    @Test func `A tag of one's own is that object, and contents are made into a tag`() async throws {
        let contents = try #require(TagProduct(named: "NTAG213")).blank(uid: [4, 1, 2, 3, 4, 5, 6])
        let tag = contents.makeTag()
        try await withField(.tag(tag), .contents(contents)) { field in
            #expect(field.tags[0].virtual === tag)
            #expect(field.tags[1].virtual !== tag)
            let copy = try field.tags[1].contents()
            #expect(copy == contents)
        }
    }
}
