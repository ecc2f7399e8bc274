// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import TagProtocols
import Testing

/// A link to a tag with random answers from a seed.
private final class NonsenseLink: FrameLink {
    private struct State {
        var random: UInt64
        var statistics = LinkStatistics()

        mutating func next(_ bound: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % bound
        }
    }

    let technology = Technology.nfcA
    let maximumFrameLength = 256
    private let state: Mutex<State>
    /// Whether answers have the length that was asked for, so that nonsense gets further.
    private let isPolite: Bool

    init(seed: UInt64, isPolite: Bool) {
        self.state = Mutex(State(random: seed &* 0x9E37_79B9_7F4A_7C15 | 1))
        self.isPolite = isPolite
    }

    var statistics: LinkStatistics { state.withLock { $0.statistics } }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let result = state.withLock { state -> Result<Frame, LinkError> in
            state.statistics.exchanges += 1
            if isPolite, state.next(40) > 0 { return .success(polite(frame, &state)) }
            switch state.next(8) {
            case 0: return .failure(LinkError(.timeout, "nonsense"))
            case 1: return .failure(LinkError(.transmission, "nonsense"))
            case 2:
                let index = state.next(80) - 10
                let bits = (0..<state.next(6)).map { _ in UInt8(state.next(256)) }
                return .failure(LinkError(.collision, "nonsense", collision: .init(bitIndex: index, bits: bits)))
            case 3: return .success(Frame(bits: [UInt8(state.next(16))], validBitsInLastByte: 4))
            case 4: return .success(Frame(bits: [1, 2, 3], validBitsInLastByte: 1 + state.next(8)))
            default:
                return .success(Frame((0..<state.next(20)).map { _ in UInt8(state.next(256)) }))
            }
        }
        return try result.get()
    }

    private func polite(_ frame: Frame, _ state: inout State) -> Frame {
        switch frame.bytes.first {
        case 0x26, 0x52: return Frame([0x44, 0x00], checksum: .none)
        case 0x93 where frame.bytes.count > 2: return Frame([0x04])
        case 0x95 where frame.bytes.count > 2: return Frame([0x00])
        case 0x93: return Frame([0x88, 0x04, 0xA1, 0xB2, 0x9F], checksum: .none)
        case 0x95: return Frame([0xC3, 0xD4, 0xE5, 0x80, 0x72], checksum: .none)
        case 0xA2, 0xC2: return Frame(bits: [0x0A], validBitsInLastByte: 4)
        case 0x60: return Frame([0, 4, UInt8(3 + state.next(2)), 2, 1, 0, UInt8(10 + state.next(12)), 3])
        case 0x3A where frame.bytes.count == 3:
            let count = max(0, Int(frame.bytes[2]) - Int(frame.bytes[1]) + 1) * 4
            return Frame(data(count, &state))
        default:
            let sizes: [UInt8] = [0, 1, 6, 0x10, 0x12, 0x3E, 0x6D, 0xEA, 0xFF]
            var bytes = data(16, &state)
            if frame.bytes == [0x30, 3] || frame.bytes == [0x30, 2] {
                let start = frame.bytes[1] == 3 ? 0 : 4
                bytes.replaceSubrange(start..<start + 4, with: [0xE1, 0x10, sizes[state.next(9)], 0])
            }
            return Frame(bytes)
        }
    }

    /// Bytes that are likely to be TLVs.
    private func data(_ count: Int, _ state: inout State) -> [UInt8] {
        let likely: [UInt8] = [0, 1, 2, 3, 3, 0xFD, 0xFF, 0xFE, 0x34]
        return (0..<count).map { _ in state.next(3) == 0 ? UInt8(state.next(256)) : likely[state.next(9)] }
    }
}

@Suite struct `A hostile NFC-A tag` {
    @Test(arguments: [false, true]) func `Whatever it answers, every procedure ends`(_ isPolite: Bool) async {
        for seed in 0..<1500 {
            let link = NonsenseLink(seed: UInt64(seed), isPolite: isPolite)
            let found =
                await checked { () throws(TagError) in
                    try await NFCAActivation(link: link).activateAll(waking: seed % 2 == 0)
                } ?? []
            #expect(found.count <= 16)
            let tag = makeTag(link)
            await checked { () throws(TagError) in try await tag.detectNDEF() }
            await checked { () throws(TagError) in try await tag.readNDEF() }
            await checked { () throws(TagError) in try await tag.writeNDEF(message(seed % 1000)) }
            await checked { () throws(TagError) in try await tag.lock() }
            await checked { () throws(TagError) in try await tag.format() }
            await checked { () throws(TagError) in try await tag.identifyProduct() }
            _ = await tag.isPresent()
            #expect(link.statistics.exchanges < 5000)
        }
    }
}
