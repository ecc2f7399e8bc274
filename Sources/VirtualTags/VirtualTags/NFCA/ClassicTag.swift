// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A MIFARE Classic or a product that behaves like one (NXP AN10833, MF1S50yyX and MF1S70yyX data sheets).
public enum ClassicProduct: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// MIFARE Classic Mini, MF1S20: 320 bytes in 5 sectors.
    case mini = "MIFARE Classic Mini"
    /// MIFARE Classic 1K, MF1S50: 1024 bytes in 16 sectors.
    case classic1K = "MIFARE Classic 1K"
    /// MIFARE Plus 2K in security level 1: 2048 bytes in 32 sectors.
    case plus2K = "MIFARE Plus 2K"
    /// MIFARE Classic 4K, MF1S70: 4096 bytes in 32 sectors of 4 blocks and 8 of 16.
    case classic4K = "MIFARE Classic 4K"

    public var description: String { rawValue }

    /// Finds a product by name, such as `MIFARE Classic 1K`; nil for an unknown name.
    public init?(named name: String) { self.init(rawValue: name) }

    /// Finds a product by its memory size in bytes; nil for an unknown size.
    public init?(memorySize: Int) {
        guard let product = Self.allCases.first(where: { $0.memorySize == memorySize }) else { return nil }
        self = product
    }

    /// The number of 16-byte blocks.
    public var blockCount: Int {
        switch self {
        case .mini: 20
        case .classic1K: 64
        case .plus2K: 128
        case .classic4K: 256
        }
    }

    /// The size of the memory, in bytes.
    public var memorySize: Int { blockCount * 16 }

    /// The number of sectors. The last block of each sector contains its keys and access conditions.
    public var sectorCount: Int { blockCount <= 128 ? blockCount / 4 : 32 + (blockCount - 128) / 16 }

    /// Returns the number of a sector's last block, which contains its keys and access conditions.
    public static func trailer(ofSector sector: Int) -> Int {
        sector < 32 ? sector * 4 + 3 : 128 + (sector - 32) * 16 + 15
    }

    /// Returns the sector whose last block this is; nil for a data block.
    public static func sector(ofTrailer block: Int) -> Int? {
        if block < 128 { return block % 4 == 3 ? block / 4 : nil }
        return block % 16 == 15 ? 32 + (block - 128) / 16 : nil
    }

    var sak: UInt8 {
        switch self {
        case .mini: 0x09
        case .classic1K, .plus2K: 0x08
        case .classic4K: 0x18
        }
    }

    func atqa(uidLength: Int) -> UInt16 {
        (self == .classic4K ? 0x0002 : 0x0004) | (uidLength == 7 ? 0x0040 : 0x0000)
    }
}

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

/// A virtual MIFARE Classic. It can be found and identified, but not read.
///
/// ```swift
/// let card = ClassicTag(ClassicContents(blank: .classic1K, uid: [0x9C, 0x0C, 0x37, 0x01]))
/// ```
///
/// The cipher, Crypto-1, is not modelled. Core NFC on phones can't authenticate either, so nothing that needs an
/// authentication is accessible. The card is activated with its UID, ATQA and SAK. It answers an authentication (60,
/// 61) with a nonce and then stays silent, as after a wrong answer from the reader. It refuses every other command.
public final class ClassicTag: ChipTag {
    /// The card's persistent state.
    public let contents: ClassicContents
    let chip: Locked<ClassicChip>

    /// Creates a card. The UID must have 4, 7 or 10 bytes.
    public init(_ contents: ClassicContents) {
        precondition([4, 7, 10].contains(contents.uid.count), "a UID of NFC-A has 4, 7 or 10 bytes")
        self.contents = contents
        chip = Locked(ClassicChip(contents))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] { contents.uid }
}

/// The part of a MIFARE Classic that a reader without its cipher can use (MF1S50yyX data sheet, 10 and 12).
struct ClassicChip: TagChip {
    /// The 4-bit code for a command that is not allowed.
    private static let notAllowed: UInt8 = 0x4
    private static let checksum: UInt8 = 0x5

    let contents: ClassicContents
    private var listener: NFCAListener
    private var random: SplitMix64
    /// Whether the card sent a nonce, so that the next message would be encrypted.
    private var awaitsReader = false

    init(_ contents: ClassicContents) {
        self.contents = contents
        // Without the bit for ISO-DEP, which is not modelled, as on an ``NFCATag``.
        listener = NFCAListener(uid: contents.uid, atqa: contents.atqa, sak: contents.sak & ~0x20)
        random = SplitMix64(identifier: contents.uid)
    }

    mutating func losePower() {
        listener.losePower()
        awaitsReader = false
    }

    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        if awaitsReader {
            // No reader knows the right answer to the nonce, so the card stays silent.
            awaitsReader = false
            listener.deselect()
            return nil
        }
        switch listener.receive(frame) {
        case .silence: return nil
        case .answer(let answer), .woken(let answer): return TagAnswer(answer)
        case .damaged: return refuse(Self.checksum)
        case .command(let command):
            if case .refusal(let code) = injectedFault { return refuse(code) }
            return execute(command)
        }
    }

    /// Answers an authentication with key A or B with a nonce, and refuses all other commands.
    private mutating func execute(_ command: [UInt8]) -> TagAnswer? {
        guard command.count == 2, command[0] == 0x60 || command[0] == 0x61,
            Int(command[1]) < contents.product.blockCount
        else { return refuse(Self.notAllowed) }
        awaitsReader = true
        let nonce = UInt32(truncatingIfNeeded: random.next())
        return TagAnswer(Frame([UInt8](bigEndian: Int(nonce), count: 4), checksum: .none))
    }

    private mutating func refuse(_ code: UInt8) -> TagAnswer {
        listener.deselect()
        return TagAnswer(Frame(bits: [code & 0x0F], validBitsInLastByte: 4))
    }
}
