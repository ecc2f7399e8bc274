// SPDX-License-Identifier: Apache-2.0
import Foundation
package import Glibc
package import PN532Driver
package import TagLink

/// A PN532 at the other end of a line, which answers as a test says.
package final class ScriptedChip: Sendable {
    /// What the host hears of a command.
    package enum Reply: Sendable {
        /// Acknowledgement and answer: the data after its code.
        case answer([UInt8])
        case syntaxError
        /// The acknowledgement alone.
        case silence
        /// The acknowledgement, and then these bytes.
        case bytes([UInt8])
        /// These bytes alone.
        case unacknowledged([UInt8])
        /// The line goes away.
        case hangUp
    }

    /// What the host sent.
    package enum Received: Sendable, Equatable {
        case command(UInt8, [UInt8])
        case acknowledge
        case negativeAcknowledge
    }

    package typealias Responder = @Sendable (_ code: UInt8, _ data: [UInt8]) -> Reply
    /// Answers some commands, and leaves the others to ``usual(_:_:)`` by nil.
    package typealias PartialResponder = @Sendable (_ code: UInt8, _ data: [UInt8]) -> Reply?

    private struct State {
        var received: [Received] = []
        var isEnded = false
        /// What the host has sent of its next frame.
        var buffer: [UInt8] = []
        var last: [UInt8] = []
        /// The answer to NACK, if it is not the last answer.
        var repeated: [UInt8]?
    }

    /// The other end of a serial line, or of a bus.
    private let terminal: PseudoTerminal?
    private let bus = Locked<BusModel?>(nil)
    private let state = Locked(State())

    package let path: String
    /// How the driver has set the line.
    package var lineSettings: termios { terminal?.settings ?? termios() }
    package var received: [Received] { state.withLock { $0.received } }
    package var commands: [UInt8] {
        received.compactMap { if case .command(let code, _) = $0 { code } else { nil } }
    }

    /// Creates a chip.
    ///
    /// - Parameters:
    ///   - kind: the line.
    ///   - responder: answers commands; nil leaves them to ``usual(_:_:)``.
    package init(on kind: ChipLineKind = .serial, _ responder: @escaping PartialResponder) throws {
        let responder: Responder = { responder($0, $1) ?? Self.usual($0, $1) }
        if kind == .serial {
            let terminal = try PseudoTerminal()
            self.terminal = terminal
            path = terminal.path
            // Its own thread, because the driver's limits are in real time, even if the process is busy.
            Thread.detachNewThread { [self] in serve(terminal, responder) }
        } else {
            terminal = nil
            path = kind == .i2c ? "/dev/i2c-1" : "/dev/spidev0.0"
            let model = BusModel(kind) { [weak self] bytes in
                guard let self, let bus = bus.withLock({ $0 }) else { return }
                let isThere = receive(bytes, responder) { frames in frames.forEach(bus.offer) }
                if !isThere { bus.fail(kind == .i2c ? ENODEV : ESHUTDOWN) }
            }
            bus.withLock { $0 = model }
        }
    }

    /// The chip's bus, as the driver opens it.
    package func openBus(_ path: String, _ kind: ChipLineKind) throws(SystemCallError) -> any BusDevice {
        guard let bus = bus.withLock({ $0 }) else { throw SystemCallError(ENOENT) }
        return bus
    }

    /// A reader on this chip's line.
    package func reader(_ limits: HostLimits = .patient) throws(LinkError) -> PN532Reader {
        try PN532Reader(path, limits: limits, openBus: openBus)
    }

    /// Has the chip send these bytes whenever it is asked for its last answer again.
    package func repeats(_ bytes: [UInt8]) {
        state.withLock { $0.repeated = bytes }
    }

    /// Unplugs the chip, a moment later.
    package func end() {
        state.withLock { $0.isEnded = true }
    }

    /// A chip in an empty field.
    package static func usual(_ code: UInt8, _ data: [UInt8]) -> Reply {
        switch code {
        case 0x02: .answer([0x32, 0x01, 0x06, 0x07])
        case 0x06: .answer([UInt8](repeating: 0x80, count: data.count / 2))
        case 0x08, 0x10, 0x12, 0x14, 0x32: .answer([])
        case 0x4A: .answer([0])
        case 0x44, 0x52: .answer([0])
        default: .syntaxError
        }
    }

    package static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]

    /// An answer's frame.
    package static func frame(_ code: UInt8, _ data: [UInt8]) -> [UInt8] {
        let payload = [0xD5, code + 1] + data
        let sum = payload.reduce(0, &+)
        let count = payload.count
        let head: [UInt8] =
            count <= 255
            ? [UInt8(count), 0 &- UInt8(count)]
            : [0xFF, 0xFF, UInt8(count >> 8), UInt8(count & 0xFF), 0 &- UInt8(count >> 8) &- UInt8(count & 0xFF)]
        return [0x00, 0x00, 0xFF] + head + payload + [0 &- sum, 0x00]
    }

    private func serve(_ terminal: PseudoTerminal, _ responder: Responder) {
        defer { terminal.close() }
        while !state.withLock({ $0.isEnded }) {
            guard let bytes = terminal.read(milliseconds: 10) else { continue }
            if bytes.isEmpty { return }
            guard receive(bytes, responder, send: { terminal.write(Array($0.joined())) }) else { return }
        }
    }

    /// Answers the host with frames, one at a time on a bus. Returns false when the line goes away.
    private func receive(_ bytes: [UInt8], _ responder: Responder, send: ([[UInt8]]) -> Void) -> Bool {
        state.withLock { $0.buffer += bytes }
        while let frame = state.withLock({ Self.next(&$0.buffer) }) {
            state.withLock { $0.received.append(frame) }
            switch frame {
            case .acknowledge: break
            case .negativeAcknowledge: send([state.withLock { $0.repeated ?? $0.last }])
            case .command(let code, let data):
                state.withLock { $0.last = Self.frame(code, []) }
                switch responder(code, data) {
                case .answer(let data):
                    let answer = Self.frame(code, data)
                    state.withLock { $0.last = answer }
                    send([Self.acknowledge, answer])
                case .syntaxError:
                    send([Self.acknowledge, [0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00]])
                case .silence: send([Self.acknowledge])
                case .bytes(let bytes): send([Self.acknowledge, bytes])
                case .unacknowledged(let bytes): send([bytes])
                case .hangUp: return false
                }
            }
        }
        return true
    }

    /// The next frame of a host.
    private static func next(_ buffer: inout [UInt8]) -> Received? {
        while let start = buffer.indices.dropLast().first(where: { buffer[$0] == 0 && buffer[$0 + 1] == 0xFF }) {
            let rest = Array(buffer[(start + 2)...])
            guard rest.count >= 2 else { return nil }
            if rest.starts(with: [0x00, 0xFF]) {
                buffer = Array(rest.dropFirst(2))
                return .acknowledge
            }
            if rest.starts(with: [0xFF, 0x00]) {
                buffer = Array(rest.dropFirst(2))
                return .negativeAcknowledge
            }
            let isExtended = rest.starts(with: [0xFF, 0xFF])
            guard rest.count >= (isExtended ? 5 : 2) else { return nil }
            let count = isExtended ? Int(rest[2]) << 8 | Int(rest[3]) : Int(rest[0])
            let body = rest.dropFirst(isExtended ? 5 : 2)
            guard body.count > count else { return nil }
            let payload = Array(body.prefix(count + 1))
            buffer = Array(body.dropFirst(count + 1))
            if payload.reduce(0, &+) == 0, count >= 2, payload[0] == 0xD4 {
                return .command(payload[1], Array(payload[2..<count]))
            }
        }
        return nil
    }
}

extension HostLimits {
    /// The limits for a chip that is a program, which shares the processor with other tests.
    package static var patient: HostLimits {
        var limits = HostLimits()
        let paths: [WritableKeyPath<HostLimits, Duration>] = [
            \.acknowledge, \.wake, \.gap, \.write, \.own, \.list, \.answer, \.tolerance,
        ]
        for path in paths { limits[keyPath: path] = .seconds(30) }
        return limits
    }
}
