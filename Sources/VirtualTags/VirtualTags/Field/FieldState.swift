// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The state of a virtual field. It processes the reader's frames and returns what the reader receives.
struct FieldState: Sendable {
    struct Outcome {
        var record: ExchangeRecord
        var changedPresence = false
    }

    private(set) var tags: [any VirtualTag] = []
    /// The arrival number of each tag, by its index in `tags`.
    private var arrivals: [UInt64] = []
    private var lastArrival: UInt64 = 0
    var isCarrierOn = true
    var statistics = [LinkStatistics](repeating: .zero, count: Technology.allCases.count)
    var faults: ArmedFaults?
    var recording: [ExchangeRecord]?
    var recordingLimit = 0
    /// The number of commands that programmed a tag's memory.
    var writes = 0

    /// Adds a tag in its unpowered state.
    mutating func add(_ tag: any VirtualTag) {
        lastArrival += 1
        tags.append(tag)
        arrivals.append(lastArrival)
    }

    mutating func removeTag(at index: Int) {
        arrivals.remove(at: index)
        tags.remove(at: index).losePower()
    }

    mutating func removeAllTags() {
        for tag in tags { tag.losePower() }
        tags.removeAll()
        arrivals.removeAll()
    }

    /// Returns the arrival number of the tag with this identifier; nil if no such tag is present.
    func arrival(of identifier: [UInt8]) -> UInt64? {
        tags.firstIndex { $0.answers(to: identifier) }.map { arrivals[$0] }
    }

    mutating func exchange(
        _ request: Frame,
        _ technology: Technology,
        timeout: Airtime,
        maximumFrameLength: Int
    ) -> Outcome {
        var record = ExchangeRecord(
            technology: technology,
            request: request,
            result: .failure(LinkError(.timeout, "No tag answered in time.")),
            elapsed: .zero
        )
        guard isCarrierOn else {
            record.result = .failure(LinkError(.readerUnavailable, "The carrier is off."))
            return Outcome(record: record)
        }
        let present = tags.count
        var fault = faults?.next()
        fault?.changeTags(in: &self)
        var answer = FieldAnswer()
        if fault?.isDeaf != true {
            answer = collect(request, technology, injectedFault: fault?.injectedFault)
        }
        if answer.isWrite {
            writes += 1
            faults?.countWrite()
            if case .powerCut = fault?.injectedFault {
                if fault?.keepsTags == true {
                    for tag in tags { tag.losePower() }
                } else {
                    removeAllTags()
                }
                answer.reply = .silence
            }
        }
        fault?.changeAnswer(&answer)

        var received: Frame?
        if answer.workTime <= timeout {
            record.result = answer.result(for: request, technology, maximumFrameLength: maximumFrameLength)
            received = record.response ?? answer.longest
        }
        let index = Int(technology.rawValue)
        let before = statistics[index]
        statistics[index].count(
            request: request,
            response: received,
            timing: FrameTiming(technology),
            timeout: timeout,
            tagWorkTime: answer.workTime
        )
        let spent = statistics[index] - before
        record.elapsed = spent.airtime + spent.tagWorkTime
        if recording != nil, recordingLimit > 0 {
            recordingLimit -= 1
            recording?.append(record)
        }
        return Outcome(record: record, changedPresence: present != tags.count || fault?.swapsTags == true)
    }

    /// Sends the request to every tag, and combines the answers.
    private func collect(_ request: Frame, _ technology: Technology, injectedFault: InjectedFault?) -> FieldAnswer {
        var all = FieldAnswer()
        for tag in tags where tag.technology == technology {
            guard let answer = tag.answer(request, injectedFault: injectedFault) else { continue }
            all.add(answer, technology)
        }
        return all
    }
}

