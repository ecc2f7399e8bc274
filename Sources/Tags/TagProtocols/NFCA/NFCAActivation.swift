// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Finds and selects NFC-A tags with raw frames: REQA or WUPA, anticollision and SELECT (ISO/IEC 14443-3, 6.4).
public struct NFCAActivation: Sendable {
    /// The link to the field.
    public let link: any FrameLink

    /// How long to wait for an answer after the frame delay. During activation, tags answer at a fixed time, so this
    /// only allows for delays in the reader.
    static let answerTimeout = Airtime.milliseconds(1)

    /// The number of times that an interrupted activation is tried.
    static let attempts = 3

    /// Creates the procedure for an NFC-A link.
    public init(link: any FrameLink) { self.link = link }

    /// Activates every tag in the field, one after the other. The last tag stays ACTIVE; the others are halted.
    ///
    /// A single tag takes the minimum: REQA, then anticollision and SELECT for each cascade level of its UID. If tags
    /// collide, one of them is selected and halted, and the search starts again. Use ``reactivate(_:)`` to return to a
    /// halted tag. The search ends with a Type 1 tag, because Type 1 has no anticollision.
    ///
    /// - Parameters:
    ///   - waking: whether to wake halted tags too, by sending WUPA instead of REQA first. Only one of several halted
    ///     tags is found, because selecting it sends the others back to HALT; turn the carrier off and on to find them
    ///     all, or use ``reactivate(_:)`` for a known tag. If another tag answers, an ACTIVE tag is missed.
    ///   - limit: the number of tags after which the search ends.
    /// - Returns: the tags in the order of discovery, the last tag ACTIVE; empty when no tag answers.
    /// - Throws: ``TagError`` with `badAnswer` when a tag breaks the rules of anticollision, `readerUnavailable`,
    ///   `unsupported`, `cancelled`.
    public func activateAll(waking: Bool = false, limit: Int = 16) async throws(TagError) -> [NFCATarget] {
        var found: [NFCATarget] = []
        var lastIsHalted = false
        var failures = 0
        var command = waking ? Request.wakeUp : .request
        while found.count < limit {
            guard let sense = try await sense(command) else { break }
            if !sense.isCrowded, NFCATarget.isType1(atqa: sense.atqa) {
                found.append(NFCATarget(atqa: sense.atqa, sak: nil, uid: []))
                return found
            }
            guard let (target, isCrowded) = try await selectOne(sense) else {
                // The tag stopped answering or its answers are damaged, so the search starts again, a few times.
                failures += 1
                guard failures < Self.attempts else { break }
                continue
            }
            // Stops at a known tag: a tag that ignores HLTA would be found endlessly.
            guard !found.contains(where: { $0.uid == target.uid }) else {
                lastIsHalted = found.last?.uid != target.uid
                break
            }
            found.append(target)
            lastIsHalted = false
            guard isCrowded || sense.isCrowded, found.count < limit else { return found }
            try await halt()
            lastIsHalted = true
            command = .request
        }
        // The search for another tag found none, so the last halted tag is activated again.
        while lastIsHalted, let last = found.last {
            do throws(TagError) {
                try await reactivate(last)
                return found
            } catch {
                guard error.code == .tagLost else { throw error }
                found.removeLast()
            }
        }
        return found
    }

