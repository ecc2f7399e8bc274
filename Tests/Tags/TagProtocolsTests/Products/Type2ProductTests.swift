// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// The properties of NXP's Type 2 products in their data sheets, and what a tag's memory shows about other products.
@Suite struct `Type 2 products and their locks` {
    private struct Expected {
        var version: String
        var name: String
        var size: UInt8
        var address: Int?
        var bits = 0
        var last = 0..<0
        var mask = ""
        var protection: Int?
    }

    /// Type, subtype, major and minor version, size.
    private static let products: [Expected] = [
        Expected(version: "0301010 00b", name: "MIFARE Ultralight EV1 UL11", size: 0x06),
        Expected(
            version: "0301010 00e",
            name: "MIFARE Ultralight EV1 UL21",
            size: 0x10,
            address: 144,
            bits: 10,
            last: 34..<36,
            mask: "ff031f",
            protection: 37
        ),
        Expected(version: "0401010 00b", name: "NTAG210", size: 0x06),
        Expected(
            version: "0401010 00e",
            name: "NTAG212",
            size: 0x10,
            address: 144,
            bits: 10,
            last: 34..<36,
            mask: "ff031f",
            protection: 37
        ),
        Expected(
            version: "0402010 00f",
            name: "NTAG213",
            size: 0x12,
            address: 160,
            bits: 12,
            last: 38..<40,
            mask: "ff0f3f",
            protection: 41
        ),
        Expected(
            version: "0402010 011",
            name: "NTAG215",
            size: 0x3E,
            address: 520,
            bits: 8,
            last: 128..<130,
            mask: "ff000f",
            protection: 131
        ),
        Expected(
            version: "0402010 013",
            name: "NTAG216",
            size: 0x6D,
            address: 904,
            bits: 14,
            last: 224..<226,
            mask: "ff3f7f",
            protection: 227
        ),
        Expected(
            version: "0405020 113",
            name: "NTAG I2C 1K",
            size: 0x6D,
            address: 904,
            bits: 14,
            last: 224..<226,
            mask: "ff3f7f"
        ),
        Expected(
            version: "0405020 213",
            name: "NTAG I2C plus 1K",
            size: 0x6D,
            address: 904,
            bits: 14,
            last: 224..<226,
            mask: "ff3f7f",
            protection: 227
        ),
        Expected(
            version: "0405020 115",
            name: "NTAG I2C 2K",
            size: 0xEA,
            address: 1920,
            bits: 15,
            last: 464..<480,
            mask: "ff7fff"
        ),
        Expected(
            version: "0405020 215",
            name: "NTAG I2C plus 2K",
            size: 0x6D,
            address: 904,
            bits: 14,
            last: 224..<226,
            mask: "ff3f7f",
            protection: 227
        ),
    ]

