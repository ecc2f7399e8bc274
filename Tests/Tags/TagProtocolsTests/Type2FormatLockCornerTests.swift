// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

/// Tags that are partly formatted, partly locked or of another maker, when they are formatted or locked (NFC Forum T2T
/// 1.2, 6.5).
@Suite struct `Formatting and locking odd Type 2 tags` {
    private static let product = ModelTag.Product.named("NTAG213")

    /// An NTAG213 with a capability container, the start of its data area and the static lock bits of pages 3 to 7.
    private static func link(
        container: String,
        area: String = "0000000000000000",
        locks: UInt8 = 0,
        fault: ModelTag.Fault? = nil
    ) -> ModelTag {
        var image = product.memory([])
        image.replaceSubrange(12..<24, with: bytes(container + area))
        image[10] = locks
        return ModelTag(product, memory: image, fault: fault)
    }

    private static func format(_ link: ModelTag) async -> TagError.Code? {
        await errorCode { () throws(TagError) in try await makeTag(link).format() }
    }

    @Test func `A tag with a container and no message gets one, and keeps its container`() async throws {
        for area in ["0000000000000000", "fe00000000000000"] {
            // Page 3 may be locked: it is not written.
            let link = Self.link(container: "e1101200", area: area, locks: 0x08)
            #expect(await Self.format(link) == nil)
            #expect(link.current.writes == [4, 5])
            #expect(hex(link.memory[12..<24]) == "e1101200" + "0103a00c340300fe")
        }
    }

    @Test(
        arguments: [
            ("e0100000", nil), ("00000000", nil), ("e0101200", nil), ("ff000000", .unsupported),
            ("00200000", .unsupported), ("00001300", .unsupported), ("0000000f", .unsupported),
        ] as [(String, TagError.Code?)]
    )
    func `Page 3 is programmed where its bits can become those of a container`(
        present: String,
        code: TagError.Code?
    ) async {
        let link = Self.link(container: present)
        #expect(await Self.format(link) == code)
        #expect(link.current.writes == (code == nil ? [4, 5, 3] : []))
    }

    @Test(arguments: [0x08, 0x10, 0x20] as [UInt8])
    func `A blank tag of which a page is locked is not begun`(locks: UInt8) async {
        let link = Self.link(container: "00000000", locks: locks)
        #expect(await Self.format(link) == .readOnly)
        #expect(link.current.writes.isEmpty)
    }

    @Test(arguments: [1, 2])
    func `A tag that is lost while it is formatted is still blank`(writes: Int) async {
        let link = Self.link(container: "00000000", fault: .tears(afterWrite: writes))
        #expect(await Self.format(link) == .tagLost)
        #expect(hex(link.memory[12..<16]) == "00000000")
        link.reset()
        #expect(await Self.format(link) == nil)
        #expect(hex(link.memory[12..<24]) == "e1101200" + "0103a00c340300fe")
    }

    @Test func `A container that is locked and grants writing is said to be so before anything is locked`() async {
        let link = Self.link(container: "e1101200", area: "0300fe0000000000", locks: 0x08)
        #expect(await errorCode { () throws(TagError) in try await makeTag(link).lock() } == .unsupported)
        #expect(link.current.writes.isEmpty)
    }

    @Test func `Another maker's tag is locked behind its data area, and keeps what is beside its lock bits`()
        async throws
    {
        let zeros = String(repeating: "00", count: 12)
        let link = ScriptedLink([
            .exchange("3002", "72480000 e1101200 0300fe00 00000000"), .exchange("3025", zeros + "00000102"),
            .exchange("a203 e110120f", nibble: 0x0A), .exchange("a202 7248ffff", nibble: 0x0A),
            .exchange("a228 ff0f0102", nibble: 0x0A),
        ])
        let target = NFCATarget(atqa: 0x0044, sak: 0, uid: bytes("02a1b2c3d4e580"))
        try await Type2Tag(target: target, link: link).lock()
        #expect(link.remaining == 0)
    }
}
