// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Tags that break rules on purpose: each procedure ends soon, with an error that names the rule.
struct HostileTests {
    // MARK: ISO-DEP

    private static let ats: [UInt8] = [0x05, 0x78, 0x80, 0x70, 0x02]

    /// Blocks without end of a card of ISO-DEP, to a request with a block number, and the most exchanges.
    private static let blocks: [(String, Int, @Sendable ([UInt8]) -> [UInt8])] = [
        // The response exceeds the limit of a command without extended length: 4096 bytes, at most one per block.
        ("chains of one byte", 4099, { [$0[0] & 1 == 0 ? 0x12 : 0x13, 0x41] }),
        ("chains of 253 bytes", 20, { [$0[0] & 1 == 0 ? 0x12 : 0x13] + [UInt8](repeating: 0x41, count: 253) }),
        ("empty chains", 2, { [$0[0] & 1 == 0 ? 0x12 : 0x13] }), ("S(WTX)", 131, { _ in [0xF2, 0x01] }),
        ("S(WTX) with no time", 5, { _ in [0xF2, 0x00] }), ("S(WTX) with 63", 5, { _ in [0xF2, 0x3F] }),
        ("R(ACK)", 5, { [0xA2 | $0[0] & 1] }), ("the other R(ACK)", 5, { [0xA2 | ~$0[0] & 1] }),
        ("no bytes", 5, { _ in [] }), ("zeros", 5, { _ in [0x00] }), ("S(DESELECT)", 5, { _ in [0xC2] }),
        ("the other block number", 5, { [0x02 | ~$0[0] & 1, 0x90, 0x00] }),
    ]