    /// Wakes the tag with this UID, from the IDLE, ACTIVE or HALT state, and selects it through all cascade levels; nil
    /// when no tag with this UID answers.
    ///
    /// Unlike ``activateAll(waking:limit:)``, this finds any one of several halted tags, because tags don't answer to a
    /// foreign UID (ISO/IEC 14443-3, 6.5.3).
    ///
    /// - Throws: ``TagError`` with `readerUnavailable`, `unsupported`, `cancelled`.
    package func activate(uid: [UInt8]) async throws(TagError) -> NFCATarget? {
        guard let levels = Self.cascadeLevels(of: uid) else { return nil }
        for _ in 0..<Self.attempts {
            // An ACTIVE tag treats WUPA as an error and goes to IDLE without an answer. The next WUPA wakes it.
            guard let sense = try await sense(.wakeUp) else { continue }
            do throws(LinkError) {
                let sak = try await select(levels)
                // If SAK has this bit, `uid` is only the start of a longer UID.
                guard sak & 0x04 == 0 else { return nil }
                return NFCATarget(atqa: sense.atqaOfTag(levels: levels.count), sak: sak, uid: uid)
            } catch {
                if let failure = TagError(fatal: error) { throw failure }
            }
        }
        return nil
    }

    /// Wakes a known tag from the IDLE, ACTIVE or HALT state, and selects it by its complete UID.
    ///
    /// Other tags in the field stay unselected, because they don't answer to a foreign UID (ISO/IEC 14443-3, 6.5.3).
    ///
    /// - Parameter target: a tag that ``activateAll(waking:limit:)`` returned.
    /// - Throws: ``TagError`` with `tagLost` when the tag does not answer, or a tag with another SAK does;
    ///   `unsupported` for a Type 1 tag; `readerUnavailable`, `cancelled`.
    public func reactivate(_ target: NFCATarget) async throws(TagError) {
        if let link = link as? any SelfActivatingLink { return try await reactivate(by: link) }
        guard let sak = target.sak, let levels = Self.cascadeLevels(of: target.uid) else {
            throw TagError(.unsupported, "A tag without anticollision can't be selected by its UID.")
        }
        var silence: LinkError?
        for _ in 0..<Self.attempts {
            let answered: UInt8
            do throws(LinkError) {
                // An ACTIVE tag treats WUPA as an error and goes to IDLE without an answer. The next WUPA wakes it.
                try await wakeUp()
                answered = try await select(levels)
            } catch {
                if let failure = TagError(fatal: error) { throw failure }
                silence = error
                continue
            }
            guard answered == sak else {
                throw TagError(.tagLost, "A tag with the same UID but a different SAK has replaced the tag.")
            }
            return
        }
        throw TagError(.tagLost, "The tag no longer answers.", link: silence)
    }

    /// Reactivates the tag through a link whose reader selects the tag itself.
    private func reactivate(by link: any SelfActivatingLink) async throws(TagError) {
        do throws(LinkError) {
            try await link.reactivate()
        } catch {
            throw TagError(fatal: error) ?? TagError(.tagLost, error.reason, link: error)
        }
    }

    /// Halts the ACTIVE tag. Afterwards the tag answers only WUPA (ISO/IEC 14443-3, 6.4.3).
    ///
    /// - Throws: ``TagError`` with `readerUnavailable` or `cancelled`. Success means that the tag stays silent.
    public func halt() async throws(TagError) {
        do throws(LinkError) {
            _ = try await link.transceive(Frame([0x50, 0x00]), timeout: Self.answerTimeout)
        } catch {
            if let failure = TagError(fatal: error) { throw failure }
        }
    }
}

/// Commands and procedures of ISO/IEC 14443-3, 6.4 and 6.5.
extension NFCAActivation {
    /// The two short frames that tags in the IDLE state answer. WUPA also reaches halted tags.
    enum Request: UInt8 {
        case request = 0x26
        case wakeUp = 0x52

        var frame: Frame { Frame(bits: [rawValue], validBitsInLastByte: 7) }
    }

    /// An answer to REQA or WUPA.
    struct Sense {
        /// ATQA; 0 when several tags answered at once.
        var atqa: UInt16
        var isCrowded: Bool

        /// Returns the ATQA of a tag with 1 to 3 cascade levels. If several tags answered at once, only the UID size is
        /// known (ISO/IEC 14443-3, 6.5.2).
        func atqaOfTag(levels: Int) -> UInt16 { isCrowded ? [0x0004, 0x0044, 0x0084][levels - 1] : atqa }
    }

