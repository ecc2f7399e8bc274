// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 4 tag: any ``Card`` behind ISO-DEP, over NFC-A or NFC-B.
///
/// ```swift
/// let tag = VirtualType4Tag(card: ApplicationCard([NDEFApplication()]))
/// let desfire = VirtualType4Tag(DESFireContents.ndef(generation: .ev3))
/// ```
///
/// The tag follows ISO/IEC 14443-4: it chains in both directions, asks for more time when the card works for longer
/// than the frame waiting time, repeats its last block after R(NAK), and does not answer damaged blocks. It accepts the
/// bit rates that PPS selects if the ATS offers them; the airtime in a virtual field is always that of 106 kbit/s.
///
/// If a fault plan refuses a command, the answer is 6400 (execution error); for a write it is 6581 (memory failure).
public final class VirtualType4Tag: VirtualTag {
    public let technology: Technology
    /// The tag's activation data.
    public let frontEnd: Type4FrontEnd
    private let chip: Locked<Type4Chip>

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - card: answers the messages.
    ///   - frontEnd: the activation data; nil for an NXP Type 4A tag with 256-byte frames and no special options.
    ///   - changesRandomUID: whether a random UID (4 bytes that start with 08) changes at each power-up.
    public init(card: some Card, frontEnd: Type4FrontEnd? = nil, changesRandomUID: Bool = true) {
        let frontEnd = frontEnd ?? .nfcA(uid: Self.defaultUID, ats: [0x05, 0x78, 0x80, 0x70, 0x02])
        self.frontEnd = frontEnd
        switch frontEnd {
        case .nfcA(let uid, _, _, _):
            precondition([4, 7, 10].contains(uid.count), "a UID of NFC-A has 4, 7 or 10 bytes")
            technology = .nfcA
        case .nfcB(let pupi, let data, let info):
            precondition(
                pupi.count == 4 && data.count == 4 && info.count == 3,
                "ATQB has 4 bytes of PUPI, 4 of application data and 3 of protocol information"
            )
            technology = .nfcB
        }
        chip = Locked(Type4Chip(frontEnd: frontEnd, card: card, changesRandomUID: changesRandomUID))
    }

    /// The UID of tags that are created without one.
    public static let defaultUID: [UInt8] = [0x04, 0x83, 0x2F, 0x9A, 0x27, 0x2D, 0x80]

    /// The UID or PUPI. For a random UID that changes at each power-up, this is the first one. For a card that was
    /// configured to have random ones, it is the card's own.
    public var identifier: [UInt8] { frontEnd.identifier }

    /// A copy of the card in its current state, including its memory.
    public var card: any Card {
        chip.withLock { $0.card }
    }

    public func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        chip.withLock { $0.receive(request, injectedFault: injectedFault) }
    }

    public func losePower() {
        chip.withLock { $0.losePower() }
    }
}
