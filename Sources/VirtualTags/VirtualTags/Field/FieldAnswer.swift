// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The combined answer of all tags in a field.
struct FieldAnswer {
    /// The signal at the reader's antenna.
    enum Reply {
        case silence
        case frame(Frame)
        case collision(CollisionPoint)
        case damaged
    }

    var reply = Reply.silence
    var workTime = Airtime.zero
    var isWrite = false
    /// The longest frame, which determines the duration.
    var longest: Frame?
    /// The answers to polling by slot; nil for a slot with several answers.
    var slots: [Int: Frame?] = [:]

    mutating func add(_ answer: TagAnswer, _ technology: Technology) {
        isWrite = isWrite || answer.isWrite
        guard let frame = answer.frame else { return }
        workTime = max(workTime, answer.workTime)
        if let slot = answer.slot {
            add(frame, inSlot: slot)
            return
        }
        if frame.bitCount >= longest?.bitCount ?? 0 { longest = frame }
        switch reply {
        case .silence:
            reply = .frame(frame)
        case .frame(let other):
            switch Frame.merged(other, frame, technology) {
            case .success(let merged): reply = .frame(merged)
            case .failure(let point): reply = .collision(point)
            }
        case .collision(let point):
            // A third tag can only move the first difference to an earlier position.
            let known = Frame(bits: point.bits + [0], validBitsInLastByte: 8)
            if case .failure(let earlier) = Frame.merged(known, frame, technology), earlier.bitIndex < point.bitIndex {
                reply = .collision(earlier)
            }
        case .damaged:
            break
        }
    }

    /// Returns the result for the link's caller.
    func result(for request: Frame, _ technology: Technology, maximumFrameLength: Int) -> Result<Frame, LinkError> {
        switch reply {
        case .silence:
            return .failure(LinkError(.timeout, "No tag answered in time."))
        case .damaged:
            return .failure(LinkError(.transmission, "The answer was damaged."))
        case .collision(let point):
            return .failure(
                LinkError(
                    .collision,
                    "Several tags answered at once.",
                    collision: LinkError.Collision(bitIndex: point.bitIndex, bits: point.bits)
                )
            )
        case .frame(let frame):
            guard let received = frame.received(inAnswerTo: request, technology) else {
                return .failure(LinkError(.transmission, "The answer's checksum is wrong."))
            }
            let length = received.bytes.count + (received.checksum == .none ? 0 : 2)
            if length > maximumFrameLength {
                return .failure(LinkError(.frameTooLong, "The answer is longer than the reader can take."))
            }
            return .success(received)
        }
    }
}
