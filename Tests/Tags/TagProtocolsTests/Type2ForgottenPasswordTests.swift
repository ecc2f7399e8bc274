// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols

/// A tag has been given its password until it refuses a command or loses power, so a reader may think so no longer
/// (NTAG213/215/216 data sheet, 8.8).
@Suite struct `A Type 2 tag that may have its password` {
    /// An NTAG213 that everybody can read, and that is written with its password alone, and a reader for it.
    private static func protected() async throws -> (bench: ProductBench, tag: Type2Tag) {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory[41 * 4 + 3] = 0x02
        contents.memory.replaceSubrange(43 * 4..<45 * 4, with: [1, 2, 3, 4, 0xAB, 0xCD, 0, 0])
        let bench = try await ProductBench(VirtualType2Tag(contents))
        return (bench, try #require(bench.reader as? Type2Tag))
    }

    private static func password() throws -> Type2Tag.Password {
        try #require(Type2Tag.Password([1, 2, 3, 4], acknowledgement: [0xAB, 0xCD]))
    }

    private static func write(_ tag: Type2Tag) async -> TagError.Code? {
        await errorCode { () throws(TagError) in try await tag.writeNDEF(message(20)) }
    }

    @Test func `is written when it has it`() async throws {
        let (_, tag) = try await Self.protected()
        try await tag.authenticate(Self.password())
        #expect(await Self.write(tag) == nil)
        #expect(try await tag.readNDEF() == message(20))
    }

    @Test func `has forgotten it after a refusal, also when everything is known for a write`() async throws {
        let (bench, tag) = try await Self.protected()
        #expect(try await tag.readPages(45)?.count == 180)
        _ = try await tag.detectNDEF()
        try await tag.authenticate(Self.password())
        #expect(tag.mayBeAuthenticated)
        guard case .refused(0) = try await tag.exchange(.read(60)) else {
            Issue.record("The tag has a page 60.")
            return
        }
        #expect(!tag.mayBeAuthenticated)
        #expect(await Self.write(tag) == .readOnly)
        #expect(bench.field.writeCount == 0)
    }

    /// The first byte of an app's packet, and what becomes of a write after it.
    @Test(
        arguments: [
            ([0x1A], .updateFailed), ([0x1B, 1, 2, 3, 4], .updateFailed), ([0xAF], .updateFailed),
            ([0x30, 0x1B], .readOnly), ([0x19], .readOnly), ([0x1C], .readOnly), ([], .readOnly),
        ] as [([UInt8], TagError.Code)]
    )
    func `is asked for itself after an app's own authentication alone`(
        packet: [UInt8],
        code: TagError.Code
    ) async throws {
        let (bench, tag) = try await Self.protected()
        tag.willSend(packet)
        #expect(await Self.write(tag) == code)
        #expect(bench.field.writeCount == 0)
    }

    @Test func `has it no more after a refusal of an app's packet, or another activation`() async throws {
        for (end, code): ((Type2Tag) -> Void, TagError.Code) in [
            ({ $0.wasAnswered(0x0A) }, .updateFailed), ({ $0.wasAnswered(0x00) }, .readOnly),
            ({ $0.wasAnswered(0x04) }, .readOnly), ({ $0.wasActivated() }, .readOnly),
            ({ $0.forgetMemory() }, .updateFailed),
        ] {
            let (_, tag) = try await Self.protected()
            tag.willSend([0x1B])
            end(tag)
            #expect(await Self.write(tag) == code)
        }
    }
}
