// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

/// Checks work with the tag in a field, outside a session.
@Suite(.timeLimit(.minutes(1))) struct `A desk with a reader` {
    /// Why the tag in a field can't be asked for its NDEF; nil when it can.
    private static func error(_ tag: (any VirtualTag)?) async -> TagError.Code? {
        let field = VirtualField()
        if let tag { field.bring(tag) }
        do throws(TagError) {
            try await TagDesk.with(field) { tag throws(TagError) in _ = try await tag.detectNDEF() }
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `says whether there is a tag, and whether it holds NDEF`() async throws {
        #expect(await Self.error(nil) == .tagLost)
        let classic = try #require(TagProduct(named: "Classic 1K")).blank().makeTag()
        #expect(await Self.error(classic) == .unsupported)
        let names = ["NTAG213", "generic Type 4", "generic Type 4B", "FeliCa Lite-S", "ICODE SLIX"]
        for name in names {
            let tag = try #require(TagProduct(named: name)).blank().makeTag()
            #expect(await Self.error(tag) == nil, "\(name)")
        }
    }

    @Test func `works with the tag that is selected, when there are several`() async throws {
        let field = VirtualField()
        for name in ["NTAG213", "ICODE SLIX"] {
            field.bring(try #require(TagProduct(named: name)).blank().makeTag())
        }
        let type = try await TagDesk.with(field) { tag throws(TagError) in tag.type }
        #expect(type == .type2)
    }

    @Test func `turns the field on, which was off before`() async throws {
        let reader = PluggedReader()
        reader.field.bring(try #require(TagProduct(named: "NTAG213")).blank().makeTag())
        try await TagDesk.with(reader) { tag throws(TagError) in _ = try await tag.detectNDEF() }
        #expect(reader.carriers.withLock { $0 } == [true])
    }

    @Test func `wakes a Type B card before it opens it, because others were looked for since`() async throws {
        let frames = Locked<[[UInt8]]>([])
        let field = VirtualField(onExchange: { record in
            if record.technology == .nfcB { frames.withLock { $0.append(record.request.bytes) } }
        })
        field.bring(try #require(TagProduct(named: "generic Type 4B")).blank().makeTag())
        try await TagDesk.with(field) { tag throws(TagError) in _ = try await tag.detectNDEF() }
        // REQB, WUPB, and ATTRIB.
        #expect(frames.withLock { $0.prefix(2) } == [[0x05, 0x00, 0x00], [0x05, 0x00, 0x08]])
        #expect(frames.withLock { $0.dropFirst(2).first?.first } == 0x1D)
    }
}
