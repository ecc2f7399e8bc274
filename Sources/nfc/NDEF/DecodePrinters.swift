// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Prints messages for people: a line for the message, and a paragraph a record.
struct DecodeTextPrinter: DecodeSink {
    private let options: NDEFDecodingOptions
    private var output = StandardOutput()
    private var count = 0
    private(set) var sawError = false

    init(options: NDEFDecodingOptions) { self.options = options }

    mutating func take(_ message: Result<[UInt8], InputError>) {
        count += 1
        switch message {
        case .success(let bytes):
            do {
                let message = try NDEFMessage(decoding: bytes, options: options)
                let records = RecordText.count(message.records.count, "record")
                line("Message \(count): \(records), \(RecordText.count(bytes.count, "octet"))")
                for (index, record) in message.records.enumerated() {
                    for text in RecordText.lines(record, number: index + 1) { line(text) }
                }
            } catch {
                refuse(error.code.description, error.reason)
            }
        case .failure(let error):
            refuse(error.name, error.message)
        }
        output.flushIfLarge()
    }

    mutating func endBlock() { output.flush() }
    mutating func finish() { output.flush() }

    private mutating func refuse(_ name: String, _ message: String) {
        sawError = true
        line("Message \(count): not readable (\(name)). \(message)")
    }

    private mutating func line(_ text: String) {
        output.buffer.append(contentsOf: text.utf8)
        output.buffer.append(0x0A)
    }
}

/// Prints one JSON object a message.
struct DecodeJSONPrinter: DecodeSink {
    private let options: NDEFDecodingOptions
    private var output = StandardOutput()
    private var json = JSONWriter()
    private(set) var sawError = false

    init(options: NDEFDecodingOptions) { self.options = options }

    mutating func take(_ message: Result<[UInt8], InputError>) {
        switch message {
        case .success(let bytes):
            do {
                let message = try NDEFMessage(decoding: bytes, options: options)
                json.message(message)
            } catch {
                sawError = true
                json.failure(error.code.description, offset: error.offset, message: error.reason)
            }
        case .failure(let error):
            sawError = true
            json.failure(error.name, offset: error.offset, message: error.message)
        }
        json.newLine()
        if json.text.count >= 1 << 16 { endBlock() }
    }

    mutating func endBlock() {
        swap(&output.buffer, &json.text)
        output.flush()
        swap(&output.buffer, &json.text)
    }

    mutating func finish() { endBlock() }
}

/// Decodes messages and their payloads, and counts. The time is that of decoding alone, without input and hex.
struct DecodeCounter: DecodeSink {
    private let options: NDEFDecodingOptions
    private var waiting: [[UInt8]] = []
    private var messages = 0
    private var records = 0
    private var errors = 0
    private var octets = 0
    private var time = Duration.zero
    private var output = StandardOutput()

    init(options: NDEFDecodingOptions) { self.options = options }

    var sawError: Bool { errors > 0 }

    mutating func take(_ message: Result<[UInt8], InputError>) {
        switch message {
        case .success(let bytes): waiting.append(bytes)
        case .failure:
            messages += 1
            errors += 1
        }
    }

    mutating func endBlock() {
        var records = 0
        var errors = 0
        let start = ContinuousClock.now
        for bytes in waiting {
            do {
                let message = try NDEFMessage(decoding: bytes, options: options)
                records += message.records.count
                for record in message.records { _ = try? record.content() }
            } catch {
                errors += 1
            }
        }
        time += ContinuousClock.now - start
        messages += waiting.count
        octets += waiting.reduce(0) { $0 + $1.count }
        self.records += records
        self.errors += errors
        waiting.removeAll(keepingCapacity: true)
    }

    mutating func finish() {
        let (seconds, attoseconds) = time.components
        var json = JSONWriter()
        json.beginObject()
        json.member("messages", messages)
        json.member("records", records)
        json.member("errors", errors)
        json.member("bytes", octets)
        json.member("ns", Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
        json.endObject()
        json.newLine()
        output.buffer = json.text
        output.flush()
    }
}
