// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A datagram of nfcpy's `udp` device: a bit rate and the bytes of a frame, such as `106A 9320`, or `RFOFF`.
///
/// It contains neither checksums nor parity, and a frame of a few bits is one byte. The frame on the air follows from the
/// bytes.
enum FrameDatagram: Equatable {
    case fieldOff
    case frame(bitRate: String, bytes: [UInt8])

    /// The datagram for a silent tag. nfcpy itself sees a frame at a bit rate that it does not wait
    /// for.
    static let silence = Array("none 00".utf8)

    /// Parses a datagram; nil when it is not one of the device's.
    init?(_ datagram: [UInt8]) {
        let words = datagram.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        if words == ["RFOFF"] {
            self = .fieldOff
            return
        }
        guard words.count == 2, Self.technology(of: words[0]) != nil, words[1].utf8.count.isMultiple(of: 2) else {
            return nil
        }
        let digits = words[1].compactMap(\.hexDigitValue)
        guard digits.count == words[1].utf8.count else { return nil }
        self = .frame(
            bitRate: words[0],
            bytes: stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        )
    }

    /// The datagram of an answer. Without bytes it is a damaged answer.
    static func answer(_ bytes: [UInt8], bitRate: String) -> [UInt8] {
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return Array((hex.isEmpty ? bitRate : "\(bitRate) \(hex)").utf8)
    }

    /// The technology of a bit rate such as `212F`.
    static func technology(of bitRate: String) -> Technology? {
        switch bitRate {
        case "106A": .nfcA
        case "106B": .nfcB
        case "212F", "424F": .nfcF
        default: nil
        }
    }
}

/// Makes frames from bytes, as a reader chip does when it sends them.
struct FrameMaker {
    /// Whether the tag that answered last is a Type 1 tag, whose commands have CRC_B.
    private var isType1 = false

    /// The frame of bytes from nfcpy.
    func frame(_ bytes: [UInt8], _ technology: Technology) -> Frame {
        guard technology == .nfcA else { return Frame(bytes) }
        switch bytes.first {
        case 0x26 where bytes.count == 1, 0x52 where bytes.count == 1:
            return Frame(bits: bytes, validBitsInLastByte: 7)
        case 0x93 where bytes.count == 2, 0x95 where bytes.count == 2, 0x97 where bytes.count == 2:
            return Frame(bytes, checksum: .none)
        default:
            return Frame(bytes, checksum: isType1 ? .crcB : .automatic)
        }
    }

    /// Finds the kind of tag from the answer to REQA or WUPA (NFC Forum Digital 2.3, 4.6.3).
    mutating func learn(from answer: Frame, to request: Frame) {
        guard request.validBitsInLastByte == 7, answer.bytes.count == 2 else { return }
        isType1 = answer.bytes[0] & 0x1F == 0 && answer.bytes[1] & 0x0F == 0x0C
    }
}
