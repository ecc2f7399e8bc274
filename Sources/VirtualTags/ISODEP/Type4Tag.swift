// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 4 tag: any ``Card`` behind ISO-DEP, over NFC-A or NFC-B.
///
/// ```swift
/// let tag = Type4Tag(card: ApplicationCard([NDEFApplication()]))
/// let desfire = Type4Tag(DESFireContents.ndef(generation: .ev3))
/// ```
///
/// The tag keeps to ISO/IEC 14443-4: it chains in both directions, asks for more time when the card works for longer
/// than the frame waiting time, repeats its last block on R(NAK), and does not answer damaged blocks. Bit rates that PPS
/// chooses are accepted when the ATS offers them; the airtime of a virtual field stays that of 106 kbit/s.
///
/// A refusal by a fault plan answers 6400 (execution error), a refused write 6581 (memory failure).
public final class Type4Tag: VirtualTag {
    public let technology: Technology
    /// How the tag presents itself while it is activated.
    public let frontEnd: Type4FrontEnd
    private let silicon: Locked<Type4Silicon>

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - card: what answers the messages.
    ///   - frontEnd: how the tag presents itself; a Type 4A tag with 256-octet frames and no special options when nil.
    ///   - changesRandomUID: whether a UID of 4 octets that begins with 08, a random one, is another one whenever the power
    ///     comes.
    public init(card: some Card, frontEnd: Type4FrontEnd? = nil, changesRandomUID: Bool = true) {
        let frontEnd = frontEnd ?? .nfcA(uid: Self.defaultUID, ats: [0x05, 0x78, 0x80, 0x70, 0x02])
        self.frontEnd = frontEnd
        switch frontEnd {
        case .nfcA(let uid, _, _, _):
            precondition([4, 7, 10].contains(uid.count), "a UID of NFC-A has 4, 7 or 10 octets")
            technology = .nfcA
        case .nfcB(let pupi, let data, let info):
            precondition(
                pupi.count == 4 && data.count == 4 && info.count == 3,
                "ATQB has 4 octets of PUPI, 4 of application data and 3 of protocol information"
            )
            technology = .nfcB
        }
        silicon = Locked(Type4Silicon(frontEnd: frontEnd, card: card, changesRandomUID: changesRandomUID))
    }

    /// The UID of tags that are made without one.
    public static let defaultUID: [UInt8] = [0x04, 0x83, 0x2F, 0x9A, 0x27, 0x2D, 0x80]

    /// The UID or PUPI. Of a random UID, which changes whenever the power goes, the first one.
    public var identifier: [UInt8] {
        switch frontEnd {
        case .nfcA(let uid, _, _, _): uid
        case .nfcB(let pupi, _, _): pupi
        }
    }

    /// A copy of the card as it is now, memory included.
    public var card: any Card {
        silicon.withLock { $0.card }
    }

    public func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        silicon.withLock { $0.receive(request, disturbance: disturbance) }
    }

    public func losePower() {
        silicon.withLock { $0.losePower() }
    }
}
