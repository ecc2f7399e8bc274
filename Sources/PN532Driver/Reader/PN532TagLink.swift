// SPDX-License-Identifier: Apache-2.0
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
    ///   - onCount: takes the counts of each exchange.
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
                    throw LinkError(.tagRemoved, "The reader works with another tag, or has looked for tags anew.")
                }
                worker.isUntouched = false
                return try TagExchange(chip: chip, cancellation).send(frame, to: handle.target, timeout: timeout)
            }
            count(frame, answer, .zero)
            return answer
        } catch {
            switch error.code {
            case .timeout: count(frame, nil, timeout)
            case .transmission, .collision: count(frame, nil, .zero)
            default: break
            }
            throw error
        }
    }

    func reactivate() async throws(LinkError) {
        let handle = handle
        try await worker.perform { (worker, chip, cancellation) throws(LinkError) in
            guard worker.generation == handle.generation else {
                throw LinkError(.tagRemoved, "The reader has looked for tags anew.")
            }
            worker.current = nil
            try TargetWaker(chip: chip, cancellation).wake(handle.target)
            worker.current = handle
        }
    }

    /// Makes the tag the one that is worked with; it is left alone when it is already, and has had no command.
    func select() async throws(LinkError) {
        let handle = handle
        let isReady = try await worker.perform { (worker, _, _) throws(LinkError) in
            defer { worker.isUntouched = false }
            return worker.current == handle && worker.isUntouched
        }
        if !isReady { try await reactivate() }
    }

    private func count(_ request: Frame, _ response: Frame?, _ timeout: Airtime) {
        var counted = LinkStatistics.zero
        counted.count(request: request, response: response, timing: FrameTiming(technology), timeout: timeout)
        let exchange = counted
        counts.withLock { $0 += exchange }
        onCount(exchange)
    }
}
