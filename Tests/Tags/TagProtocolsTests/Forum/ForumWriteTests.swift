// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

@Suite struct `Tears in writes of Types 1, 3, 4 and 5` {
    /// Writes with the tag lost after write commands, all of a short write, and reads what is left.
    ///
    /// - Returns: how many write commands the whole write has.
    @discardableResult
    func tear<Tag: ModelResponder>(
        _ model: Tag,
        _ technology: Technology,
        old: [UInt8],
        new: [UInt8],
        make: (any FrameLink) -> any ForumTag
    ) async throws -> Int {
        let whole = ModelField(model, technology)
        try await make(whole).writeNDEF(new)
        let count = whole.writes
        whole.reset()
        #expect(try await make(whole).readNDEF() == new)
        for cut in cutSample(of: count) {
            let link = ModelField(model, technology, fault: .tears(afterWrite: cut))
            await #expect(throws: TagError(.tagLost, "")) { try await make(link).writeNDEF(new) }
            #expect(link.writes == cut)
            link.reset()
            let left = try await make(link).readNDEF()
            let isKnown = left == old || left.isEmpty || left == new
            #expect(isKnown, "cut \(cut) of \(count) left \(hex(left))")
            if cut == 0 { #expect(left == old) }
            // What is left can be written.
            link.reset()
            try await make(link).writeNDEF(new)
            link.reset()
            #expect(try await make(link).readNDEF() == new)
        }
        return count
    }

    /// Sizes of the old and the new message.
    static let pairs: [(Int, Int)] = [
        (20, 1), (0, 20), (254, 255), (255, 254), (300, 0), (17, 400), (400, 399), (1, 2),
    ]

    @Test(arguments: pairs) func `Type 4`(_ old: Int, _ new: Int) async throws {
        for limit in old + new < 100 ? [255, 13, 2] : [255, 59] {
            let card = ModelCard(message(old), maximumWrite: limit)
            try await tear(card, .nfcA, old: message(old), new: message(new, seed: 7)) {
                Type4Tag(link: ISODEP(link: $0))
            }
        }
        let extended = ModelCard(message(old), maximumWrite: 64, version: 0x30)
        try await tear(extended, .nfcA, old: message(old), new: message(new, seed: 7)) {
            Type4Tag(link: ISODEP(link: $0))
        }
    }

    @Test(arguments: pairs.filter { $0.0 < 256 && $0.1 < 256 })
    func `Type 4 with an MLc of 1, as long as the length has one significant byte`(_ old: Int, _ new: Int) async throws
    {
        try await tear(
            ModelCard(message(old), maximumWrite: 1),
            .nfcA,
            old: message(old),
            new: message(new, seed: 7)
        ) { Type4Tag(link: ISODEP(link: $0)) }
    }

    @Test(arguments: pairs) func `Type 3`(_ old: Int, _ new: Int) async throws {
        for limit in [1, 13] {
            let model = ModelFeliCa(message(old), blockCount: 30, writeLimit: limit)
            try await tear(model, .nfcF, old: message(old), new: message(new, seed: 7)) {
                Type3Tag(target: NFCFTarget(idm: model.idm, pmm: model.pmm, systemCode: 0x12FC), link: $0)
            }
        }
    }

    @Test(arguments: pairs) func `Type 5`(_ old: Int, _ new: Int) async throws {
        for option in [false, true] {
            var model = ModelVicinity(message(old), blocks: 128)
            model.needsOption = option
            try await tear(model, .nfcV, old: message(old), new: message(new, seed: 7)) {
                Type5Tag(target: NFCVTarget(uid: model.uid), link: $0, isAlone: true)
            }
        }
        // A TLV at every offset in a block, after NULL TLVs.
        for offset in old == 20 || new == 255 ? 0..<4 : 3..<4 {
            let container = "e1403f01" + String(repeating: "00", count: offset)
            let model = ModelVicinity(message(old), blocks: 128, container: container)
            try await tear(model, .nfcV, old: message(old), new: message(new, seed: 7)) {
                Type5Tag(target: NFCVTarget(uid: model.uid), link: $0, isAlone: false)
            }
        }
    }

    @Test(arguments: [8, 16, 32]) func `Type 5 with larger blocks`(_ blockSize: Int) async throws {
        for (old, new) in Self.pairs {
            var model = ModelVicinity(message(old), blocks: 128)
            model.blockSize = blockSize
            try await tear(model, .nfcV, old: message(old), new: message(new, seed: 7)) {
                Type5Tag(target: NFCVTarget(uid: model.uid), link: $0, isAlone: true)
            }
        }
    }

    @Test(arguments: pairs) func `Type 1`(_ old: Int, _ new: Int) async throws {
        try await tear(ModelTopaz(message(old), isLarge: true), .nfcA, old: message(old), new: message(new, seed: 7)) {
            Type1Tag(link: $0)
        }
        guard old <= 90, new <= 90 else { return }
        try await tear(ModelTopaz(message(old), isLarge: false), .nfcA, old: message(old), new: message(new, seed: 7)) {
            Type1Tag(link: $0)
        }
    }

    @Test func `A write takes the minimum of commands`() async throws {
        // NLEN 0 goes with the first data, so that 872 bytes are 18 commands with MLc 52 and 5 with 255.
        for (limit, count) in [(52, 18), (255, 5)] {
            let link = ModelField(ModelCard(message(100), maximumWrite: limit), .nfcA)
            try await Type4Tag(link: ISODEP(link: link)).writeNDEF(message(872))
            #expect(link.writes == count)
        }
        let short = ModelField(ModelCard(message(100)), .nfcA)
        try await Type4Tag(link: ISODEP(link: short)).writeNDEF(message(50))
        #expect(short.writes == 1)
        // 77 blocks of data, and the length once more.
        let vicinity = ModelField(ModelVicinity(message(300), blocks: 79, container: "e1402701"), .nfcV)
        let target = NFCVTarget(uid: vicinity.tag.uid)
        try await Type5Tag(target: target, link: vicinity, isAlone: true).writeNDEF(message(308, seed: 3))
        #expect(vicinity.writes == 79)
    }
}

@Suite struct `Locking and formatting Types 1, 3, 4 and 5` {
    @Test func `A Type 4 tag is locked in its capability container, and a card that refuses says so`() async throws {
        for version: UInt8 in [0x20, 0x30] {
            let link = ModelField(ModelCard(message(30), version: version), .nfcA)
            let tag = Type4Tag(link: ISODEP(link: link))
            try await tag.lock()
            #expect(link.tag.files[0xE103]?.last == 0xFF)
            #expect(try await tag.readNDEF() == message(30))
            await #expect(throws: TagError(.readOnly, "")) { try await tag.writeNDEF([]) }
            await #expect(throws: TagError(.readOnly, "")) { try await tag.lock() }
        }
        var card = ModelCard(message(30))
        card.protected = [0xE103]
        let link = ModelField(card, .nfcA)
        await #expect(throws: TagError(.keyNeeded, "")) { try await Type4Tag(link: ISODEP(link: link)).lock() }
    }

