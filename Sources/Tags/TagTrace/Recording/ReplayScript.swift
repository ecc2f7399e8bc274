// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Follows a recording step by step: it takes a call and returns the recorded outcome.
struct ReplayScript: Sendable {
    let recording: Recording
    private(set) var position = 0
    private(set) var departure: ReplayDeparture?
    private var lastExchange = 0
    private var words = ExchangeInterpreter()
    private var finder = SecretFinder()
    /// The last call, if it was a poll that found nothing.
    private var emptyPoll: Recording.Action?
    /// Whether the reader reported a tag while no observer was registered.
    private var hasPendingPresence = false
    private var arrivals: [[UInt8]: UInt64] = [:]

    init(_ recording: Recording) {
        self.recording = recording
    }

    /// When the observers of presence are notified after a call.
    enum Notice: Sendable {
        case none
        /// While the call returns.
        case now
        /// When the operation that the call belongs to is complete.
        case soon
    }

    struct Reply {
        var outcome: Recording.Outcome
        var duration = Duration.zero
        var notice = Notice.none
    }

    var remainingExchanges: Int { recording.steps[position...].count { $0.number != nil } }

    mutating func follow(_ action: Recording.Action, isObserved: Bool) -> Reply {
        if let departure { return Reply(outcome: .failed(LinkError(.readerUnavailable, departure.reason))) }
        passEvents()
        guard position < recording.steps.count else {
            // A waiting session looks again and again.
            if action == emptyPoll { return Reply(outcome: .tags([])) }
            return depart(expected: nil, action)
        }
        let step = recording.steps[position]
        guard matches(step.action, action) else {
            // The recording was cut off during the question.
            if case .isStillNear = step.action, step.outcome == nil { return breakOff(step) }
            if action == emptyPoll { return Reply(outcome: .tags([])) }
            return depart(expected: step, action)
        }
        guard let outcome = step.outcome else { return breakOff(step) }
        position += 1
        emptyPoll = outcome == .tags([]) ? action : nil
        update(step, outcome)
        let notice = notice(isObserved: isObserved)
        return Reply(outcome: outcome, duration: (step.endTime ?? step.time) - step.time, notice: notice)
    }

    /// Returns the arrival number of a tag at this point; nil when the reader did not report it.
    mutating func arrival(of identifier: [UInt8]) -> UInt64? {
        passEvents()
        return arrivals[identifier]
    }

    /// Returns whether a tag had stayed near when the reader was asked at this point; true when it was not asked.
    mutating func isStillNear(_ identifier: [UInt8]) -> (answer: Bool, duration: Duration) {
        passEvents()
        guard position < recording.steps.count, departure == nil else { return (true, .zero) }
        let step = recording.steps[position]
        guard step.action == .isStillNear(identifier), case .isPresent(let isNear)? = step.outcome else {
            return (true, .zero)
        }
        position += 1
        return (isNear, (step.endTime ?? step.time) - step.time)
    }

    private mutating func passEvents() {
        while position < recording.steps.count, recording.steps[position].action.isEvent {
            if case .arrival(let identifier, let number) = recording.steps[position].action {
                arrivals[identifier] = number
            } else {
                hasPendingPresence = true
            }
            position += 1
        }
    }

    private mutating func notice(isObserved: Bool) -> Notice {
        passEvents()
        guard hasPendingPresence, isObserved else { return .none }
        hasPendingPresence = false
        // A waiting session is notified when it waits, and a working session at once.
        guard position < recording.steps.count else { return .soon }
        switch recording.steps[position].action {
        case .discover, .field: return .soon
        default: return .now
        }
    }

    private mutating func update(_ step: Recording.Step, _ outcome: Recording.Outcome) {
        switch step.action {
        case .exchange(let medium, _, let request, _):
            lastExchange = step.number ?? lastExchange
            _ = words.meaning(of: request, over: medium)
            _ = finder.secrets(in: request.bytes, over: medium)
            guard case .frame(let answer) = outcome else { break }
            _ = words.meaning(ofAnswer: answer)
            _ = finder.secrets(inAnswer: answer.bytes)
        case .field, .discover, .select:
            words.fieldChanged()
            finder.fieldChanged()
        case .reactivate: words.fieldChanged()
        default: break
        }
    }

    private mutating func depart(expected step: Recording.Step?, _ action: Recording.Action) -> Reply {
        let departure = ReplayDeparture(
            exchange: step?.number ?? lastExchange,
            time: step?.time,
            expected: step.map { describe($0.action) },
            actual: describe(action),
            isCutOff: step == nil && recording.isCutOff
        )
        self.departure = departure
        return Reply(outcome: .failed(LinkError(.readerUnavailable, departure.reason)))
    }

    /// Departs because the recording was cut off during a call, so that it has no outcome.
    private mutating func breakOff(_ step: Recording.Step) -> Reply {
        let departure = ReplayDeparture(exchange: lastExchange, actual: describe(step.action), isCutOff: true)
        self.departure = departure
        return Reply(outcome: .failed(LinkError(.readerUnavailable, departure.reason)))
    }

    /// Describes a call in words, using the exchanges before it.
    private func describe(_ action: Recording.Action) -> String {
        guard case .exchange(let medium, let tag, let sent, _) = action else { return action.words }
        var (words, finder) = (words, finder)
        let request = sent.concealing(finder.secrets(in: sent.bytes, over: medium))
        let hex = request.bytes.prefix(32).hexText() + (request.bytes.count > 32 ? "…" : "")
        let bits = request.validBitsInLastByte == 8 ? "" : "/\(request.validBitsInLastByte)"
        return "\(words.meaning(of: request, over: medium)) [\(hex)\(bits)]" + (tag.map { " to tag \($0)" } ?? "")
    }

    /// Returns whether a call is the recorded one. Timeouts may differ, and so may passwords, which are never recorded.
    private func matches(_ recorded: Recording.Action, _ other: Recording.Action) -> Bool {
        guard case .exchange(let medium, let tag, let frame, _) = recorded,
            case .exchange(let otherMedium, let otherTag, let otherFrame, _) = other
        else { return recorded == other }
        var finder = finder
        let secrets = finder.secrets(in: frame.bytes, over: medium)
        return medium == otherMedium && tag == otherTag
            && frame.concealing(secrets) == otherFrame.concealing(secrets)
    }
}
