// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink

/// Commands and answers over a serial line: the chip's high-speed UART (PN532 user manual, 6.2.2 and 6.3.1).
///
/// An answer counts only after the acknowledgement of its command. What remains of an abandoned exchange arrives before
/// that, and is skipped.
final class HostInterface {
    /// Why a command had no answer.
    enum Failure: Error {
        /// The chip did not acknowledge the command. It may have received it or not.
        case notAcknowledged
        /// The chip has the command, but its answer did not arrive in time. The host aborted the command.
        case silent
        /// Every copy of the answer was damaged.
        case damaged
        /// The chip reports that the command is unknown, or its parameters are wrong.
        case syntax
        /// The line is gone, or the operation was cancelled.
        case line(LinkError)
    }

    private let port: SerialPort
    private let limits: HostLimits
    private var decoder = ChipFrameDecoder()

    init(port: SerialPort, limits: HostLimits) {
        self.port = port
        self.limits = limits
    }

    /// The line's path.
    var path: String { port.path }

    /// How many times to request an answer again.
    static let repeats = 2

    /// Sends a command and waits for its answer.
    ///
    /// - Parameters:
    ///   - code: the command's code.
    ///   - data: its data.
    ///   - wakes: whether the chip may be asleep.
    ///   - limit: how long the chip may take after it has the command; nil for no limit.
    ///   - cancellation: whether the answer is still needed.
    func exchange(
        _ code: UInt8,
        _ data: [UInt8],
        wakes: Bool = false,
        limit: Duration?,
        _ cancellation: Cancellation?
    ) throws(Failure) -> [UInt8] {
        do throws(LinkError) {
            try port.discardInput()
            decoder.reset()
            let frame = HostFrame.command(code, data)
            try send((wakes ? HostFrame.wakeUp : []) + frame, cancellation)
        } catch {
            throw .line(error)
        }
        try waitForAcknowledge(wakes ? limits.wake : limits.acknowledge, cancellation)
        return try waitForAnswer(code &+ 1, limit, cancellation)
    }

    /// Aborts the chip's current command.
    func abort() throws(LinkError) {
        try send(HostFrame.acknowledge, nil)
    }

    /// Changes the speed of the line.
    func setSpeed(_ speed: SerialSpeed) throws(LinkError) {
        try port.setSpeed(speed)
    }

    private func send(_ bytes: [UInt8], _ cancellation: Cancellation?) throws(LinkError) {
        try port.write(bytes, before: .now + limits.write, cancellation)
    }

    private func waitForAcknowledge(_ limit: Duration, _ cancellation: Cancellation?) throws(Failure) {
        let deadline = ContinuousClock.Instant.now + limit
        while let frame = try next(before: deadline, cancellation) {
            switch frame {
            case .acknowledge: return
            case .syntaxError: throw .syntax
            // A remainder of an abandoned exchange.
            case .answer, .damaged: continue
            }
        }
        try give(up: .notAcknowledged)
    }

    private func waitForAnswer(
        _ code: UInt8,
        _ limit: Duration?,
        _ cancellation: Cancellation?
    ) throws(Failure) -> [UInt8] {
        let deadline = limit.map { ContinuousClock.Instant.now + $0 }
        var damages = 0
        while let frame = try next(before: deadline, cancellation) {
            switch frame {
            case .answer(code, let data): return data
            case .syntaxError: throw .syntax
            case .damaged(code):
                damages += 1
                guard damages <= Self.repeats else { try give(up: .damaged) }
                do throws(LinkError) {
                    try send(HostFrame.negativeAcknowledge, cancellation)
                } catch {
                    throw .line(error)
                }
            case .acknowledge, .answer, .damaged: continue
            }
        }
        try give(up: .silent)
    }

    private func give(up failure: Failure) throws(Failure) -> Never {
        do throws(LinkError) {
            try abort()
        } catch {
            throw .line(error)
        }
        throw failure
    }