    @Test func `Hostile ISO-DEP: blocks without end are a protocol violation after few exchanges`() async {
        for (name, limit, rule) in Self.blocks {
            let link = EndlessLink(.nfcA) { request, _ in request.first == 0xE0 ? Self.ats : rule(request) }
            let error = await #expect(throws: LinkError.self, "\(name)") {
                try await ISODEP(link: link).transmit([0x00, 0xB0, 0x00, 0x00, 0x0F])
            }
            #expect(error?.code == .protocolViolation && error?.reason.contains("ISO/IEC") == true, "\(name)")
            #expect(link.exchanges <= limit, "\(name): \(link.exchanges) exchanges")
        }
        // FWI 15 is reserved: a card with it that keeps silent is given up soon.
        let silent = EndlessLink(.nfcA) { request, _ in request[0] == 0xE0 ? bytes("057880ff02") : nil }
        await #expect(throws: LinkError(.timeout, "")) {
            try await ISODEP(link: silent).transmit([0x00, 0xA4, 0x04, 0x00])
        }
        #expect(silent.statistics.airtime < .milliseconds(50))
    }

    // MARK: Type 4

    /// A Type 4 card with a container, whose answers to reads follow a rule of offset and count.
    private static func card(_ container: String, _ read: @escaping @Sendable (Int, Int) -> [UInt8]) -> EndlessLink {
        let isMessage = Mutex(false)
        return EndlessLink(.nfcA) { apdu, _ in
            switch apdu[1] {
            case 0xA4:
                isMessage.withLock { $0 = apdu.suffix(2) == [0xE1, 0x04] }
                return [0x90, 0x00]
            case 0xB0 where !isMessage.withLock { $0 }:
                return bytes(container).dropFirst(Int(apdu[3])).prefix(Int(apdu[4])) + [0x90, 0x00]
            default: return read(Int(apdu[2]) << 8 | Int(apdu[3]), Int(apdu[4])) + [0x90, 0x00]
            }
        }
    }

    private static func check(
        _ tag: any ForumTag,
        _ link: EndlessLink,
        _ code: TagError.Code,
        atMost limit: Int,
        _ name: String
    ) async {
        let error = await #expect(throws: TagError.self, "\(name)") { try await tag.readNDEF() }
        #expect(error?.code == code && error?.namesRule != false, "\(name): \(String(describing: error))")
        #expect(link.exchanges <= limit, "\(name): \(link.exchanges) exchanges")
    }

    @Test func `Hostile Type 4: endless GET RESPONSE or reads of a wrong length end with an error in few exchanges`()
        async
    {
        let container = "000f20000f000d0406e104fffe0000"
        let rows: [(String, TagError.Code, Int, EndlessLink)] = [
            ("61xx with data", .badAnswer, 514, EndlessLink(.nfcA) { _, _ in [0x41, 0x61, 0x01] }),
            ("61xx without", .badAnswer, 2, EndlessLink(.nfcA) { _, _ in [0x61, 0x01] }),
            ("no status word", .badAnswer, 1, EndlessLink(.nfcA) { _, _ in [] }),
            ("empty reads", .badAnswer, 10, Self.card(container) { offset, _ in offset == 0 ? [0xFF, 0xF0] : [] }),
            (
                "reads of one byte", .badAnswer, 20,
                Self.card(container) { offset, _ in offset == 0 ? [0xFF, 0xF0] : [0x41] }
            ),
            (
                "longer reads", .badAnswer, 6,
                Self.card(container) { _, count in [0xFF, 0xF0] + [UInt8](repeating: 0x41, count: count) }
            ), ("overrun", .lengthOverrun, 6, Self.card("000f20000f000d0406e10400640000") { _, _ in [0x00, 0x63] }),
        ]
        for (name, code, limit, link) in rows {
            await Self.check(Type4Tag(link: link), link, code, atMost: limit, name)
        }
    }

    // MARK: Types 1, 2, 3 and 5

    private static func type5(_ link: any FrameLink) -> Type5Tag {
        Type5Tag(target: NFCVTarget(uid: bytes("e0fe000000112233")), link: link, isAlone: true)
    }

    @Test func `Hostile areas of NULL TLVs: noMessageTLV at the area's end`() async {
        for container in ["e140000100000fff", "e240000100000fff"] {
            let type5 = EndlessLink(.nfcV) { request, _ in
                let isLong = request[1] == 0x33
                var memory = [UInt8](repeating: 0, count: 4 * (Int(request[isLong ? 4 : 3]) + 1))
                if !isLong, request[2] == 0 { memory.replaceSubrange(0..<8, with: bytes(container)) }
                return [0] + memory
            }
            // 32 KB in blocks of four bytes, 32 at a time.
            await Self.check(Self.type5(type5), type5, .noMessageTLV, atMost: 3 + 8192 / 32, "Type 5")
        }
        let type2 = EndlessLink(.nfcA) { request, _ in
            guard request[0] == 0x30 else { return nil }
            return (request[1] == 3 ? bytes("e1107d00") : []) + [UInt8](repeating: 0, count: request[1] == 3 ? 12 : 16)
        }
        await Self.check(makeTag(type2), type2, .noMessageTLV, atMost: 69, "Type 2")
        let type1 = EndlessLink(.nfcA) { request, _ in
            switch request[0] {
            case 0x78: bytes("124c01020304")
            case 0x00: bytes("124c 0102030405060700 e110ff00 {108}")
            case 0x10, 0x02: [request[1]] + [UInt8](repeating: 0, count: request[0] == 0x10 ? 128 : 8)
            default: nil
            }
        }
        await Self.check(Type1Tag(link: type1), type1, .noMessageTLV, atMost: 299, "Type 1")
    }

    @Test func `Hostile Type 5: a 64 KB container on 512 bytes, changing blocks or empty answers end with an error`()
        async
    {
        // Blocks from 128 on are missing, but the length of the message is that of the whole area.
        let small = EndlessLink(.nfcV) { request, _ in
            guard request[1] == 0x23 || request[1] == 0x20 else { return nil }
            let count = request[1] == 0x23 ? Int(request[3]) + 1 : 1
            guard Int(request[2]) + count <= 128 else { return [0x01, 0x10] }
            var memory = [UInt8](repeating: 0x41, count: 4 * count)
            if request[2] == 0 { memory.replaceSubrange(0..<12, with: bytes("e14000010000ffff03ffffee")) }
            return [0] + memory
        }
        await Self.check(Self.type5(small), small, .lengthOverrun, atMost: 149, "small")
        for size in [1, 3, 5, 8, 33, 62] {
            let link = EndlessLink(.nfcV) { request, number in
                let count = request[1] == 0x23 ? Int(request[3]) + 1 : 1
                if number == 0 { return bytes("00 e1403f01 03f0 {10*41}") }
                return [0] + [UInt8](repeating: 0x41, count: size * count)
            }
            await Self.check(Self.type5(link), link, .badAnswer, atMost: 3, "blocks of \(size)")
        }
        for answer in [[], [0]] as [[UInt8]] {
            let link = EndlessLink(.nfcV) { _, _ in answer }
            await Self.check(Self.type5(link), link, .badAnswer, atMost: 3, "\(answer)")
        }
    }

    @Test func `Hostile Type 3: the largest Nbr and Nmaxb are read in few exchanges, the largest Ln throws`()
        async throws
    {
        func tag(_ attributes: String) -> (Type3Tag, EndlessLink) {
            let content = bytes(attributes)
            let sum = content.reduce(0) { $0 + Int($1) }
            let block = content + [UInt8(sum >> 8), UInt8(sum & 0xFF)]
            let idm = [UInt8](repeating: 2, count: 8)
            let link = EndlessLink(.nfcF) { request, number in
                guard request.count > 13, request[1] == 0x06 else { return nil }
                let count = Int(request[13])
                let data = number == 0 ? block : [UInt8](repeating: 0x41, count: 16 * count)
                return [UInt8(truncatingIfNeeded: 13 + data.count), 0x07] + idm + [0, 0, UInt8(count)] + data
            }
            return (Type3Tag(target: NFCFTarget(idm: idm, pmm: idm, systemCode: 0x12FC), link: link), link)
        }
        // Nbr and Nmaxb at their largest; Nbr is limited to 15 blocks, the most of an answer.
        let (most, link) = tag("10ffffffff0000000000 0100 0200")
        #expect(try await most.readNDEF() == [UInt8](repeating: 0x41, count: 512) && link.exchanges == 4)
        let (long, other) = tag("100401000100000000000 1ffffff")
        await Self.check(long, other, .lengthOverrun, atMost: 1, "Ln")
    }

    // MARK: Random answers

    private static func exercise(_ tag: any ForumTag, _ seed: Int) async {
        await checked { _ = try await tag.detectNDEF() }
        await checked { _ = try await tag.readNDEF() }
        await checked { try await tag.writeNDEF(message(tag.type == .type2 ? seed % 1000 : 40)) }
        tag.wasActivated()
        await checked { _ = try await tag.readNDEF() }
        await checked { try await tag.lock() }
        if !(tag is Type4Tag) { await checked { try await format(tag) } }
        if let tag = tag as? Type2Tag { await checked { _ = try await tag.identifyProduct() } }
        _ = await tag.isPresent()
    }

    @Test(arguments: ProductModel.samples, [3, 30])
    func `Noisy tag: every procedure ends, and its error names the rule`(model: ProductModel, quiet: Int) async throws {
        for seed in 0..<8 {
            let field = VirtualField()
            field.bring(model.make(message(min(seed * 7, model.capacity))))
            let link = NoisyLink(try #require(field.link(for: model.technology)), seed: seed, quiet: quiet)
            var tag: (any ForumTag)?
            await checked {
                switch model.technology {
                case .nfcA:
                    let found = try await NFCAActivation(link: link).activateAll(waking: seed % 2 == 0)
                    #expect(found.count <= 16)
                    tag = found.last.flatMap { makeForumTag(for: $0, link: link) }
                case .nfcB:
                    let found = try await NFCBActivation(link: link).findAll(waking: true)
                    #expect(found.count <= 16)
                    tag = found.last.flatMap { makeForumTag(for: $0, link: link) }
                case .nfcF:
                    let found = try await NFCFPolling(link: link).poll(systemCode: 0x12FC, timeSlots: UInt8(seed % 16))
                    tag = found.first.map { makeForumTag(for: $0.target, link: link) }
                case .nfcV:
                    let found = try await NFCVInventory(link: link).findAll()
                    #expect(found.count <= 16)
                    tag = found.last.map { makeForumTag(for: $0, link: link, isAlone: seed % 2 == 0) }
                }
            }
            if let tag { await Self.exercise(tag, seed) }
            #expect(link.exchanges < 80000)
        }
    }

    @Test(arguments: [ForumTagType.type1, .type2, .type3, .type4, .type5])
    func `Hostile tag with random answers: every procedure ends, and its error names the rule`(type: ForumTagType) async
    {
        for seed in 0..<40 {
            let idm = [UInt8](repeating: 2, count: 8)
            let technology: [ForumTagType: Technology] = [.type3: .nfcF, .type5: .nfcV]
            let link = NoisyLink(EndlessLink(technology[type] ?? .nfcA) { _, _ in nil }, seed: seed, quiet: 1)
            let tag: any ForumTag
            switch type {
            case .type1:
                tag = Type1Tag(target: Type1Target(headerROM0: 0x12, headerROM1: 0x4C, uid: [1, 2, 3, 4]), link: link)
            case .type2: tag = makeTag(link)
            case .type3: tag = Type3Tag(target: NFCFTarget(idm: idm, pmm: idm, systemCode: 0x12FC), link: link)
            case .type4: tag = Type4Tag(link: ISODEP(link: link))
            case .type5: tag = Self.type5(link)
            }
            await Self.exercise(tag, seed)
            #expect(link.exchanges < 80000)
        }
    }
}

