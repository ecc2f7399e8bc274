// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The state of a virtual field: it takes a frame and returns what the reader receives.
struct FieldState: Sendable {
    /// The result of an exchange.
    struct Outcome {
        var result: Result<Frame, LinkError>
        var elapsed = Airtime.zero
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
    var observers: [(id: UInt64, handler: @Sendable () -> Void)] = []
    var nextObserver: UInt64 = 0
    /// The number of commands that have programmed a tag's memory.
    var writes = 0

    /// Adds a tag without power.
    mutating func add(_ tag: any VirtualTag) {
        lastArrival += 1
        tags.append(tag)
        arrivals.append(lastArrival)
    }

    /// Removes a tag.
    mutating func removeTag(at index: Int) {
        arrivals.remove(at: index)
        tags.remove(at: index).losePower()
    }

    /// Removes all tags.
    mutating func removeAllTags() {
        for tag in tags { tag.losePower() }
        tags.removeAll()
        arrivals.removeAll()
    }

    /// Returns the arrival number of the tag with an identifier; nil when there is none.
    func arrival(of identifier: [UInt8]) -> UInt64? {
        tags.firstIndex { $0.answers(to: identifier) }.map { arrivals[$0] }
    }

    mutating func exchange(
        _ request: Frame,
        _ technology: Technology,
        timeout: Airtime,
        maximumFrameLength: Int
    ) -> Outcome {
        guard isCarrierOn else {
            return Outcome(result: .failure(LinkError(.readerUnavailable, "The carrier is off.")))
        }
        let present = tags.count
        var fault = faults?.next()
        fault?.changeTags(in: &self)
        var answer = FieldAnswer()
        if fault?.isDeaf != true {
            answer = collect(request, technology, disturbance: fault?.disturbance)
        }
        if answer.isWrite {
            writes += 1
            faults?.countWrite()
            if case .powerCut = fault?.disturbance {
                if fault?.keepsTags == true {
                    for tag in tags { tag.losePower() }
                } else {
                    removeAllTags()
                }
                answer.reply = .silence
            }
        }
        fault?.changeAnswer(&answer, technology)

        let index = Int(technology.rawValue)
        let before = statistics[index]
        var outcome = Outcome(result: .failure(LinkError(.timeout, "No tag answered in time.")))
        var heard: Frame?
        if answer.workTime <= timeout {
            outcome.result = answer.result(for: request, technology, maximumFrameLength: maximumFrameLength)
            heard = try? outcome.result.get()
            if heard == nil { heard = answer.longest }
        }
        statistics[index].count(
            request: request,
            response: heard,
            timing: FrameTiming(technology),
            timeout: timeout,
            tagWorkTime: answer.workTime
        )
        let spent = statistics[index] - before
        outcome.elapsed = spent.airtime + spent.tagWorkTime
        outcome.changedPresence = present != tags.count || fault?.swapsTags == true
        record(request, technology, outcome)
        return outcome
    }

    /// Sends the request to every tag, and combines the answers.
    private func collect(_ request: Frame, _ technology: Technology, disturbance: Disturbance?) -> FieldAnswer {
        var all = FieldAnswer()
        for tag in tags where tag.technology == technology {
            guard let answer = tag.answer(request, disturbance: disturbance) else { continue }
            all.add(answer, technology)
        }
        return all
    }

    private mutating func record(_ request: Frame, _ technology: Technology, _ outcome: Outcome) {
        guard recording != nil, recordingLimit > 0 else { return }
        recordingLimit -= 1
        recording?.append(
            ExchangeRecord(
                technology: technology,
                request: request,
                result: outcome.result,
                elapsed: outcome.elapsed
            )
        )
    }
}

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

/// The state that a virtual field shares with its links.
final class FieldCore: Sendable {
    let state = Locked(FieldState())
    private let onElapsed: (@Sendable (Airtime) -> Void)?
    private let onExchange: (@Sendable (ExchangeRecord) -> Void)?

    init(onElapsed: (@Sendable (Airtime) -> Void)?, onExchange: (@Sendable (ExchangeRecord) -> Void)?) {
        self.onElapsed = onElapsed
        self.onExchange = onExchange
    }

    /// Calls the closures that a fault plan has for the moment before the next exchange.
    func makeCalls() {
        let calls = state.withLock { state in state.isCarrierOn ? state.faults?.takeCalls() ?? [] : [] }
        for call in calls { call() }
    }

    /// Performs an exchange, then informs the clock and the observers, outside the lock.
    func exchange(
        _ frame: Frame,
        _ technology: Technology,
        timeout: Airtime,
        maximumFrameLength: Int
    ) throws(LinkError) -> Frame {
        let outcome = state.withLock {
            $0.exchange(frame, technology, timeout: timeout, maximumFrameLength: maximumFrameLength)
        }
        onExchange?(
            ExchangeRecord(technology: technology, request: frame, result: outcome.result, elapsed: outcome.elapsed)
        )
        if outcome.elapsed > .zero { onElapsed?(outcome.elapsed) }
        if outcome.changedPresence { tellObservers() }
        return try outcome.result.get()
    }

    /// Changes the tags in the field, and informs the observers if `change` returns true.
    func changePresence(_ change: @Sendable (inout FieldState) -> Bool) {
        if state.withLock({ change(&$0) }) { tellObservers() }
    }

    func tellObservers() {
        let handlers = state.withLock { $0.observers.map(\.handler) }
        for handler in handlers { handler() }
    }

    func addObserver(_ handler: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.nextObserver += 1
            state.observers.append((state.nextObserver, handler))
            return state.nextObserver
        }
    }

    func removeObserver(_ id: UInt64) {
        // Released outside the lock, because a handler may own any object.
        let released = state.withLock { state in
            let removed = state.observers.filter { $0.id == id }
            state.observers.removeAll { $0.id == id }
            return removed
        }
        _ = released
    }
}