    /// The next frame; nil when none arrives in time. A frame whose rest does not arrive is given up.
    private func next(
        before deadline: ContinuousClock.Instant?,
        _ cancellation: Cancellation?
    ) throws(Failure) -> ChipFrame? {
        while true {
            if let frame = decoder.next() { return frame }
            // Checked here too, so that a device that never stops sending can't block the wait.
            if let deadline, deadline <= .now { return nil }
            var until = deadline
            if decoder.isInFrame {
                let gap = ContinuousClock.Instant.now + limits.gap
                until = deadline.map { min($0, gap) } ?? gap
            }
            let bytes: [UInt8]
            do throws(LinkError) {
                if cancellation?.isCancelled == true { throw SerialPortError.cancelled }
                bytes = try port.read(before: until, cancellation)
            } catch {
                if error.code == .cancelled { try? abort() }
                throw .line(error)
            }
            decoder.append(bytes)
            if bytes.isEmpty, decoder.isInFrame, let frame = decoder.abandonPartial() { return frame }
        }
    }
}

/// How long a host waits for a PN532 before it considers the chip silent.
package struct HostLimits: Sendable {
    /// For the acknowledgement of a command: 15 ms, and the delay of USB adapters and busy machines.
    var acknowledge = Duration.milliseconds(150)
    /// The same for a chip that is being woken, or an adapter that was just opened: some take a second for their first
    /// byte.
    var wake = Duration.milliseconds(500)
    /// How long the line may be silent within a frame. USB adapters pause for 16 ms.
    var gap = Duration.milliseconds(60)
    /// How long the line may take for a frame at its slowest speed.
    var write = Duration.seconds(1)
    /// How long the chip may take for commands that it handles by itself.
    var own = Duration.milliseconds(300)
    /// How long a list of targets may take: the chip tries each technology twice.
    var list = Duration.milliseconds(1500)
    /// How long the chip may take, in card mode, to pass an answer to the reader.
    var answer = Duration.seconds(5)
    /// The delay of the line, the adapter and a busy machine, in addition to the time of an exchange with a tag.
    var tolerance = Duration.milliseconds(500)

    /// The limits for a chip on a serial line.
    package static let standard = HostLimits()

    /// The limits for a chip that is a program, which shares the processor with a thousand others.
    package static let patient = HostLimits(
        acknowledge: .seconds(30),
        wake: .seconds(30),
        gap: .seconds(30),
        write: .seconds(30),
        own: .seconds(30),
        list: .seconds(30),
        answer: .seconds(30),
        tolerance: .seconds(30)
    )
}

/// Frames from a host to a PN532 (PN532 user manual, 6.2.1).
enum HostFrame {
    /// The host has the answer, or stops waiting for it: the chip stops its command.
    static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    /// The last answer arrived damaged: the chip has to send it again.
    static let negativeAcknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]
    /// The bytes that wake a sleeping chip and give it time to start. They are sent before a frame (PN532 user manual,
    /// 7.2.11).
    static let wakeUp: [UInt8] = [0x55, 0x55] + [UInt8](repeating: 0, count: 14)

    /// The maximum number of data bytes of a command, after its code: a frame has 265 bytes from TFI on.
    static let maximumData = 263

    /// The frame of a command. It is an extended frame if it has more than 255 bytes.
    ///
    /// - Parameters:
    ///   - code: the command's code.
    ///   - data: its data, ``maximumData`` bytes at most.
    static func command(_ code: UInt8, _ data: [UInt8]) -> [UInt8] {
        let payload = [0xD4, code] + data
        let checksum = 0 &- payload.reduce(0, &+)
        let low = UInt8(truncatingIfNeeded: payload.count)
        guard payload.count > 0xFF else {
            return [0x00, 0x00, 0xFF, low, 0 &- low] + payload + [checksum, 0x00]
        }
        let high = UInt8(truncatingIfNeeded: payload.count >> 8)
        return [0x00, 0x00, 0xFF, 0xFF, 0xFF, high, low, 0 &- high &- low] + payload + [checksum, 0x00]
    }
}

/// A frame from a PN532 to its host.
enum ChipFrame: Sendable, Equatable {
    /// The chip has received the command.
    case acknowledge
    /// An answer: the command's code plus one, and its data.
    case answer(code: UInt8, data: [UInt8])
    /// The error frame: the command is unknown, or its parameters are wrong.
    case syntaxError
    /// An answer with this code whose end is damaged or missing.
    case damaged(code: UInt8)
}

