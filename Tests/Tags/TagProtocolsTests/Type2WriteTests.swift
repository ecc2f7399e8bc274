// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

@Suite struct `Writing a Type 2 tag` {
    struct Count: Sendable, CustomTestStringConvertible {
        var product: String
        var size: Int
        var writes: Int
        var testDescription: String { "\(product), \(size) bytes" }
    }

    @Test(arguments: [
        Count(product: "NTAG213", size: 16, writes: 6),
        Count(product: "NTAG213", size: 137, writes: 36),
        Count(product: "NTAG215", size: 492, writes: 125),
        Count(product: "NTAG216", size: 868, writes: 219),
    ])
    func `A write takes the minimum of WRITEs, one less where the tag is empty`(_ count: Count) async throws {
        let product = ModelTag.Product.named(count.product)
        for (old, writes) in [(message(30, seed: 0xFF), count.writes), ([], count.writes - 1)] {
            let link = ModelTag(product, memory: product.memory(old))
            let tag = makeTag(link)
            try await tag.writeNDEF(message(count.size))
            #expect(link.current.writes.count == writes)
            // The locks take one READ of page 2, which also returns the container, and one of page 40 or similar.
            #expect(link.statistics.exchanges - writes <= 2)
            #expect(link.memory.starts(with: product.memory(message(count.size)).prefix(16 + count.size + 2)))
            let before = link.statistics.exchanges
            #expect(try await tag.readNDEF() == message(count.size))
            #expect(link.statistics.exchanges == before)
            #expect(try await makeTag(link).readNDEF() == message(count.size))
        }
    }

    @Test func `A message that shares a page with its length is exchanged in one WRITE`() async throws {
        let product = ModelTag.Product.named("NTAG213")
        let link = ModelTag(product, memory: product.memory([0xD0, 0, 0]))
        try await makeTag(link).writeNDEF([])
        #expect(link.current.writes == [4])
        try await makeTag(link).writeNDEF([1, 2])
        // The terminator follows in the next page.
        #expect(link.current.writes == [4, 4, 5])
    }

    /// Other TLVs that move the NDEF message TLV to each place in a page.
    static let layouts: [[UInt8]] = [[], [0], [0, 0], [0, 0, 0], [0xFD, 1, 7], [0xFD, 3, 7, 7, 7]]

    @Test(arguments: ModelTag.Product.all)
    func `A tear after any write leaves the old message, none, or the new one`(_ product: ModelTag.Product) async throws
    {
        for before in Self.layouts + (product.lockControl.map { [bytes($0)] } ?? []) {
            let room = product.area - before.count
            let full = room - 2 <= 254 ? room - 2 : max(254, room - 4)
            // What the TLV's place in its page may matter for: its beginning, and the length that grows and shrinks.
            let short: [(from: Int, to: Int)] = [
                (0, 1), (2, 1), (min(7, full), 3), (min(254, full), min(255, full)), (min(255, full), min(254, full)),
            ]
            let long: [(from: Int, to: Int)] = [
                (full, 1), (1, full), (full / 2, full), (full, full / 2), (0, full), (full, 0), (full, full),
            ]
            for change in short + (before.isEmpty ? long : []) {
                try await expectSafeWrite(
                    product,
                    before,
                    old: message(change.from, seed: 0xFF),
                    new: message(change.to)
                )
            }
        }
    }

