// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

/// A tag with random answers from a seed, in the format of a technology.
private struct Nonsense: ModelResponder {
    var random: UInt64
    let technology: Technology
    /// Whether answers have the form that was asked for most of the time, so that nonsense gets further.
    let isPolite: Bool
    private var number: UInt8 = 1

    init(seed: Int, _ technology: Technology, isPolite: Bool) {
        self.random = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        self.technology = technology
        self.isPolite = isPolite
    }

    mutating func next(_ bound: Int) -> Int {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(random >> 33) % bound
    }

    mutating func data(_ count: Int) -> [UInt8] {
        let likely: [UInt8] = [0, 1, 2, 3, 3, 0xFD, 0xFF, 0xFE, 0x34, 0xE1, 0x40, 0x10]
        return (0..<count).map { _ in next(3) == 0 ? UInt8(next(256)) : likely[next(likely.count)] }
    }

    mutating func respond(_ frame: Frame) -> ModelAnswer {
        if isPolite, next(30) > 0, let polite = polite(frame) {
            return ModelAnswer(frame: Frame(polite, checksum: frame.checksum))
        }
        switch next(6) {
        case 0: return .silence
        case 1: return ModelAnswer(frame: Frame(bits: [UInt8(next(16))], validBitsInLastByte: 4))
        case 2: return ModelAnswer(frame: Frame(bits: data(next(5)), validBitsInLastByte: 1 + next(8)))
        default: return ModelAnswer(frame: Frame(data(next(40))))
        }
    }

    private mutating func polite(_ frame: Frame) -> [UInt8]? {
        let request = frame.bytes
        switch technology {
        case .nfcB where request.first == 0x05: return [0x50] + data(9) + [0x81, 0x71]
        case .nfcB where request.first == 0x1D: return [0x00]
        case .nfcA where frame.checksum == .crcB: return topaz(request)
        case .nfcA where request.first == 0xE0: return [0x05, 0x78, 0x80, 0x70, 0x02]
        case .nfcA, .nfcB: return block(request)
        case .nfcF:
            guard request.count > 6 else { return [0x12, 0x01] + [UInt8](repeating: 2, count: 16) }
            let head = [UInt8](repeating: 2, count: 8)
            if request[1] == 0x08 { return [0x0C, 0x09] + head + [0, 0] }
            let count = request.count > 13 ? Int(request[13]) : 1
            var content = data(16 * count)
            if count == 1, next(2) == 0 {
                content = [0x10, 0x0F, 0x01, UInt8(next(3)), UInt8(next(256)), 0, 0, 0, 0, 0, 1, 0, UInt8(next(40)), 9]
                let sum = content.reduce(0) { $0 + Int($1) }
                content += [UInt8(sum >> 8), UInt8(sum & 0xFF)]
            }
            let answer = [0x07] + head + [0, 0, UInt8(count & 0xFF)] + content
            return answer.count < 255 ? [UInt8(answer.count + 1)] + answer : nil
        case .nfcV:
            guard request.count > 1 else { return [0] }
            if request[0] & 4 != 0 { return [0] + data(9) }
            let parameters = request.dropFirst(request[0] & 0x20 != 0 ? 10 : 2)
            switch request[1] {
            case 0x23: return [0] + container(parameters.first) + data(4 * Int(parameters.last ?? 0))
            case 0x33: return [0] + data(4 * Int(parameters.dropLast().last ?? 0) + 4)
            case 0x20, 0x30: return [0] + container(parameters.first)
            default: return [0] + data(next(2) * 14)
            }
        }
    }

    /// A capability container of a large area, and bytes that are likely to be TLVs.
    private mutating func container(_ block: UInt8?) -> [UInt8] {
        guard block == 0 else { return data(4) }
        return [0xE1 + UInt8(next(2)), 0x40, next(3) == 0 ? 0 : UInt8(next(256)), 1]
    }