    /// SEL of the three cascade levels.
    static let selectCodes: [UInt8] = [0x93, 0x95, 0x97]
    /// The cascade tag, which replaces a UID byte when the UID continues at the next level (ISO/IEC 14443-3, 6.5.4).
    static let cascadeTag: UInt8 = 0x88

    /// Sends REQA or WUPA; nil when no tag answered.
    func sense(_ command: Request) async throws(TagError) -> Sense? {
        var damaged = 0
        while true {
            do throws(LinkError) {
                let answer = try await link.transceive(command.frame, timeout: Self.answerTimeout)
                guard answer.bytes.count == 2, answer.validBitsInLastByte == 8 else {
                    throw LinkError(.transmission, "ATQA must be 16 bits (ISO/IEC 14443-3, 6.5.2).")
                }
                return Sense(atqa: UInt16(high: answer.bytes[1], low: answer.bytes[0]), isCrowded: false)
            } catch {
                switch error.code {
                case .collision: return Sense(atqa: 0, isCrowded: true)
                case .timeout, .tagRemoved:
                    // The request may have sent the tag of a damaged answer from READY back to IDLE, so it is repeated.
                    guard damaged > 0, damaged < Self.attempts else { return nil }
                    damaged += 1
                case .transmission:
                    damaged += 1
                    // Several tags can damage each other's ATQA undetected, so anticollision is tried.
                    if damaged == Self.attempts { return Sense(atqa: 0, isCrowded: true) }
                default: throw TagError(link: error, over: .nfcA)
                }
            }
        }
    }

    /// Sends WUPA. Any answer, even a damaged one, means that a tag is present.
    func wakeUp() async throws(LinkError) {
        do throws(LinkError) {
            _ = try await link.transceive(Request.wakeUp.frame, timeout: Self.answerTimeout)
        } catch {
            guard error.code == .collision || error.code == .transmission else { throw error }
        }
    }

    /// Runs anticollision and SELECT through all cascade levels, and reports whether other tags answered too. Nil when
    /// the tag stopped answering or its answers stayed damaged.
    func selectOne(_ sense: Sense) async throws(TagError) -> (target: NFCATarget, isCrowded: Bool)? {
        var uid: [UInt8] = []
        var isCrowded = false
        for (level, code) in Self.selectCodes.enumerated() {
            guard let part = try await anticollision(code, isCrowded: &isCrowded) else { return nil }
            let sak: UInt8
            do throws(LinkError) {
                sak = try await select(code, part)
            } catch {
                if let failure = TagError(fatal: error) { throw failure }
                return nil
            }
            guard sak & 0x04 != 0 else {
                uid += part[0..<4]
                return (NFCATarget(atqa: sense.atqaOfTag(levels: level + 1), sak: sak, uid: uid), isCrowded)
            }
            guard part[0] == Self.cascadeTag else {
                throw TagError(
                    .badAnswer,
                    "SAK says that the UID continues, but it does not begin with the cascade tag (ISO/IEC 14443-3, 6.5.4)."
                )
            }
            uid += part[1..<4]
        }
        throw TagError(.badAnswer, "A UID has at most three cascade levels (ISO/IEC 14443-3, 6.5.4).")
    }

