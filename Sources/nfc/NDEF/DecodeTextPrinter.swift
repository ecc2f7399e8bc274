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
