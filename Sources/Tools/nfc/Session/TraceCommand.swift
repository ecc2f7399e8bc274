// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LinuxSupport
import NFCSessions
import TagLink
import TagTrace
import TextSafety

/// `nfc trace`.
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
            throw ValidationError("A capture always has times, so --no-times does not go with --pcapng.")
        }
        guard let pcapng else { return }
        try OutputTarget.check(
            image: file,
            out: pcapng,
            savesImage: false,
            json: json,
            content: ("capture", "--pcapng")
        )
    }

    func run() async throws {
        let trace = try await reportingFailure(json: json) { () throws(CommandFailure) in
            do throws(RecordingError) {
                return try Recording(name: file == "-" ? "Standard input" : file) { () throws(StorageError) in
                    try .named(file, limit: Recording.maximumLength)
                }.trace
            } catch {
                throw CommandFailure(.refused, error.code.description, error.reason)
            }
        }
        if let pcapng {
            let capture = trace.pcapng()
            try await reportingFailure(json: json) { () throws(CommandFailure) in try capture.save(to: pcapng) }
            return capture.report(pcapng, json: json)
        }
        var output = StandardOutput()
        if json {
            var writer = JSONWriter()
            for line in trace.lines where !StandardOutput.isBroken {
                writer.beginObject()
                writer.members(of: line, showsTime: !noTimes)
                writer.endObject()
                output.appendLine(&writer)
            }
        } else {
            for row in trace.rows(showsTimes: !noTimes) where !StandardOutput.isBroken {
                output.appendLine(row)
                output.flushIfLarge()
            }
        }
        output.flush()
    }
}

extension JSONWriter {
    /// Writes the members of a line of a trace.
    mutating func members(of line: TraceLine, showsTime: Bool) {
        member("exchange", line.number)
        if showsTime { member("time_us", (line.time?.wholeMicroseconds).map { Int($0) }) }
        switch line.medium {
        case .frames(let technology): member("technology", ReadersCommand.name(technology))
        case .commands: member("technology", "apdu")
        case nil: member(null: "technology")
        }
        switch line.direction {
        case .request: member("direction", "request")
        case .answer: member("direction", "answer")
        case .none: member(null: "direction")
        }
        member("hex", line.frame.map { HexText.text($0.bytes) })
        member("bits", line.frame?.validBitsInLastByte)
        member("meaning", line.meaning)
    }
}

extension PacketCapture {
    /// Writes the capture. It can hold what is on a card, so only its owner can read the file. Any other existing file,
    /// such as the recording itself, is not replaced.
    func save(to path: String) throws(CommandFailure) {
        if case .standardOutput = OutputTarget(path) { return StandardOutput.write(bytes) }
        do throws(StorageError) {
            try PrivateLog(path, replacing: Array(bytes.prefix(4))).append(bytes)
        } catch  where error.code == .occupied {
            throw CommandFailure(
                .refused,
                "not-a-capture",
                "\(path) is there already and is no capture. Name another file."
            )
        } catch {
            throw CommandFailure(.refused, "unwritable-file", error.reason)
        }
    }

    /// Prints what was written, and what was left out.
    func report(_ path: String, json: Bool) {
        for note in notes { StandardError.writeLine("Note: \(note)") }
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("ok", true)
            writer.member("out", path)
            writer.member("packets", packetCount)
            writer.key("notes")
            writer.values(notes)
            writer.endObject()
            return writer.printLine()
        }
        printLine("\(path): \(packetCount) packet\(packetCount == 1 ? "" : "s")", beside: path)
    }
}
