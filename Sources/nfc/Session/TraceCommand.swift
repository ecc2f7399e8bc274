// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCRuntime
import TagLink

/// `nfc trace`.
struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Print a recording as a table that says each exchange in words.",
        discussion: """
            A recording is what --record or NFC_RECORD keeps. The columns are the
            number of the exchange, the time in milliseconds, the technology and the
            direction, the octets, and what they mean.

            Examples:
              nfc scan --record card.jsonl
              nfc trace card.jsonl
              diff <(nfc trace --no-times a.jsonl) <(nfc trace --no-times b.jsonl)

            Exit status: 0 when it was printed, 1 when the file is no recording, 2
            for wrong usage.
            """
    )

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
    var file: String

    @Flag(help: "Leave out the times, which differ from run to run.")
    var noTimes = false

    @Flag(help: "Print one JSON object a line of the table.")
    var json = false

    func run() async throws {
        let trace = try await reportingFailure(json: json) { () throws(CommandFailure) in
            do throws(RecordingError) {
                return try Recording(path: file).trace
            } catch {
                throw CommandFailure(.refused, error.code.description, error.reason)
            }
        }
        guard json else {
            for line in trace.table(showsTimes: !noTimes).split(separator: "\n") {
                printLine(RecordText.printable(String(line)))
            }
            return
        }
        for line in trace.lines {
            var writer = JSONWriter()
            writer.beginObject()
            writer.members(of: line, showsTime: !noTimes)
            writer.endObject()
            writer.printLine()
        }
    }
}

extension JSONWriter {
    /// The members that a line of a trace has.
    mutating func members(of line: TraceLine, showsTime: Bool) {
        if let number = line.number { member("exchange", number) }
        if showsTime, let time = line.time { member("time_us", Int(time.wholeMicroseconds)) }
        switch line.medium {
        case .frames(let technology): member("technology", ReadersCommand.name(technology))
        case .commands: member("technology", "apdu")
        case nil: break
        }
        switch line.direction {
        case .request: member("direction", "request")
        case .answer: member("direction", "answer")
        case .none: break
        }
        if let frame = line.frame {
            member("hex", hex: frame.bytes)
            if frame.validBitsInLastByte != 8 { member("bits", frame.validBitsInLastByte) }
        }
        member("meaning", line.meaning)
    }
}
