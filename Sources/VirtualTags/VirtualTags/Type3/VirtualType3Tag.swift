// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 3 tag: FeliCa Lite-S, or FeliCa Standard with any systems and services, answering raw frames.
///
/// ```swift
/// let lite = VirtualType3Tag(FeliCaLiteSContents(idm: idm))
/// let suica = VirtualType3Tag(.transitCard(idm: idm, balance: 1234))
/// let generic = VirtualType3Tag(FeliCaStandardContents(idm: idm, systems: [FeliCaSystem(ndefBlocks: 256)]))
/// ```
///
/// Frames start with their length byte. The tag answers polling in a random slot, and a virtual field combines the
/// answers of several tags. The secure commands of FeliCa Standard are not answered.
///
/// If a fault plan refuses a read or write, the answer has the status flags FF 70.
public final class VirtualType3Tag: VirtualTag {
    /// The persistent state of a Type 3 tag.
    public indirect enum Contents: Sendable, Hashable {
        case liteS(FeliCaLiteSContents)
        case standard(FeliCaStandardContents)
    }

    private let chip: Locked<Type3Chip>

    /// Creates a FeliCa Lite-S.
    ///
    /// - Parameter contents: its state.
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

    /// Creates a tag with the state of another one.
    public convenience init(_ contents: Contents) {
        switch contents {
        case .liteS(let contents): self.init(contents)
        case .standard(let contents): self.init(contents)
        }
    }

    public var technology: Technology { .nfcF }

    public var identifier: [UInt8] {
        chip.withLock { $0.chip.idm }
    }

    /// The current persistent state of the tag.
    public var contents: Contents {
        chip.withLock { chip in
            if let chip = chip.chip as? FeliCaLiteSChip { return .liteS(chip.contents) }
            if let chip = chip.chip as? FeliCaStandardChip { return .standard(chip.contents) }
            preconditionFailure("there are two kinds of chips")
        }
    }

    public func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        chip.withLock { $0.receive(request, injectedFault: injectedFault) }
    }

    public func losePower() {
        chip.withLock { $0.losePower() }
    }
}

/// The state machine of a Type 3 tag: framing, polling with slots, and a chip.
struct Type3Chip: Sendable {
    var chip: any FeliCaChip
    private var random: SplitMix64

    init(_ chip: any FeliCaChip) {
        self.chip = chip
        random = SplitMix64(identifier: chip.idm)
    }

    mutating func losePower() {
        chip.losePower()
    }

    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        guard let bytes = frame.payload(checkedBy: .nfcF), bytes.count >= 2, Int(bytes[0]) == bytes.count else {
            return nil
        }
        if bytes[1] == 0x00 {
            return bytes.count == 6 ? poll(bytes) : nil
        }
        guard bytes.count >= 10, bytes[1] & 0x01 == 0 else { return nil }
        let idm = Array(bytes[2..<10])
        let number = idm[0] >> 4
        guard chip.systems.contains(where: { $0.number == number }), idm == self.idm(of: number) else { return nil }
        guard let answer = process(bytes[1], bytes[10...], system: number, injectedFault) else { return nil }
        let response = [bytes[1] + 1] + idm + answer.payload
        guard response.count < 255 else { return nil }
        return TagAnswer(
            Frame([UInt8(response.count + 1)] + response),
            workTime: answer.workTime,
            isWrite: answer.isWrite
        )
    }

    /// Returns the IDm of a system. The system's number is in the highest four bits.
    private func idm(of number: UInt8) -> [UInt8] {
        [chip.idm[0] & 0x0F | number << 4] + chip.idm.dropFirst()
    }

    /// Executes a command on the chip, or answers with the memory failure of a fault.
    private mutating func process(
        _ command: UInt8,
        _ payload: ArraySlice<UInt8>,
        system: UInt8,
        _ injectedFault: InjectedFault?
    ) -> FeliCaChipAnswer? {
        let hasStatus = command == 0x06 || command == 0x08
        switch injectedFault {
        case nil:
            return chip.process(command, payload, system: system, tear: nil)
        case .powerCut(let rest):
            return chip.process(command, payload, system: system, tear: rest)
        case .refusal:
            return hasStatus ? FeliCaChipAnswer(.memoryFailure) : nil
        case .writeRefusal:
            let before = chip
            let answer = chip.process(command, payload, system: system, tear: nil)
            guard answer?.isWrite == true else { return answer }
            chip = before
            return FeliCaChipAnswer(.memoryFailure, isWrite: true)
        }
    }

    /// Polling (JIS X 6319-4, 7.2): FF in either byte of the system code stands for any value.
    private mutating func poll(_ bytes: [UInt8]) -> TagAnswer? {
        let high = bytes[2]
        let low = bytes[3]
        let found = chip.systems.first { system in
            (high == 0xFF || high == UInt8(system.code >> 8)) && (low == 0xFF || low == UInt8(system.code & 0xFF))
        }
        guard let found, [0x00, 0x01, 0x03, 0x07, 0x0F].contains(bytes[5]) else { return nil }
        var response = [0x01] + idm(of: found.number) + chip.pmm
        switch bytes[4] {
        case 0x01: response += found.code.bigEndianBytes
        // The rates 212 and 424 kbit/s.
        case 0x02: response += [0x00, 0x83]
        default: break
        }
        let slot = Int(random.next() % (UInt64(bytes[5]) + 1))
        return TagAnswer(
            Frame([UInt8(response.count + 1)] + response),
            workTime: Self.slotStart(slot),
            slot: slot
        )
    }

    /// Returns when a slot begins, relative to the first one: 256 times 64 carrier periods per slot (NFC Forum Digital
    /// 2.3, 8.6.3).
    private static func slotStart(_ slot: Int) -> Airtime {
        Airtime(carrierPeriods: 16384 * Int64(slot))
    }
}