struct FieldAnswer {
    /// The signal at the reader's antenna.
    enum Reply {
        case silence
        case frame(Frame)
        case collision(LinkError.Collision)
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
        case .silence: reply = .frame(frame)
        case .frame(let other): reply = .merged(other, frame, technology)
        case .collision(let point):
            // Another tag can only move the first difference to an earlier position.
            let known = Frame(bits: point.bits + [0], validBitsInLastByte: 8)
            if case .collision(let earlier) = Reply.merged(known, frame, technology), earlier.bitIndex < point.bitIndex
            {
                reply = .collision(earlier)
            }
        case .damaged: break
        }
    }

    /// Adds an answer to NFC-F polling. The reader receives the answers of all slots in one frame, each starting with
    /// its length byte. Several answers in the same slot are lost (NFC Forum Digital 2.3, 8.7.2).
    private mutating func add(_ frame: Frame, inSlot slot: Int) {
        slots.updateValue(slots.keys.contains(slot) ? nil : frame, forKey: slot)
        let heard = slots.sorted { $0.key < $1.key }.compactMap(\.value)
        guard let first = heard.first else {
            reply = .collision(LinkError.Collision(bitIndex: 0, bits: []))
            return
        }
        let joined = Frame(heard.flatMap(\.bytes), checksum: first.checksum)
        reply = .frame(joined)
        longest = joined
    }

    func result(for request: Frame, _ technology: Technology, maximumFrameLength: Int) -> Result<Frame, LinkError> {
        switch reply {
        case .silence: return .failure(LinkError(.timeout, "No tag answered in time."))
        case .damaged: return .failure(LinkError(.transmission, "The answer was damaged."))
        case .collision(let point):
            return .failure(LinkError(.collision, "Several tags answered at once.", collision: point))
        case .frame(let frame):
            guard let received = frame.received(inAnswerTo: request, technology) else {
                return .failure(LinkError(.transmission, "The answer's checksum is wrong."))
            }
            let length = received.bytes.count + (received.checksum == .none ? 0 : 2)
            if length > maximumFrameLength {
                return .failure(LinkError(.frameTooLong, "The answer is longer than the reader can receive."))
            }
            return .success(received)
        }
    }
}

extension FieldAnswer.Reply {
    /// Returns what a reader receives when two tags answer at the same time: the merged frame, or a collision.
    ///
    /// On NFC-A, each bit modulates one half of its period. So equal bits arrive as one bit, and the first different
    /// bit appears as a collision (ISO/IEC 14443-3, 6.1.5). The longer answer continues alone after the end of the
    /// shorter one.
    static func merged(_ one: Frame, _ other: Frame, _ technology: Technology) -> FieldAnswer.Reply {
        if one == other { return .frame(one) }
        let first = one.bytesOnAir(technology)
        let second = other.bytesOnAir(technology)
        for index in 0..<min(first.count, second.count) where first[index] != second[index] {
            let bit = index * 8 + (first[index] ^ second[index]).trailingZeroBitCount
            guard bit < min(one.bitCountOnAir, other.bitCountOnAir) else { break }
            return .collision(LinkError.Collision(bitIndex: bit, bits: first.leadingBits(bit)))
        }
        return .frame(one.bitCountOnAir >= other.bitCountOnAir ? one : other)
    }
}

extension Frame {
    fileprivate var bitCountOnAir: Int { bitCount + (checksum == .none ? 0 : 16) }
}

extension [UInt8] {
    /// Returns the first `count` bits, least significant first in each byte, in as few bytes as possible.
    func leadingBits(_ count: Int) -> [UInt8] {
        var bits = Array(prefix((count + 7) / 8))
        if count % 8 != 0, let last = bits.indices.last {
            bits[last] &= (1 << (count % 8)) - 1
        }
        return bits
    }

    /// Returns the bits from `start` on, shifted to the least significant bit of the first byte.
    func bits(from start: Int) -> Frame {
        let length = count * 8 - start
        var bits = [UInt8](repeating: 0, count: (length + 7) / 8)
        for index in 0..<length where hasBit(start + index) { bits[index / 8] |= 1 << (index % 8) }
        return Frame(bits: bits, validBitsInLastByte: length % 8 == 0 ? 8 : length % 8)
    }

    /// Returns whether the first `count` bits equal those of `other`.
    func startsWithBits(_ count: Int, of other: [UInt8]) -> Bool {
        guard count <= self.count * 8, count <= other.count * 8 else { return false }
        return (0..<count).allSatisfy { hasBit($0) == other.hasBit($0) }
    }
}
