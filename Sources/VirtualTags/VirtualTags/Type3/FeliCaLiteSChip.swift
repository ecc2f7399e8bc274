// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// A FeliCa Lite-S chip: one service, four blocks per read, one per write (FeliCa Lite-S User's Manual, 3 and 4).
///
/// MACs are computed with the system's OpenSSL. Without it, the chip behaves as if its card key were unknown: its MACs
/// look random, and every received MAC is wrong.
struct FeliCaLiteSChip: FeliCaChip {
    typealias Block = FeliCaLiteSContents.Block

    /// The time for programming a block.
    static let programmingTime = Airtime.milliseconds(3)

    var contents: FeliCaLiteSContents

    // Volatile state.
    /// Whether the reader has written a challenge. The MACs depend on it.
    private var hasChallenge = false
    private var codes: FeliCaLiteCodes?
    var isAuthenticated = false
    private var random: SplitMix64

    init(_ contents: FeliCaLiteSContents) {
        self.contents = contents
        random = SplitMix64(seed: contents.idm.reduce(0x5EED) { $0 << 8 ^ UInt64($1) })
    }

    var idm: [UInt8] { contents.idm }
    var pmm: [UInt8] { contents.pmm }

    var systems: [(code: UInt16, number: UInt8)] {
        // Both system codes name the same system, whose number is already in the IDm.
        let number = contents.idm[0] >> 4
        let lite: (code: UInt16, number: UInt8) = (0x88B4, number)
        let ndef: (code: UInt16, number: UInt8) = (0x12FC, number)
        return contents.supportsNDEF ? [lite, ndef] : [lite]
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
    ) -> FeliCaChipAnswer? {
        switch command {
        case 0x06: return read(payload)
        case 0x08: return write(payload, tear)
        default: return nil
        }
    }

    // MARK: Reading

    private mutating func read(_ payload: ArraySlice<UInt8>) -> FeliCaChipAnswer? {
        guard let list = FeliCaBlockList(payload), list.data.isEmpty else { return nil }
        if let status = Self.check(list, services: [0x0009, 0x000B], limit: 4) { return FeliCaChipAnswer(status) }
        var data: [UInt8] = []
        var numbers: [UInt8] = []
        let wanted = list.elements.map(\.block)
        let position = wanted.firstIndex(of: Int(Block.macA.rawValue))
        if let position {
            guard !wanted.contains(Int(Block.mac.rawValue)) else {
                return FeliCaChipAnswer(.block(position, .codeCombination))
            }
            guard hasChallenge else { return FeliCaChipAnswer(.block(position, .wrongCode)) }
        }
        for (position, element) in list.elements.enumerated() {
            let block = Block(rawValue: UInt8(truncatingIfNeeded: element.block))
            guard element.block <= 0xFF, let bytes = bytes(of: block, after: numbers, data) else {
                return FeliCaChipAnswer(.block(position, .blockNumber))
            }
            if block.rawValue <= 0x0E, !isAuthenticated, restricts(6, block) {
                return FeliCaChipAnswer(.block(position, .authenticationNeeded))
            }
            numbers.append(block.rawValue)
            data += bytes
        }
        return FeliCaChipAnswer(FeliCaStatus.success.bytes + [UInt8(list.elements.count)] + data)
    }

    /// Returns what a block reads as; nil when the chip has no such block.
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

    /// Returns the MAC over the blocks before MAC or MAC_A. Without such blocks it is zero.
    private mutating func code(isLiteS: Bool, _ numbers: [UInt8], _ data: [UInt8]) -> [UInt8] {
        guard !data.isEmpty else { return Array(repeating: 0, count: 8) }
        let code =
            isLiteS
            ? try? codes?.readCode(blocks: numbers + [Block.macA.rawValue], data: data) : try? codes?.mac(data)
        return code ?? random.bytes(8)
    }

    // MARK: Writing

