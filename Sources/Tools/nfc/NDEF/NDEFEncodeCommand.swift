// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF
import TagLink
import TextSafety

struct NDEFEncodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encode",
        abstract: "Encode a message of links and options, or JSON objects, one per line.",
        discussion: """
            Links and options make one message, as in nfc write. Without them, a line of
            standard input is the output of 'nfc ndef decode --json', an object with
            'records', or one record. A record has 'tnf', 'type_hex', 'id_hex' and
            'payload_hex' (missing ones are empty), or it has its decoded content,
            directly or in 'decoded'. With both 'tnf' and 'decoded', the bytes are used.
            A record with an unknown member can't be encoded; other members beside
            'records' are ignored.

            Examples:
              nfc ndef encode https://example.com --text Hi
              nfc ndef encode --wifi Guests --password "a long one"
              echo '{"kind":"uri","uri":"https://a.example"}' | nfc ndef encode
              echo '{"kind":"text","text":"Hi","language":"en"}' | nfc ndef encode
              echo '{"records":[{"tnf":5,"payload_hex":"00ff"}]}' | nfc ndef encode
              nfc ndef decode --json < messages.hex | nfc ndef encode

            For a line that can't be encoded, it prints an empty line, and an error on
            standard error. Exit status: 0 when every message was encoded, 1 when one
            was not, 2 for wrong usage.
            """
    )

    @Argument(help: ArgumentHelp("Links to encode.", valueName: "link"))
    var links: [String] = []

    @OptionGroup var content: MessageOptions

    @Flag(help: "Print one JSON object per message, {\"ok\":true,\"hex\":\"…\"}.")
    var json = false

    @Option(help: "Write payloads in chunks if they are longer than this many bytes.")
    var chunkSize: Int?

    func validate() throws {
        if let chunkSize, chunkSize < 1 {
            throw ValidationError("--chunk-size \(chunkSize) is too small: a chunk needs at least one byte.")
        }
        if let word = links.first(where: { !MessageOptions.isURI($0) }) {
            throw ValidationError("'\(word)' is not a link. A link begins like https://. Use --text for a text.")
        }
        try content.check(links, isNeeded: false)
    }

    func run() throws {
        guard links.isEmpty, content.isEmpty else {
            let bytes = try NDEFMessage(decoding: content.bytes(links)).encoded(chunkSize: chunkSize)
            return printResult(json: json, ["ok": true, "hex": bytes.hexText()], [bytes.hexText()])
        }
        var lines = LineReader()
        var output = StandardOutput()
        var printer = JSONWriter()
        var number = 0
        var sawError = false
        func print(_ line: Result<[UInt8], CommandFailure>) {
            number += 1
            switch line {
            case .success(let bytes) where json:
                (["ok": true, "hex": bytes.hexText()] as JSONObject).write(to: &printer)
            case .success(let bytes): printer.text += bytes.hexText().utf8
            case .failure(let error):
                sawError = true
                if json {
                    error.object.write(to: &printer)
                } else {
                    error.print(json: false, line: number)
                }
            }
            printer.newLine()
        }
        func flush() {
            swap(&output.buffer, &printer.text)
            output.flush()
        }
        do throws(CommandFailure) {
            while !StandardOutput.isBroken, let block = try lines.nextBlock() {
                for line in block { print(Result { () throws(CommandFailure) in try encode(line) }) }
                flush()
            }
        } catch {
            print(.failure(error))
            flush()
        }
        guard !sawError else { throw ExitCode(1) }
    }

    private func encode(_ line: ArraySlice<UInt8>) throws(CommandFailure) -> [UInt8] {
        let value: JSONNode
        do {
            value = try JSONReader.read(Array(line), maximumDepth: 64)
        } catch {
            let message = "The line is not valid JSON at character \(error.offset + 1)."
            throw CommandFailure("bad-json", message, offset: error.offset)
        }
        let message = try RecordBuilder.message(value)
        do {
            return try message.encoded(chunkSize: chunkSize)
        } catch {
            throw CommandFailure(error.code.description, error.reason, offset: error.record)
        }
    }
}
