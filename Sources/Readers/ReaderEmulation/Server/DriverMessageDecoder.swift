// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Finds messages in the bytes from the socket.
struct DriverMessageDecoder: Sendable {
    /// The bytes are not messages: the other side is not this package's driver.
    struct Malformed: Error {}

    private static let headerLength = 6
    /// The longest APDU with the data around it.
    static let maximumPayload = 65548 + 16

    private var buffer: [UInt8] = []

    mutating func append(_ bytes: [UInt8]) {
        buffer += bytes
    }

    /// The next whole message; nil when more bytes are needed.
    mutating func next() throws(Malformed) -> DriverMessage? {
        guard buffer.count >= Self.headerLength else { return nil }
        let length = Int(bytes: buffer[2..<6])
        guard length <= Self.maximumPayload else { throw Malformed() }
        guard buffer.count >= Self.headerLength + length else { return nil }
        let payload = Array(buffer[Self.headerLength..<Self.headerLength + length])
        guard let request = Self.request(buffer[0], payload) else { throw Malformed() }
        let message = DriverMessage(request: request, sequence: buffer[1])
        buffer.removeFirst(Self.headerLength + length)
        return message
    }

    private static func request(_ kind: UInt8, _ payload: [UInt8]) -> DriverMessage.Request? {
        switch kind {
        case UInt8(ascii: "H"): return payload.first.map { .hello(version: $0) }
        case UInt8(ascii: "P"): return payload.first.flatMap(EmulatedReader.Power.init).map { .power($0) }
        case UInt8(ascii: "T"): return .transmit(payload)
        case UInt8(ascii: "C"): return number(payload).map { .control($0, Array(payload.dropFirst(4))) }
        case UInt8(ascii: "G"): return number(payload).map { .attribute($0) }
        default: return nil
        }
    }

    private static func number(_ payload: [UInt8]) -> UInt32? {
        payload.count >= 4 ? UInt32(bytes: payload.prefix(4)) : nil
    }
}