    private static func product(_ version: String, vendor: String = "04") throws -> NXPType2Product? {
        NXPType2Product(try #require(Type2Version(bytes("00" + vendor + version + "03"))))
    }

    @Test func `A version is that of a product, with its size, its locks and its password`() throws {
        for expected in Self.products {
            let product = try #require(try Self.product(expected.version))
            #expect(product.name == expected.name && product.sizeByte == expected.size)
            #expect(product.hasFastRead && product.factoryTLVs.count % 4 == 0)
            let lock = product.dynamicLock
            guard expected.address != nil else {
                #expect(lock == .small && lock?.pages.isEmpty == true && product.endPage == 16, "\(expected.name)")
                continue
            }
            #expect(lock?.address == expected.address && lock?.bits.count ?? 0 == expected.bits, "\(expected.name)")
            guard let lock else { continue }
            #expect(product.endPage == lock.address / 4)
            #expect(lock.bits.first?.pages.lowerBound == 16 && lock.bits.last?.pages == expected.last)
            #expect(zip(lock.bits, lock.bits.dropFirst()).allSatisfy { $0.pages.upperBound == $1.pages.lowerBound })
            #expect(hex(lock.mask) == expected.mask && lock.protectionPage == expected.protection)
            let page = lock.address / 4
            #expect(lock.pages == page..<page + 1)
            #expect(lock.pagesToCheck == page..<(expected.protection.map { $0 + 1 } ?? page + 1))
        }
        for other in ["0405020 016", "0402010 012", "0501010 00f", "0301010 00f"] {
            #expect(try Self.product(other) == nil)
        }
        #expect(try Self.product("0402010 00f", vendor: "05") == nil)
        #expect(Type2Version([UInt8](repeating: 0, count: 7)) == nil && Type2Version([]) == nil)
    }

    @Test func `Where there is no version, the size and the factory's lock control TLV tell products apart`() {
        for (size, control, name): (UInt8, String?, String?) in [
            (0x06, nil, "MIFARE Ultralight"), (0x10, nil, "NTAG212"), (0x12, "a00c34", "NTAG213"),
            (0x12, "a01044", "NTAG203"), (0x12, nil, nil), (0x12, "900a34", nil), (0x3E, nil, "NTAG215"),
            (0x6D, nil, "NTAG216"), (0xEA, nil, "NTAG I2C 2K"), (0x11, nil, nil), (0xFF, nil, nil),
        ] {
            #expect(NXPType2Product.inferred(sizeByte: size, lockControl: control.map { bytes($0) })?.name == name)
        }
        #expect(!NXPType2Product.ultralight.hasFastRead && !NXPType2Product.ultralightC.hasFastRead)
        #expect(!NXPType2Product.ntag203.hasFastRead && NXPType2Product.ntag203.sizeByte == 0x12)
        #expect(hex(NXPType2Product.ntag213.factoryTLVs) == "0103a00c340300fe")
        #expect(hex(NXPType2Product.ultralightC.factoryTLVs) == "0103a010440300fe")
        #expect(hex(NXPType2Product.ntag215.factoryTLVs) == "0300fe00")
    }

    // MARK: Locks

    /// A tag of a maker with a container and a control TLV that were read already.
    private static func tag(_ uid: String, size: UInt8, control: String?, _ steps: [ScriptedLink.Step] = []) throws
        -> Type2Tag
    {
        let target = NFCATarget(atqa: 0x0044, sak: 0, uid: bytes(uid))
        let tag = Type2Tag(target: target, link: ScriptedLink(steps))
        tag.capabilityContainer = try Type2CapabilityContainer([0xE1, 0x10, size, 0x00])
        var layout = TLVLayout(area: 16..<16 + Int(size) * 8, reserved: [])
        layout.controls = control.map { [TLVControl(value: bytes($0), isLock: true)] } ?? []
        tag.layout = layout
        tag.controls = layout.controls
        return tag
    }

    private static let other = "02a1b2c3d4e580"
    private static let nxp = "04a1b2c3d4e580"

    @Test func `Another maker's locks are where the control TLV says, or behind the data area`() async throws {
        // 16 bits at 2 * 16 + 3, each for 8 bytes.
        let named = try Self.tag(Self.other, size: 0x12, control: "231034")
        for lock in [named.suggestedDynamicLock(), try await named.dynamicLock()] {
            #expect(lock?.address == 2 << 4 + 3 && lock?.bits.count == 16 && lock?.mask == [0xFF, 0xFF])
            #expect(lock?.bits.first?.pages == 16..<18 && lock?.bits.last?.pages == 46..<48)
        }
        let behind = try Self.tag(Self.other, size: 0x12, control: nil)
        for lock in [behind.suggestedDynamicLock(), try await behind.dynamicLock()] {
            #expect(lock?.address == 160 && lock?.bits.count == 12 && lock?.mask == [0xFF, 0x0F])
        }
        // 48 bytes are what the static lock bits cover.
        let small = try Self.tag(Self.other, size: 0x06, control: nil)
        #expect(small.suggestedDynamicLock() == nil)
        #expect(try await small.dynamicLock() == nil)
        let larger = try Self.tag(Self.other, size: 0x07, control: nil)
        #expect(larger.suggestedDynamicLock()?.bits.count == 1)
        let unread = Type2Tag(target: NFCATarget(atqa: 0x0044, sak: 0, uid: bytes(Self.nxp)), link: ScriptedLink([]))
        #expect(unread.suggestedDynamicLock() == nil)
        #expect(try await unread.dynamicLock() == nil)
    }

    @Test func `NXP's locks are where the product has them, which is asked for its version`() async throws {
        #expect(
            try Self.tag(Self.nxp, size: 0x3E, control: nil).suggestedDynamicLock()
                == NXPType2Product.ntag215.dynamicLock
        )
        #expect(try Self.tag(Self.nxp, size: 0x12, control: "a01044").suggestedDynamicLock() == .grouped)
        // Which of three it is shows in its version; all have the lock bits in the same page.
        let unknown = try Self.tag(Self.nxp, size: 0x12, control: nil)
        #expect(unknown.suggestedDynamicLock() == .grouped)
        // An NTAG213 shows by BD at the end of that page.
        unknown.memory.store([0x00, 0x00, 0x00, 0xBD], at: 40)
        #expect(unknown.suggestedDynamicLock() == NXPType2Product.ntag213.dynamicLock)
        #expect(try Self.tag(Self.nxp, size: 0x06, control: nil).suggestedDynamicLock() == .small)
        #expect(try Self.tag(Self.nxp, size: 0x11, control: "231034").suggestedDynamicLock()?.address == 35)
        let ntag = try Self.tag(Self.nxp, size: 0x12, control: nil, [.exchange("60", "0004040201000f03")])
        #expect(try await ntag.dynamicLock() == NXPType2Product.ntag213.dynamicLock)
        let refuses = ScriptedLink.Step.exchange("60", nibble: 0)
        #expect(try await Self.tag(Self.nxp, size: 0x12, control: nil, [refuses]).dynamicLock() == .grouped)
        #expect(try await Self.tag(Self.nxp, size: 0x06, control: nil).dynamicLock() == nil)
        // Neither the product nor the size is known.
        let large = try Self.tag(Self.nxp, size: 0x13, control: "231034", [refuses])
        #expect(try await large.dynamicLock()?.address == 35)
        let later = try Self.tag(Self.nxp, size: 0x13, control: nil, [.exchange("60", "0004990201000f03")])
        #expect(try await later.dynamicLock()?.address == 16 + 0x13 * 8)
    }