    private mutating func write(_ payload: ArraySlice<UInt8>, _ tear: TornWrite?) -> FeliCaChipAnswer? {
        guard let list = FeliCaBlockList(payload), list.data.count == list.elements.count * 16 else { return nil }
        if let status = Self.check(list, services: [0x0009], limit: 2) { return FeliCaChipAnswer(status) }
        let hasCode = list.elements.count == 2
        guard !hasCode || list.elements[1].block == Int(Block.macA.rawValue) else {
            return FeliCaChipAnswer(.blockCount)
        }
        guard list.elements[0].block <= 0xFF else { return FeliCaChipAnswer(.block(0, .blockNumber)) }
        let block = Block(rawValue: UInt8(list.elements[0].block))
        let data = Array(list.data[0..<16])
        if hasCode, !proves(list, block, data) { return FeliCaChipAnswer(.block(1, .wrongCode)) }
        if block == .randomChallenge {
            hasChallenge = true
            codes = try? FeliCaLiteCodes(cardKey: contents.cardKey, challenge: data)
            isAuthenticated = false
            return FeliCaChipAnswer(.success)
        }
        if let error = refusal(block, data, hasCode: hasCode) { return FeliCaChipAnswer(.block(0, error)) }
        if tear.map(Self.keepsNew) ?? true {
            store(data, in: block)
            count(block, data)
        }
        return FeliCaChipAnswer(.success, workTime: Self.programmingTime, isWrite: true)
    }

    /// Returns whether block MAC_A of a write has the right MAC and write counter.
    private func proves(_ list: FeliCaBlockList, _ block: Block, _ data: [UInt8]) -> Bool {
        let counter = Array(list.data[24..<27])
        guard contents.writeCounter < counterLimit, counter.littleEndian(at: 0, count: 3) == Int(contents.writeCounter)
        else { return false }
        let expected = try? codes?.writeCode(block: block.rawValue, data: data, counter: contents.writeCounter)
        return expected.map { ConstantTime.areEqual($0, list.data[16..<24]) } ?? false
    }

    /// The maximum of the write counter. It is lower once the system blocks are frozen.
    private var counterLimit: UInt32 { contents.memoryConfiguration[2] == 0xFF ? 0xFF_FFFF : 0xFF_FE00 }

    /// Counts a write. Freezing the system blocks sets the counter to 0.
    private mutating func count(_ block: Block, _ data: [UInt8]) {
        if block == .memoryConfiguration, data[2] != 0xFF {
            contents.writeCounter = 0
        } else {
            contents.writeCounter = min(contents.writeCounter + 1, counterLimit)
        }
    }

    /// Returns whether the new data remain after a power cut. The chip writes a block completely or not at all.
    private static func keepsNew(_ tear: TornWrite) -> Bool {
        tear.remains(of: [0], under: [1], unit: 1, isProtected: true) == [1]
    }

    /// Returns why a block must not be written; nil if it may.
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
            // MC_STATE_W_MAC_A: whether the reader has to prove that it knows the key.
            return hasCode || configuration[12] & 0x01 == 0 ? nil : .accessDenied
        case .mac, .macA, .deviceIdentifier, .systemCode, .writeCounter, .integrity:
            return .accessDenied
        default:
            return .blockNumber
        }
    }

    /// Returns whether a block's bit in a pair of configuration bytes is set.
    private func restricts(_ byte: Int, _ block: Block) -> Bool {
        contents.memoryConfiguration.hasBit(8 * byte + Int(block.rawValue))
    }

    /// Returns whether the data keep or decrease both counters of the register (four bytes each, least significant byte
    /// first). They must not grow.
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
            // A read-only block stays read-only, and a required authentication or MAC stays required.
            let old = contents.memoryConfiguration
            let restrictions = (6...12).map { old[$0] | data[$0] }
            contents.memoryConfiguration =
                [old[0] & data[0], old[1] & data[1]] + data[2..<6] + restrictions + [0, 0, 0]
        case .state:
            isAuthenticated = data[0] == 0x01
        default:
            let start = Int(block.rawValue) * 16
            contents.userMemory.replaceSubrange(start..<(start + 16), with: data)
        }
    }

    /// Returns the error in the lists, if any.
    private static func check(_ list: FeliCaBlockList, services: [UInt16], limit: Int) -> FeliCaStatus? {
        guard list.services.count == 1 else { return .serviceCount }
        guard !list.elements.isEmpty, list.elements.count <= limit else { return .blockCount }
        guard services.contains(list.services[0]) else { return .unknownService }
        for (position, element) in list.elements.enumerated() {
            guard element.service == 0 else { return .block(position, .serviceOrder) }
            guard element.accessMode == 0 else { return .block(position, .accessMode) }
        }
        return nil
    }
}
