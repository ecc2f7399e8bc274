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
