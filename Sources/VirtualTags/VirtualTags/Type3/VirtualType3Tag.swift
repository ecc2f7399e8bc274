// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 3 tag: FeliCa Lite-S, or FeliCa Standard with any systems and services. It answers raw frames.
///
/// ```swift
/// let lite = VirtualType3Tag(FeliCaLiteSContents(idm: idm))
/// let suica = VirtualType3Tag(.transitCard(idm: idm, balance: 1234))
/// let generic = VirtualType3Tag(FeliCaStandardContents(idm: idm, systems: [FeliCaSystem(ndefBlocks: 256)]))
/// ```
///
/// Frames start with their length byte. The tag answers polling in a random slot, and a virtual field combines the
/// answers of several tags. The tag ignores the secure commands of FeliCa Standard.
///
/// If a fault plan refuses a read or write, the answer has the status flags FF 70.
public final class VirtualType3Tag: ChipTag {
    /// The persistent state of a Type 3 tag.
    public indirect enum Contents: Sendable, Hashable {
        case liteS(FeliCaLiteSContents)
        case standard(FeliCaStandardContents)
    }

    let chip: Locked<Type3Chip>

    /// Creates a FeliCa Lite-S.
    public init(_ contents: FeliCaLiteSContents) {
        precondition(contents.idm.count == 8 && contents.pmm.count == 8, "IDm and PMm have 8 bytes")
        precondition(
            contents.userMemory.count == 224 && contents.memoryConfiguration.count == 16
                && contents.cardKey.count == 16,
            "S_PAD has 14 blocks, and the memory configuration and the card key are one each"
        )
        chip = Locked(Type3Chip(FeliCaLiteSChip(contents)))
    }

    /// Creates a FeliCa Standard card or a generic Type 3 tag.
    public init(_ contents: FeliCaStandardContents) {
        precondition(contents.idm.count == 8 && contents.pmm.count == 8, "IDm and PMm have 8 bytes")
        precondition((1...16).contains(contents.systems.count), "a card has 1 to 16 systems")
        chip = Locked(Type3Chip(FeliCaStandardChip(contents: contents)))
    }

    /// Creates a tag with the state of another tag.
    public convenience init(_ contents: Contents) {
        switch contents {
        case .liteS(let contents): self.init(contents)
        case .standard(let contents): self.init(contents)
        }
    }

    public var technology: Technology { .nfcF }

    public var identifier: [UInt8] { chip.withLock { $0.felica.idm } }

    /// The current persistent state of the tag.
    public var contents: Contents { chip.withLock { $0.felica.state } }
}

/// The state machine of a Type 3 tag: framing, polling with slots, and a chip.
struct Type3Chip: TagChip {
    var felica: any FeliCaChip
    private var random: SplitMix64

    init(_ felica: any FeliCaChip) {
        self.felica = felica
        random = SplitMix64(identifier: felica.idm)
    }

