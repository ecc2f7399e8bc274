// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxSupport
import NFCSessions
import TagLink
import TagTrace
import TextSafety

struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Print a recording as a table that explains each exchange.",
        discussion: """
            A recording is a file that --record or NFC_RECORD has written. The columns
            are the number of the exchange, the time in milliseconds, the technology,
            the direction, the bytes, and their meaning. With --json, "bits" is the
            number of bits in the last byte, and missing values are null.

            With --pcapng the command writes a capture for Wireshark in place of the
            table: the frames of ISO 14443 with their checksums, and their meanings as
            comments. It leaves out FeliCa, ISO 15693 and the commands of a reader that
            makes the frames by itself. A note on standard error says so, and so does
            "notes" of --json. An existing file is replaced only if it is a capture.

            Examples:
              nfc scan --record card.jsonl
              nfc trace card.jsonl
              nfc trace card.jsonl --pcapng card.pcapng
              diff <(nfc trace --no-times a.jsonl) <(nfc trace --no-times b.jsonl)

            Exit status: 0 when the table or the capture was written, 1 when the file is
            not a recording or the capture can't be written, 2 for wrong usage.
            """
    )

    @Argument(help: ArgumentHelp("The recording; - for standard input.", valueName: "file"))
    var file: String

    @Flag(help: "Leave out the times, which differ from run to run.")
    var noTimes = false

    @Option(help: ArgumentHelp("Write a capture for Wireshark; - for standard output.", valueName: "file"))
    var pcapng: String?

    @Flag(help: "Print one JSON object per line of the table; with --pcapng, one object.")
    var json = false

    func validate() throws {
        if noTimes, pcapng != nil {
            throw ValidationError("A capture always has times, so --no-times can't be used with --pcapng.")
        }
        guard let pcapng else { return }
        try OutputTarget.check(out: pcapng, json: json, content: ("capture", "--pcapng"))
    }

    func run() async throws {
        let trace = try trace()
        if let pcapng {
            let capture = trace.pcapng()
            try save(capture, to: pcapng)
            for note in capture.notes { StandardError.writeLine("Note: \(note)") }
            return printResult(
                json: json,
                beside: pcapng,
                ["ok": true, "out": pcapng, "packets": capture.packetCount, "notes": capture.notes],
                ["\(pcapng): \(RecordText.count(capture.packetCount, "packet"))"]
            )
        }
        var output = StandardOutput()
        if json {
            for line in trace.lines where !StandardOutput.isBroken {
                output.buffer += object(line).line
                output.flushIfLarge()
            }
        } else {
            for row in trace.rows(showsTimes: !noTimes) where !StandardOutput.isBroken {
                output.appendLine(row)
                output.flushIfLarge()
            }
        }
        output.flush()
    }

    private func trace() throws -> Trace {
        try Recording(name: file == "-" ? "Standard input" : file) { () throws(StorageError) in
            try .named(file, limit: Recording.maximumLength)
        }.trace
    }

    /// Writes the capture. Only the owner can read it, because it may contain card data. An existing file that is not a
    /// capture, such as the recording itself, is not replaced.
    private func save(_ capture: PacketCapture, to path: String) throws {
        if case .standardOutput = OutputTarget(path) { return StandardOutput.write(capture.bytes) }
        do throws(StorageError) {
            try PrivateLog(path, replacing: Array(capture.bytes.prefix(4))).append(capture.bytes)
        } catch {
            guard error.code == .occupied else { throw CommandFailure("unwritable-file", error.reason) }
            let message = "\(path) already exists and is not a capture. Name another file."
            throw CommandFailure("not-a-capture", message)
        }
    }

    private func object(_ line: TraceLine) -> JSONObject {
        var object: JSONObject = ["exchange": line.number]
        if !noTimes { object.append("time_us", (line.time?.wholeMicroseconds).map { Int($0) }) }
        let technology: String? =
            switch line.medium {
            case .frames(let technology): technology.name
            case .commands: "apdu"
            case nil: nil
            }
        let direction: String? =
            switch line.direction {
            case .request: "request"
            case .answer: "answer"
            case .none: nil
            }
        return object + [
            "technology": technology, "direction": direction, "hex": line.frame.map { $0.bytes.hexText() },
            "bits": line.frame?.validBitsInLastByte, "meaning": line.meaning,
        ]
    }
}
