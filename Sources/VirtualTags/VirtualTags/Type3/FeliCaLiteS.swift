// SPDX-License-Identifier: Apache-2.0
public import CardCryptography
import TagLink

/// The persistent state of a FeliCa Lite-S (RC-S966; FeliCa Lite-S User's Manual, 3).
public struct FeliCaLiteSContents: Sendable, Hashable {
    /// The chip's blocks, by number.
    public struct Block: RawRepresentable, Sendable, Hashable {
        public var rawValue: UInt8

        /// Creates a block number.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The register, which can only count down.
        public static let register = Block(rawValue: 0x0E)
        /// The random challenge, which is volatile and reads as zero.
        public static let randomChallenge = Block(rawValue: 0x80)
        /// The message authentication code of FeliCa Lite.
        public static let mac = Block(rawValue: 0x81)
        /// The identifier: IDm, data format code, six free bytes.
        public static let identifier = Block(rawValue: 0x82)
        /// The IDm and PMm.
        public static let deviceIdentifier = Block(rawValue: 0x83)
        /// The service code.
        public static let serviceCode = Block(rawValue: 0x84)
        /// The system code.
        public static let systemCode = Block(rawValue: 0x85)
        /// The version of the card key.
        public static let keyVersion = Block(rawValue: 0x86)
        /// The card key, which reads as zero.
        public static let cardKey = Block(rawValue: 0x87)
        /// The memory configuration.
        public static let memoryConfiguration = Block(rawValue: 0x88)
        /// The write counter.
        public static let writeCounter = Block(rawValue: 0x90)
        /// The message authentication code of FeliCa Lite-S.
        public static let macA = Block(rawValue: 0x91)
        /// Whether the reader is authenticated.
        public static let state = Block(rawValue: 0x92)
        /// Whether the memory is intact.
        public static let integrity = Block(rawValue: 0xA0)
    }

    /// The IDm, 8 bytes.
    public var idm: [UInt8]
    /// The PMm, 8 bytes. The second byte is the IC code F1.
    public var pmm: [UInt8]
    /// Blocks 00 to 0D (S_PAD0 to S_PAD13), 16 bytes each. Block 00 is the NDEF attribute information block.
    public var userMemory: [UInt8]
    /// Block 0E.
    public var register: [UInt8]
    /// Bytes 8 to 15 of block 82: the data format code and six free bytes.
    public var identifierExtension: [UInt8]
    /// Block 83, 16 bytes, if a dump contains something other than the IDm and the PMm there; otherwise nil.
    public var deviceIdentifier: [UInt8]?
    /// Block 84: the service code.
    public var serviceCode: [UInt8]
    /// Block 86: the version of the card key.
    public var keyVersion: [UInt8]
    /// Block 87: the card key.
    @Hidden public var cardKey: [UInt8]
    /// Block 88: the memory configuration.
    public var memoryConfiguration: [UInt8]
    /// Block 90, as a 24-bit number.
    public var writeCounter: UInt32

    /// Creates a chip that is formatted for NDEF but empty.
    public init(idm: [UInt8], pmm: [UInt8] = [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00]) {
        self.idm = idm
        self.pmm = pmm
        let zero = [UInt8](repeating: 0, count: 16)
        let half = [UInt8](repeating: 0, count: 8)
        userMemory =
            FeliCaSystem.attributes(blockCount: 13, maximumRead: 4, maximumWrite: 1)
            + Array(repeating: 0, count: 13 * 16)
        // The register starts at its maximum, because it can only count down.
        register = Array(repeating: 0xFF, count: 8) + half
        identifierExtension = half
        serviceCode = zero
        keyVersion = zero
        cardKey = zero
        memoryConfiguration = [0xFF, 0xFF, 0xFF, 0x01, 0x07, 0x00, 0x00, 0x00] + half
        writeCounter = 0
    }

    /// Whether the chip answers polling for the NDEF system 12FC: SYS_OP of the memory configuration.
    public var supportsNDEF: Bool {
        get { memoryConfiguration[3] & 0x01 != 0 }
        set { memoryConfiguration[3] = memoryConfiguration[3] & ~0x01 | (newValue ? 0x01 : 0x00) }
    }
}

/// A FeliCa Lite-S chip: one service, four blocks per read, one per write (FeliCa Lite-S User's Manual, 3 and 4).
///
/// The system's OpenSSL computes the MACs. Without it, the chip behaves as if its card key were unknown: its MACs look
/// random, and every received MAC is wrong.
struct FeliCaLiteSChip: FeliCaChip {
    typealias Block = FeliCaLiteSContents.Block

    static let programmingTime = Airtime.milliseconds(3)

    var contents: FeliCaLiteSContents

    // Volatile state.
    /// Whether the reader has written the challenge on which the MACs depend.
    private var hasChallenge = false
    private var codes: FeliCaLiteCodes?
    var isAuthenticated = false
    private var random: SplitMix64

    init(_ contents: FeliCaLiteSContents) {
        self.contents = contents
        random = SplitMix64(seed: contents.idm.reduce(0x5EED) { $0 << 8 ^ UInt64($1) })
    }