extension TagError {
    /// Whether the text ends with the rule, in parentheses, of a specification that exists, if a rule was broken.
    fileprivate var namesRule: Bool {
        let codes: [Code] = [
            .badAnswer, .noCapabilityContainer, .badVersion, .noMessageTLV, .lengthOverrun, .badChecksum, .refused,
            .readProtected, .updateFailed,
        ]
        guard codes.contains(code) else { return true }
        guard reason.hasSuffix(")."), let start = reason.lastIndex(of: "(") else { return false }
        let names = ["NFC Forum ", "ISO/IEC ", "JIS X ", "User's Manual", "data sheet"]
        return names.contains { reason[start...].contains($0) }
    }
}

/// Runs a procedure that may fail, and checks that its error names the rule that the tag broke.
private func checked(_ place: SourceLocation = #_sourceLocation, _ body: () async throws -> Void) async {
    do { try await body() } catch {
        #expect((error as? TagError)?.namesRule == true, "\(error)", sourceLocation: place)
    }
}

/// A tag or a card that answers every request by a rule, without end.
final class EndlessLink: FrameLink, APDULink {
    let technology: Technology
    let maximumFrameLength = 256
    let countsAir = true
    let (maximumCommandLength, maximumResponseLength) = (65544, 65538)
    private let failure: LinkError.Code
    private let state = Mutex(LinkStatistics())
    private let rule: @Sendable ([UInt8], Int) -> [UInt8]?