/// Finds the chip's frames in the bytes of a line (PN532 user manual, 6.2.1).
///
/// It skips everything between frames: preambles, noise, and frames with wrong lengths or checksums. It never keeps
/// more than one frame.
struct ChipFrameDecoder: Sendable {
    /// The longest payload of a frame: TFI, code and 263 bytes of data.
    static let maximumPayload = 265

    private var buffer: [UInt8] = []

    /// Adds received bytes.
    mutating func append(_ bytes: [UInt8]) {
        buffer += bytes
    }

    /// Whether a frame may have started and is incomplete.
    var isInFrame: Bool { buffer.count > 1 }

    /// The number of kept bytes.
    var keptCount: Int { buffer.count }

    /// Discards all bytes.
    mutating func reset() {
        buffer = []
    }

    /// The next frame; nil when more bytes are needed.
    mutating func next() -> ChipFrame? {
        var position = 0
        defer { buffer.removeFirst(position) }
        while true {
            // The start code is 00 FF. Its first byte may be the last received byte.
            while position < buffer.count, !isStartCode(position) { position += 1 }
            switch candidate(at: position) {
            case .incomplete: return nil
            case .invalid: position += 1
            case .damaged(let code):
                // The following bytes may be a whole frame, so only the start is skipped.
                position += 1
                return .damaged(code: code)
            case .whole(let frame, let length):
                position += length
                return frame
            }
        }
    }

    /// Gives up a frame whose rest does not arrive.
    ///
    /// - Returns: the damaged frame if its code is known, or a whole frame within its bytes.
    mutating func abandonPartial() -> ChipFrame? {
        guard !buffer.isEmpty else { return nil }
        let header = extendedLength(at: 0) == nil ? 4 : 7
        let code = buffer.count > header + 1 && buffer[header] == 0xD5 ? buffer[header + 1] : nil
        while !buffer.isEmpty {
            buffer.removeFirst()
            if let frame = next() { return frame }
        }
        return code.map { .damaged(code: $0) }
    }

    private func isStartCode(_ position: Int) -> Bool {
        buffer[position] == 0x00 && (position + 1 == buffer.count || buffer[position + 1] == 0xFF)
    }

    private enum Candidate {
        case incomplete
        /// No frame begins here.
        case invalid
        case damaged(UInt8)
        case whole(ChipFrame, length: Int)
    }

    private func candidate(at start: Int) -> Candidate {
        guard buffer.count >= start + 4 else { return .incomplete }
        let length = buffer[start + 2]
        let lengthChecksum = buffer[start + 3]
        switch (length, lengthChecksum) {
        case (0x00, 0xFF): return .whole(.acknowledge, length: 4)
        // Only a host sends NACK, never the chip.
        case (0xFF, 0x00): return .invalid
        case (0xFF, 0xFF):
            guard buffer.count >= start + 7 else { return .incomplete }
            guard let count = extendedLength(at: start) else { return .invalid }
            return payload(at: start + 7, count: count, from: start)
        default:
            guard length &+ lengthChecksum == 0 else { return .invalid }
            return payload(at: start + 4, count: Int(length), from: start)
        }
    }

    private func extendedLength(at start: Int) -> Int? {
        guard buffer.count >= start + 7, buffer[start + 2] == 0xFF, buffer[start + 3] == 0xFF else { return nil }
        let high = buffer[start + 4]
        let low = buffer[start + 5]
        return high &+ low &+ buffer[start + 6] == 0 ? Int(high: high, low: low) : nil
    }

    private func payload(at first: Int, count: Int, from start: Int) -> Candidate {
        guard (1...Self.maximumPayload).contains(count) else { return .invalid }
        let end = first + count
        guard buffer.count > end else { return .incomplete }
        let length = end + 1 - start
        let payload = buffer[first..<end]
        let isGood = payload.reduce(0, &+) &+ buffer[end] == 0
        if isGood, count == 1, buffer[first] == 0x7F { return .whole(.syntaxError, length: length) }
        guard count >= 2, buffer[first] == 0xD5 else { return .invalid }
        let code = buffer[first + 1]
        guard isGood else { return .damaged(code) }
        return .whole(.answer(code: code, data: Array(payload.dropFirst(2))), length: length)
    }
}
