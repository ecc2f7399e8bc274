// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The state machine of a MIFARE Classic as far as a reader without its cipher gets (MF1S50yyX data sheet, 10 and 12).
struct ClassicSilicon: Sendable {
    /// The 4-bit code of a refusal: not allowed.
    private static let notAllowed: UInt8 = 0x4
    /// The 4-bit code of a refusal: parity or checksum.
    private static let checksum: UInt8 = 0x5

    let contents: ClassicContents
    private var listener: NFCAListener?
    private var random: SplitMix64
    /// Whether a nonce was sent: whatever comes next would be enciphered.
    private var awaitsReader = false

    init(_ contents: ClassicContents) {
        self.contents = contents
        listener = NFCAListener(uid: contents.uid, atqa: contents.atqa, sak: contents.sak)
        random = SplitMix64(seed: contents.uid.reduce(0) { $0 << 8 | UInt64($1) })
    }

    mutating func losePower() {
        listener?.reset()
        awaitsReader = false
    }

    mutating func receive(_ frame: Frame, disturbance: Disturbance?) -> TagAnswer? {
        if awaitsReader {
            // Nobody has the right answer to the nonce: the card gives up in silence.
            awaitsReader = false
            listener?.deselect()
            return nil
        }
        switch listener?.receive(frame) {
        case nil, .silence: return nil
        case .answer(let answer), .woken(let answer): return TagAnswer(answer)
        case .damaged: return refuse(Self.checksum)
        case .command(let command):
            if case .refusal(let code) = disturbance { return refuse(code) }
            return execute(command)
        }
    }

    /// Authentication with key A or B sends a nonce; all else is refused without one.
    private mutating func execute(_ command: [UInt8]) -> TagAnswer? {
        guard command.count == 2, command[0] == 0x60 || command[0] == 0x61,
            Int(command[1]) < contents.product.blockCount
        else {
            return refuse(Self.notAllowed)
        }
        awaitsReader = true
        let nonce = UInt32(truncatingIfNeeded: random.next())
        let octets = (0..<4).map { (index: Int) -> UInt8 in UInt8(truncatingIfNeeded: nonce >> UInt32(24 - 8 * index)) }
        return TagAnswer(Frame(octets, checksum: .none))
    }

    private mutating func refuse(_ code: UInt8) -> TagAnswer {
        listener?.deselect()
        return TagAnswer(Frame(bits: [code & 0x0F], validBitsInLastByte: 4))
    }
}