    @Test func `A FeliCa Lite-S is locked by its memory configuration`() async throws {
        let link = ModelField(ModelFeliCa(message(30)), .nfcF)
        let target = NFCFTarget(idm: link.tag.idm, pmm: link.tag.pmm, systemCode: 0x12FC)
        let tag = Type3Tag(target: target, link: link)
        try await tag.lock()
        #expect(link.tag.blocks[0x88]?.prefix(4) == [0x00, 0xC0, 0x00, 0x01])
        let again = Type3Tag(target: target, link: link)
        #expect(try await again.detectNDEF().access == .readOnly)
        #expect(try await again.readNDEF() == message(30))
        await #expect(throws: TagError(.readOnly, "")) { try await again.lock() }
    }

    @Test func `A blank FeliCa Lite-S is formatted`() async throws {
        var model = ModelFeliCa([])
        model.blocks[0] = [UInt8](repeating: 0, count: 16)
        model.blocks[0x88]?[3] = 0
        model.systems = [0x88B4]
        let link = ModelField(model, .nfcF)
        let answers = try await NFCFPolling(link: link).poll()
        let found = try #require(answers.first)
        #expect(found.target.systemCode == 0x88B4)
        await #expect(throws: TagError(.noCapabilityContainer, "")) {
            try await Type3Tag(target: found.target, link: link).detectNDEF()
        }
        try await Type3Tag(target: found.target, link: link).format()
        #expect(link.tag.blocks[0x88]?[3] == 1)
        link.change { $0.systems.append(0x12FC) }
        let tag = Type3Tag(target: found.target, link: link)
        #expect(try await tag.detectNDEF().capacity == 208)
    }

    @Test(arguments: [false, true]) func `A Type 5 tag is locked block by block`(_ needsOption: Bool) async throws {
        var model = ModelVicinity(message(30), blocks: 28, container: "e1400d01", uid: "e004015000112233")
        model.needsOption = needsOption
        model.locked = [5]
        let link = ModelField(model, .nfcV)
        let tag = Type5Tag(target: NFCVTarget(uid: model.uid), link: link, isAlone: true)
        try await tag.lock()
        #expect(link.tag.locked == Set(0..<27))
        #expect(link.tag.memory[1] == 0x43)
        #expect(try await tag.readNDEF() == message(30))
        await #expect(throws: TagError(.readOnly, "")) { try await tag.writeNDEF([]) }
    }

