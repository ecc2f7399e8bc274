// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF
import TagLink
import TextSafety

struct NDEFEncodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encode",
        abstract: "Encode messages. Reads one JSON object per line.",
        discussion: """
            A line of standard input is the output of 'nfc ndef decode --json', an
            object with 'records', or one record. A record has 'tnf', 'type_hex',
            'id_hex' and 'payload_hex' (missing ones are empty), or it has its decoded
            content, directly or in 'decoded'. With both 'tnf' and 'decoded', the bytes
            count. A record with an unknown member can't be encoded; other members
            beside 'records' are ignored.

            Examples:
              echo '{"kind":"uri","uri":"https://a.example"}' | nfc ndef encode
              echo '{"kind":"text","text":"Hi","language":"en"}' | nfc ndef encode
              echo '{"records":[{"tnf":5,"payload_hex":"00ff"}]}' | nfc ndef encode
              nfc ndef decode --json < messages.hex | nfc ndef encode

            For a line that can't be encoded, it prints an empty line, and an error on
            standard error. Exit status: 0 when every message was encoded, 1 when one
            was not, 2 for wrong usage.
            """
    )

    @Flag(help: "Print one JSON object per message, {\"ok\":true,\"hex\":\"…\"}.")
    var json = false

    @Option(help: "Write payloads in chunks if they are longer than this many bytes.")
    var chunkSize: Int?

    func validate() throws {
        if let chunkSize, chunkSize < 1 {
            throw ValidationError("--chunk-size \(chunkSize) is too small: a chunk needs at least one byte.")
        }
    }

    func run() throws {
        var lines = LineReader()
        var output = StandardOutput()
        var printer = JSONWriter()
        var number = 0
        var sawError = false
        func print(_ line: Result<[UInt8], InputError>) {
            number += 1
            switch line {
            case .success(let bytes) where json:
                (["ok": true, "hex": bytes.hexText()] as JSONObject).write(to: &printer)
            case .success(let bytes): printer.text += bytes.hexText().utf8
            case .failure(let error):
                sawError = true
                if json {
                    printer.failure(error.name, offset: error.offset, message: error.message)
                } else {
                    StandardError.writeLine("Line \(number): \(error.message) (\(error.name))")
                }
            }
            printer.newLine()
        }
        func flush() {
            swap(&output.buffer, &printer.text)
            output.flush()
        }
        do throws(InputError) {
            while !StandardOutput.isBroken, let block = try lines.nextBlock() {
                for line in block { print(Result { () throws(InputError) in try encode(line) }) }
                flush()
            }
        } catch {
            print(.failure(error))
            flush()
        }
        guard !sawError else { throw ExitCode(1) }
    }

    private func encode(_ line: ArraySlice<UInt8>) throws(InputError) -> [UInt8] {
        let value: JSONNode.Content
        do {
            value = try JSONReader.read(Array(line), maximumDepth: 64).content
        } catch {
            let message = "The line is not valid JSON at character \(error.offset + 1)."
            throw InputError(name: "bad-json", offset: error.offset, message: message)
        }
        let message = try MessageBuilder.message(value)
        do {
            return try message.encoded(chunkSize: chunkSize)
        } catch {
            throw InputError(name: error.code.description, offset: error.record, message: error.reason)
        }
    }
}

/// Makes messages from JSON that people and programs write.
enum MessageBuilder {
    /// A message from an object with `records`, or from one record alone.
    static func message(_ value: JSONNode.Content) throws(InputError) -> NDEFMessage {
        let top = try JSONMembers(value, record: 0)
        guard case .array(let values) = top.members["records"] else {
            if top.has("records") { throw top.error("records", "must be an array") }
            return NDEFMessage([try record(top)])
        }
        var records: [NDEFRecord] = []
        for (index, value) in values.enumerated() {
            records.append(try record(try JSONMembers(value.content, record: index)))
        }
        return NDEFMessage(records)
    }

    /// A record from its bytes if present, otherwise from its decoded content.
    private static func record(_ members: JSONMembers) throws(InputError) -> NDEFRecord {
        if members.has("tnf") {
            try members.check(["tnf", "type_hex", "id_hex", "payload_hex", "decoded"])
            guard let format = TypeNameFormat(rawValue: try members.number("tnf", UInt8.self)) else {
                throw members.error("tnf", "must be 0 to 7")
            }
            return NDEFRecord(
                format,
                type: try members.hex("type_hex"),
                identifier: try members.hex("id_hex"),
                payload: try members.hex("payload_hex")
            )
        }
        let identifier = try members.hex("id_hex")
        guard members.has("decoded") else {
            guard members.has("kind") else { throw members.error("kind", "is missing, and so is 'tnf'") }
            return try record(members, identifier: identifier, beside: ["id_hex"])
        }
        guard case .object(let decoded) = members.members["decoded"] else {
            throw members.error("decoded", "must be an object")
        }
        try members.check(["decoded", "id_hex", "payload_hex"])
        let inner = try JSONMembers(.object(decoded), record: members.record)
        return try record(inner, identifier: identifier, payload: try members.hex("payload_hex"))
    }

    private static func record(
        _ members: JSONMembers,
        identifier: [UInt8],
        payload: [UInt8] = [],
        beside others: [String] = []
    ) throws(InputError) -> NDEFRecord {
        if members.has("error") { throw members.error("error", "means that the payload is damaged; give its bytes") }
        let name = try members.string("kind")
        guard let kind = RecordKind(rawValue: name) else {
            let kinds = RecordKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw members.error("kind", "must be one of \(kinds)")
        }
        try members.check(["kind"] + others + kind.members)
        guard payload.isEmpty || kind.members.contains("payload_hex") else {
            throw members.error("payload_hex", "can't be beside the kind \(name), whose content is encoded")
        }
        let payload = payload.isEmpty ? try members.hex("payload_hex") : payload
        do {
            return try RecordBuilder(members: members, payload: payload, identifier: identifier).record(kind)
        } catch let error as NDEFError {
            throw InputError(
                name: error.code.description,
                offset: members.record,
                message: "Record \(members.record): \(error.reason)"
            )
        } catch let error as InputError {
            throw error
        } catch {
            throw members.error("kind", "can't be made")
        }
    }
}