    mutating func losePower() { felica.losePower() }

    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        guard let bytes = frame.payload(checkedBy: .nfcF), bytes.count >= 2, Int(bytes[0]) == bytes.count else {
            return nil
        }
        if bytes[1] == 0x00 { return bytes.count == 6 ? poll(bytes) : nil }
        guard bytes.count >= 10, bytes[1] & 0x01 == 0 else { return nil }
        let idm = Array(bytes[2..<10])
        let number = idm[0] >> 4
        guard felica.systems.contains(where: { $0.number == number }), idm == self.idm(of: number) else { return nil }
        guard let answer = process(bytes[1], bytes[10...], system: number, injectedFault) else { return nil }
        let response = [bytes[1] + 1] + idm + answer.bytes
        guard response.count < 255 else { return nil }
        return TagAnswer(
            Frame([UInt8(response.count + 1)] + response),
            workTime: answer.workTime,
            isWrite: answer.isWrite
        )
    }

    /// Returns the IDm of a system. Its highest four bits are the system's number.
    private func idm(of number: UInt8) -> [UInt8] {
        [felica.idm[0] & 0x0F | number << 4] + felica.idm.dropFirst()
    }

    /// Executes a command on the chip, or answers with the memory failure that a fault causes.
    private mutating func process(
        _ command: UInt8,
        _ payload: ArraySlice<UInt8>,
        system: UInt8,
        _ injectedFault: InjectedFault?
    ) -> CardAnswer? {
        let before = felica
        var tear: TornWrite?
        switch injectedFault {
        case .refusal: return command == 0x06 || command == 0x08 ? CardAnswer(.memoryFailure) : nil
        case .powerCut(let rest): tear = rest
        case .writeRefusal, nil: break
        }
        do throws(FeliCaStatus) {
            let answer = try felica.process(command, payload, system: system, tear: tear)
            guard case .writeRefusal = injectedFault, answer?.isWrite == true else { return answer }
            felica = before
            return CardAnswer(.memoryFailure, isWrite: true)
        } catch {
            return CardAnswer(error)
        }
    }

    /// Polling (JIS X 6319-4, 7.2): FF in either byte of the system code matches any value.
    private mutating func poll(_ bytes: [UInt8]) -> TagAnswer? {
        let high = bytes[2]
        let low = bytes[3]
        let found = felica.systems.first { system in
            (high == 0xFF || high == UInt8(system.code >> 8)) && (low == 0xFF || low == UInt8(system.code & 0xFF))
        }
        guard let found, [0x00, 0x01, 0x03, 0x07, 0x0F].contains(bytes[5]) else { return nil }
        var response = [0x01] + idm(of: found.number) + felica.pmm
        switch bytes[4] {
        case 0x01: response += found.code.bigEndianBytes
        // Communication performance: 212 and 424 kbit/s.
        case 0x02: response += [0x00, 0x83]
        default: break
        }
        let slot = Int(random.next() % (UInt64(bytes[5]) + 1))
        return TagAnswer(
            Frame([UInt8(response.count + 1)] + response),
            // A slot takes 256 times 64 carrier periods (NFC Forum Digital 2.3, 8.6.3).
            workTime: Airtime(carrierPeriods: 16384 * Int64(slot)),
            slot: slot
        )
    }
}

/// The part of a FeliCa tag that differs between chips. Polling and the framing of commands are the same for all.
protocol FeliCaChip: Sendable {
    var state: VirtualType3Tag.Contents { get }
    /// The IDm of the first system, and the PMm.
    var idm: [UInt8] { get }
    var pmm: [UInt8] { get }
    /// The system codes that polling finds, and the number of the system for each code.
    var systems: [(code: UInt16, number: UInt8)] { get }

    /// Executes a command on the system whose number is in the IDm. `payload` are the bytes after the IDm. Returns the
    /// bytes after the response code and the IDm; nil when the chip does not answer.
    mutating func process(
        _ command: UInt8,
        _ payload: ArraySlice<UInt8>,
        system: UInt8,
        tear: TornWrite?
    ) throws(FeliCaStatus) -> CardAnswer?

    mutating func losePower()
}

extension CardAnswer {
    init(_ status: FeliCaStatus, workTime: Airtime = .zero, isWrite: Bool = false) {
        self.init(status.bytes, workTime: workTime, isWrite: isWrite)
    }
}

/// The two status flags of a FeliCa answer: the position and the kind of the error (FeliCa Card User's Manual, 4.5).
struct FeliCaStatus: Error, Hashable {
    var flag1: UInt8
    var flag2: UInt8

    static let success = FeliCaStatus(flag1: 0x00, flag2: 0x00)
    static let memoryFailure = whole(0x70)
    static let serviceCount = whole(0xA1)
    static let blockCount = whole(0xA2)
    static let unknownService = whole(0xA6)

    enum BlockError: UInt8 {
        case serviceOrder = 0xA3
        case accessDenied = 0xA5
        case accessMode = 0xA7
        case blockNumber = 0xA8
        case codeCombination = 0xB0
        case authenticationNeeded = 0xB1
        /// The MAC or its write counter is wrong, or the challenge is missing.
        case wrongCode = 0xB2
    }

    static func whole(_ code: UInt8) -> FeliCaStatus { FeliCaStatus(flag1: 0xFF, flag2: code) }

    /// Creates an error in the block list. Flag 1 has the bit for the block's position.
    static func block(_ position: Int, _ error: BlockError) -> FeliCaStatus {
        FeliCaStatus(flag1: 1 << (position % 8), flag2: error.rawValue)
    }

    var bytes: [UInt8] { [flag1, flag2] }
}
