// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink

/// A field with one Type 2 tag: a simple model of a data sheet's command table, with faults on demand.
///
/// It is independent of the virtual tags, and shares no code with them.
final class ModelTag: FrameLink {
    /// What a tag of some product has.
    struct Product: Sendable, CustomStringConvertible {
        var name: String
        var pageCount: Int
        var areaSize: UInt8
        var version: String?
        var hasFastRead: Bool { version != nil }
        var lockControl: String?
        /// The area's capacity with the TLV at its start.
        var area: Int { Int(areaSize) * 8 }
        var description: String { name }
    }

    /// What goes wrong.
    enum Fault: Sendable, Equatable {
        /// The tag leaves the field before it hears exchange k.
        case leaves(atExchange: Int)
        /// The tag leaves after it has programmed write k, before it answers. 0: before the first write.
        case tears(afterWrite: Int)
        /// The answer of exchange k is damaged; the command was done.
        case damages(exchange: Int)
        /// The answer of exchange k does not arrive; the command was done.
        case drops(exchange: Int)
        /// Commands that begin with a byte are answered with something else.
        case answers(command: UInt8, with: Frame)
        /// Commands that begin with a byte are not answered, and don't change the tag.
        case ignores(command: UInt8)
        /// Another tag takes the tag's place before exchange k.
        case swaps(atExchange: Int)
    }

    fileprivate enum Phase { case idle, ready, halted, active }

    struct State {
        var memory: [UInt8]
        var fault: Fault?
        var statistics = LinkStatistics()
        var exchange = 0
        var writes: [Int] = []
        var memoryAfterWrite: [[UInt8]] = []
        var readPages: [Int] = []
        fileprivate var phase = Phase.active
        fileprivate var sector = 0
        fileprivate var awaitsSector = false
        fileprivate var isGone = false
    }

    let product: Product
    let uid = bytes("04a1b2c3d4e580")
    let technology = Technology.nfcA
    let maximumFrameLength: Int
    private let state: Mutex<State>

    init(_ product: Product, memory: [UInt8], fault: Fault? = nil, maximumFrameLength: Int = 256) {
        self.product = product
        self.maximumFrameLength = maximumFrameLength
        self.state = Mutex(State(memory: memory, fault: fault))
    }

    var current: State { state.withLock { $0 } }
    var statistics: LinkStatistics { current.statistics }
    var memory: [UInt8] { current.memory }
    /// Whether the product has a second sector.
    var isLarge: Bool { product.pageCount > 256 }

    /// Restarts the count, with another fault.
    func reset(fault: Fault? = nil) {
        state.withLock {
            $0.fault = fault
            $0.exchange = 0
            $0.writes = []
            $0.memoryAfterWrite = []
            $0.readPages = []
            $0.isGone = false
        }
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let outcome = state.withLock { state -> Result<Frame, LinkError> in
            let result = answer(frame, &state)
            state.statistics.count(
                request: frame,
                response: try? result.get(),
                timing: FrameTiming(.nfcA),
                timeout: timeout
            )
            return result
        }
        return try outcome.get()
    }

    private static let silence = LinkError(.timeout, "silence")

    private func answer(_ frame: Frame, _ state: inout State) -> Result<Frame, LinkError> {
        let exchange = state.exchange
        state.exchange += 1
        switch state.fault {
        case .leaves(let at) where exchange >= at, .swaps(let at) where exchange >= at: state.isGone = true
        case .tears(afterWrite: 0) where frame.bytes.first == 0xA2: state.isGone = true
        default: break
        }
        if state.isGone {
            // The tag that was put in its place wakes, and does not answer to a UID that is not its own.
            if case .swaps = state.fault, frame.validBitsInLastByte == 7 { return .success(Self.atqa) }
            return .failure(Self.silence)
        }
        let response = respond(frame, &state)
        switch state.fault {
        case .tears(let after) where after > 0 && state.writes.count == after:
            state.isGone = true
            return .failure(Self.silence)
        case .damages(exchange): return .failure(LinkError(.transmission, "noise"))
        case .drops(exchange): return .failure(Self.silence)
        default: return response.map { .success($0) } ?? .failure(Self.silence)
        }
    }

    private static let atqa = Frame([0x44, 0x00], checksum: .none)

    private func nak(_ state: inout State) -> Frame {
        state.phase = .idle
        return Frame(bits: [0], validBitsInLastByte: 4)
    }

