// SPDX-License-Identifier: Apache-2.0

/// The properties of a packet of MQTT 5, as far as it takes to find those that are unknown. MQTT 5.0, 2.2.2.
enum PacketProperties {
    /// How the value of a property is written.
    private enum Kind {
        case bytes(Int)
        case varint
        /// Texts or bytes with their length before them.
        case texts(Int)
    }

    /// Finds what is wrong with a packet.
    ///
    /// - Parameters:
    ///   - first: its first byte, with its type.
    ///   - body: everything after its length.
    /// - Returns: what it is, for a sentence; nil when the properties can be understood.
    static func fault(first: UInt8, body: [UInt8]) -> String? {
        var rest = body[...]
        guard skipToProperties(first, &rest) else { return "a packet that is too short" }
        guard !rest.isEmpty else { return nil }
        guard let length = varint(&rest), length <= rest.count else { return "properties that are too short" }
        rest = rest.prefix(length)
        while let identifier = rest.popFirst() {
            guard let kind = kind(identifier) else {
                return "the unknown property 0x\(String(identifier, radix: 16))"
            }
            guard skip(kind, &rest) else { return "properties that are too short" }
        }
        return nil
    }

    /// Skips what comes before the properties. Nothing is left of a packet that has none.
    private static func skipToProperties(_ first: UInt8, _ rest: inout ArraySlice<UInt8>) -> Bool {
        let count = rest.count
        switch first >> 4 {
        // CONNACK; one of 2 bytes is from a broker of MQTT 3.1.1.
        case 2: return drop(2, &rest)
        // PUBLISH: a topic, and with QoS a number.
        case 3: return skip(.texts(1), &rest) && drop(first & 0x06 == 0 ? 0 : 2, &rest)
        // PUBACK to PUBCOMP: a number and a reason.
        case 4...7: return drop(count > 3 ? 3 : count, &rest)
        // SUBACK and UNSUBACK: a number.
        case 9, 11: return drop(2, &rest)
        // DISCONNECT and AUTH: a reason.
        case 14, 15: return drop(min(1, count), &rest)
        default: return drop(count, &rest)
        }
    }

    private static func drop(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.count >= count else { return false }
        rest = rest.dropFirst(count)
        return true
    }

    private static func skip(_ kind: Kind, _ rest: inout ArraySlice<UInt8>) -> Bool {
        switch kind {
        case .bytes(let count): return drop(count, &rest)
        case .varint: return varint(&rest) != nil
        case .texts(let texts):
            for _ in 0..<texts {
                guard let high = rest.popFirst(), let low = rest.popFirst() else { return false }
                guard drop(Int(high) << 8 | Int(low), &rest) else { return false }
            }
            return true
        }
    }

    /// A number of 1 to 4 bytes. MQTT 5.0, 1.5.5.
    private static func varint(_ rest: inout ArraySlice<UInt8>) -> Int? {
        var value = 0
        for shift in stride(from: 0, through: 21, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    private static func kind(_ identifier: UInt8) -> Kind? {
        switch identifier {
        case 0x01, 0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2A: .bytes(1)
        case 0x13, 0x21, 0x22, 0x23: .bytes(2)
        case 0x02, 0x11, 0x18, 0x27: .bytes(4)
        case 0x0B: .varint
        case 0x03, 0x08, 0x09, 0x12, 0x15, 0x16, 0x1A, 0x1C, 0x1F: .texts(1)
        case 0x26: .texts(2)
        default: nil
        }
    }
}
