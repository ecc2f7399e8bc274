// SPDX-License-Identifier: Apache-2.0
import CardCryptography
public import TagLink
public import TagProducts

/// The persistent state of a MIFARE Classic, as in an image of the card.
public struct ClassicContents: Sendable, Hashable {
    /// The product.
    public var product: ClassicProduct
    /// The UID, 4 or 7 bytes, also stored at the start of the memory. A 4-byte UID need not be unique.
    public var uid: [UInt8]
    /// ATQA. The low byte is sent first.
    public var atqa: UInt16
    /// SAK.
    public var sak: UInt8
    /// All blocks, 16 bytes each, including keys.
    public var memory: [UInt8]
    /// The positions in ``memory`` of bytes that a dump lacks. These bytes are zero.
    public var unknownBytes: Set<Int> = []
    /// The originality signature of MIFARE Classic EV1, 32 bytes; empty if the card has none.
    public var signature: [UInt8] = []

    /// Creates contents from an image. Missing bytes at the end are zero. The UID defaults to the one in the memory.
    public init(_ product: ClassicProduct, memory: [UInt8], uid: [UInt8]? = nil) {
        let missing = max(0, product.memorySize - memory.count)
        self.product = product
        self.memory = Array((memory + Array(repeating: 0, count: missing)).prefix(product.memorySize))
        self.uid = uid ?? Self.uid(inBlock0: self.memory)
        atqa = product.atqa(uidLength: self.uid.count)
        sak = product.sak
    }

    /// Creates a new card: every sector has the transport keys FFFFFFFFFFFF (MF1S50yyX data sheet, 8.6).
    public init(blank product: ClassicProduct, uid: [UInt8]) {
        var memory = [UInt8](repeating: 0, count: product.memorySize)
        let key = [UInt8](repeating: 0xFF, count: 6)
        for sector in 0..<product.sectorCount {
            let start = ClassicProduct.trailer(ofSector: sector) * 16
            memory.replaceSubrange(start..<(start + 16), with: key + [0xFF, 0x07, 0x80, 0x69] + key)
        }
        let atqa = product.atqa(uidLength: uid.count)
        var head = uid.count == 4 ? uid + [uid.reduce(0, ^)] : uid
        head += [product.sak, UInt8(atqa & 0xFF), UInt8(atqa >> 8)]
        memory.replaceSubrange(0..<head.count, with: head)
        self.init(product, memory: memory, uid: uid)
    }

    /// Returns the UID at the start of a whole card's memory. After a 7-byte UID, ATQA shows its length. A 4-byte UID
    /// is followed by the XOR of its bytes.
    package static func uid(inBlock0 memory: [UInt8]) -> [UInt8] {
        let short = Array(memory.prefix(4))
        let isDouble = memory[0] == 0x04 && memory[8] & 0xC0 == 0x40 && memory[9] == 0x00
        return memory[4] == short.reduce(0, ^) && !isDouble ? short : Array(memory.prefix(7))
    }
}

// Printing these contents must not show the keys, which are in the middle of the memory.

extension ClassicContents: CustomReflectable, CustomStringConvertible {
    /// The parts to print, with zeros instead of the sectors' keys.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "product": product, "uid": uid, "atqa": atqa, "sak": sak, "memory": memory.concealing(keyRanges),
                "unknownBytes": unknownBytes, "signature": signature,
            ],
            displayStyle: .struct
        )
    }

    /// The product, the UID and the size.
    public var description: String { "\(product), UID \(uid.hexText()), \(memory.count) bytes" }
}

extension ClassicContents {
    /// The positions of the sectors' keys in the memory.
    package var keyRanges: [Range<Int>] {
        (0..<product.sectorCount).flatMap { sector in
            let trailer = ClassicProduct.trailer(ofSector: sector) * 16
            return [trailer..<trailer + 6, trailer + 10..<trailer + 16]
        }
    }
}

/// A virtual MIFARE Classic, with its keys and access conditions (MF1S50yyX data sheet).
///
/// ```swift
/// let card = ClassicTag(ClassicContents(blank: .classic1K, uid: [0x9C, 0x0C, 0x37, 0x01]))
/// ```
///
/// A reader authenticates with key A or B of a sector, with a wrong key in vain and without an answer. After that,
/// commands and answers are encrypted with Crypto-1. The links of this project carry no parity bits, so their encryption
/// is not modelled, nor is the answer of some cards to a wrong parity, which attacks use.
public final class ClassicTag: ChipTag {
    let chip: Locked<ClassicChip>

    /// Creates a card. The UID must have 4, 7 or 10 bytes.
    public init(_ contents: ClassicContents) {
        precondition([4, 7, 10].contains(contents.uid.count), "a UID of NFC-A has 4, 7 or 10 bytes")
        chip = Locked(ClassicChip(contents))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] { contents.uid }

    /// The card's current persistent state.
    public var contents: ClassicContents { chip.withLock { $0.contents } }
}