    /// Finds the four UID bytes and the check byte of one tag at one cascade level.
    ///
    /// On a collision it follows the branch with a 1. Every round determines at least one bit, so at most 33 rounds are
    /// needed. Nil when the tags stopped answering.
    func anticollision(_ code: UInt8, isCrowded: inout Bool) async throws(TagError) -> [UInt8]? {
        var knownBits = BitString()
        var damaged = 0
        while true {
            do throws(LinkError) {
                let answer = try await link.transceive(
                    Self.anticollisionFrame(code, knownBits),
                    timeout: Self.answerTimeout
                )
                guard answer.bitCount == 40 - knownBits.count else {
                    let reason = "The answer to anticollision must complete 40 bits (ISO/IEC 14443-3, 6.5.3)."
                    throw LinkError(.transmission, reason)
                }
                knownBits.append(answer.bytes, count: answer.bitCount)
                guard knownBits.bytes.reduce(0, ^) == 0 else {
                    throw LinkError(.transmission, "The check byte BCC is wrong (ISO/IEC 14443-3, 6.5.3).")
                }
                return knownBits.bytes
            } catch {
                switch error.code {
                case .collision:
                    isCrowded = true
                    guard let collision = error.collision, collision.bitIndex >= 0,
                        collision.bits.count * 8 >= collision.bitIndex, knownBits.count + collision.bitIndex < 32
                    else {
                        throw TagError(
                            .badAnswer,
                            "Tags collide outside their UIDs, so they can't be separated (ISO/IEC 14443-3, 6.5.3).",
                            link: error
                        )
                    }
                    knownBits.append(collision.bits, count: collision.bitIndex)
                    knownBits.append(true)
                case .transmission:
                    knownBits = BitString()
                    damaged += 1
                    guard damaged < Self.attempts else { throw TagError(link: error, over: .nfcA) }
                case .timeout, .tagRemoved: return nil
                default: throw TagError(link: error, over: .nfcA)
                }
            }
        }
    }

    /// Returns the anticollision frame: SEL, NVB and the known bits. The last byte may be incomplete.
    static func anticollisionFrame(_ code: UInt8, _ knownBits: BitString) -> Frame {
        let looseBits = knownBits.count % 8
        let bytes = [code, UInt8(2 + knownBits.count / 8) << 4 | UInt8(looseBits)] + knownBits.bytes
        return looseBits == 0 ? Frame(bytes, checksum: .none) : Frame(bits: bytes, validBitsInLastByte: looseBits)
    }

    /// Sends SELECT at one cascade level, and returns the SAK.
    func select(_ code: UInt8, _ part: [UInt8]) async throws(LinkError) -> UInt8 {
        let answer = try await link.transceive(Frame([code, 0x70] + part), timeout: Self.answerTimeout)
        guard answer.bytes.count == 1, answer.validBitsInLastByte == 8 else {
            throw LinkError(.transmission, "SAK must be one byte (ISO/IEC 14443-3, 6.5.3.4).")
        }
        return answer.bytes[0]
    }

    /// Sends SELECT at every cascade level of a known UID, and returns the SAK of the last level.
    func select(_ levels: [[UInt8]]) async throws(LinkError) -> UInt8 {
        var sak: UInt8 = 0
        for (code, part) in zip(Self.selectCodes, levels) { sak = try await select(code, part) }
        return sak
    }

    /// Returns the five bytes of each cascade level of a UID; nil unless the UID has 4, 7 or 10 bytes.
    static func cascadeLevels(of uid: [UInt8]) -> [[UInt8]]? {
        let parts: [[UInt8]]
        switch uid.count {
        case 4: parts = [uid]
        case 7: parts = [[cascadeTag] + uid[0..<3], Array(uid[3..<7])]
        case 10: parts = [[cascadeTag] + uid[0..<3], [cascadeTag] + uid[3..<6], Array(uid[6..<10])]
        default: return nil
        }
        return parts.map { $0 + [$0.reduce(0, ^)] }
    }
}

/// Bits in the order of arrival, packed from the least significant bit of the first byte.
struct BitString: Equatable {
    /// The bytes that contain the bits. Unused bits of the last byte are 0.
    private(set) var bytes: [UInt8] = []
    /// The number of bits.
    private(set) var count = 0

    mutating func append(_ bit: Bool) {
        if count % 8 == 0 { bytes.append(0) }
        if bit { bytes[count / 8] |= 1 << (count % 8) }
        count += 1
    }

