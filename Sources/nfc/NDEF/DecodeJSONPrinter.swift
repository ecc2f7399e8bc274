// SPDX-License-Identifier: Apache-2.0
import NDEF

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