/// The state machine of a MIFARE Classic (MF1S50yyX data sheet, 8 to 11).
struct ClassicChip: TagChip {
    private enum State: Sendable {
        case open
        /// The card sent its nonce, and waits for the reader's nonce and answer.
        case challenged(nonce: [UInt8], ClassicAccess.Keys, sector: Int)
        /// The sector is open to a key. It is empty if key B was used although it is readable.
        case authenticated(ClassicAccess.Keys, sector: Int)
    }

    private enum Pending: Sendable {
        case write(block: Int)
        case value(code: UInt8, block: Int)
    }

    /// The 4-bit codes for a command that is not allowed, and for a wrong checksum.
    private static let notAllowed: UInt8 = 0x4
    private static let checksum: UInt8 = 0x5
    /// The data sheet gives 10 ms at most for a write and for TRANSFER, and says nothing about the usual time.
    private static let programmingTime = Airtime.milliseconds(5)

    var contents: ClassicContents
    private var listener: NFCAListener
    private var random: SplitMix64
    private var state = State.open
    private var cipher: Crypto1?
    private var pending: Pending?
    /// The block that TRANSFER writes, after INCREMENT, DECREMENT or RESTORE.
    private var buffer: [UInt8]?

    init(_ contents: ClassicContents) {
        self.contents = contents
        // Without the bit for ISO-DEP, which is not modelled, as on an ``NFCATag``.
        listener = NFCAListener(uid: contents.uid, atqa: contents.atqa, sak: contents.sak & ~0x20)
        random = SplitMix64(identifier: contents.uid)
    }

    mutating func losePower() {
        listener.losePower()
        close()
    }