    private func respond(_ frame: Frame, _ state: inout State) -> Frame? {
        if state.phase != .active { return activate(frame, &state) }
        if frame.validBitsInLastByte != 8 || frame.bytes.isEmpty {
            state.phase = .idle
            return nil
        }
        switch state.fault {
        case .answers(let command, let other) where frame.bytes[0] == command:
            if other.nibble != nil { state.phase = .idle }
            return other
        case .ignores(let command) where frame.bytes[0] == command: return nil
        default: break
        }
        if state.awaitsSector {
            state.awaitsSector = false
            guard Int(frame.bytes[0]) * 256 < product.pageCount else { return nak(&state) }
            state.sector = Int(frame.bytes[0])
            return nil
        }
        let pages = state.sector * 256..<min(product.pageCount, state.sector * 256 + 256)
        let page = frame.bytes.count > 1 ? state.sector * 256 + Int(frame.bytes[1]) : 0
        switch (frame.bytes[0], frame.bytes.count) {
        case (0x30, 2) where pages.contains(page):
            let answer = (0..<4).map { pages.lowerBound + (page - pages.lowerBound + $0) % pages.count }
            state.readPages += answer
            return Frame(answer.flatMap { state.memory[$0 * 4..<$0 * 4 + 4] })
        case (0x3A, 3) where product.hasFastRead:
            let last = state.sector * 256 + Int(frame.bytes[2])
            guard page <= last, pages.contains(last) else { return nak(&state) }
            state.readPages += page...last
            return Frame(Array(state.memory[page * 4..<last * 4 + 4]))
        case (0x60, 1): return product.version.map { Frame(bytes($0)) } ?? nak(&state)
        case (0xC2, 2) where product.pageCount > 256:
            state.awaitsSector = true
            return Frame(bits: [0x0A], validBitsInLastByte: 4)
        case (0xA2, 6) where page >= 2 && pages.contains(page):
            guard !isLocked(page, state.memory) else { return nak(&state) }
            for index in 0..<4 where page > 2 || index >= 2 {
                let isOneTime = page <= 3 || page == lockPage
                let present = isOneTime ? state.memory[page * 4 + index] : 0
                state.memory[page * 4 + index] = present | frame.bytes[2 + index]
            }
            state.writes.append(page)
            state.memoryAfterWrite.append(state.memory)
            return Frame(bits: [0x0A], validBitsInLastByte: 4)
        default: return nak(&state)
        }
    }

    private var lockPage: Int? {
        switch product.areaSize {
        case 0x10: 36
        case 0x12: 40
        case 0x3E: 130
        case 0x6D: 226
        case 0xEA: 480
        default: nil
        }
    }

    /// The static lock bits; of the dynamic ones only what the tests need, the first of NTAG213.
    private func isLocked(_ page: Int, _ memory: [UInt8]) -> Bool {
        switch page {
        case 3...7: memory[10] >> page & 1 != 0
        case 8...15: memory[11] >> (page - 8) & 1 != 0
        case 16...17: product.name == "NTAG213" && memory[160] & 1 != 0
        default: false
        }
    }

    private func activate(_ frame: Frame, _ state: inout State) -> Frame? {
        let bcc = 0x88 ^ uid[0] ^ uid[1] ^ uid[2]
        switch (state.phase, frame.bytes) {
        case (.idle, [0x26]), (.idle, [0x52]), (.halted, [0x52]):
            state.phase = .ready
            return Self.atqa
        case (.ready, [0x93, 0x70, 0x88, uid[0], uid[1], uid[2], bcc]): return Frame([0x04])
        case (.ready, [0x95, 0x70] + uid[3...] + [uid[3...].reduce(0, ^)]):
            state.phase = .active
            state.sector = 0
            state.awaitsSector = false
            return Frame([0x00])
        default:
            state.phase = .idle
            return nil
        }
    }
}

extension ModelTag.Product {
    static let all: [Self] = [
        Self(name: "MIFARE Ultralight", pageCount: 16, areaSize: 0x06),
        Self(name: "MIFARE Ultralight C", pageCount: 44, areaSize: 0x12),
        Self(name: "NTAG203", pageCount: 42, areaSize: 0x12, lockControl: "0103a01044"),
        Self(name: "MIFARE Ultralight EV1 UL11", pageCount: 20, areaSize: 0x06, version: "0004030101000b03"),
        Self(name: "MIFARE Ultralight EV1 UL21", pageCount: 41, areaSize: 0x10, version: "0004030101000e03"),
        Self(name: "NTAG210", pageCount: 20, areaSize: 0x06, version: "0004040101000b03"),
        Self(
            name: "NTAG212",
            pageCount: 41,
            areaSize: 0x10,
            version: "0004040101000e03",
            lockControl: "0103900a34"
        ),
        Self(
            name: "NTAG213",
            pageCount: 45,
            areaSize: 0x12,
            version: "0004040201000f03",
            lockControl: "0103a00c34"
        ),
        Self(name: "NTAG215", pageCount: 135, areaSize: 0x3E, version: "0004040201001103"),
        Self(name: "NTAG216", pageCount: 231, areaSize: 0x6D, version: "0004040201001303"),
        Self(name: "NTAG I2C 1K", pageCount: 231, areaSize: 0x6D, version: "0004040502011303"),
        Self(name: "NTAG I2C 2K", pageCount: 484, areaSize: 0xEA, version: "0004040502011503"),
    ]

    static func named(_ name: String) -> Self {
        all.first { $0.name == name } ?? all[0]
    }

    /// A memory with a message after some bytes of other TLVs.
    func memory(_ message: [UInt8], before: [UInt8] = []) -> [UInt8] {
        var bytes = bytes("04a1b29fc3d4e58072480000e110") + [areaSize, 0x00] + before
        bytes += [0x03] + (message.count <= 254 ? [] : [0xFF, UInt8(message.count >> 8)])
        bytes += [UInt8(message.count & 0xFF)] + message
        if bytes.count < 16 + area { bytes.append(0xFE) }
        bytes += [UInt8](repeating: 0, count: pageCount * 4 - bytes.count)
        if name == "NTAG213" { bytes[163] = 0xBD }
        if let page = ["NTAG212": 37, "NTAG213": 41, "NTAG215": 131, "NTAG216": 227][name] {
            bytes[page * 4 + 3] = 0xFF
        }
        return bytes
    }
}
