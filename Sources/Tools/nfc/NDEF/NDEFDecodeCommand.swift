// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF
import TextSafety

struct NDEFDecodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Decode messages. Reads one message in hex per line.",
        discussion: """
            It reads standard input. Spaces and colons between bytes are allowed. An
            empty line is an error. A message can have up to 8 MiB.

            Examples:
              echo d1010b5504746573742e636f6d2f31 | nfc ndef decode
              nfc ndef decode --json < messages.hex
              nfc ndef decode --binary < message.ndef
              nfc ndef decode --json --lenient trailing-data < dump.hex
              nfc ndef decode --quiet < messages.hex

            Exit status: 0 when every message was decoded, 1 when one was not, 2 for
            wrong usage.
            """
    )

    @Flag(help: "Print one JSON object per message.")
    var json = false

    @Flag(help: "Read all of standard input as the bytes of one message.")
    var binary = false

    @Flag(help: "Decode everything, and print counts and the decoding time as one JSON object.")
    var quiet = false

    @Option(help: "Accept a fault, by the name of its error; can be repeated.")
    var lenient: [Leniency] = []

    func run() throws {
        let options = Leniency.options(lenient)
        var sink: any DecodeSink =
            if quiet { DecodeCounter(options: options) } else { DecodePrinter(json: json, options: options) }
        do throws(CommandFailure) {
            if binary {
                sink.take(.success(try StandardInput.all()))
                sink.endBlock()
            } else {
                var lines = LineReader()
                while !StandardOutput.isBroken, let block = try lines.nextBlock() {
                    for line in block { sink.take(HexText.bytes(line).flatMap(StandardInput.limited)) }
                    sink.endBlock()
                }
            }
        } catch {
            sink.take(.failure(error))
        }
        sink.finish()
        guard !sink.sawError else { throw ExitCode(1) }
    }
}

private protocol DecodeSink {
    /// Whether any message could not be decoded.
    var sawError: Bool { get }

    /// Receives the next message, or the error in its hexadecimal text.
    mutating func take(_ message: Result<[UInt8], CommandFailure>)

    /// Prints the results so far, because no more input is available yet.
    mutating func endBlock()

    mutating func finish()
}

/// A fault to accept, identified by the name of its error.
enum Leniency: String, ExpressibleByArgument, CaseIterable {
    case trailingData = "trailing-data"
    case emptyInput = "empty-input"
    case missingMessageBegin = "missing-mb"
    case missingMessageEnd = "missing-me"
    case typeNotAllowed = "type-not-allowed"

    static func options(_ leniencies: [Leniency]) -> NDEFDecodingOptions {
        NDEFDecodingOptions(
            allowsTrailingData: leniencies.contains(.trailingData),
            allowsEmptyInput: leniencies.contains(.emptyInput),
            allowsMissingMessageBegin: leniencies.contains(.missingMessageBegin),
            allowsMissingMessageEnd: leniencies.contains(.missingMessageEnd),
            allowsTypeOnUnknown: leniencies.contains(.typeNotAllowed)
        )
    }
}

/// Prints each message: as a JSON object, or as a line for the message and a paragraph per record.
private struct DecodePrinter: DecodeSink {
    let json: Bool
    let options: NDEFDecodingOptions
    var output = StandardOutput()
    var writer = JSONWriter()
    var count = 0
    var sawError = false

    mutating func take(_ message: Result<[UInt8], CommandFailure>) {
        count += 1
        switch message {
        case .success(let bytes):
            do {
                print(try NDEFMessage(decoding: bytes, options: options), byteCount: bytes.count)
            } catch {
                refuse(CommandFailure(error))
            }
        case .failure(let error): refuse(error)
        }
        if json { writer.newLine() }
        if writer.text.count + output.buffer.count >= 1 << 16 { endBlock() }
    }

    private mutating func print(_ message: NDEFMessage, byteCount: Int) {
        guard !json else { return writer.message(message) }
        let records = RecordText.count(message.records.count, "record")
        output.appendLine("Message \(count): \(records), \(RecordText.count(byteCount, "byte"))")
        for (index, record) in message.records.enumerated() {
            for text in RecordText.lines(record, number: index + 1) { output.appendLine(text) }
        }
    }

    private mutating func refuse(_ error: CommandFailure) {
        sawError = true
        if json {
            error.object.write(to: &writer)
        } else {
            output.appendLine("Message \(count): not readable (\(error.name)). \(error.message)")
        }
    }

    mutating func endBlock() {
        if json { swap(&output.buffer, &writer.text) }
        output.flush()
    }

    mutating func finish() { endBlock() }
}

/// Decodes and counts messages and their payloads. The time excludes reading input and parsing hexadecimal text.
private struct DecodeCounter: DecodeSink {
    let options: NDEFDecodingOptions
    var pendingMessages: [[UInt8]] = []
    var messages = 0
    var records = 0
    var errors = 0
    var byteCount = 0
    var time = Duration.zero

    var sawError: Bool { errors > 0 }

    mutating func take(_ message: Result<[UInt8], CommandFailure>) {
        switch message {
        case .success(let bytes): pendingMessages.append(bytes)
        case .failure:
            messages += 1
            errors += 1
        }
    }

    mutating func endBlock() {
        var records = 0
        var errors = 0
        let start = ContinuousClock.now
        for bytes in pendingMessages {
            do {
                let message = try NDEFMessage(decoding: bytes, options: options)
                records += message.records.count
                for record in message.records { _ = try? record.content() }
            } catch {
                errors += 1
            }
        }
        time += ContinuousClock.now - start
        messages += pendingMessages.count
        byteCount += pendingMessages.reduce(0) { $0 + $1.count }
        self.records += records
        self.errors += errors
        pendingMessages.removeAll(keepingCapacity: true)
    }

    mutating func finish() {
        let summary: JSONObject = [
            "messages": messages, "records": records, "errors": errors, "bytes": byteCount,
            "ns": Int(time / Duration.nanoseconds(1)),
        ]
        summary.print()
    }
}
