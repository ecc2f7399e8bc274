// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual MIFARE Classic. It can be found and identified, but not read.
///
/// ```swift
/// let card = ClassicTag(ClassicContents(blank: .classic1K, uid: [0x9C, 0x0C, 0x37, 0x01]))
/// ```
///
/// Its cipher, Crypto-1, is not modelled. Core NFC on phones can't authenticate either, so everything protected by an
/// authentication is out of reach. The card is activated with its UID, ATQA and SAK. It answers an authentication (60,
/// 61) with a nonce and then stays silent, like after a wrong answer from the reader. It refuses every other command.
public final class ClassicTag: VirtualTag {
    /// The card's persistent state.
    public let contents: ClassicContents
    private let chip: Locked<ClassicChip>

    /// Creates a card.
    ///
    /// - Parameter contents: its state. The UID must have 4, 7 or 10 bytes.
    public init(_ contents: ClassicContents) {
        precondition([4, 7, 10].contains(contents.uid.count), "a UID of NFC-A has 4, 7 or 10 bytes")
        self.contents = contents
        chip = Locked(ClassicChip(contents))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] { contents.uid }

    public func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        chip.withLock { $0.receive(request, injectedFault: injectedFault) }
    }

    public func losePower() {
        chip.withLock { $0.losePower() }
    }
}

/// The state machine of a MIFARE Classic, as far as a reader without its cipher can use it (MF1S50yyX data sheet, 10
/// and 12).
struct ClassicChip: Sendable {
    /// The 4-bit code of a refusal: not allowed.
    private static let notAllowed: UInt8 = 0x4
    /// The 4-bit code of a refusal: parity or checksum.
    private static let checksum: UInt8 = 0x5

    let contents: ClassicContents
    private var listener: NFCAListener?
    private var random: SplitMix64
    /// Whether a nonce was sent. The next message would be encrypted.
    private var awaitsReader = false

    init(_ contents: ClassicContents) {
        self.contents = contents
        listener = NFCAListener(uid: contents.uid, atqa: contents.atqa, sak: contents.sak)
        random = SplitMix64(identifier: contents.uid)
    }

    mutating func losePower() {
        listener?.reset()
        awaitsReader = false
    }

    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        if awaitsReader {
            // No reader has the right answer to the nonce, so the card stays silent.
            awaitsReader = false
            listener?.deselect()
            return nil
        }
        switch listener?.receive(frame) {
        case nil, .silence: return nil
        case .answer(let answer), .woken(let answer): return TagAnswer(answer)
        case .damaged: return refuse(Self.checksum)
        case .command(let command):
            if case .refusal(let code) = injectedFault { return refuse(code) }
            return execute(command)
        }
    }

    /// Authentication with key A or B answers with a nonce. All other commands are refused.
    private mutating func execute(_ command: [UInt8]) -> TagAnswer? {
        guard command.count == 2, command[0] == 0x60 || command[0] == 0x61,
            Int(command[1]) < contents.product.blockCount
        else {
            return refuse(Self.notAllowed)
        }
        awaitsReader = true
        let nonce = UInt32(truncatingIfNeeded: random.next())
        return TagAnswer(Frame([UInt8](bigEndian: Int(nonce), count: 4), checksum: .none))
    }

    private mutating func refuse(_ code: UInt8) -> TagAnswer {
        listener?.deselect()
        return TagAnswer(Frame(bits: [code & 0x0F], validBitsInLastByte: 4))
    }
}