    /// Appends the first `count` bits of bytes packed in the same way.
    mutating func append(_ bits: [UInt8], count: Int) {
        for index in 0..<count { append(bits.hasBit(index)) }
    }
}

/// The data that an NFC-A tag sends during activation (ISO/IEC 14443-3, 6).
public struct NFCATarget: Sendable, Hashable {
    /// ATQA. The second byte on the air is the high byte: 0x0044 for a Type 2 tag with a 7-byte UID.
    ///
    /// If several tags answered at once, this contains only the UID size from anticollision.
    public var atqa: UInt16
    /// SAK of the last cascade level; nil for a Type 1 tag, which sends no SAK.
    public var sak: UInt8?
    /// The UID: 4, 7 or 10 bytes, without cascade tags. Empty for a Type 1 tag, whose UID RID returns, and when the
    /// reader does not report it.
    public var uid: [UInt8]

    /// Creates a target.
    public init(atqa: UInt16, sak: UInt8?, uid: [UInt8]) {
        self.atqa = atqa
        self.sak = sak
        self.uid = uid
    }
}

extension NFCATarget {
    /// Returns whether an ATQA is that of a Type 1 tag: no anticollision, 1100 (NFC Forum Digital 2.3, 6.6.3).
    static func isType1(atqa: UInt16) -> Bool { atqa & 0x0F1F == 0x0C00 }

    /// Whether this is a Type 1 tag, such as a Topaz.
    public var isType1: Bool { sak == nil && Self.isType1(atqa: atqa) }

    /// Whether this is a Type 2 tag: its SAK indicates neither ISO-DEP nor NFC-DEP nor a MIFARE Classic (NFC Forum
    /// Digital 2.3, 6.8.2; NXP AN10833).
    public var isType2: Bool {
        guard let sak else { return false }
        return sak & 0x60 == 0 && !isMIFAREClassic
    }

    /// Whether the tag supports ISO-DEP, as Type 4A tags do (ISO/IEC 14443-3, 6.5.3.4).
    public var isISODEP: Bool { sak.map { $0 & 0x20 != 0 } ?? false }

    /// Whether the target supports NFC-DEP, as peer devices do (NFC Forum Digital 2.3, 6.8.2).
    public var isNFCDEP: Bool { sak.map { $0 & 0x40 != 0 } ?? false }

    /// Whether the SAK indicates a MIFARE Classic or a product that behaves like one (NXP AN10833).
    public var isMIFAREClassic: Bool {
        sak.map { $0 & 0x08 != 0 || $0 == 0x01 || isMIFAREPlusLevel2 } ?? false
    }

    /// Whether the SAK indicates a MIFARE Plus in security level 2, which supports neither ISO-DEP nor the commands of
    /// Type 2 tags (NXP AN10833).
    private var isMIFAREPlusLevel2: Bool { sak == 0x10 || sak == 0x11 }

    /// The kind of tag, as written in a sentence, such as `Type 2 tag` or `MIFARE Classic card`.
    public var kindName: String {
        if isType1 { return "Type 1 tag" }
        if isISODEP { return "Type 4 tag or other ISO/IEC 14443-4 card" }
        if isMIFAREPlusLevel2 { return "MIFARE Plus card in security level 2" }
        if isMIFAREClassic { return "MIFARE Classic card" }
        if isNFCDEP { return "NFC-DEP device" }
        return isType2 ? "Type 2 tag" : "NFC-A tag of an unknown kind"
    }

    /// The manufacturer's code in a unique UID (ISO/IEC 7816-6): 0x04 for NXP; nil for 4-byte identifiers.
    public var manufacturer: UInt8? { uid.count >= 7 ? uid.first : nil }

    /// NXP's manufacturer code.
    static let nxp: UInt8 = 0x04

    /// Whether the UID shows that NXP made the tag.
    package var isNXP: Bool { manufacturer == Self.nxp }
}
