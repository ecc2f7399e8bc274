// SPDX-License-Identifier: Apache-2.0
import NDEF

/// The measurements of the codec.
struct Codec {
    let messages: [[UInt8]]
    let rounds: Int

    func measure() throws -> [Measurement] {
        [try parse(), try typed(), try encode(), try length()]
    }

    private func parse() throws -> Measurement {
        try Measurement.run("parse_owned", "parse", rounds: rounds, messages: messages.count) {
            var sum = 0
            for bytes in messages {
                let message = try NDEFMessage(decoding: bytes)
                sum &+= message.records.count &+ message.records[0].payloadCount
            }
            return sum
        }
    }

    private func typed() throws -> Measurement {
        try Measurement.run("decode_typed", "parse and decode every payload", rounds: rounds, messages: messages.count)
        {
            var sum = 0
            for bytes in messages {
                for record in try NDEFMessage(decoding: bytes).records {
                    if case .uri(let uri) = try record.content() { sum &+= uri.uri.utf8.count }
                    sum &+= 1
                }
            }
            return sum
        }
    }

    private func encode() throws -> Measurement {
        let decoded = try messages.map { try NDEFMessage(decoding: $0) }
        return try Measurement.run("encode_fresh", "encode", rounds: rounds, messages: messages.count) {
            var sum = 0
            for message in decoded { sum &+= try message.encoded().count }
            return sum
        }
    }

    private func length() throws -> Measurement {
        let decoded = try messages.map { try NDEFMessage(decoding: $0) }
        return Measurement.run("encoded_length", "length without encoding", rounds: rounds, messages: messages.count) {
            decoded.reduce(0) { $0 &+ $1.encodedLength }
        }
    }
}
