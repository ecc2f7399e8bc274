// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import TagProtocols
import Testing

/// A field with any number of tags that support only activation, by the state diagram of
/// ISO/IEC 14443-3, 6.3.
private final class CrowdedField: FrameLink {
    private enum Phase { case idle, ready(level: Int), active, halted }

    private struct Tag {
        /// The bytes of each cascade level with their check byte.
        let levels: [[UInt8]]
        let atqa: [UInt8]
        var phase = Phase.idle
        var wasHalted = false

        init(uid: [UInt8]) {
            let parts = uid.count == 4 ? [uid] : [[0x88] + uid[0..<3], Array(uid[3...])]
            levels = parts.map { $0 + [$0.reduce(0, ^)] }
            atqa = [uid.count == 4 ? 0x04 : 0x44, 0x00]
        }

        mutating func rest() {
            phase = wasHalted ? .halted : .idle
        }

        /// The bits of the answer, or nil for silence.
        mutating func answer(_ frame: Frame) -> [Bool]? {
            let wakes = frame.validBitsInLastByte == 7 && frame.bytes == [0x52]
            let requests = frame.validBitsInLastByte == 7 && frame.bytes == [0x26]
            switch phase {
            case .idle where wakes || requests, .halted where wakes:
                if case .halted = phase { wasHalted = true }
                phase = .ready(level: 0)
                return bits(atqa)
            case .ready(let level) where frame.bytes.first == [0x93, 0x95, 0x97][level]:
                let bits = bits(levels[level])
                let known = Array(self.bits(frame.bytes).dropFirst(16).prefix(frame.bitCount - 16))
                if frame.bytes[1] == 0x70, known == bits {
                    let isLast = level == levels.count - 1
                    phase = isLast ? .active : .ready(level: level + 1)
                    return self.bits([isLast ? 0x00 : 0x04])
                }
                guard frame.bytes[1] != 0x70 else {
                    rest()
                    return nil
                }
                return bits.starts(with: known) ? Array(bits.dropFirst(known.count)) : nil
            case .active where frame.bytes == [0x50, 0x00]:
                phase = .halted
                wasHalted = true
                return nil
            case .halted: return nil
            default:
                rest()
                return nil
            }
        }

        private func bits(_ bytes: [UInt8]) -> [Bool] {
            bytes.flatMap { byte in (0..<8).map { byte >> $0 & 1 != 0 } }
        }
    }

    let technology = Technology.nfcA
    let maximumFrameLength = 256
    private let state: Mutex<(tags: [Tag], exchanges: Int)>

    init(_ uids: [[UInt8]]) {
        state = Mutex((uids.map(Tag.init), 0))
    }

    var statistics: LinkStatistics { LinkStatistics(exchanges: state.withLock { $0.exchanges }) }

    var activeCount: Int {
        state.withLock { state in
            state.tags.count { if case .active = $0.phase { true } else { false } }
        }
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let answers = state.withLock { state in
            state.exchanges += 1
            return state.tags.indices.compactMap { state.tags[$0].answer(frame) }
        }
        guard let first = answers.first else { throw LinkError(.timeout, "silence") }
        var bytes = [UInt8](repeating: 0, count: (first.count + 7) / 8)
        for (index, bit) in first.enumerated() {
            guard answers.allSatisfy({ index < $0.count && $0[index] == bit }) else {
                let bits = Array(bytes.prefix((index + 7) / 8))
                throw LinkError(.collision, "crowd", collision: .init(bitIndex: index, bits: bits))
            }
            if bit { bytes[index / 8] |= 1 << (index % 8) }
        }
        return first.count % 8 == 0
            ? Frame(bytes, checksum: frame.checksum) : Frame(bits: bytes, validBitsInLastByte: first.count % 8)
    }
}

@Suite struct `Several tags in the field` {
    static let many: [[UInt8]] = (0..<12).map { (index: Int) -> [UInt8] in
        let mixed = UInt8(index * 37 & 0xFF)
        return [0x04, mixed, UInt8(index), 1, 2, 3, UInt8(0xFF - index)]
    }

    static let crowds: [[[UInt8]]] = [
        [bytes("04a1b2c3d4e580"), bytes("04a1b2c3d4e581")],
        [bytes("04a1b2c3d4e580"), bytes("04a1b3c3d4e580"), bytes("84a1b2c3d4e580")],
        [bytes("01020304"), bytes("01020305"), bytes("04a1b2c3d4e580")],
        [bytes("00000000"), bytes("80000000"), bytes("00000080"), bytes("00008000"), bytes("ffffffff")],
        many,
    ]

    @Test(arguments: crowds) func `Each is found, and the last one stays active`(_ uids: [[UInt8]]) async throws {
        let field = CrowdedField(uids)
        let found = try await NFCAActivation(link: field).activateAll()
        #expect(Set(found.map(\.uid)) == Set(uids))
        #expect(found.count == uids.count)
        #expect(field.activeCount == 1)
        // Halted tags don't answer REQA; WUPA finds them all again.
        try await NFCAActivation(link: field).halt()
        #expect(try await NFCAActivation(link: field).activateAll().isEmpty)
    }

    @Test(arguments: crowds) func `Any of them is activated again by its UID alone`(_ uids: [[UInt8]]) async throws {
        let field = CrowdedField(uids)
        let activation = NFCAActivation(link: field)
        for target in try await activation.activateAll() {
            try await activation.halt()
            try await activation.reactivate(target)
            #expect(field.activeCount == 1)
        }
    }

    @Test(arguments: crowds) func `Any of several halted tags is found by its UID alone`(_ uids: [[UInt8]])
        async throws
    {
        let field = CrowdedField(uids)
        let activation = NFCAActivation(link: field)
        _ = try await activation.activateAll()
        try await activation.halt()
        for uid in uids {
            let target = try await activation.activate(uid: uid)
            #expect(target?.uid == uid && target?.sak == 0)
            #expect(field.activeCount == 1)
            try await activation.halt()
        }
        // One that is active is found too, and one that is not there is not.
        for _ in 0..<2 { #expect(try await activation.activate(uid: uids[0])?.uid == uids[0]) }
        #expect(try await activation.activate(uid: [9, 9, 9, 9]) == nil)
        #expect(try await activation.activate(uid: [9, 9, 9]) == nil)
    }

    @Test func `The search ends at its limit with the last tag active`() async throws {
        let field = CrowdedField(Self.many)
        let found = try await NFCAActivation(link: field).activateAll(limit: 3)
        #expect(found.count == 3)
        #expect(field.activeCount == 1)
    }

    @Test func `A tag that was halted is found by waking only`() async throws {
        let field = CrowdedField([bytes("04a1b2c3d4e580")])
        let activation = NFCAActivation(link: field)
        _ = try await activation.activateAll()
        try await activation.halt()
        #expect(try await activation.activateAll().isEmpty)
        #expect(try await activation.activateAll(waking: true).count == 1)
    }
}
