// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Writes a recording of a reader that another program used, from what that program did with it.
///
/// A ``Recorder`` records a reader of its own process. This is for a program that serves a reader to others, and has seen
/// their frames. Add everything in the order in which it happened. Passwords, PINs and keys become zeros.
public struct RecordingWriter: Sendable {
    private var text: String
    private var lines = RecordingLines()

    /// Begins a recording of a reader whose host sends every frame.
    ///
    /// - Parameters:
    ///   - reader: the reader's name.
    ///   - technologies: the technologies that it can poll for.
    ///   - maximumFrameLength: the longest answer that its links accept.
    public init(reader: String, technologies: [Technology] = Technology.allCases, maximumFrameLength: Int = 256) {
        let header = Recording.Header(
            reader: reader,
            isField: true,
            technologies: technologies,
            maximumFrameLength: maximumFrameLength,
            reportsPresence: true
        )
        text = header.line
    }

    /// Adds that the program has turned the field on or off.
    ///
    /// - Parameters:
    ///   - isOn: whether it is on now.
    ///   - time: since the start of the recording.
    public mutating func addField(isOn: Bool, at time: Duration) {
        add(.field(isOn: isOn), .done, at: time, until: time)
    }

    /// Adds an exchange of frames.
    ///
    /// - Parameters:
    ///   - technology: the technology of the frames.
    ///   - request: the frame that was sent.
    ///   - result: the answer, or why there was none.
    ///   - timeout: how long the program would have waited.
    ///   - time: when it was sent, since the start of the recording.
    ///   - duration: how long it took.
    public mutating func addExchange(
        _ technology: Technology,
        request: Frame,
        result: Result<Frame, LinkError>,
        timeout: Airtime,
        at time: Duration,
        duration: Duration
    ) {
        let outcome: Recording.Outcome =
            switch result {
            case .success(let frame): .frame(frame)
            case .failure(let error): .failed(error)
            }
        let action = Recording.Action.exchange(.frames(technology), tag: nil, request, timeout: timeout)
        add(action, outcome, at: time, until: time + duration)
    }

    /// Adds that the reader reported that a tag came or left.
    ///
    /// - Parameter time: since the start of the recording.
    public mutating func addPresence(at time: Duration) {
        text += Recording.Step(time: time, action: .presence).line
    }

    /// Adds the number of a tag's arrival, which the program asked for. It is written once for each arrival.
    ///
    /// - Parameters:
    ///   - identifier: the tag's UID, PUPI or IDm.
    ///   - number: the number.
    ///   - time: since the start of the recording.
    package mutating func addArrival(of identifier: [UInt8], number: UInt64, at time: Duration) {
        text += lines.arrival(of: identifier, number: number, at: time)
    }

    /// The bytes of the file.
    public var bytes: [UInt8] { Array(text.utf8) }

    private mutating func add(
        _ action: Recording.Action,
        _ outcome: Recording.Outcome,
        at time: Duration,
        until end: Duration
    ) {
        let (step, call) = lines.start(action, at: time)
        text += call + lines.finish(step, outcome, at: end)
    }
}

/// Makes the lines of a recording, call by call. Passwords, PINs and keys become zeros.
struct RecordingLines: Sendable {
    private var exchanges = 0
    private var finder = SecretFinder()
    private var arrivals: [[UInt8]: UInt64] = [:]
    /// The last call, if it was a poll that found nothing.
    private var emptyPoll: Recording.Action?

    /// Returns a call and its line. The line is empty when only the outcome shows whether the poll differs from the one
    /// before.
    mutating func start(_ action: Recording.Action, at time: Duration) -> (step: Recording.Step, text: String) {
        var step = Recording.Step(time: time, action: action.concealed(by: &finder))
        if case .exchange = action {
            exchanges += 1
            step.number = exchanges
        }
        return (step, action == emptyPoll ? "" : step.line)
    }

    mutating func finish(_ step: Recording.Step, _ outcome: Recording.Outcome, at time: Duration) -> String {
        var step = step
        step.endTime = time
        step.outcome = outcome
        if case .frame(let answer) = outcome { _ = finder.secrets(inAnswer: answer.bytes) }
        let (isEmptyPoll, isRepeated) = (outcome == .tags([]), step.action == emptyPoll)
        emptyPoll = isEmptyPoll ? step.action : nil
        if isRepeated && isEmptyPoll { return "" }
        return (isRepeated ? step.line : "") + step.outcomeLines
    }

    /// Returns the line of a tag's arrival, or of its departure without a number; empty when it was written before.
    mutating func arrival(of identifier: [UInt8], number: UInt64?, at time: Duration) -> String {
        guard arrivals[identifier] != number else { return "" }
        arrivals[identifier] = number
        return Recording.Step(time: time, action: .arrival(identifier, number: number)).line
    }
}

extension Recording.Action {
    /// Returns the call without its passwords, PINs and keys.
    ///
    /// - Parameter finder: the finder with the state after all previous calls.
    fileprivate func concealed(by finder: inout SecretFinder) -> Recording.Action {
        switch self {
        case .exchange(let medium, let tag, let frame, let timeout):
            let secrets = finder.secrets(in: frame.bytes, over: medium)
            return .exchange(medium, tag: tag, frame.concealing(secrets), timeout: timeout)
        case .field, .discover, .select: finder.fieldChanged()
        default: break
        }
        return self
    }
}
