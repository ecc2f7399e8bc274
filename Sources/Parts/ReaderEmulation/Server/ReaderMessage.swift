// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A message from the driver in pcscd over the reader's socket: kind, sequence number, length in four bytes, and the
/// bytes.
struct DriverMessage: Sendable, Equatable {
    /// The driver's request.
    enum Request: Sendable, Equatable {
        /// The driver has accepted the greeting, and uses this version of the protocol.
        case hello(version: UInt8)
        case power(EmulatedReader.Power)
        case transmit([UInt8])
        case control(UInt32, [UInt8])
        case attribute(UInt32)
    }

    var request: Request
    /// The number that the answer repeats.
    var sequence: UInt8

    /// The version that both sides use.
    static let version: UInt8 = 2
}

/// Finds messages in the bytes from the socket.
struct DriverMessageDecoder: Sendable {
    /// The bytes are not messages: the other side is not this package's driver.
    struct Malformed: Error {}

    private static let headerLength = 6
    /// The longest APDU with the data around it.
    static let maximumPayload = 65548 + 16

    private var buffer: [UInt8] = []

    mutating func append(_ octets: [UInt8]) {
        buffer += octets
    }

    /// The next whole message; nil when more bytes are needed.
    mutating func next() throws(Malformed) -> DriverMessage? {
        guard buffer.count >= Self.headerLength else { return nil }
        let length = Int(octets: buffer[2..<6])
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
        payload.count >= 4 ? UInt32(octets: payload.prefix(4)) : nil
    }
}

/// Messages from the reader to the driver.
enum ReaderMessage {
    /// The first message: the version of the protocol.
    static let hello = message("H", 0, [DriverMessage.version])
    static let inserted = message("I", 0, [])
    static let removed = message("O", 0, [])
    /// The reader leaves in an orderly way, and may come back.
    static let bye = message("B", 0, [])

    /// The answer to a request: a status, and data.
    static func reply(_ reply: EmulatedReader.Reply, to sequence: UInt8) -> [UInt8] {
        switch reply {
        case .done(let octets): message("R", sequence, [0] + octets)
        case .noCard: message("R", sequence, [1])
        case .unsupported: message("R", sequence, [2])
        case .failed: message("R", sequence, [3])
        }
    }

    private static func message(_ kind: Unicode.Scalar, _ sequence: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = UInt32(payload.count)
        let header = [UInt8(ascii: kind), sequence] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
        return header + payload
    }
}