    private mutating func topaz(_ request: [UInt8]) -> [UInt8]? {
        switch request.first {
        case 0x78: return [0x11 + UInt8(random >> 40 & 1), 0x4C, 1, 2, 3, 4]
        case 0x00:
            let header: [UInt8] = [0x12, 0x4C, 1, 2, 3, 4, 5, 6, 7, 0, 0xE1, 0x10, UInt8(next(256)), 0]
            return header + data(108)
        case 0x10: return [request[1]] + data(128)
        case 0x02: return [request[1]] + data(8)
        case 0x53, 0x1A, 0x54, 0x1B: return Array(request[1...].dropLast(4))
        default: return nil
        }
    }

    private mutating func block(_ request: [UInt8]) -> [UInt8]? {
        guard let pcb = request.first else { return nil }
        switch pcb & 0xF0 {
        case 0x00:
            let instruction = request.count > 2 ? request[2] : 0
            switch instruction {
            case 0xB0 where request.last == 15:
                let container: [UInt8] = [
                    0, 15, 0x20, 0, UInt8(15 + next(241)), 0, UInt8(1 + next(255)), 4, 6, 0xE1, 4,
                ]
                return [pcb] + container + [UInt8(next(128)), UInt8(next(256)), 0, 0, 0x90, 0]
            case 0xB0: return [pcb] + data(Int(request.last ?? 0)) + [0x90, 0]
            default: return [pcb, 0x90, 0]
            }
        case 0x10: return [0xA2 | pcb & 1]
        default: return data(next(8))
        }
    }
}

@Suite struct `Hostile tags` {
    private func exercise(_ tag: any ForumTag) async {
        await checked { () throws(TagError) in try await tag.detectNDEF() }
        await checked { () throws(TagError) in try await tag.readNDEF() }
        await checked { () throws(TagError) in try await tag.writeNDEF(message(40)) }
        tag.wasActivated()
        await checked { () throws(TagError) in try await tag.readNDEF() }
        await checked { () throws(TagError) in try await tag.lock() }
        _ = await tag.isPresent()
    }

    @Test(arguments: [false, true]) func `Whatever a card of Type A or B answers, every procedure ends`(
        _ isPolite: Bool
    ) async {
        for seed in 0..<100 {
            let a = ModelField(Nonsense(seed: seed, .nfcA, isPolite: isPolite), .nfcA)
            let card = ISODEP(link: a)
            await exercise(Type4Tag(link: card))
            try? await card.deselect()
            #expect(a.exchanges < 40000)

            let b = ModelField(Nonsense(seed: seed, .nfcB, isPolite: isPolite), .nfcB)
            let found =
                await checked { () throws(TagError) in
                    try await NFCBActivation(link: b).findAll(waking: true)
                } ?? []
            #expect(found.count <= 16)
            for target in found.prefix(2) {
                if let tag = makeForumTag(for: target, link: b) { await exercise(tag) }
                await checked { () throws(TagError) in try await NFCBActivation(link: b).halt(target) }
            }
            #expect(b.exchanges < 80000)
        }
    }

    @Test(arguments: [false, true]) func `Whatever a Type 1 tag answers, every procedure ends`(_ isPolite: Bool) async {
        for seed in 0..<100 {
            let link = ModelField(Nonsense(seed: seed, .nfcA, isPolite: isPolite), .nfcA)
            let tag = Type1Tag(link: link)
            await exercise(tag)
            await checked { () throws(TagError) in try await tag.format() }
            #expect(link.exchanges < 2000)
        }
    }

    @Test(arguments: [false, true]) func `Whatever a Type 3 tag answers, every procedure ends`(_ isPolite: Bool) async {
        for seed in 0..<100 {
            let link = ModelField(Nonsense(seed: seed, .nfcF, isPolite: isPolite), .nfcF)
            let polling = NFCFPolling(link: link)
            let found =
                await checked { () throws(TagError) in
                    try await polling.poll(timeSlots: UInt8(seed % 16))
                } ?? []
            let target =
                found.first?.target
                ?? NFCFTarget(
                    idm: [UInt8](repeating: 2, count: 8),
                    pmm: [UInt8](repeating: 0xFF, count: 8),
                    systemCode: 0x12FC
                )
            let tag = Type3Tag(target: target, link: link)
            await exercise(tag)
            await checked { () throws(TagError) in try await tag.format() }
            let card = FeliCaCard(link: link, target: target)
            await checked { () throws(TagError) in try await card.requestService([1, 2, 3]) }
            await checked { () throws(TagError) in try await card.requestSystemCodes() }
            await checked { () throws(TagError) in try await card.requestResponse() }
            #expect(link.exchanges < 10000)
        }
    }

