// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // pages of the second sector are read by an internal call

/// A tag with the UID 04A1B2C3D4E580 that is ACTIVE in the field of a link.
func makeTag(_ link: any FrameLink, uid: String = "04a1b2c3d4e580") -> Type2Tag {
    Type2Tag(target: NFCATarget(atqa: 0x0044, sak: 0, uid: bytes(uid)), link: link)
}

/// Type 2 tags: exact exchanges, and what shows on a virtual tag alone (NFC Forum T2T 1.2, 5).
struct Type2Tests {
    @Test(arguments: try Scenario.all(in: "type2.txt"))
    func `Type 2 tag: each call makes exactly the exchanges of type2.txt`(scenario: Scenario) async {
        for part in scenario.cases {
            let link = ScriptedLink()
            let tag = makeTag(link, uid: part.options["uid"] ?? "04a1b2c3d4e580")
            await Script(part.text).run(on: link) { try await Self.call(tag, $0) }
        }
    }

    private static func call(_ tag: Type2Tag, _ call: Script.Call) async throws -> String {
        switch call.name {
        case "fetch": try await tag.fetch(call.number(0)..<call.number(1))
        case "fast": tag.fastRead = call.arguments[0] == "usable" ? .usable : .unusable
        case "version": return try await tag.readVersion().map { hex($0) } ?? "nil"
        case "signature": return try await tag.readSignature().map { hex($0.prefix(2)) + " \($0.count)" } ?? "nil"
        case "counter":
            let found = try await tag.readCounter(UInt8(call.number(0)))
            return found.map { "\($0.count) \($0.tearing.map { hex([$0]) } ?? "nil")" } ?? "nil"
        case "pages": return try await tag.readPages(call.number(0)).map { hex($0.suffix(8)) } ?? "nil"
        default: return try await callForumTag(tag, call)
        }
        return "ok"
    }

    @Test(arguments: [(64, 15), (128, 31), (256, 60)])
    func `Type 2 FAST_READ: as many pages as the reader's frames hold, 60 at most`(limit: Int, pages: Int) async throws
    {
        let tag = try ProductModel.named("NTAG216").make(message(868))
        let bench = try await ProductBench(tag, in: VirtualField(maximumFrameLength: limit))
        let before = bench.link.statistics.exchanges
        #expect(try await bench.reader.readNDEF() == message(868))
        #expect(bench.link.statistics.exchanges - before == 1 + (215 + pages - 1) / pages)
    }

    @Test func `Type 2 container larger than the tag's memory: reading throws lengthOverrun`() async throws {
        for product in Type2Product.all where product.pageCount <= 256 {
            var contents = Type2Contents(blank: product, uid: bytes("04a1b2c3d4e580"))
            contents.memory.replaceSubrange(12..<20, with: bytes("e110ff00 03ff0700"))
            let bench = try await ProductBench(VirtualType2Tag(contents))
            #expect(await errorCode { _ = try await bench.reader.readNDEF() } == .lengthOverrun, "\(product)")
        }
    }

    @Test func `Type 2 write around a control TLV: the reserved bytes inside the message are kept`() async throws {
        // Two lock bytes at 60 hexadecimal.
        var contents = Type2Contents(blank: .ntag216, uid: bytes("04a1b2c3d4e580"))
        contents.memory = contents.memory.placing(bytes("0103601044") + messageTLV([]), at: 16, end: 888)
        contents.memory.replaceSubrange(0x60..<0x62, with: [0x5A, 0xA5])
        let tag = VirtualType2Tag(contents)
        let reader = try await ProductBench(tag).reader
        #expect(try await reader.detectNDEF().capacity == 861)
        try await reader.writeNDEF(message(861))
        #expect(tag.contents.memory[0x60..<0x62] == [0x5A, 0xA5])
        #expect(try await ProductBench(tag).reader.readNDEF() == message(861))
    }
}