    private func expectSafeWrite(
        _ product: ModelTag.Product,
        _ before: [UInt8],
        old: [UInt8],
        new: [UInt8]
    ) async throws {
        let image = product.memory(old, before: before)
        // The complete write gives the number of writes to tear, and the states of all its prefixes.
        let whole = ModelTag(product, memory: image)
        try await makeTag(whole).writeNDEF(new)
        #expect(try await makeTag(whole).readNDEF() == new)
        let states = [image] + whole.current.memoryAfterWrite
        #expect(states.count - 1 == whole.current.writes.count)
        for tear in cutSample(of: states.count) {
            let found = try await makeTag(ModelTag(product, memory: states[tear])).readNDEF()
            #expect(
                found == old || found.isEmpty || found == new,
                "\(product), tear after \(tear) of \(states.count - 1)"
            )
        }
        // The same as it comes about: the tag leaves with the write done and the ACK unsent.
        for tear in Set([0, 1, states.count / 2, states.count - 1]).sorted() where tear < states.count {
            let link = ModelTag(product, memory: image, fault: .tears(afterWrite: tear))
            let error = await #expect(throws: TagError.self) { try await makeTag(link).writeNDEF(new) }
            #expect(error?.code == .tagLost)
            #expect(link.memory == states[tear])
        }
    }

    @Test func `Bytes that a control TLV reserves inside the message are passed over and kept`() async throws {
        let product = ModelTag.Product.named("NTAG216")
        // Two lock bytes at 60 hexadecimal.
        var image = product.memory(message(20), before: bytes("0103601044"))
        image[0x60] = 0x5A
        image[0x61] = 0xA5
        let link = ModelTag(product, memory: image)
        let tag = makeTag(link)
        #expect(try await tag.detectNDEF().capacity == 861)
        try await tag.writeNDEF(message(861))
        #expect(Array(link.memory[0x60...0x61]) == [0x5A, 0xA5])
        #expect(try await makeTag(link).readNDEF() == message(861))
    }

    @Test func `A message that is too long is refused before anything is written`() async throws {
        let product = ModelTag.Product.named("NTAG213")
        let link = ModelTag(product, memory: product.memory(message(9), before: bytes("0103a00c34")))
        let error = await #expect(throws: TagError.self) { try await makeTag(link).writeNDEF(message(138)) }
        #expect(error?.code == .messageTooLong)
        #expect(error?.reason.contains("137") == true)
        #expect(link.current.writes.isEmpty)
    }

    @Test func `A lock bit under the message is reported before anything is written`() async throws {
        let product = ModelTag.Product.named("NTAG213")
        for (byte, bits, size, isRefused) in [
            (10, 0x20, 9, true), (11, 0x80, 60, true), (11, 0x80, 9, false), (160, 1, 60, true), (160, 1, 40, false),
        ] {
            var image = product.memory([])
            image[byte] = UInt8(bits)
            let link = ModelTag(product, memory: image)
            if isRefused {
                await #expect(throws: TagError(.readOnly, "")) { try await makeTag(link).writeNDEF(message(size)) }
                #expect(link.current.writes.isEmpty)
            } else {
                try await makeTag(link).writeNDEF(message(size))
            }
        }
    }

    /// The lock bits, and whether one of them is for a byte up to page 10 hexadecimal, where the message ends.
    @Test(arguments: [(UInt8(0x01), true), (0x08, true), (0x10, false)])
    func `A lock bit for a single byte locks the page that the byte is in`(bits: UInt8, isRefused: Bool) async throws {
        let product = ModelTag.Product(name: "another product", pageCount: 48, areaSize: 0x14)
        // Twelve lock bits behind the data area, each for one byte.
        var image = product.memory([], before: bytes("0103b00c04"))
        image[0xB0] = bits
        let link = ModelTag(product, memory: image)
        if isRefused {
            await #expect(throws: TagError(.readOnly, "")) { try await makeTag(link).writeNDEF(message(42)) }
            #expect(link.current.writes.isEmpty)
        } else {
            try await makeTag(link).writeNDEF(message(42))
            #expect(link.current.writes.max() == 0x10)
            #expect(Array(link.memory[23..<65]) == message(42))
        }
    }

    @Test func `A password that begins inside the message is reported before anything is written`() async throws {
        let product = ModelTag.Product.named("NTAG215")
        var image = product.memory(message(9))
        image[131 * 4 + 3] = 100
        let link = ModelTag(product, memory: image)
        let error = await #expect(throws: TagError.self) { try await makeTag(link).writeNDEF(message(400)) }
        #expect(error?.code == .readOnly)
        #expect(error?.reason.contains("password") == true)
        #expect(link.memory == image)
        try await makeTag(link).writeNDEF(message(300))
    }

    @Test func `A write that the tag refuses is reported, and the rest of the tag can still be read`() async throws {
        let product = ModelTag.Product.named("NTAG213")
        let image = product.memory(message(9))
        let fault = ModelTag.Fault.answers(command: 0xA2, with: Frame(bits: [5], validBitsInLastByte: 4))
        let link = ModelTag(product, memory: image, fault: fault)
        let tag = makeTag(link)
        await #expect(throws: TagError(.updateFailed, "")) { try await tag.writeNDEF(message(20)) }
        #expect(link.memory == image)
        #expect(try await tag.readNDEF() == message(9))
    }

    @Test(arguments: ModelTag.Product.all)
    func `A locked tag is read-only for good, and its message stays`(_ product: ModelTag.Product) async throws {
        let before = product.lockControl.map(bytes) ?? []
        let link = ModelTag(product, memory: product.memory(message(20), before: before))
        let tag = makeTag(link)
        try await tag.lock()
        #expect(link.memory[15] == 0x0F)
        #expect(Array(link.memory[10...11]) == [0xFF, 0xFF])
        #expect(try await tag.detectNDEF().access == .readOnly)
        await #expect(throws: TagError(.readOnly, "")) { try await tag.writeNDEF([]) }
        await #expect(throws: TagError(.readOnly, "")) { try await tag.lock() }
        // As found again: the lock left sector 1 selected if the tag has one.
        let again = makeTag(ModelTag(product, memory: link.memory))
        #expect(try await again.readNDEF() == message(20))
        await #expect(throws: TagError(.readOnly, "")) { try await again.writeNDEF([]) }
        let expected: [String: (Int, String)] = [
            "MIFARE Ultralight C": (160, "ff000000"), "NTAG203": (160, "ff000000"),
            "NTAG212": (144, "ff031f00"), "MIFARE Ultralight EV1 UL21": (144, "ff031f00"),
            "NTAG213": (160, "ff0f3fbd"), "NTAG215": (520, "ff000f00"), "NTAG216": (904, "ff3f7f00"),
            "NTAG I2C 1K": (904, "ff3f7f00"), "NTAG I2C 2K": (1920, "ff7fff00"),
        ]
        if let (address, bytes) = expected[product.name] {
            #expect(hex(link.memory[address..<address + 4]) == bytes)
        }
    }

    @Test(arguments: ModelTag.Product.all)
    func `A tear after any write of a lock leaves the message readable`(_ product: ModelTag.Product) async throws {
        for tear in 0...3 {
            let link = ModelTag(product, memory: product.memory(message(20)), fault: .tears(afterWrite: tear))
            _ = try? await makeTag(link).lock()
            #expect(try await makeTag(ModelTag(product, memory: link.memory)).readNDEF() == message(20))
        }
    }

    @Test(arguments: ModelTag.Product.all)
    func `A blank tag of a known product is formatted`(_ product: ModelTag.Product) async throws {
        var image = product.memory([])
        for index in 12..<24 { image[index] = 0 }
        let link = ModelTag(product, memory: image)
        let tag = makeTag(link)
        await #expect(throws: TagError(.noCapabilityContainer, "")) { try await tag.detectNDEF() }
        try await tag.format()
        #expect(link.memory[14] == product.areaSize)
        let detection = try await makeTag(link).detectNDEF()
        #expect(detection.messageLength == 0)
        #expect(detection.access == .readWrite)
        #expect(try await tag.identifyProduct() == product.name)
        let writes = link.current.writes.count
        try await tag.format()
        #expect(link.current.writes.count == writes)
    }
}