    @Test(arguments: [false, true]) func `Whatever a Type 5 tag answers, every procedure ends`(_ isPolite: Bool) async {
        for seed in 0..<100 {
            let link = ModelField(Nonsense(seed: seed, .nfcV, isPolite: isPolite), .nfcV)
            let found = await checked { () throws(TagError) in try await NFCVInventory(link: link).findAll() } ?? []
            #expect(found.count <= 16)
            let target = NFCVTarget(uid: [0xE0, UInt8(seed % 9), 1, 0x10, 0, 0, 0, 1])
            let tag = Type5Tag(target: target, link: link, isAlone: seed % 2 == 0)
            await exercise(tag)
            await checked { () throws(TagError) in try await tag.format() }
            #expect(link.exchanges < 80000)
        }
    }

    @Test func `A data area of nothing but NULL TLVs ends without a message`() async {
        var memory = bytes("e2400001000007ff")
        memory += [UInt8](repeating: 0, count: 16384 - memory.count)
        let link = ModelField(ModelVicinity(memory: memory), .nfcV)
        let tag = Type5Tag(target: NFCVTarget(uid: link.tag.uid), link: link, isAlone: true)
        await #expect(throws: TagError(.noMessageTLV, "")) { try await tag.detectNDEF() }
        #expect(link.exchanges < 140)
    }

    @Test func `A container that promises 64 KB of a small memory ends with an error`() async {
        var memory = bytes("e14000010000ffff") + bytes("03fffffe")
        memory += [UInt8](repeating: 0, count: 512 - memory.count)
        let vicinity = ModelField(ModelVicinity(memory: memory), .nfcV)
        let tag = Type5Tag(target: NFCVTarget(uid: vicinity.tag.uid), link: vicinity, isAlone: true)
        await #expect(throws: TagError(.lengthOverrun, "")) { try await tag.readNDEF() }
        #expect(vicinity.exchanges < 200)

        // A file of 64 KB in the container, and 100 bytes of it on the card.
        var card = ModelCard(message(20), size: 65535)
        card.files[0xE104] = bytes("fff0") + message(98)
        let link = ModelField(card, .nfcA)
        await #expect(throws: TagError.self) { try await Type4Tag(link: ISODEP(link: link)).readNDEF() }
        #expect(link.exchanges < 50)
    }

    @Test func `A container with the whole memory as its area is held to the memory`() async throws {
        // ST's tools write MLEN = memory / 8; the tag says how large it is.
        let model = ModelVicinity(message(20), blocks: 128, container: "e1404001")
        let link = ModelField(model, .nfcV)
        let tag = Type5Tag(target: NFCVTarget(uid: model.uid), link: link, isAlone: true)
        #expect(try await tag.detectNDEF().capacity == 508 - 4)
        try await tag.writeNDEF(message(504))
        #expect(try await tag.readNDEF() == message(504))
        // An ICODE SLIX is known by its UID.
        let slix = ModelVicinity(message(20), blocks: 28, container: "e1400e01", uid: "e004015000112233")
        let other = ModelField(slix, .nfcV)
        let known = Type5Tag(target: NFCVTarget(uid: slix.uid), link: other, isAlone: true)
        #expect(try await known.detectNDEF().capacity == 106)
    }

    @Test func `Tags without READ MULTIPLE, with sectors, or with another beside them are read`() async throws {
        let plain = ModelVicinity(message(200), blocks: 128)
        let target = NFCVTarget(uid: plain.uid)
        for (limit, isAlone) in [(0, true), (0, false), (1, true), (32, false)] {
            var model = plain
            model.readLimit = limit
            let link = ModelField(model, .nfcV)
            #expect(try await Type5Tag(target: target, link: link, isAlone: isAlone).readNDEF() == message(200))
        }
        // M24LR: E0 02 2C.
        var sectors = ModelVicinity(message(400), blocks: 128, uid: "e0022c0800112233")
        sectors.keepsToSectors = true
        sectors.readLimit = 32
        let link = ModelField(sectors, .nfcV)
        let tag = Type5Tag(target: NFCVTarget(uid: sectors.uid), link: link, isAlone: true)
        #expect(try await tag.readNDEF() == message(400))
        #expect(link.exchanges == 5)
    }

