// SPDX-License-Identifier: Apache-2.0
import NDEF

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
