// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// A message that the tag would refuse half-way replaces the old one by nothing, so it is refused before the first write.
@Suite struct `A Type 2 tag that will refuse a message` {
    private static let old = message(3)

    /// A product with a short message, and other bytes in its memory.
    private static func contents(_ product: Type2Product, _ changes: [(address: Int, byte: UInt8)]) -> Type2Contents {
        var contents = Type2Contents(blank: product, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory.replaceSubrange(16..<24, with: messageTLV(old) + [0, 0])
        for (address, byte) in changes { contents.memory[address] = byte }
        return contents
    }

    private static func expect(
        _ contents: Type2Contents,
        refuses size: Int,
        as code: TagError.Code?,
        _ place: SourceLocation = #_sourceLocation
    ) async throws {
        let tag = VirtualType2Tag(contents)
        let reader = try await ProductBench(tag).reader
        do throws(TagError) {
            try await reader.writeNDEF(message(size, seed: 0xFF))
        } catch {
            #expect(error.code == code, "\(error)", sourceLocation: place)
            #expect(tag.contents.memory == contents.memory, sourceLocation: place)
            return
        }
        #expect(code == nil, sourceLocation: place)
        let found = try await ProductBench(tag).reader.readNDEF()
        #expect(found == message(size, seed: 0xFF), sourceLocation: place)
    }

    /// The product, the address of AUTH0, and the bytes that let everybody read.
    private static let products: [(Type2Product, Int, [(address: Int, byte: UInt8)])] = [
        (.ntag210, 16 * 4 + 3, []), (.ultralightEV1UL11, 16 * 4 + 3, []), (.ultralightEV1UL21, 37 * 4 + 3, []),
        (.ntag213, 41 * 4 + 3, []), (.ntag215, 131 * 4 + 3, []), (.ultralightC, 42 * 4, [(43 * 4, 1)]),
    ]

    @Test(arguments: products.indices)
    func `A password on a page of the message is known before`(index: Int) async throws {
        let (product, address, free) = Self.products[index]
        // Messages of 20 bytes end in page 9.
        for first in [5, 6, 9, 10, 15] as [UInt8] {
            let contents = Self.contents(product, free + [(address, first)])
            try await Self.expect(contents, refuses: 20, as: first <= 9 ? .readOnly : nil)
        }
    }

    @Test func `One write that is refused has changed nothing, and is not prepared`() async throws {
        let contents = Self.contents(.ntag213, [(41 * 4 + 3, 4)])
        let tag = VirtualType2Tag(contents)
        let bench = try await ProductBench(tag)
        let before = bench.link.statistics.exchanges
        await #expect(throws: TagError(.updateFailed, "")) { try await bench.reader.writeNDEF([0xAA]) }
        #expect(bench.link.statistics.exchanges == before + 2 && tag.contents.memory == contents.memory)
    }

    @Test(
        arguments: [
            (38, nil), (39, .messageTooLong), (42, .messageTooLong), (43, .messageTooLong),
        ] as [(Int, TagError.Code?)]
    )
    func `A container that is larger than the chip does not lead a message into lock bits and passwords`(
        last: Int,
        code: TagError.Code?
    ) async throws {
        // The message and its TLV end in this page; the terminator follows in the next one.
        let size = (last + 1) * 4 - 16 - 2
        for product in [Type2Product.ntag213, .ntag203, .ultralightC] {
            for container in [0x3E, 0xFF] as [UInt8] {
                try await Self.expect(Self.contents(product, [(14, container)]), refuses: size, as: code)
            }
        }
        try await Self.expect(Self.contents(.ntagI2C1K, [(14, 0xFF)]), refuses: 1000, as: .messageTooLong)
        try await Self.expect(Self.contents(.ntag210, [(14, 0x12)]), refuses: 60, as: .messageTooLong)
    }

    /// Copies of NTAG215 and NTAG216 that tell no version, the container's size, and a byte of their lock bits.
    @Test(
        arguments: [(.ntag215, 0x3F, 0x00), (.ntag216, 0x6F, 0x00), (.ntag216, 0x6D, 0x20)]
            as [(Type2Product, UInt8, UInt8)]
    )
    func `A copy without a version is not taken for a smaller product`(
        product: Type2Product,
        size: UInt8,
        lock: UInt8
    ) async throws {
        // The lock bit is for the last pages, and the messages end in pages 29, 42 and 54.
        let address = (product == .ntag215 ? 130 : 226) * 4 + 1
        var contents = Self.contents(product, [(14, size), (address, lock)])
        contents.version = nil
        for count in [100, 150, 200] { try await Self.expect(contents, refuses: count, as: nil) }
    }
}
