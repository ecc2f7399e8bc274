// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Describes the entries of a trace in words, one after the other.
public struct TraceLineWriter: Sendable {
    private var interpreter = ExchangeInterpreter()
    private var finder = SecretFinder()
    private var number = 0

    /// Creates a writer for the first entry.
    public init() {}

    /// Returns the lines of the next entry: two for an exchange, and one for any other event.
    ///
    /// - Parameter entry: the entry.
    /// - Returns: its lines.
    public mutating func lines(of entry: Trace.Entry) -> [TraceLine] {
        if entry.renewal != .nothing { interpreter.fieldChanged() }
        if entry.renewal == .field { finder.fieldChanged() }
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

    /// Returns a note about the bytes that are not shown.
    private static func note(_ secrets: [Range<Int>]) -> String {
        secrets.isEmpty ? "" : ", \(counted(secrets.map(\.count).reduce(0, +), "byte")) not shown"
    }
}
