// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF

/// `nfc ndef decode`.
struct NDEFDecodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Decode messages, one a line in hex on standard input.",
        discussion: """
            Octets may be apart by spaces or colons. An empty line is an empty
            input, which is an error.

            Examples:
              echo d1010b5504746573742e636f6d2f31 | nfc ndef decode
              nfc ndef decode --json < messages.hex
              nfc ndef decode --binary < message.ndef
              nfc ndef decode --json --lenient trailing-data < dump.hex
              nfc ndef decode --quiet < messages.hex

            Exit status: 0 when every message was read, 1 when one was not, 2 for
            wrong usage.
            """
    )

    @Flag(help: "Print one JSON object a message.")
    var json = false

    @Flag(help: "Take the whole of standard input as the octets of one message.")
    var binary = false

    @Flag(help: "Decode everything and print one line of counts and the time that decoding took, as JSON.")
    var quiet = false

    @Option(help: "Overlook a fault, by the name of its error; may be given several times.")
    var lenient: [Leniency] = []

    func run() throws {
        let options = Leniency.options(lenient)
        var sink: any DecodeSink =
            if quiet {
                DecodeCounter(options: options)
            } else if json {
                DecodeJSONPrinter(options: options)
            } else {
                DecodeTextPrinter(options: options)
            }
        if binary {
            sink.take(.success(StandardInput.all()))
            sink.endBlock()
        } else {
            var lines = LineReader()
            while let block = lines.nextBlock() {
                for line in block { sink.take(HexText.octets(line)) }
                sink.endBlock()
            }
        }
        sink.finish()
        guard !sink.sawError else { throw ExitCode(1) }
    }
}

/// What becomes of the messages that come in.
protocol DecodeSink {
    /// Whether a message couldn't be read.
    var sawError: Bool { get }

    /// Takes the next message, or what is wrong with its hex.
    mutating func take(_ message: Result<[UInt8], InputError>)

    /// No more input is there at the moment: prints what there is.
    mutating func endBlock()

    /// No more input will come.
    mutating func finish()
}

/// A fault that can be overlooked, by the name of its error.
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

/// Why a line of input means nothing.
struct InputError: Error {
    /// The error's name.
    var name: String
    /// The character of the line, or the index of the record, where the fault lies.
    var offset: Int
    /// What is wrong, as a sentence.
    var message: String
}
