// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// One direction of an exchange, or another event, as a trace tells of it.
public struct TraceLine: Sendable, Hashable {
    /// Which way octets went.
    public enum Direction: String, Sendable, Hashable {
        /// From the reader to the tag.
        case request = ">"
        /// From the tag to the reader.
        case answer = "<"
        /// Nowhere: it is no exchange.
        case none = " "
    }

    /// The number of the exchange, from 1; nil for what is none.
    public var number: Int?
    /// The time since the trace began; nil when it is not known.
    public var time: Duration?
    /// What carried the octets; nil for what is no exchange.
    public var medium: Trace.Medium?
    /// Which way they went.
    public var direction: Direction
    /// What went, with zeros in place of passwords, PINs and keys; nil where nothing did.
    public var frame: Frame?
    /// The places of those zeros.
    public var concealed: [Range<Int>] = []
    /// What it says, in words.
    public var meaning: String
}

extension Trace {
    /// The trace line by line, with what each says in words.
    public var lines: [TraceLine] {
        var writer = TraceLineWriter()
        return entries.flatMap { writer.lines(of: $0) }
    }
}

/// Says a trace's entries in words, one after the other, as they come.
public struct TraceLineWriter: Sendable {
    private var interpreter = ExchangeInterpreter()
    private var finder = SecretFinder()
    private var number = 0

    /// Creates a writer, before the first entry.
    public init() {}

    /// The lines of the next entry: two for an exchange, and one for anything else.
    ///
    /// - Parameter entry: what happened.
    /// - Returns: its lines.
    public mutating func lines(of entry: Trace.Entry) -> [TraceLine] {
        switch entry.event {
        case .exchange(let exchange):
            number += 1
            return lines(of: exchange, at: entry.time)
        case .field(let isOn):
            interpreter.fieldChanged()
            finder.fieldChanged()
            return [TraceLine(time: entry.time, direction: .none, meaning: isOn ? "field on" : "field off")]
        case .note(let text):
            return [TraceLine(time: entry.time, direction: .none, meaning: text)]
        }
    }

    private mutating func lines(of exchange: Trace.Exchange, at time: Duration?) -> [TraceLine] {
        let secrets = finder.secrets(in: exchange.request.bytes, over: exchange.medium)
        let frame = exchange.request.concealing(secrets)
        interpreter.hidesData = !secrets.isEmpty
        let request = TraceLine(
            number: number,
            time: time,
            medium: exchange.medium,
            direction: .request,
            frame: frame,
            concealed: secrets,
            meaning: interpreter.meaning(of: frame, over: exchange.medium) + Self.note(secrets)
        )
        guard let result = exchange.answer else { return [request] }
        var answer = request
        answer.direction = .answer
        answer.time = time.flatMap { time in exchange.duration.map { time + $0 } }
        switch result {
        case .success(let frame):
            answer.concealed = finder.secrets(inAnswer: frame.bytes)
            answer.frame = frame.concealing(answer.concealed)
            answer.meaning = interpreter.meaning(ofAnswer: frame)
        case .failure(let error):
            answer.frame = nil
            answer.concealed = []
            answer.meaning = error.code == .timeout ? "no answer" : "no answer: \(error.code.words)"
        }
        return [request, answer]
    }

    /// Says that something is not shown.
    private static func note(_ secrets: [Range<Int>]) -> String {
        secrets.isEmpty ? "" : ", \(counted(secrets.map(\.count).reduce(0, +), "byte")) not shown"
    }
}

extension LinkError.Code {
    /// The code as a few words.
    package var words: String {
        switch self {
        case .timeout: "nothing came in time"
        case .tagRemoved: "the tag left"
        case .transmission: "damaged"
        case .collision: "several tags at once"
        case .frameTooLong: "too long"
        case .readerUnavailable: "the reader is not there"
        case .cancelled: "cancelled"
        case .unsupported: "the reader can't send it"
        case .protocolViolation: "against the protocol"
        case .inUse: "in use by another program"
        default: description
        }
    }
}
