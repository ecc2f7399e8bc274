// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink

/// The link of a virtual field in one technology.
final class FieldLink: FrameLink {
    let technology: Technology
    let maximumFrameLength = 256
    private let field = Mutex(Weak())

    private struct Weak: Sendable {
        weak var field: VirtualField?
    }

    init(technology: Technology) {
        self.technology = technology
    }

    func attach(to field: VirtualField) {
        self.field.withLock { $0.field = field }
    }

    var statistics: LinkStatistics {
        field.withLock { $0.field }?.state.withLock { $0.statistics } ?? .zero
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        guard let field = field.withLock({ $0.field }) else {
            throw LinkError(.readerUnavailable, "The virtual field is gone.")
        }
        return try field.exchange(frame, timeout: timeout)
    }
}

extension VirtualField {
    /// Gives a frame to every tag and merges their answers.
    func exchange(_ frame: Frame, timeout: Airtime) throws(LinkError) -> Frame {
        let (result, elapsed) = state.withLock { state in
            let before = state.statistics
            let result = state.exchange(frame, timeout: timeout)
            let counted = state.statistics - before
            return (result, counted.airtime + counted.tagWorkTime)
        }
        onElapsed?(elapsed)
        return try result.get()
    }
}

extension VirtualField.State {
    mutating func exchange(_ frame: Frame, timeout: Airtime) -> Result<Frame, LinkError> {
        defer { exchangeCount += 1 }
        let timing = FrameTiming(.nfcA)
        if let last = faults.tagsLeaveAtExchange, exchangeCount >= last {
            for tag in tags { tag.losePower() }
            tags = []
        }
        guard carrierIsOn else { return .failure(LinkError(.readerUnavailable, "The carrier is off.")) }
        var answers: [TagAnswer] = []
        let received = AirFrame(
            bytes: frame.bytes,
            validBitsInLastByte: frame.validBitsInLastByte,
            hasChecksum: frame.checksum == .automatic
        )
        for tag in tags {
            if let answer = tag.receive(received) { answers.append(answer) }
        }
        if let answer = answers.first, answer.programs {
            if faults.cutsAfterWrite == writeCount { answers = [] }
            writeCount += 1
        }
        if faults.mutedExchanges.contains(exchangeCount) { answers = [] }
        guard var answer = answers.first, answer.workTime <= timeout else {
            statistics.count(request: frame, response: nil, timing: timing, timeout: timeout)
            return .failure(LinkError(.timeout, "No answer."))
        }
        if answers.count > 1 {
            if let collision = Self.collision(of: answers) {
                statistics.count(
                    request: frame,
                    response: Frame(answer.bytes, checksum: .none),
                    timing: timing,
                    timeout: timeout
                )
                return .failure(LinkError(.collision, "Several tags answered at once.", collision: collision))
            }
        }
        if let replacement = faults.replacedAnswers[exchangeCount] { answer.bytes = replacement }
        var response = Frame(answer.bytes, checksum: answer.hasChecksum ? .automatic : .none)
        response.validBitsInLastByte = answer.validBitsInLastByte
        statistics.count(
            request: frame,
            response: response,
            timing: timing,
            timeout: timeout,
            tagWorkTime: answer.workTime
        )
        if faults.damagedExchanges.contains(exchangeCount) {
            return .failure(LinkError(.transmission, "The answer was damaged."))
        }
        return .success(response)
    }

    static func collision(of answers: [TagAnswer]) -> LinkError.Collision? {
        guard let first = answers.first else { return nil }
        let bits = first.bytes.count * 8
        for bit in 0..<bits {
            let values = answers.map { $0.bytes.count > bit / 8 ? $0.bytes[bit / 8] >> UInt8(bit % 8) & 1 : 2 }
            if values.contains(where: { $0 != values[0] }) {
                return LinkError.Collision(bitIndex: bit, bits: Array(first.bytes.prefix((bit + 7) / 8)))
            }
        }
        return nil
    }
}