    var state: VirtualType3Tag.Contents { .liteS(contents) }
    var idm: [UInt8] { contents.idm }
    var pmm: [UInt8] { contents.pmm }

    var systems: [(code: UInt16, number: UInt8)] {
        // Both codes stand for the same system, whose number is already in the IDm.
        let codes: [UInt16] = contents.supportsNDEF ? [0x88B4, 0x12FC] : [0x88B4]
        return codes.map { ($0, contents.idm[0] >> 4) }
    }

    mutating func losePower() {
        hasChallenge = false
        codes = nil
        isAuthenticated = false
    }

    mutating func process(
        _ command: UInt8,
        _ payload: ArraySlice<UInt8>,
        system: UInt8,
        tear: TornWrite?
    ) throws(FeliCaStatus) -> CardAnswer? {
        switch command {
        case 0x06: return try read(payload)
        case 0x08: return try write(payload, tear)
        default: return nil
        }
    }

    // MARK: Reading

    private mutating func read(_ payload: ArraySlice<UInt8>) throws(FeliCaStatus) -> CardAnswer? {
        guard let list = FeliCaBlockList(payload), list.data.isEmpty else { return nil }
        try Self.check(list, services: [0x0009, 0x000B], limit: 4)
        var data: [UInt8] = []
        var numbers: [UInt8] = []
        let wanted = list.elements.map(\.block)
        let position = wanted.firstIndex(of: Int(Block.macA.rawValue))
        if let position {
            guard !wanted.contains(Int(Block.mac.rawValue)) else { throw .block(position, .codeCombination) }
            guard hasChallenge else { throw .block(position, .wrongCode) }
        }
        for (position, element) in list.elements.enumerated() {
            let block = Block(rawValue: UInt8(truncatingIfNeeded: element.block))
            guard element.block <= 0xFF, let bytes = bytes(of: block, after: numbers, data) else {
                throw .block(position, .blockNumber)
            }
            if block.rawValue <= 0x0E, !isAuthenticated, restricts(6, block) {
                throw .block(position, .authenticationNeeded)
            }
            numbers.append(block.rawValue)
            data += bytes
        }
        return CardAnswer(FeliCaStatus.success.bytes + [UInt8(list.elements.count)] + data)
    }

    private mutating func bytes(of block: Block, after numbers: [UInt8], _ data: [UInt8]) -> [UInt8]? {
        let zero = [UInt8](repeating: 0, count: 16)
        switch block {
        case _ where block.rawValue < 0x0E:
            let start = Int(block.rawValue) * 16
            return Array(contents.userMemory[start..<(start + 16)])
        case .register: return contents.register
        case .randomChallenge, .cardKey: return zero
        case .mac, .macA: return code(isLiteS: block == .macA, numbers, data) + zero.prefix(8)
        case .identifier: return contents.idm + contents.identifierExtension
        case .deviceIdentifier: return contents.deviceIdentifier ?? contents.idm + contents.pmm
        case .serviceCode: return contents.serviceCode
        case .systemCode: return [0x88, 0xB4] + zero.prefix(14)
        case .keyVersion: return contents.keyVersion
        case .memoryConfiguration: return contents.memoryConfiguration
        case .writeCounter:
            return (0..<3).map { UInt8(truncatingIfNeeded: contents.writeCounter >> (8 * $0)) } + zero.prefix(13)
        case .state: return [isAuthenticated ? 0x01 : 0x00] + zero.prefix(15)
        case .integrity: return zero
        default: return nil
        }
    }

    /// Returns the MAC over the blocks listed before MAC or MAC_A; zero without such blocks.
    private mutating func code(isLiteS: Bool, _ numbers: [UInt8], _ data: [UInt8]) -> [UInt8] {
        guard !data.isEmpty else { return Array(repeating: 0, count: 8) }
        let code =
            isLiteS
            ? try? codes?.readCode(blocks: numbers + [Block.macA.rawValue], data: data) : try? codes?.mac(data)
        return code ?? random.bytes(8)
    }

    // MARK: Writing

    private mutating func write(_ payload: ArraySlice<UInt8>, _ tear: TornWrite?) throws(FeliCaStatus) -> CardAnswer? {
        guard let list = FeliCaBlockList(payload), list.data.count == list.elements.count * 16 else { return nil }
        try Self.check(list, services: [0x0009], limit: 2)
        let hasCode = list.elements.count == 2
        guard !hasCode || list.elements[1].block == Int(Block.macA.rawValue) else { throw .blockCount }
        guard list.elements[0].block <= 0xFF else { throw .block(0, .blockNumber) }
        let block = Block(rawValue: UInt8(list.elements[0].block))
        let data = Array(list.data[0..<16])
        if hasCode, !proves(list, block, data) { throw .block(1, .wrongCode) }
        if block == .randomChallenge {
            hasChallenge = true
            codes = try? FeliCaLiteCodes(cardKey: contents.cardKey, challenge: data)
            isAuthenticated = false
            return CardAnswer(.success)
        }
        if let error = refusal(block, data, hasCode: hasCode) { throw .block(0, error) }
        // The chip writes a block completely or not at all.
        if tear?.keepsNew ?? true {
            store(data, in: block)
            count(block, data)
        }
        return CardAnswer(.success, workTime: Self.programmingTime, isWrite: true)
    }

