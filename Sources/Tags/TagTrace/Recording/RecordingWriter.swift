// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Writes a recording of a reader that another program used, from what that program did with it.
///
/// A ``Recorder`` records a reader of its own process. This is for a program that serves a reader to others, and has seen
/// their frames. Add everything in the order in which it happened. Passwords, PINs and keys become zeros.
public struct RecordingWriter: Sendable {
    private var text: String
    private var exchanges = 0
    private var finder = SecretFinder()
    /// The last arrival of each tag.
    private var arrivals: [[UInt8]: UInt64] = [:]

    /// Begins a recording of a reader whose host sends every frame.
    ///
    /// - Parameters:
    ///   - reader: the reader's name.
    ///   - technologies: the technologies that it can poll for.
    ///   - maximumFrameLength: the longest answer that its links accept.
    public init(reader: String, technologies: [Technology] = Technology.allCases, maximumFrameLength: Int = 256) {
        text =
            Recording.Header(
                reader: reader,
                isField: true,
                technologies: technologies,
                maximumFrameLength: maximumFrameLength,
                tellsPresence: true
            ).line
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
        let outcome: Recording.Outcome
        switch result {
        case .success(let frame): outcome = .frame(frame)
        case .failure(let error): outcome = .failed(error)
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
        guard arrivals.updateValue(number, forKey: identifier) != number else { return }
        text += Recording.Step(time: time, action: .arrival(identifier, number: number)).line
    }

    /// The bytes of the file.
    public var bytes: [UInt8] { Array(text.utf8) }

    private mutating func add(
        _ action: Recording.Action,
        _ outcome: Recording.Outcome,
        at time: Duration,
        until end: Duration
    ) {
        var step = Recording.Step(time: time, action: action.concealed(by: &finder))
        if case .exchange = action {
            exchanges += 1
            step.number = exchanges
        }
        step.endTime = end
        step.outcome = outcome
        if case .frame(let answer) = outcome { _ = finder.secrets(inAnswer: answer.bytes) }
        text += step.line + step.outcomeLines
    }
}