    /// - Parameter rule: gets a request's bytes and the number of exchanges before it; nil is the failure.
    init(
        _ technology: Technology,
        failure: LinkError.Code = .timeout,
        _ rule: @escaping @Sendable ([UInt8], Int) -> [UInt8]?
    ) {
        self.technology = technology
        self.failure = failure
        self.rule = rule
    }

    var statistics: LinkStatistics { state.withLock { $0 } }
    var exchanges: Int { statistics.exchanges }

    func isPresent() async -> Bool { true }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        try await transceive(Frame(apdu), timeout: .zero).bytes
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let answer = rule(frame.bytes, exchanges).map { Frame($0, checksum: frame.checksum) }
        state.withLock { $0.count(request: frame, response: answer, timing: FrameTiming(technology), timeout: timeout) }
        guard let answer else { throw LinkError(failure, "no answer") }
        return answer
    }
}

/// A link whose answers are damaged at random, from a seed: all of them, or one in so many.
private final class NoisyLink: FrameLink {
    private struct State {
        var random: UInt64
        var exchanges = 0
    }

    private let link: any FrameLink
    private let quiet: Int
    private let state: Mutex<State>

    init(_ link: any FrameLink, seed: Int, quiet: Int) {
        self.link = link
        self.quiet = quiet
        state = Mutex(State(random: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1))
    }

    var technology: Technology { link.technology }
    var maximumFrameLength: Int { link.maximumFrameLength }
    var exchanges: Int { state.withLock { $0.exchanges } }
    var statistics: LinkStatistics { LinkStatistics(exchanges: exchanges) }

    private func next(_ bound: Int) -> Int {
        state.withLock {
            $0.random = $0.random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int($0.random >> 33) % bound
        }
    }

    /// Bytes that are likely to be TLVs and containers.
    private func data(_ count: Int) -> [UInt8] {
        let likely: [UInt8] = [0, 1, 2, 3, 3, 0xFD, 0xFF, 0xFE, 0x34, 0xE1, 0x40, 0x10]
        return (0..<count).map { _ in next(3) == 0 ? UInt8(next(256)) : likely[next(likely.count)] }
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        state.withLock { $0.exchanges += 1 }
        let answer = try? await link.transceive(frame, timeout: timeout)
        if let answer, next(quiet) > 0 { return answer }
        switch next(9) {
        case 0: throw LinkError(.timeout, "noise")
        case 1: throw LinkError(.transmission, "noise")
        case 2:
            let place = LinkError.Collision(bitIndex: next(80) - 10, bits: data(next(6)))
            throw LinkError(.collision, "noise", collision: place)
        case 3: return Frame(bits: [UInt8(next(16))], validBitsInLastByte: 4)
        case 4: return Frame(bits: data(next(5)), validBitsInLastByte: 1 + next(8))
        case 5: return Frame(data(next(40)))
        default:
            // The right length, and other bytes in a part of it.
            var bytes = answer?.bytes ?? data(16)
            guard !bytes.isEmpty else { return Frame(data(1)) }
            let start = next(bytes.count)
            let end = min(bytes.count, start + 1 + next(8))
            bytes.replaceSubrange(start..<end, with: data(end - start))
            return Frame(bytes, checksum: answer?.checksum ?? .automatic)
        }
    }
}
