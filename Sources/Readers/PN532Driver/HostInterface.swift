// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink

/// How long a host waits for a PN532 before it considers the chip unresponsive.
package struct HostLimits: Sendable {
    /// For the acknowledgement of a command: 15 ms, plus the delay of USB adapters and busy machines.
    package var acknowledge = Duration.milliseconds(150)
    /// For an acknowledgement by a sleeping chip, or through an adapter that was just opened. Some adapters take a
    /// second for their first byte.
    package var wake = Duration.milliseconds(500)
    /// For a pause within a frame. USB adapters may pause for 16 ms.
    package var gap = Duration.milliseconds(60)
    /// For transmitting a frame at the lowest speed of the line.
    package var write = Duration.seconds(1)
    /// For commands that the chip handles without a tag.
    package var own = Duration.milliseconds(300)
    /// For a poll for targets. The chip tries each technology twice.
    package var list = Duration.milliseconds(1500)
    /// For passing an answer to the reader in card mode.
    package var answer = Duration.seconds(5)
    /// For the delay of the line, the adapter and a busy machine, in addition to the time of an exchange with a tag.
    package var tolerance = Duration.milliseconds(500)

    package init() {}
}

/// Sends commands to a chip and receives answers over its line (PN532 user manual, 6.2).
///
/// An answer is only accepted after its command was acknowledged. Remaining bytes of an abandoned exchange arrive
/// before that, and are skipped.
final class HostInterface {
    private let line: any ChipLine
    private let limits: HostLimits
    private var decoder = PN53xFrameDecoder(from: .chip)

    init(line: any ChipLine, limits: HostLimits) {
        self.line = line
        self.limits = limits
    }

    /// How many times to request a damaged answer again.
    static let repeats = 2
    static let maximumData = PN53xFrame.maximumPayload - 2

    /// Sends a command and waits for its answer.
    ///
    /// - Parameters:
    ///   - code: the command's code.
    ///   - data: the command's data.
    ///   - wakes: whether the chip may be asleep.
    ///   - limit: how long the chip may take after it has received the command; nil for no limit.
    /// - Throws: `LinkError` with `transmission` when the command was not acknowledged, so the chip may or may not have
    ///   received it, or when every copy of the answer was damaged; `timeout` when the answer did not arrive in time,
    ///   and the command was aborted; `unsupported` when the chip reports a syntax error; `readerUnavailable` when the
    ///   line is gone; `cancelled`.
    func exchange(_ code: UInt8, _ data: [UInt8], wakes: Bool = false, limit: Duration?) throws(LinkError) -> [UInt8] {
        try line.discardInput()
        decoder.reset()
        try send(PN53xFrame.bytes([code] + data, from: .host), wakes: wakes)
        try waitForAcknowledge(wakes ? limits.wake : limits.acknowledge)
        return try waitForAnswer(code &+ 1, limit)
    }

    func abort() throws(LinkError) {
        try send(PN53xFrame.acknowledgeBytes)
    }

    private func send(_ frame: [UInt8], wakes: Bool = false) throws(LinkError) {
        try line.write(frame, wakes: wakes, before: .now + limits.write)
    }

    private static let refused = LinkError(.unsupported, "The PN532 refused the command.")
    private static let lost = LinkError(.transmission, "The line to the PN532 lost a command or its answer.")

    private func waitForAcknowledge(_ limit: Duration) throws(LinkError) {
        let deadline = ContinuousClock.Instant.now + limit
        while let frame = try next(before: deadline) {
            switch frame {
            case .acknowledge: return
            case .syntaxError: throw Self.refused
            // Left over from an abandoned exchange.
            case .message, .damaged, .negativeAcknowledge: continue
            }
        }
        try abort()
        throw Self.lost
    }

    private func waitForAnswer(_ code: UInt8, _ limit: Duration?) throws(LinkError) -> [UInt8] {
        let deadline = limit.map { ContinuousClock.Instant.now + $0 }
        var damages = 0
        while let frame = try next(before: deadline) {
            switch frame {
            case .message(let answer) where answer[0] == code: return Array(answer.dropFirst())
            case .syntaxError: throw Self.refused
            case .damaged(code):
                damages += 1
                if damages > Self.repeats {
                    try abort()
                    throw Self.lost
                }
                try send(PN53xFrame.negativeAcknowledgeBytes)
            case .acknowledge, .message, .damaged, .negativeAcknowledge: continue
            }
        }
        try abort()
        throw LinkError(.timeout, "The PN532 did not answer in time.")
    }

    /// Returns the next frame; nil when none arrives in time. Drops an incomplete frame.
    private func next(before deadline: ContinuousClock.Instant?) throws(LinkError) -> PN53xFrame? {
        while true {
            if let frame = decoder.next() { return frame }
            // Checked in the loop, so that a device that never stops sending can't block the wait.
            if let deadline, deadline <= .now { return nil }
            var until = deadline
            if decoder.isInFrame {
                let gap = ContinuousClock.Instant.now + limits.gap
                until = deadline.map { min($0, gap) } ?? gap
            }
            let bytes: [UInt8]
            do throws(LinkError) {
                bytes = try line.read(before: until)
            } catch {
                if error.code == .cancelled { try? abort() }
                throw error
            }
            decoder.append(bytes)
            if bytes.isEmpty, decoder.isInFrame, let frame = decoder.abandonPartial() { return frame }
        }
    }
}
