// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// A PN532 on a serial line: it takes bytes from the host, and sends bytes back.
package struct PN532SerialDevice: Sendable {
    private var chip: PN53xChip
    private var decoder = PN532FrameDecoder()
    /// The last answer, in case the host lost it.
    private var lastAnswer: [UInt8] = []
    /// The command that waits for a target.
    private var waiting: [UInt8]?
    private let onExchange: (@Sendable (Exchange) -> Void)?

    /// Creates a chip that has just been powered on.
    ///
    /// - Parameters:
    ///   - field: the field that the chip creates.
    ///   - place: the field in which it is a card for another reader.
    ///   - onTargetChange: called on any thread when the card mode has an event. Call ``presenceChanged(send:)``
    ///     afterwards.
    ///   - onExchange: receives each command with its answer.
    package init(
        field: any FieldDriver,
        place: (any CardSlot)? = nil,
        onTargetChange: @escaping @Sendable () -> Void = {},
        onExchange: (@Sendable (Exchange) -> Void)? = nil
    ) {
        chip = PN53xChip(field: field, place: place, onTargetChange: onTargetChange)
        self.onExchange = onExchange
    }

    /// Receives bytes from the line.
    ///
    /// - Parameters:
    ///   - bytes: the received bytes, in pieces of any size.
    ///   - send: sends bytes to the host.
    package mutating func receive(_ bytes: [UInt8], send: ([UInt8]) -> Void) async {
        decoder.append(bytes)
        while let frame = decoder.next() {
            switch frame {
            case .acknowledge:
                if waiting != nil { chip.stopWaiting() }
                waiting = nil
            case .negativeAcknowledge:
                if !lastAnswer.isEmpty { send(lastAnswer) }
            case .command(let command):
                waiting = nil
                send(PN532ChipFrame.acknowledge)
                await perform(command, send: send)
            }
        }
    }

    /// Loses all state, as without power.
    package mutating func powerOff() async {
        waiting = nil
        lastAnswer = []
        decoder = PN532FrameDecoder()
        await chip.reset()
    }

    /// Call it when tags may have arrived or left, because the host may be waiting for one.
    package mutating func presenceChanged(send: ([UInt8]) -> Void) async {
        guard let command = waiting else { return }
        waiting = nil
        await perform(command, isRepeated: true, send: send)
    }

    private mutating func perform(
        _ command: [UInt8],
        isRepeated: Bool = false,
        send: ([UInt8]) -> Void
    ) async {
        let code = command[0]
        switch await chip.receive(command) {
        case .answer(let data):
            lastAnswer = PN532ChipFrame.answer(to: code, data)
            tell(command, data)
        case .syntaxError:
            lastAnswer = PN532ChipFrame.syntaxError
            tell(command, nil, "syntax error")
        case .waiting:
            waiting = command
            lastAnswer = []
            if !isRepeated { tell(command, nil, "waiting") }
            return
        }
        send(lastAnswer)
    }

    private func tell(_ command: [UInt8], _ response: [UInt8]?, _ failure: String? = nil) {
        guard let onExchange else { return }
        let name = PN53xCommand(rawValue: command[0])?.name ?? "unknown"
        onExchange(Exchange(layer: .pn532, name: name, request: command, response: response, failure: failure))
    }
}

/// A frame from a host to a PN532 on its serial line (PN532 user manual, 6.2.1).
package enum PN532HostFrame: Sendable, Equatable {
    /// The bytes after TFI D4: a command's code and its data.
    case command([UInt8])
    /// The host has the answer, or stops waiting.
    case acknowledge
    /// The host requests the last answer again.
    case negativeAcknowledge
}

/// Frames from a PN532 to its host.
package enum PN532ChipFrame {
    package static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    /// The command is unknown, or its parameters are wrong.
    package static let syntaxError: [UInt8] = [0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00]

    /// An answer, in a normal frame; or in an extended frame if it has more than 255 bytes.
    ///
    /// - Parameters:
    ///   - code: the command's code.
    ///   - data: the answer's data.
    package static func answer(to code: UInt8, _ data: [UInt8]) -> [UInt8] {
        let payload = [0xD5, code &+ 1] + data
        let checksum = 0 &- payload.reduce(0, &+)
        if payload.count <= 0xFF {
            let length = UInt8(payload.count)
            return [0x00, 0x00, 0xFF, length, 0 &- length] + payload + [checksum, 0x00]
        }
        let high = UInt8(truncatingIfNeeded: payload.count >> 8)
        let low = UInt8(truncatingIfNeeded: payload.count)
        return [0x00, 0x00, 0xFF, 0xFF, 0xFF, high, low, 0 &- high &- low] + payload + [checksum, 0x00]
    }
}

/// Finds frames in the bytes of a serial line. It skips everything between frames: preambles, the bytes that wake the
/// chip, and frames with wrong lengths or checksums.
package struct PN532FrameDecoder: Sendable {
    /// The longest payload of a frame: TFI, code and 264 bytes of data, rounded up.
    static let maximumPayload = 300

    private var buffer: [UInt8] = []

    /// Creates a decoder without any bytes.
    package init() {}

    /// Adds received bytes.
    package mutating func append(_ bytes: [UInt8]) {
        buffer += bytes
    }

    /// The next whole frame; nil when more bytes are needed.
    package mutating func next() -> PN532HostFrame? {
        var position = 0
        defer { buffer.removeFirst(position) }
        while true {
            // The start code is 00 FF. Its first byte may be the last received byte.
            while position + 1 < buffer.count, buffer[position] != 0x00 || buffer[position + 1] != 0xFF {
                position += 1
            }
            switch frame(at: position) {
            case .incomplete: return nil
            case .invalid: position += 1
            case .whole(let frame, let length):
                position += length
                if let frame { return frame }
            }
        }
    }

    private enum Candidate {
        case incomplete
        /// No frame begins here.
        case invalid
        /// A frame and its length; the frame is nil when it has to be skipped.
        case whole(PN532HostFrame?, length: Int)
    }

    private func frame(at start: Int) -> Candidate {
        let rest = buffer[start...]
        guard rest.count >= 4 else { return .incomplete }
        let length = rest[start + 2]
        let lengthChecksum = rest[start + 3]
        switch (length, lengthChecksum) {
        case (0x00, 0xFF): return .whole(.acknowledge, length: 4)
        case (0xFF, 0x00): return .whole(.negativeAcknowledge, length: 4)
        case (0xFF, 0xFF):
            guard rest.count >= 7 else { return .incomplete }
            let high = rest[start + 4]
            let low = rest[start + 5]
            guard high &+ low &+ rest[start + 6] == 0 else { return .invalid }
            return payload(at: start + 7, count: Int(high: high, low: low), from: start)
        default:
            guard length &+ lengthChecksum == 0 else { return .invalid }
            return payload(at: start + 4, count: Int(length), from: start)
        }
    }

    private func payload(at first: Int, count: Int, from start: Int) -> Candidate {
        guard count >= 2, count <= Self.maximumPayload else { return .invalid }
        guard buffer.count > first + count else { return .incomplete }
        let payload = buffer[first..<first + count]
        guard payload.reduce(0, &+) &+ buffer[first + count] == 0 else { return .invalid }
        let length = first + count + 1 - start
        return .whole(payload.first == 0xD4 ? .command(Array(payload.dropFirst())) : nil, length: length)
    }
}