    @Test func `Lock bits are readable unless the tag refuses, and an error of the reader is one`() async throws {
        let lock = try #require(NXPType2Product.ntag213.dynamicLock)
        let page = String(repeating: "00", count: 16)
        for (steps, wanted): ([ScriptedLink.Step], Result<Bool, TagError>) in [
            ([.exchange("3026", page)], .success(true)), ([.exchange("3026", nibble: 0)], .success(false)),
            ([.exchange("3026", .cancelled)], .failure(TagError(.cancelled, ""))),
        ] {
            let tag = try Self.tag(Self.other, size: 0x12, control: nil, steps)
            do throws(TagError) {
                #expect(.success(try await tag.isReadable(lock)) == wanted)
            } catch {
                #expect(.failure(error) == wanted)
            }
        }
        let far = Type2DynamicLock(TLVControl(value: [0xFF, 0x10, 0x3A], isLock: true))
        #expect(far.pages.upperBound > Type2Memory.maximumPageCount)
        #expect(try await !Self.tag(Self.nxp, size: 0x12, control: nil).isReadable(far))
    }

    @Test func `Bits lock their pages, and a password all from its page on`() throws {
        let lock = try #require(NXPType2Product.ntag213.dynamicLock)
        var memory = Type2Memory()
        memory.store([0x01, 0x08, 0x00, 0xBD] + [0x04, 0x00, 0x00, 0xFF], at: 40)
        #expect(
            [15, 16, 17, 18, 37, 38, 39, 40].map { lock.locks($0, in: memory) } == [
                false, true, true, false, false, true, true, false,
            ]
        )
        #expect(!lock.isOpen(through: 16, in: memory) && !lock.isProtected(255, in: memory))
        memory.store([0x00, 0x00, 0x00, 0xBD], at: 40)
        #expect(lock.isOpen(through: 39, in: memory))
        // The bits that lock the lock bits close it too.
        memory.store([0x00, 0x00, 0x20, 0xBD], at: 40)
        #expect(!lock.isOpen(through: 16, in: memory) && !lock.locks(16, in: memory))
        memory.store([0x00, 0x00, 0x00, 0xBD] + [0x04, 0x00, 0x00, 20], at: 40)
        #expect(lock.isOpen(through: 19, in: memory) && !lock.isOpen(through: 20, in: memory))
        #expect([19, 20, 21].map { lock.isProtected($0, in: memory) } == [false, true, true])
        memory.store([0x04, 0x00, 0x00, 0], at: 41)
        #expect(lock.isOpen(through: 39, in: memory))
        #expect(
            [2, 3, 7, 8, 15, 16].map { Type2StaticLock.locks($0, in: [0, 0, 0x88, 0x81]) } == [
                false, true, true, true, true, false,
            ]
        )
        #expect([4, 6, 9, 14].allSatisfy { !Type2StaticLock.locks($0, in: [0, 0, 0x88, 0x81]) })
        #expect(!Type2StaticLock.locks(3, in: [0xFF, 0xFF, 0xFF]))
    }

    // MARK: Memory

    @Test func `A memory knows whole pages up to its end, and runs stay in their sector`() {
        var memory = Type2Memory()
        memory.store([UInt8](1...10), at: 2)
        #expect(memory[page: 2] == [1, 2, 3, 4] && memory[page: 3] == [5, 6, 7, 8] && memory[page: 4] == nil)
        #expect(memory[byte: 8] == 1 && memory[byte: 15] == 8 && memory[byte: 16] == nil && memory[byte: 0] == nil)
        memory.store([UInt8](repeating: 9, count: 16), at: Type2Memory.maximumPageCount - 2)
        memory.store([UInt8](repeating: 9, count: 16), at: Type2Memory.maximumPageCount + 1)
        #expect(memory.contains(1023) && !memory.contains(1024) && memory[page: 1023] == [9, 9, 9, 9])
        #expect(memory.firstUnknownRun(in: 0..<10) == 0..<2 && memory.firstUnknownRun(in: 2..<10) == 4..<10)
        #expect(memory.firstUnknownRun(in: 2..<4) == nil && memory.firstUnknownRun(in: 250..<300) == 250..<256)
        #expect(memory.firstUnknownRun(in: 256..<300) == 256..<300)
        memory.forget(3)
        memory.forget(4000)
        #expect(memory.unit(3) == nil && memory.unit(2) == [1, 2, 3, 4])
    }

    @Test func `A tag is near when it answers a READ of page 3, or FAST_READ where it has that`() async throws {
        let page = "e1106d00" + String(repeating: "00", count: 12)
        let link = ScriptedLink(
            [.exchange("3003", page), .exchange("3003", nibble: 0)] + ScriptedLink.Step.reactivation + [
                .exchange("3a0303", "e1106d00"), .exchange("3003", page), .exchange("3003", "e1"),
            ] + ScriptedLink.Step.reactivation + [
                .exchange("c2ff", nibble: 0x0A), .exchange("01000000", .timeout), .exchange("3003", .tagRemoved),
            ]
        )
        let tag = makeTag(link)
        #expect(await tag.isPresent())
        // One that refuses is there, and is woken for what comes next.
        #expect(await tag.isPresent())
        tag.fastRead = .usable
        #expect(await tag.isPresent())
        // In another sector page 3 is read without going back to sector 0.
        tag.sector = 1
        #expect(await tag.isPresent())
        #expect(await tag.isPresent())
        tag.fastRead = .unusable
        #expect(await !tag.isPresent())
        #expect(await !tag.isPresent() && link.remaining == 0)
    }
}