    private mutating func close() { (state, cipher, pending, buffer) = (.open, nil, nil, nil) }

    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        if case .refusal(let code)? = injectedFault, listener.state == .active { return refuse(code) }
        let isShort = frame.bytes.count == 1 && frame.validBitsInLastByte == 7
        if case .challenged(let nonce, let key, let sector) = state, !isShort {
            return finishAuthentication(frame, nonce, key, sector)
        }
        if cipher != nil, !isShort {
            let bytes = cipher?.apply(to: frame.bytesOnAir(.nfcA)) ?? []
            guard frame.validBitsInLastByte == 8, let command = Frame(bytes, checksum: .none).payload(checkedBy: .nfcA)
            else { return refuse(Self.checksum) }
            if command == [0x50, 0x00] {
                close()
                _ = listener.receive(Frame(command))
                return nil
            }
            return execute(command, injectedFault)
        }
        let outcome = listener.receive(frame)
        if listener.state != .active { close() }
        switch outcome {
        case .silence: return nil
        case .answer(let answer), .woken(let answer): return TagAnswer(answer)
        case .damaged: return refuse(Self.checksum)
        case .command(let command): return execute(command, injectedFault)
        }
    }

    // MARK: Authentication

    /// Sends a nonce, the next one of a 16-bit generator. In an authenticated sector, it is encrypted with the new key.
    private mutating func challenge(_ command: [UInt8]) -> TagAnswer {
        let (sector, isB) = (ClassicProduct.sector(of: Int(command[1])), command[0] == 0x61)
        let nonce = Crypto1.successor(of: random.bytes(2) + [0, 0], steps: 32)
        let start = ClassicProduct.trailer(ofSector: sector) * 16 + (isB ? 10 : 0)
        var new = Crypto1(key: Array(contents.memory[start..<start + 6]))
        let encrypted = new.feed(nonce, uid: Array(contents.uid.suffix(4)), isEncrypted: false)
        let isNested = cipher != nil
        close()
        cipher = new
        state = .challenged(nonce: nonce, isB ? .b : .a, sector: sector)
        return TagAnswer(Frame(isNested ? encrypted : nonce, checksum: .none))
    }

    /// Checks the reader's answer. After a wrong one the card is silent and goes back to IDLE or HALT.
    private mutating func finishAuthentication(
        _ frame: Frame,
        _ nonce: [UInt8],
        _ key: ClassicAccess.Keys,
        _ sector: Int
    ) -> TagAnswer? {
        let bytes = frame.bytesOnAir(.nfcA)
        guard bytes.count == 8, frame.validBitsInLastByte == 8 else { return fail() }
        _ = cipher?.feed(Array(bytes[..<4]), isEncrypted: true)
        guard cipher?.apply(to: Array(bytes[4...])) == Crypto1.successor(of: nonce, steps: 64) else { return fail() }
        let isNoKey = key == .b && access(ofSector: sector)?.isKeyBReadable != false
        state = .authenticated(isNoKey ? [] : key, sector: sector)
        let answer = cipher?.apply(to: Crypto1.successor(of: nonce, steps: 96)) ?? []
        return TagAnswer(Frame(answer, checksum: .none))
    }

    private mutating func fail() -> TagAnswer? {
        close()
        listener.deselect()
        return nil
    }

    /// Sends a NAK and goes back to IDLE or HALT.
    private mutating func refuse(_ code: UInt8, isWrite: Bool = false) -> TagAnswer {
        defer {
            close()
            listener.deselect()
        }
        return TagAnswer(nibble(code), isWrite: isWrite)
    }

    private mutating func nibble(_ code: UInt8) -> Frame {
        Frame(bits: cipher?.apply(to: [code & 0x0F], bits: 4) ?? [code & 0x0F], validBitsInLastByte: 4)
    }

    // MARK: Commands

    private mutating func execute(_ command: [UInt8], _ fault: InjectedFault?) -> TagAnswer? {
        let waiting = pending.take()
        switch (waiting, command.count) {
        case (.write(let block)?, 16): return program(command, block, fault)
        case (.value(let code, let block)?, 4): return change(block, code, command)
        case (nil, 2):
            let block = Int(command[1])
            guard block < contents.product.blockCount else { break }
            if command[0] & 0xFE == 0x60 { return challenge(command) }
            guard case .authenticated(let keys, let sector) = state, ClassicProduct.sector(of: block) == sector,
                let access = access(ofSector: sector)
            else { break }
            let isTrailer = ClassicProduct.sector(ofTrailer: block) != nil
            func may(_ right: ClassicAccess.Right) -> Bool {
                isTrailer != ClassicAccess.Right.ofData.contains(right)
                    && !access.keys(for: right, ofBlock: block).isDisjoint(with: keys)
            }
            switch command[0] {
            case 0x30 where may(.read) || may(.readAccess):
                var bytes = Array(contents.memory[block * 16..<block * 16 + 16])
                if isTrailer {
                    bytes.replaceSubrange(0..<6, with: repeatElement(0, count: 6))
                    if !may(.readKeyB) { bytes.replaceSubrange(10..<16, with: repeatElement(0, count: 6)) }
                }
                let encrypted = cipher?.apply(to: bytes + Technology.nfcA.checksum(bytes)) ?? []
                return TagAnswer(Frame(encrypted, checksum: .none))
            case 0xA0 where block > 0 && [.write, .writeKeyA, .writeAccess, .writeKeyB].contains(where: may):
                pending = .write(block: block)
            case 0xC1 where may(.increment), 0xC0 where may(.decrement), 0xC2 where may(.decrement):
                guard value(of: block) != nil else { return refuse(Self.notAllowed) }
                pending = .value(code: command[0], block: block)
            case 0xB0 where may(.decrement) && buffer != nil:
                // The address in the last bytes of a value block moves with the value.
                return program(buffer ?? [], block, fault)
            default: return refuse(Self.notAllowed)
            }
            return TagAnswer(nibble(0xA))
        default: break
        }
        return refuse(Self.notAllowed)
    }

    /// Changes the value that TRANSFER will write. The card confirms by silence.
    private mutating func change(_ block: Int, _ code: UInt8, _ operand: [UInt8]) -> TagAnswer? {
        guard let value = value(of: block) else { return refuse(Self.notAllowed) }
        let amount = Int32(truncatingIfNeeded: operand.littleEndian(at: 0, count: 4))
        let (sum, overflow) =
            code == 0xC1
            ? value.amount.addingReportingOverflow(amount)
            : value.amount.subtractingReportingOverflow(code == 0xC0 ? amount : 0)
        guard !overflow else { return refuse(Self.notAllowed) }
        buffer = ClassicValue(sum, address: value.address).bytes
        return nil
    }

    /// Programs a block, or those parts of a sector's last block that the key may write.
    private mutating func program(_ bytes: [UInt8], _ block: Int, _ fault: InjectedFault?) -> TagAnswer? {
        if case .writeRefusal(let code)? = fault { return refuse(code, isWrite: true) }
        var tear: TornWrite?
        if case .powerCut(let rest)? = fault { tear = rest }
        var new = Array(contents.memory[block * 16..<block * 16 + 16])
        if let sector = ClassicProduct.sector(ofTrailer: block) {
            guard case .authenticated(let keys, _) = state, let access = access(ofSector: sector) else {
                return refuse(Self.notAllowed)
            }
            let parts: [(ClassicAccess.Right, Range<Int>)] = [
                (.writeKeyA, 0..<6), (.writeAccess, 6..<10), (.writeKeyB, 10..<16),
            ]
            for (right, range) in parts where !access.keys(for: right).isDisjoint(with: keys) {
                new.replaceSubrange(range, with: bytes[range])
            }
        } else {
            new = bytes
        }
        contents.memory.program(new, at: block * 16, tear: tear, unit: 16)
        contents.unknownBytes.subtract(block * 16..<block * 16 + 16)
        return TagAnswer(nibble(0xA), workTime: Self.programmingTime, isWrite: true)
    }

    private func value(of block: Int) -> ClassicValue? {
        ClassicValue(Array(contents.memory[block * 16..<block * 16 + 16]))
    }

    private func access(ofSector sector: Int) -> ClassicAccess? {
        let start = ClassicProduct.trailer(ofSector: sector) * 16
        return ClassicAccess(contents.memory[start + 6..<start + 9])
    }
}
