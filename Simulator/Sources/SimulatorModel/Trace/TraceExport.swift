// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import TagTrace

/// Exports the trace as a file.
extension SimulatorState {
    func export(_ format: String) throws(SimulatorFailure) -> JSON {
        let file: (name: String, type: String, bytes: [UInt8], notes: [String])
        switch format {
        case "pcapng":
            // The times of the rows are relative to the simulator's start.
            let start = Duration.milliseconds(Int64(clamping: wallTime)) - .microseconds(microseconds)
            let capture = wholeTrace.pcapng(start: max(start, .zero))
            file = ("trace.pcapng", "application/x-pcapng", capture.bytes, capture.notes)
        case "recording":
            let (bytes, notes) = recording
            file = ("recording.jsonl", "application/jsonl", bytes, notes)
        case "text":
            file = ("trace.txt", "text/plain", Array((wholeTrace.table() + "\n").utf8), [])
        default: throw .invalid("The formats of a trace are pcapng, recording and text.")
        }
        return [
            "name": .string(file.name), "type": .string(file.type),
            "base64": .string(Data(file.bytes).base64EncodedString()),
            "notes": .array(file.notes.map { JSON.string($0) }),
        ]
    }

    /// All rows, in the trace format of the project's other tools.
    private var wholeTrace: Trace {
        Trace(
            trace.rows.map { row in
                let time = Duration.microseconds(row.time)
                if let exchange = row.exchange {
                    let event = Trace.Exchange(
                        exchange.medium,
                        request: exchange.request,
                        answer: exchange.result,
                        duration: .microseconds(row.airtime)
                    )
                    return Trace.Entry(at: time, .exchange(event))
                }
                if row.kind == .carrier { return Trace.Entry(at: time, .field(isOn: row.words == "field on")) }
                let source = row.source.map { "\($0): " } ?? ""
                return Trace.Entry(at: time, .note(source + row.words + (row.detail.map { ": \($0)" } ?? "")))
            }
        )
    }

    /// A recording of the programs' use of the reader. Background reading is only included if no program has read tags,
    /// because a replay follows one program.
    private var recording: (bytes: [UInt8], notes: [String]) {
        let sources = Set(trace.rows.compactMap { $0.exchange == nil ? nil : $0.source })
        let programs = sources.subtracting(["background"])
        let chosen = programs.isEmpty ? sources : programs
        var notes: [String] = []
        if chosen.count < sources.count { notes.append("Background reading is not included.") }
        if programs.count > 1 {
            notes.append("Several programs were reading. A replay contains the traffic of all of them.")
        }
        var writer = RecordingWriter(reader: "simulator")
        for row in trace.rows {
            let time = Duration.microseconds(row.time)
            if row.kind == .presence {
                writer.addPresence(at: time)
                continue
            }
            guard let source = row.source, chosen.contains(source) else { continue }
            if let isOn = row.isFieldOn {
                writer.addField(isOn: isOn, at: time)
            } else if let exchange = row.exchange, case .frames(let technology) = exchange.medium {
                writer.addExchange(
                    technology,
                    request: exchange.request,
                    result: exchange.result,
                    timeout: exchange.timeout,
                    at: time,
                    duration: .microseconds(row.airtime)
                )
            }
        }
        return (writer.bytes, notes)
    }
}
