// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Finds NFC-V tags: INVENTORY with one slot, then with 16 slots and masks when tags collide (ISO/IEC 15693-3, 8 and
/// 10.3.1).
public struct NFCVInventory: Sendable {
    /// The link to the field.
    public let link: any FrameLink

    /// How long to wait for an answer after t1.
    static let answerTimeout = Airtime.milliseconds(1)
    /// The most rounds of 16 slots. A field of tags that follow the rules never needs more.
    static let maximumRounds = 64
    /// How often the first request is sent when the answer is damaged without a detected collision.
    static let attempts = 3

    /// Creates the procedure for a field.
    ///
    /// - Parameter link: an NFC-V link.
    public init(link: any FrameLink) {
        self.link = link
    }

    /// Finds every tag in the field.
    ///
    /// A single tag takes one exchange. When tags collide, rounds of 16 slots separate them by the next four bits of
    /// their UIDs, with a longer mask each time.
    ///
    /// - Parameters:
    ///   - applicationFamily: AFI; nil for every tag.
    ///   - limit: the number of tags after which the search ends.
    /// - Returns: the tags; empty when no tag answers.
    /// - Throws: ``TagError`` with `badAnswer` when tags still collide after the last bit of the UID,
    ///   `readerUnavailable`, `unsupported`, `cancelled`.
    public func findAll(applicationFamily: UInt8? = nil, limit: Int = 16) async throws(TagError) -> [NFCVTarget] {
        for _ in 0..<Self.attempts {
            switch try await exchange(request(applicationFamily, slots: 1, mask: [], bits: 0)) {
            case .silence: return []
            case .tag(let target): return [target]
            case .collision: return try await search(applicationFamily, limit)
            case .damage: continue
            }
        }
        return try await search(applicationFamily, limit)
    }

    private enum Outcome {
        case silence, collision, damage
        case tag(NFCVTarget)
    }

    /// A mask: the last bits of the UID, in bytes from the last byte on.
    private struct Mask {
        var bytes: [UInt8] = []
        var bits = 0

        func appending(slot: Int) -> Mask {
            var result = self
            if bits % 8 == 0 {
                result.bytes.append(UInt8(slot))
            } else {
                result.bytes[result.bytes.count - 1] |= UInt8(slot) << 4
            }
            result.bits += 4
            return result
        }
    }

    private func search(_ family: UInt8?, _ limit: Int) async throws(TagError) -> [NFCVTarget] {
        var found: [NFCVTarget] = []
        var masks = [Mask()]
        var rounds = 0
        while let mask = masks.popLast(), found.count < limit {
            rounds += 1
            guard rounds <= Self.maximumRounds else { break }
            for slot in 0..<16 where found.count < limit {
                // An EOF alone moves to the next slot.
                let frame =
                    slot == 0
                    ? request(family, slots: 16, mask: mask.bytes, bits: mask.bits)
                    : Frame([], checksum: .none)
                switch try await exchange(frame) {
                case .silence: continue
                case .tag(let target):
                    if !found.contains(where: { $0.uid == target.uid }) { found.append(target) }
                case .collision, .damage:
                    guard mask.bits < 60 else {
                        throw TagError(.badAnswer, "Tags collide on every bit of their UIDs (ISO/IEC 15693-3, 8.1).")
                    }
                    masks.append(mask.appending(slot: slot))
                }
            }
        }
        return found
    }

    private func exchange(_ frame: Frame) async throws(TagError) -> Outcome {
        do throws(LinkError) {
            let answer = try await link.transceive(frame, timeout: Self.answerTimeout)
            guard case .success(let bytes)? = ISO15693Response(answer), bytes.count == 9 else { return .damage }
            return .tag(NFCVTarget(uid: bytes[1...].reversed(), dsfid: bytes[0]))
        } catch {
            if let failure = TagError(fatal: error) { throw failure }
            switch error.code {
            case .timeout: return .silence
            case .collision: return .collision
            default: return .damage
            }
        }
    }

    private func request(_ family: UInt8?, slots: Int, mask: [UInt8], bits: Int) -> Frame {
        var flags: ISO15693RequestFlags = [.highDataRate, .inventory]
        if slots == 1 { flags.insert(.address) }
        if family != nil { flags.insert(.select) }
        let parameters = (family.map { [$0] } ?? []) + [UInt8(bits)] + mask
        return Frame(ISO15693Command.inventory.request(flags: flags, parameters))
    }
}

/// The data that an NFC-V tag sends in an inventory (ISO/IEC 15693-3, 4.1 and 10.3.1).
public struct NFCVTarget: Sendable, Hashable {
    /// The UID as it is printed: eight bytes, E0 first, then the manufacturer's code. It is sent in the reverse order.
    public var uid: [UInt8]
    /// DSFID: the data storage format identifier.
    public var dsfid: UInt8

    /// Creates a target; the UID has eight bytes.
    public init(uid: [UInt8], dsfid: UInt8 = 0) {
        precondition(uid.count == 8, "a UID of ISO/IEC 15693 has eight bytes")
        self.uid = uid
        self.dsfid = dsfid
    }

    /// The manufacturer's code (ISO/IEC 7816-6): 02 is ST, 04 NXP, 07 Texas Instruments.
    public var manufacturer: UInt8 { uid[1] }
}
