// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink

/// Says in words what goes over the air, and what programs send to the card by PC/SC.
struct EmulationWords {
    /// What the two sides of an exchange say.
    struct Meanings {
        var request: String
        var answer: String
        /// What goes over the air, as rows of a trace's table.
        var rows: [String]?
    }

    private var air = TraceLineWriter()
    private var host = ExchangeInterpreter()

    /// The words of an exchange; nil for a command to the reader itself, whose name says it.
    mutating func meanings(of exchange: Exchange) -> Meanings? {
        if let frames = exchange.frames {
            let lines = air.lines(of: Trace.Entry(.exchange(frames)))
            guard let request = lines.first, let answer = lines.last else { return nil }
            let rows = lines.flatMap { line in
                line.text(showsTime: false, widthOfOctets: 47).split(separator: "\n").map(String.init)
            }
            return Meanings(request: request.meaning, answer: answer.meaning, rows: rows)
        }
        guard exchange.layer == .pcsc, exchange.name == "transmit" else { return nil }
        let request = host.meaning(of: Frame(exchange.request), over: .commands)
        let answer = exchange.response.map { host.meaning(ofAnswer: Frame($0)) } ?? exchange.failure ?? "no answer"
        return Meanings(request: request, answer: answer)
    }
}