    @Test func `Another tag in a Type 5 tag's place is not written`() async throws {
        let link = ModelField(ModelVicinity(message(20)), .nfcV)
        let tag = Type5Tag(target: NFCVTarget(uid: link.tag.uid), link: link, isAlone: true)
        _ = try await tag.detectNDEF()
        link.change { $0.uid[7] ^= 1 }
        let before = link.tag.memory
        await #expect(throws: TagError(.tagLost, "")) { try await tag.writeNDEF(message(9)) }
        #expect(link.tag.memory == before)
        #expect(await !tag.isPresent())
    }

    @Test func `A Type 4 tag without the application is distinguished from one of mapping version 1`() async throws {
        var card = ModelCard(message(20))
        card.applications = []
        await #expect(throws: TagError(.noCapabilityContainer, "")) {
            try await Type4Tag(link: ISODEP(link: ModelField(card, .nfcA))).detectNDEF()
        }
        card = ModelCard(message(20), version: 0x10)
        card.applications = [Type4Tag.applicationName1]
        let tag = Type4Tag(link: ISODEP(link: ModelField(card, .nfcA)))
        #expect(try await tag.readNDEF() == message(20))
        #expect(tag.mappingVersion == 0x10)
    }

    @Test func `Files beyond 32 KB are read and written with offset data objects`() async throws {
        let card = ModelCard(message(40000), size: 60000, maximumRead: 255, maximumWrite: 255, version: 0x30)
        let link = ModelField(card, .nfcA)
        let tag = Type4Tag(link: ISODEP(link: link))
        #expect(try await tag.detectNDEF().capacity == 59996)
        #expect(try await tag.readNDEF() == message(40000))
        try await tag.writeNDEF(message(50000, seed: 5))
        #expect(link.tag.message(lengthSize: 4) == message(50000, seed: 5))
        link.reset()
        #expect(try await Type4Tag(link: ISODEP(link: link)).readNDEF() == message(50000, seed: 5))
    }

    @Test(arguments: [false, true]) func `A write that a Type 1 tag ignores is reported, and the tag can be read`(
        _ isLarge: Bool
    ) async throws {
        // Block 3 is locked, and RALL shows it; then it is locked behind the reader's back.
        var model = ModelTopaz(message(50), isLarge: isLarge)
        let link = ModelField(model, .nfcA)
        let tag = Type1Tag(link: link)
        _ = try await tag.detectNDEF()
        link.change { $0.memory[112] |= 0x18 }
        await #expect(throws: TagError(.updateFailed, "")) { try await tag.writeNDEF(message(50, seed: 9)) }
        // The length is 0 by then.
        #expect(try await tag.readNDEF().isEmpty)
        model.memory[112] |= 0x18
        let locked = ModelField(model, .nfcA)
        await #expect(throws: TagError(.readOnly, "")) { try await Type1Tag(link: locked).writeNDEF(message(50)) }
        #expect(locked.writes == 0)
    }

    @Test func `A data area beyond the last block address ends without a message`() async {
        struct Endless: ModelResponder {
            mutating func respond(_ frame: Frame) -> ModelAnswer {
                let isLong = frame.bytes[1] == 0x33
                let count = Int(frame.bytes[isLong ? 4 : 3]) + 1
                var bytes = [UInt8](repeating: 0, count: count * 4)
                if frame.bytes[2] == 0, !isLong {
                    bytes.replaceSubrange(0..<8, with: [0xE2, 0x40, 0, 1, 0, 0, 255, 255])
                }
                return ModelAnswer(frame: Frame([0] + bytes))
            }
        }
        let link = ModelField(Endless(), .nfcV)
        let tag = Type5Tag(target: NFCVTarget(uid: bytes("e0fe000000112233")), link: link, isAlone: true)
        await #expect(throws: TagError(.noMessageTLV, "")) { try await tag.detectNDEF() }
        #expect(link.exchanges < 2100)
    }
}
