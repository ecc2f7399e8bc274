// SPDX-License-Identifier: Apache-2.0
import TagProtocols
import Testing
import VirtualTags

/// A lock can't be taken back, so what would stop it half-way, or leave the message open, stops it before it begins.
@Suite struct `A Type 2 tag that can't be locked` {
    /// A product with other bytes in its memory.
    private static func tag(_ product: Type2Product, _ changes: [(address: Int, byte: UInt8)]) -> VirtualType2Tag {
        var contents = Type2Contents(blank: product, uid: [4, 1, 2, 3, 4, 5, 6])
        for (address, byte) in changes { contents.memory[address] = byte }
        return VirtualType2Tag(contents)
    }

    /// Checks and locks a tag, and expects that both fail in the same way and change nothing, or that the tag is locked.
    private static func expect(_ tag: VirtualType2Tag, _ code: TagError.Code?, _ about: String) async throws {
        let before = tag.contents.memory
        guard let code else {
            try await ProductBench(tag).reader.checkLocking()
            #expect(tag.contents.memory == before, "\(about)")
            try await ProductBench(tag).reader.lock()
            let end = min(tag.product.userPages.upperBound, 3 + Int(before[14]) * 2)
            #expect(Set(tag.contents.lockedPages).isSuperset(of: 3...end), "\(about)")
            return
        }
        for isLock in [false, true] {
            let bench = try await ProductBench(tag)
            let error = await #expect(throws: TagError.self, "\(about)") {
                if isLock { try await bench.reader.lock() } else { try await bench.reader.checkLocking() }
            }
            #expect(error?.code == code, "\(about): \(String(describing: error))")
            #expect(bench.field.writeCount == 0 && tag.contents.memory == before, "\(about)")
        }
    }

    /// The product, the address of AUTH0, and the first pages from which it leaves the lock bits open and closes them.
    private static let passwords: [(product: Type2Product, address: Int, open: UInt8, closed: UInt8)] = [
        (.ntag210, 16 * 4 + 3, 4, 3), (.ultralightEV1UL11, 16 * 4 + 3, 16, 2), (.ntag212, 37 * 4 + 3, 37, 36),
        (.ultralightEV1UL21, 37 * 4 + 3, 37, 4), (.ntag213, 41 * 4 + 3, 41, 40), (.ntag215, 131 * 4 + 3, 131, 130),
        (.ntag216, 227 * 4 + 3, 0xFF, 4), (.ultralightC, 42 * 4, 41, 40),
    ]

    @Test(arguments: passwords.indices) func `Lock bits behind a password are left alone`(index: Int) async throws {
        let (product, address, open, closed) = Self.passwords[index]
        // AUTH1 of Ultralight C: everybody can read, or not.
        for access in product.name == "MIFARE Ultralight C" ? [0, 1] as [UInt8] : [0] {
            let byte = (address: product.name == "MIFARE Ultralight C" ? 43 * 4 : address + 1, byte: access)
            let about = "\(product), \(access)"
            try await Self.expect(Self.tag(product, [(address, closed), byte]), .keyNeeded, about)
            try await Self.expect(Self.tag(product, [(address, open), byte]), nil, about)
        }
        guard product.name != "MIFARE Ultralight C", closed > 4 else { return }
        // The lock bits can't even be read.
        try await Self.expect(Self.tag(product, [(address, closed), (address + 1, 0x80)]), .keyNeeded, "\(product)")
    }

    @Test(arguments: [Type2Product.ultralight, .ntag203, .ntag213, .ultralightC])
    func `A lock bit of the first 16 pages that was frozen keeps the tag open`(_ product: Type2Product) async throws {
        for bits in [0x01, 0x02, 0x04, 0x07] as [UInt8] {
            try await Self.expect(Self.tag(product, [(10, bits)]), .unsupported, "\(product), \(bits)")
        }
        // Pages 4 to 9 were locked before they were frozen.
        try await Self.expect(Self.tag(product, [(10, 0xF2), (11, 0x03)]), nil, "\(product)")
        try await Self.expect(Self.tag(product, [(10, 0xF2), (11, 0x01)]), .unsupported, "\(product)")
    }

    /// Bytes of the static lock bits, and the error: one block-lock bit is for pages 4 to 9, one for 10 to 15.
    private static let halves: [([(address: Int, byte: UInt8)], TagError.Code?)] = [
        ([(10, 0x04), (11, 0xFC)], nil), ([(10, 0x04), (11, 0xF8)], .unsupported),
        ([(10, 0x04), (11, 0x7C)], .unsupported), ([(10, 0xE2), (11, 0x03)], .unsupported),
        ([(10, 0xF2), (11, 0x02)], .unsupported),
        // An area of 24 bytes ends in page 9.
        ([(14, 0x03), (10, 0x04)], nil), ([(14, 0x03), (10, 0x02)], .unsupported),
        ([(14, 0x03), (10, 0xF2), (11, 0x03)], nil),
    ]

    @Test(arguments: halves.indices) func `Each of the first bits freezes the pages that are its own`(
        index: Int
    ) async throws {
        let (changes, code) = Self.halves[index]
        try await Self.expect(Self.tag(.ultralight, changes), code, "\(changes)")
    }

    /// The product, bytes of its dynamic lock page, and the error.
    private static let frozen: [(Type2Product, [(address: Int, byte: UInt8)], TagError.Code?)] = [
        (.ntag213, [(162, 0x01)], .unsupported), (.ntag213, [(162, 0x20)], .unsupported),
        (.ntag213, [(160, 0x03), (162, 0x01)], nil), (.ntag213, [(160, 0x01), (162, 0x01)], .unsupported),
        (.ntag215, [(522, 0x08)], .unsupported), (.ultralightC, [(160, 0x01)], .unsupported),
        (.ultralightC, [(160, 0x10)], .unsupported), (.ultralightC, [(160, 0x0F)], nil),
        (.ntag203, [(160, 0xF0)], nil), (.ntag203, [(160, 0x70)], .unsupported),
    ]

    @Test(arguments: frozen.indices) func `So does one of the others`(index: Int) async throws {
        let (product, changes, code) = Self.frozen[index]
        try await Self.expect(Self.tag(product, changes), code, "\(product), \(changes)")
    }
}
