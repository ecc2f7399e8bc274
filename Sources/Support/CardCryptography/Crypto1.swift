// SPDX-License-Identifier: Apache-2.0

/// Crypto-1, the stream cipher of MIFARE Classic (Garcia et al., "Dismantling MIFARE Classic", 2008).
///
/// It has been broken for years: whoever records one authentication can compute the key. Bytes go least significant bit
/// first, as on the air. Parity bits, which the card encrypts too, are the link's matter and not modelled here.
package struct Crypto1: Sendable {
    /// The 48 bits of the register; bit 0 is the one that leaves it next.
    private var register: UInt64

    package init(key: [UInt8]) {
        precondition(key.count == 6, "a key of MIFARE Classic has six bytes")
        register = key.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Feeds the card's nonce mixed with the UID, or the reader's nonce, into the register.
    ///
    /// - Parameter uid: the four bytes of the UID that are mixed in; empty for the reader's nonce.
    /// - Returns: the nonce in the other form.
    package mutating func feed(_ nonce: [UInt8], uid: [UInt8] = [], isEncrypted: Bool) -> [UInt8] {
        nonce.enumerated().map { index, byte in
            let mixed = uid.isEmpty ? byte : byte ^ uid[index]
            return (0..<8).reduce(UInt8(0)) { result, bit in
                let key = keyBit
                shift(feeding: UInt64(mixed >> bit & 1) ^ (isEncrypted ? key : 0))
                return result | (byte >> bit & 1 ^ UInt8(key)) << bit
            }
        }
    }

    /// Encrypts or decrypts bytes.
    ///
    /// - Parameter bits: the number of bits in each byte: 8, or 4 for an ACK or NAK.
    package mutating func apply(to bytes: [UInt8], bits: Int = 8) -> [UInt8] {
        bytes.map { byte in
            (0..<bits).reduce(byte) { result, bit in
                defer { shift(feeding: 0) }
                return result ^ UInt8(keyBit) << bit
            }
        }
    }

    /// Returns the card's nonce after a number of steps of its generator, a 16-bit register: 64 steps give the reader's
    /// answer, 96 the card's.
    package static func successor(of nonce: [UInt8], steps: Int) -> [UInt8] {
        var value = nonce.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        for _ in 0..<steps { value = value >> 1 | (value >> 16 ^ value >> 18 ^ value >> 19 ^ value >> 21) << 31 }
        return (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The taps of the feedback: bits 0, 5, 9, 10, 12, 14, 15, 17, 19, 24, 25, 27, 29, 35, 39, 41, 42 and 43.
    private static let taps: UInt64 = 0x0E88_2B0A_D621

    private mutating func shift(feeding bit: UInt64) {
        let feedback = UInt64((register & Self.taps).nonzeroBitCount & 1)
        register = register >> 1 | (feedback ^ bit) << 47
    }

    /// The next bit of the key stream: the filter, with 20 bits of the register in five groups of four.
    private var keyBit: UInt64 {
        func group(_ start: Int, _ filter: (Bool, Bool, Bool, Bool) -> Bool) -> Bool {
            func bit(_ place: Int) -> Bool { register >> UInt64(start + place) & 1 != 0 }
            return filter(bit(0), bit(2), bit(4), bit(6))
        }
        let (p, q, r, s, t) = (
            group(9, Self.a), group(17, Self.b), group(25, Self.b), group(33, Self.a), group(41, Self.b)
        )
        let bit = (p || ((q || t) && (s != t))) != ((p != (q && s)) && ((r != s) || (q && t)))
        return bit ? 1 : 0
    }

    private static func a(_ p: Bool, _ q: Bool, _ r: Bool, _ s: Bool) -> Bool {
        ((p || q) != (p && s)) != (r && ((p != q) || s))
    }

    private static func b(_ p: Bool, _ q: Bool, _ r: Bool, _ s: Bool) -> Bool {
        ((p && q) || r) != ((p != q) && (r || s))
    }
}
