// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 3 tag: FeliCa Lite-S, or FeliCa Standard with any systems and services, answering raw frames.
///
/// ```swift
/// let lite = Type3Tag(FeliCaLiteSContents(idm: idm))
/// let suica = Type3Tag(.transitCard(idm: idm, balance: 1234))
/// let generic = Type3Tag(FeliCaStandardContents(idm: idm, systems: [FeliCaSystem(ndefBlocks: 256)]))
/// ```
///
/// Frames begin with their length octet. Polling is answered in a slot that the tag draws; a virtual field puts the
/// answers of several tags together. The secure commands of FeliCa Standard are not answered.
///
/// A refusal by a fault plan answers a read or write with status flags FF 70.
public final class Type3Tag: VirtualTag {
    /// What a Type 3 tag keeps without power.
    public indirect enum Contents: Sendable, Hashable {
        case liteS(FeliCaLiteSContents)
        case standard(FeliCaStandardContents)
    }

    private let silicon: Locked<Type3Silicon>

    /// Creates a FeliCa Lite-S.
    ///
    /// - Parameter contents: what it holds.
    public init(_ contents: FeliCaLiteSContents) {
        precondition(contents.idm.count == 8 && contents.pmm.count == 8, "IDm and PMm have 8 octets")
        precondition(
            contents.userMemory.count == 224 && contents.memoryConfiguration.count == 16
                && contents.cardKey.count == 16,
            "S_PAD has 14 blocks, and the memory configuration and the card key are one each"
        )
        silicon = Locked(Type3Silicon(FeliCaLiteSChip(contents)))
    }

    /// Creates a FeliCa Standard card or a generic Type 3 tag.
    public init(_ contents: FeliCaStandardContents) {
        precondition(contents.idm.count == 8 && contents.pmm.count == 8, "IDm and PMm have 8 octets")
        precondition((1...16).contains(contents.systems.count), "a card has 1 to 16 systems")
        silicon = Locked(Type3Silicon(FeliCaStandardChip(contents: contents)))
    }

    /// Creates a tag from what another one held.
    public convenience init(_ contents: Contents) {
        switch contents {
        case .liteS(let contents): self.init(contents)
        case .standard(let contents): self.init(contents)
        }
    }

    public var technology: Technology { .nfcF }

    public var identifier: [UInt8] {
        silicon.withLock { $0.chip.idm }
    }

    /// What the tag keeps without power, as it is now.
    public var contents: Contents {
        silicon.withLock { silicon in
            if let chip = silicon.chip as? FeliCaLiteSChip { return .liteS(chip.contents) }
            if let chip = silicon.chip as? FeliCaStandardChip { return .standard(chip.contents) }
            preconditionFailure("there are two kinds of chips")
        }
    }

    public func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        silicon.withLock { $0.receive(request, disturbance: disturbance) }
    }

    public func losePower() {
        silicon.withLock { $0.losePower() }
    }
}
