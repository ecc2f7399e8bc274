// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink

/// What a model of a tag says to a frame.
struct ModelAnswer {
    var frame: Frame?
    /// Whether a write was programmed.
    var wrote = false

    static let silence = ModelAnswer(frame: nil)
}

/// A simple model of a tag, made from its data sheet and independent of the virtual tags.
protocol ModelResponder: Sendable {
    mutating func respond(_ frame: Frame) -> ModelAnswer
    /// Forgets everything that is not in its memory.
    mutating func powerUp()
}

extension ModelResponder {
    mutating func powerUp() {}
}

/// A field with one model of a tag in it, and faults on demand.
final class ModelField<Tag: ModelResponder>: FrameLink {
    enum Fault: Sendable, Equatable {
        /// The tag leaves before exchange k.
        case leaves(atExchange: Int)
        /// The tag leaves after it has programmed write k, before it answers. 0: before the first write.
        case tears(afterWrite: Int)
        /// The answer of exchange k is damaged; the command was done.
        case damages(exchange: Int)
        /// The answer of exchange k does not arrive; the command was done.
        case drops(exchange: Int)
        /// The request of exchange k does not arrive.
        case deafens(exchange: Int)
    }

    private struct State {
        var tag: Tag
        var fault: Fault?
        var statistics = LinkStatistics()
        var exchange = 0
        var writes = 0
        var isGone = false
    }

    let technology: Technology
    let maximumFrameLength: Int
    private let state: Mutex<State>

    init(_ tag: Tag, _ technology: Technology, fault: Fault? = nil, maximumFrameLength: Int = 256) {
        self.technology = technology
        self.maximumFrameLength = maximumFrameLength
        self.state = Mutex(State(tag: tag, fault: fault))
    }

    var statistics: LinkStatistics { state.withLock { $0.statistics } }
    var tag: Tag { state.withLock { $0.tag } }
    var writes: Int { state.withLock { $0.writes } }
    /// How many exchanges were made since the last reset.
    var exchanges: Int { state.withLock { $0.exchange } }

    /// Puts the tag into the field again, and restarts the count, with another fault.
    func reset(fault: Fault? = nil) {
        state.withLock {
            $0.tag.powerUp()
            $0.fault = fault
            $0.statistics = .zero
            $0.exchange = 0
            $0.writes = 0
            $0.isGone = false
        }
    }

    /// Changes the tag behind the reader's back.
    func change(_ body: (inout Tag) -> Void) {
        state.withLock { body(&$0.tag) }
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let result = state.withLock { state -> Result<Frame, LinkError> in
            let result = exchange(frame, &state)
            state.statistics.count(
                request: frame,
                response: try? result.get(),
                timing: FrameTiming(technology),
                timeout: timeout
            )
            return result
        }
        return try result.get()
    }

    private func exchange(_ frame: Frame, _ state: inout State) -> Result<Frame, LinkError> {
        let silence = LinkError(.timeout, "silence")
        let exchange = state.exchange
        state.exchange += 1
        if case .leaves(let at) = state.fault, exchange >= at { state.isGone = true }
        guard !state.isGone, state.fault != .deafens(exchange: exchange) else { return .failure(silence) }
        var next = state.tag
        let answer = next.respond(frame)
        if answer.wrote, state.fault == .tears(afterWrite: state.writes) {
            state.isGone = true
            return .failure(silence)
        }
        state.tag = next
        if answer.wrote { state.writes += 1 }
        switch state.fault {
        case .damages(exchange): return .failure(LinkError(.transmission, "noise"))
        case .drops(exchange): return .failure(silence)
        default: break
        }
        guard let frame = answer.frame else { return .failure(silence) }
        return .success(frame)
    }
}