    /// Returns whether block MAC_A in a write contains the right MAC and write counter.
    private func proves(_ list: FeliCaBlockList, _ block: Block, _ data: [UInt8]) -> Bool {
        let counter = Array(list.data[24..<27])
        guard contents.writeCounter < counterLimit, counter.littleEndian(at: 0, count: 3) == Int(contents.writeCounter)
        else { return false }
        let expected = try? codes?.writeCode(block: block.rawValue, data: data, counter: contents.writeCounter)
        return expected.map { ConstantTime.areEqual($0, list.data[16..<24]) } ?? false
    }

    /// The maximum of the write counter. Freezing the system blocks lowers it.
    private var counterLimit: UInt32 { contents.memoryConfiguration[2] == 0xFF ? 0xFF_FFFF : 0xFF_FE00 }

    /// Counts a write. Freezing the system blocks sets the counter to 0.
    private mutating func count(_ block: Block, _ data: [UInt8]) {
        if block == .memoryConfiguration, data[2] != 0xFF {
            contents.writeCounter = 0
        } else {
            contents.writeCounter = min(contents.writeCounter + 1, counterLimit)
        }
    }

    /// Returns the error for a block that may not be written; nil if it may be.
    private func refusal(_ block: Block, _ data: [UInt8], hasCode: Bool) -> FeliCaStatus.BlockError? {
        let configuration = contents.memoryConfiguration
        switch block {
        case _ where block.rawValue <= Block.register.rawValue:
            let isWritable = configuration.hasBit(Int(block.rawValue))
            if !isWritable || (restricts(10, block) && !hasCode) { return .accessDenied }
            if restricts(8, block), !isAuthenticated { return .authenticationNeeded }
            return block == .register && !countsDown(to: data) ? .accessDenied : nil
        case .keyVersion, .cardKey:
            // With MC_CKCKV_W_MAC_A, the key can be changed with a MAC even after the system blocks are frozen.
            return configuration[2] == 0xFF || (configuration[5] == 0x01 && hasCode) ? nil : .accessDenied
        case .identifier, .serviceCode, .memoryConfiguration:
            return configuration[2] == 0xFF ? nil : .accessDenied
        case .state:
            // MC_STATE_W_MAC_A decides whether the reader must prove that it knows the key.
            return hasCode || configuration[12] & 0x01 == 0 ? nil : .accessDenied
        case .mac, .macA, .deviceIdentifier, .systemCode, .writeCounter, .integrity: return .accessDenied
        default: return .blockNumber
        }
    }

    /// Returns whether a block's bit is set in the pair of configuration bytes at `byte`.
    private func restricts(_ byte: Int, _ block: Block) -> Bool {
        contents.memoryConfiguration.hasBit(8 * byte + Int(block.rawValue))
    }

    /// Returns whether neither counter of the register grows. Each has four bytes, least significant byte first.
    private func countsDown(to data: [UInt8]) -> Bool {
        func counter(_ bytes: [UInt8], _ start: Int) -> UInt32 {
            UInt32(bytes: bytes[start..<(start + 4)].reversed())
        }
        return [0, 4].allSatisfy { counter(data, $0) <= counter(contents.register, $0) }
    }

    private mutating func store(_ data: [UInt8], in block: Block) {
        switch block {
        case .register: contents.register = data
        case .identifier: contents.identifierExtension = Array(data[8...])
        case .serviceCode: contents.serviceCode = data
        case .keyVersion: contents.keyVersion = data
        case .cardKey: contents.cardKey = data
        case .memoryConfiguration:
            // Restrictions can only be added: read-only blocks, required authentication, required MACs.
            let old = contents.memoryConfiguration
            let restrictions = (6...12).map { old[$0] | data[$0] }
            contents.memoryConfiguration =
                [old[0] & data[0], old[1] & data[1]] + data[2..<6] + restrictions + [0, 0, 0]
        case .state: isAuthenticated = data[0] == 0x01
        default:
            let start = Int(block.rawValue) * 16
            contents.userMemory.replaceSubrange(start..<(start + 16), with: data)
        }
    }

    private static func check(_ list: FeliCaBlockList, services: [UInt16], limit: Int) throws(FeliCaStatus) {
        guard list.services.count == 1 else { throw .serviceCount }
        guard !list.elements.isEmpty, list.elements.count <= limit else { throw .blockCount }
        guard services.contains(list.services[0]) else { throw .unknownService }
        for (position, element) in list.elements.enumerated() {
            guard element.service == 0 else { throw .block(position, .serviceOrder) }
            guard element.accessMode == 0 else { throw .block(position, .accessMode) }
        }
    }
}
