// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The command codes of ISO/IEC 15693-3 (10.1) that find and use Type 5 tags.
struct ISO15693Command: RawRepresentable {
    var rawValue: UInt8

    static let inventory = Self(rawValue: 0x01)
    static let readSingleBlock = Self(rawValue: 0x20)
    static let writeSingleBlock = Self(rawValue: 0x21)
    static let lockBlock = Self(rawValue: 0x22)
    static let readMultipleBlocks = Self(rawValue: 0x23)
    static let getSystemInformation = Self(rawValue: 0x2B)
    static let getMultipleBlockSecurityStatus = Self(rawValue: 0x2C)
    static let extendedGetSystemInformation = Self(rawValue: 0x3B)

    /// The extended form of a command for blocks, with block numbers of two bytes: 3x instead of 2x.
    var extended: Self { Self(rawValue: rawValue + 0x10) }

    /// Builds a request, without its checksum. A UID, which starts with E0, also sets the flag `address`. In custom
    /// commands (codes A0 to DF), the first parameter is the manufacturer's code and is sent before the UID (ISO/IEC
    /// 15693-3, 10.5).
    func request(
        flags: ISO15693RequestFlags = .highDataRate,
        uid: [UInt8]? = nil,
        _ parameters: [UInt8] = []
    ) -> [UInt8] {
        let all = uid == nil ? flags : flags.union(.address)
        let custom = parameters.prefix((0xA0...0xDF).contains(rawValue) ? 1 : 0)
        return [all.rawValue, rawValue] + custom + (uid ?? []).reversed() + parameters.dropFirst(custom.count)
    }
}

/// The flags of a request (ISO/IEC 15693-3, 7.3.1).
struct ISO15693RequestFlags: OptionSet {
    var rawValue: UInt8

    /// The high data rate, which NFC Forum tags use.
    static let highDataRate = Self(rawValue: 0x02)
    static let inventory = Self(rawValue: 0x04)
    /// Only the selected tag answers. In an inventory, an AFI follows.
    static let select = Self(rawValue: 0x10)
    /// The UID follows. In an inventory, a single slot is used.
    static let address = Self(rawValue: 0x20)
    /// Selects the command's option.
    static let option = Self(rawValue: 0x40)
}

/// A response of ISO/IEC 15693-3.
enum ISO15693Response: Equatable {
    /// The bytes after the response flags.
    case success([UInt8])
    /// The tag refused with an error code (ISO/IEC 15693-3, 7.4.2).
    case failure(ISO15693ErrorCode)

    /// Reads a response; nil if it lacks flags. A checksum that the link did not check is removed if correct.
    init?(_ frame: Frame) {
        var bytes = frame.bytes
        if frame.checksum == .none, bytes.count > 2 {
            let crc = CyclicRedundancyCheck.b(bytes.dropLast(2))
            if crc.littleEndianBytes == Array(bytes.suffix(2)) { bytes.removeLast(2) }
        }
        guard let flags = bytes.first, frame.validBitsInLastByte == 8 else { return nil }
        if flags & 0x01 != 0 {
            self = .failure(ISO15693ErrorCode(rawValue: bytes.count > 1 ? bytes[1] : 0x0F))
        } else {
            self = .success(Array(bytes.dropFirst()))
        }
    }
}

/// An error code in a response (ISO/IEC 15693-3, 7.4.2).
struct ISO15693ErrorCode: Equatable, CustomStringConvertible {
    var rawValue: UInt8

    /// The code's meaning.
    var description: String {
        switch rawValue {
        case 0x01: "the command is not supported"
        case 0x02: "the command is not recognised"
        case 0x03: "the option is not supported"
        case 0x0F: "an unknown error"
        case 0x10: "the block is not available"
        case 0x11: "the block is already locked"
        case 0x12: "the block is locked"
        case 0x13: "the block was not programmed"
        case 0x14: "the block was not locked"
        case 0x15: "the block is protected"
        default: "error code \(String(rawValue, radix: 16))"
        }
    }
}

/// The answer to GET SYSTEM INFORMATION (ISO/IEC 15693-3, 10.4.12 and 10.4.21).
public struct ISO15693SystemInfo: Sendable, Hashable {
    /// The UID, starting with E0.
    public var uid: [UInt8]
    /// DSFID, if the tag has one.
    public var dsfid: UInt8?
    /// AFI, if the tag has one.
    public var afi: UInt8?
    /// The number of blocks.
    public var blockCount: Int?
    /// The number of bytes in a block.
    public var blockSize: Int?
    /// The IC reference.
    public var icReference: UInt8?

    /// Reads the bytes after the response flags. In the answer to the extended command, the block count has two bytes.
    ///
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ bytes: [UInt8], isExtended: Bool = false) throws(TagError) {
        guard bytes.count >= 9 else { throw Self.short }
        let flags = bytes[0]
        uid = bytes[1..<9].reversed()
        var rest = bytes[9...]
        func take(_ count: Int) throws(TagError) -> [UInt8] {
            guard rest.count >= count else { throw Self.short }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        if flags & 0x01 != 0 { dsfid = try take(1)[0] }
        if flags & 0x02 != 0 { afi = try take(1)[0] }
        if flags & 0x04 != 0 {
            let size = try take(isExtended ? 3 : 2)
            blockCount = (isExtended ? Int(high: size[1], low: size[0]) : Int(size[0])) + 1
            blockSize = Int(size[isExtended ? 2 : 1] & 0x1F) + 1
        }
        if flags & 0x08 != 0 { icReference = try take(1)[0] }
    }

    private static var short: TagError {
        TagError(.badAnswer, "The system information ends too early (ISO/IEC 15693-3, 10.4.12).")
    }
}

/// Finds NFC-V tags: INVENTORY with one slot, then with 16 when tags collide (ISO/IEC 15693-3, 8 and 10.3.1).
public struct NFCVInventory: Sendable {
    /// The link to the field.
    public let link: any FrameLink

    /// How long to wait for an answer after t1.
    static let answerTimeout = Airtime.milliseconds(1)
    /// The maximum number of rounds of 16 slots. Tags that follow the standard never need more.
    static let maximumRounds = 64
    /// The number of times that the first request is sent while the answer is damaged, without a detected collision.
    static let attempts = 3

    /// Creates the procedure for an NFC-V link.
    public init(link: any FrameLink) { self.link = link }

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

    /// A mask: the last bits of the UID, starting with its last byte.
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
                // An EOF by itself moves to the next slot.
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
    /// The UID in printed order: eight bytes, E0 first, then the manufacturer's code. Tags send the reverse order.
    public var uid: [UInt8]
    /// DSFID: the data storage format identifier.
    public var dsfid: UInt8

    /// Creates a target; the UID must have eight bytes.
    public init(uid: [UInt8], dsfid: UInt8 = 0) {
        precondition(uid.count == 8, "a UID of ISO/IEC 15693 has eight bytes")
        self.uid = uid
        self.dsfid = dsfid
    }

    /// The manufacturer's code (ISO/IEC 7816-6): 02 is ST, 04 NXP, 07 Texas Instruments.
    public var manufacturer: UInt8 { uid[1] }
}