    @Test(arguments: [28, 256, 2048]) func `A blank Type 5 tag is formatted by its size`(_ blocks: Int) async throws {
        let blank = ModelVicinity(memory: [UInt8](repeating: 0, count: blocks * 4))
        let link = ModelField(blank, .nfcV)
        let target = NFCVTarget(uid: blank.uid)
        let tag = Type5Tag(target: target, link: link, isAlone: true)
        await #expect(throws: TagError(.noCapabilityContainer, "")) { try await tag.detectNDEF() }
        try await tag.format()
        let detection = try await Type5Tag(target: target, link: link, isAlone: true).detectNDEF()
        #expect(detection.messageLength == 0)
        #expect(detection.capacity >= blocks * 4 - 16)
        try await tag.writeNDEF(message(detection.capacity))
        #expect(try await Type5Tag(target: target, link: link, isAlone: true).readNDEF() == message(detection.capacity))
    }

    @Test(arguments: [false, true]) func `A Topaz is locked, and formatted`(_ isLarge: Bool) async throws {
        let link = ModelField(ModelTopaz(message(30), isLarge: isLarge), .nfcA)
        let tag = Type1Tag(link: link)
        try await tag.lock()
        #expect(link.tag.memory[11] == 0x0F)
        #expect(Array(link.tag.memory[112..<114]) == [0xFF, 0xFF])
        if isLarge { #expect(Array(link.tag.memory[120..<128]) == bytes("0000ffffffffffff")) }
        let again = Type1Tag(link: link)
        #expect(try await again.readNDEF() == message(30))
        await #expect(throws: TagError(.readOnly, "")) { try await again.writeNDEF([]) }

        var blank = ModelTopaz([], isLarge: isLarge)
        for address in 8..<24 { blank.memory[address] = 0 }
        let other = ModelField(blank, .nfcA)
        await #expect(throws: TagError(.noCapabilityContainer, "")) { try await Type1Tag(link: other).detectNDEF() }
        try await Type1Tag(link: other).format()
        #expect(try await Type1Tag(link: other).detectNDEF().capacity == (isLarge ? 462 : 90))
    }

    static let version = "04010101001805"

    @Test func `A blank DESFire gets an NDEF application`() async throws {
        let version = Self.version
        let link = ScriptedLink([
            .exchange("e080", "067577810280"), .exchange("02 00a4040007d276000085010100", "02 6a82"),
            .exchange("03 00a4040007d276000085010000", "03 6a82"), .exchange("02 9060000000", "02" + version + "91af"),
            .exchange("03 90af000000", "03" + version + "91af"),
            .exchange("02 90af000000", "02 04010203040506 00000000000000 9100"),
            .exchange("03 905a000003 000000 00", "03 9100"),
            .exchange("02 90ca00000e 010000 0f21 10e1 d2760000850101 00", "02 9100"),
            .exchange("03 905a000003 010000 00", "03 9100"),
            .exchange("02 90cd000009 01 03e1 00 eeee 0f0000 00", "02 9100"),
            .exchange("03 90cd000009 02 04e1 00 eeee 001000 00", "03 9100"),
            .exchange("02 00a4040007d276000085010100", "02 9000"), .exchange("03 00a4000c02e103", "03 9000"),
            .exchange("02 00d600000f 000f20003b00340406e10410000000", "02 9000"),
        ])
        try await Type4Tag(link: ISODEP(link: link)).format()
        #expect(link.remaining == 0)
    }

    @Test func `A card that is no DESFire, or wants a key, is not formatted`() async throws {
        let none: [ScriptedLink.Step] = [
            .exchange("e080", "067577810280"), .exchange("02 00a4040007d276000085010100", "02 6a82"),
            .exchange("03 00a4040007d276000085010000", "03 6a82"),
        ]
        let other = ScriptedLink(none + [.exchange("02 9060000000", "02 6e00")])
        await #expect(throws: TagError(.unsupported, "")) { try await Type4Tag(link: ISODEP(link: other)).format() }
        let locked = ScriptedLink(
            none + [
                .exchange("02 9060000000", "02" + Self.version + "91af"),
                .exchange("03 90af000000", "03" + Self.version + "91af"),
                .exchange("02 90af000000", "02 04010203040506 00000000000000 9100"),
                .exchange("03 905a000003 000000 00", "03 9100"),
                .exchange("02 90ca00000e 010000 0f21 10e1 d2760000850101 00", "02 91ae"),
            ]
        )
        await #expect(throws: TagError(.updateFailed, "")) { try await Type4Tag(link: ISODEP(link: locked)).format() }
        // A tag with an NDEF application is not changed.
        let link = ModelField(ModelCard(message(9)), .nfcA)
        try await Type4Tag(link: ISODEP(link: link)).format()
        #expect(link.writes == 0)
    }
}
