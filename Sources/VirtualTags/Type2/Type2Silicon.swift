// SPDX-License-Identifier: Apache-2.0
import Synchronization
public import TagLink

/// A simple NTAG213 to stand in.
public final class Type2Silicon: VirtualTag {
    enum Phase { case idle, ready(Int), active, halt }
    struct State {
        var phase = Phase.idle
        var wasHalted = false
        var memory: [UInt8]
    }
    let state: Mutex<State>
    let uid: [UInt8]
    let pages: Int
    let version: [UInt8]?

    public init(memory: [UInt8], version: [UInt8]?) {
        uid = Array(memory[0..<3] + memory[4..<8])
        pages = memory.count / 4
        self.version = version
        state = Mutex(State(memory: memory))
    }
    public var technology: Technology { .nfcA }
    public var memory: [UInt8] { state.withLock { $0.memory } }
    public func losePower() {
        state.withLock {
            $0.phase = .idle; $0.wasHalted = false
        }
    }

    public func receive(_ frame: AirFrame) -> TagAnswer? {
        state.withLock { state in
            if frame.validBitsInLastByte == 7, frame.bytes.count == 1 {
                switch state.phase {
                case .idle where frame.bytes[0] == 0x26 || frame.bytes[0] == 0x52: state.wasHalted = false
                case .halt where frame.bytes[0] == 0x52: state.wasHalted = true
                case .idle, .halt: return nil
                default: state.phase = state.wasHalted ? .halt : .idle; return nil
                }
                state.phase = .ready(0)
                return TagAnswer([0x44, 0x00], hasChecksum: false)
            }
            if case .ready(let level) = state.phase { return anticollide(&state, level, frame) }
            guard case .active = state.phase else { return nil }
            return command(&state, frame.bytes)
        }
    }
    private func part(_ level: Int) -> [UInt8] {
        let p = level == 0 ? [0x88] + uid[0..<3] : Array(uid[3..<7])
        return p + [p.reduce(0, ^)]
    }
    private func anticollide(_ state: inout State, _ level: Int, _ frame: AirFrame) -> TagAnswer? {
        let b = frame.bytes
        guard b.count >= 2, b[0] == [0x93, 0x95][level] else { state.phase = .idle; return nil }
        if b[1] == 0x70 {
            guard Array(b[2...]) == part(level) else { state.phase = state.wasHalted ? .halt : .idle; return nil }
            state.phase = level == 0 ? .ready(1) : .active
            return TagAnswer([level == 0 ? 0x04 : 0x00])
        }
        let known = Int(b[1] >> 4 - 2) * 8 + Int(b[1] & 15)
        let mine = part(level)
        func bit(_ x: [UInt8], _ i: Int) -> UInt8 { x[i / 8] >> UInt8(i % 8) & 1 }
        for i in 0..<known where bit(Array(b[2...]), i) != bit(mine, i) { return nil }
        var out = [UInt8](repeating: 0, count: (40 - known + 7) / 8)
        for i in known..<40 { out[(i - known) / 8] |= bit(mine, i) << UInt8((i - known) % 8) }
        return TagAnswer(out, validBitsInLastByte: (40 - known) % 8 == 0 ? 8 : (40 - known) % 8, hasChecksum: false)
    }
    private func nak(_ state: inout State) -> TagAnswer {
        state.phase = state.wasHalted ? .halt : .idle
        return TagAnswer([0], validBitsInLastByte: 4, hasChecksum: false)
    }
    private func command(_ state: inout State, _ b: [UInt8]) -> TagAnswer? {
        switch (b.first, b.count) {
        case (0x30, 2):
            guard b[1] < pages else { return nak(&state) }
            return TagAnswer((0..<16).map { state.memory[(Int(b[1]) * 4 + $0) % state.memory.count] })
        case (0x3A, 3) where version != nil:
            guard b[1] <= b[2], b[2] < pages else { return nak(&state) }
            return TagAnswer(Array(state.memory[Int(b[1]) * 4..<Int(b[2]) * 4 + 4]))
        case (0x60, 1): return version.map { TagAnswer($0) } ?? nak(&state)
        case (0xA2, 6):
            guard b[1] >= 2, b[1] < pages else { return nak(&state) }
            state.memory.replaceSubrange(Int(b[1]) * 4..<Int(b[1]) * 4 + 4, with: b[2...])
            return TagAnswer(
                [0x0A],
                validBitsInLastByte: 4,
                hasChecksum: false,
                workTime: .microseconds(4100),
                programs: true
            )
        case (0x50, 2): state.phase = .halt; return nil
        default: return nak(&state)
        }
    }
}
