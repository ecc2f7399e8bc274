// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink

/// The link to one tag of a ``PN532Reader``.
final class PN532TagLink: SelfActivatingLink {
    let technology: Technology
    private let worker: ChipWorker
    private let handle: TagHandle
    private let counts = Locked(LinkStatistics.zero)
    private let onCount: @Sendable (LinkStatistics) -> Void

    /// - Parameters:
    ///   - handle: the tag.
    ///   - worker: the chip that found it.
    ///   - onCount: receives the counts of each exchange.
    init(handle: TagHandle, worker: ChipWorker, onCount: @escaping @Sendable (LinkStatistics) -> Void) {
        self.technology = handle.target.technology
        self.handle = handle
        self.worker = worker
        self.onCount = onCount
    }

    var maximumFrameLength: Int { TagExchange.maximumFrameLength }
    var statistics: LinkStatistics { counts.withLock { $0 } }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        do throws(LinkError) {
            let handle = handle
            let answer = try await worker.perform { (worker, chip, cancellation) throws(LinkError) -> Frame in
                guard worker.current == handle else {
                    throw LinkError(.tagRemoved, "The reader works with another tag, or has polled again.")
                }
                worker.isUntouched = false
                return try TagExchange(chip: chip, cancellation).send(frame, to: handle.target, timeout: timeout)
            }
            count(frame, .success(answer), timeout)
            return answer
        } catch {
            count(frame, .failure(error), timeout)
            throw error
        }
    }

    func reactivate() async throws(LinkError) {
        let handle = handle
        try await worker.perform { (worker, chip, cancellation) throws(LinkError) in
            guard worker.generation == handle.generation else {
                throw LinkError(.tagRemoved, "The reader has polled for tags again.")
            }
            worker.current = nil
            try TargetWaker(chip: chip, cancellation).wake(handle.target)
            worker.current = handle
        }
    }

    /// Makes the tag the selected one. Does nothing if it is already selected and has received no command.
    func select() async throws(LinkError) {
        let handle = handle
        let isReady = try await worker.perform { (worker, _, _) throws(LinkError) in
            defer { worker.isUntouched = false }
            return worker.current == handle && worker.isUntouched
        }
        if !isReady { try await reactivate() }
    }

    private func count(_ request: Frame, _ outcome: Result<Frame, LinkError>, _ timeout: Airtime) {
        var counted = LinkStatistics.zero
        counted.count(request, outcome, technology, timeout: timeout)
        let exchange = counted
        counts.withLock { $0 += exchange }
        onCount(exchange)
    }
}

/// One frame to a tag, and its answer.
struct TagExchange {
    let chip: PN532Chip
    let cancellation: Cancellation

    init(chip: PN532Chip, _ cancellation: Cancellation) {
        self.chip = chip
        self.cancellation = cancellation
    }

    /// The longest frame in either direction, with its checksum. The chip's own buffer has 262 bytes.
    static let maximumFrameLength = 256

    /// Sends a frame.
    ///
    /// - Throws: `LinkError`, as described at `FrameLink`.
    func send(_ frame: Frame, to target: TagHandle.Target, timeout: Airtime) throws(LinkError) -> Frame {
        guard frame.validBitsInLastByte == 8, !frame.bytes.isEmpty, frame.checksum != .none else {
            throw LinkError(.unsupported, "The PN532 selects its tags by itself: frames of a few bits can't be sent.")
        }
        guard frame.byteCountOnAir <= Self.maximumFrameLength else {
            throw LinkError(
                .frameTooLong,
                "A frame has \(frame.byteCountOnAir) bytes; \(Self.maximumFrameLength) is the most for a PN532."
            )
        }
        switch target {
        case .type1:
            let answer = try chip.type1Exchange(frame.bytes, timeout: timeout, cancellation)
            return Frame(answer, checksum: frame.checksum)
        case .nfcA:
            guard frame.checksum == .automatic else {
                throw LinkError(.unsupported, "The PN532 appends CRC_B for Type 1 tags alone.")
            }
            try chip.setFraming(appendsChecksum: true, removesChecksum: false, cancellation)
            return try Self.nfcA(try chip.communicate(frame.bytes, timeout: timeout, cancellation))
        case .nfcB, .nfcF:
            return Frame(try chip.communicate(frame.bytes, timeout: timeout, cancellation))
        }
    }

    /// Interprets an answer of NFC-A. The host checks its checksum, because for the chip, the four bits with which a
    /// Type 2 tag acknowledges would be a damaged answer. An answer with a checksum is always longer than one byte.
    private static func nfcA(_ answer: [UInt8]) throws(LinkError) -> Frame {
        if answer.count == 1 { return Frame(bits: [answer[0] & 0x0F], validBitsInLastByte: 4) }
        let payload = Array(answer.dropLast(2))
        let checksum = CyclicRedundancyCheck.a(payload)
        guard answer.count > 2, answer.suffix(2) == checksum.littleEndianBytes else {
            throw LinkError(.transmission, "The checksum of the answer is wrong.")
        }
        return Frame(payload)
    }
}
