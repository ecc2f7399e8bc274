// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A request of ISO/IEC 15693-3, without its checksum.
public enum ISO15693Request {
    /// Builds a request.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - flags: the flags. `address` is added when there is a UID.
    ///   - uid: the tag's UID, starting with E0; nil for any tag, or for the selected one.
    ///   - parameters: the bytes after the UID. The manufacturer's code of a custom command (codes A0 to DF) is the first,
    ///     and is sent before the UID (ISO/IEC 15693-3, 10.5).
    public static func make(
        _ command: ISO15693Command,
        flags: ISO15693RequestFlags = .highDataRate,
        uid: [UInt8]? = nil,
        _ parameters: [UInt8] = []
    ) -> [UInt8] {
        let all = uid == nil ? flags : flags.union(.address)
        let custom = parameters.prefix((0xA0...0xDF).contains(command.rawValue) ? 1 : 0)
        return [all.rawValue, command.rawValue] + custom + (uid ?? []).reversed() + parameters.dropFirst(custom.count)
    }
}

/// Request flags that nothing else implies (ISO/IEC 15693-3, 7.3.1).
public struct ISO15693RequestFlags: OptionSet, Sendable, Hashable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Two sub-carriers.
    public static let dualSubCarriers = Self(rawValue: 0x01)
    /// The high data rate, which NFC Forum tags use.
    public static let highDataRate = Self(rawValue: 0x02)
    /// The request is an inventory.
    public static let inventory = Self(rawValue: 0x04)
    /// Protocol extension.
    public static let protocolExtension = Self(rawValue: 0x08)
    /// Only the selected tag answers. In an inventory: an AFI follows.
    public static let select = Self(rawValue: 0x10)
    /// The UID follows. In an inventory: there is one slot.
    public static let address = Self(rawValue: 0x20)
    /// The command's option.
    public static let option = Self(rawValue: 0x40)
}

/// The command codes of ISO/IEC 15693-3 (10.1).
public struct ISO15693Command: RawRepresentable, Sendable, Hashable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// INVENTORY: finds the tags in the field.
    public static let inventory = Self(rawValue: 0x01)
    /// STAY QUIET: the addressed tag does not answer until it is selected or reset.
    public static let stayQuiet = Self(rawValue: 0x02)
    /// READ SINGLE BLOCK.
    public static let readSingleBlock = Self(rawValue: 0x20)
    /// WRITE SINGLE BLOCK.
    public static let writeSingleBlock = Self(rawValue: 0x21)
    /// LOCK BLOCK, permanently.
    public static let lockBlock = Self(rawValue: 0x22)
    /// READ MULTIPLE BLOCKS.
    public static let readMultipleBlocks = Self(rawValue: 0x23)
    /// WRITE MULTIPLE BLOCKS.
    public static let writeMultipleBlocks = Self(rawValue: 0x24)
    /// SELECT: this tag answers requests with the select flag.
    public static let select = Self(rawValue: 0x25)
    /// RESET TO READY: ends the quiet and the selected state.
    public static let resetToReady = Self(rawValue: 0x26)
    /// WRITE AFI, the application family identifier.
    public static let writeAFI = Self(rawValue: 0x27)
    /// LOCK AFI, permanently.
    public static let lockAFI = Self(rawValue: 0x28)
    /// WRITE DSFID, the data storage format identifier.
    public static let writeDSFID = Self(rawValue: 0x29)
    /// LOCK DSFID, permanently.
    public static let lockDSFID = Self(rawValue: 0x2A)
    /// GET SYSTEM INFORMATION.
    public static let getSystemInformation = Self(rawValue: 0x2B)
    /// GET MULTIPLE BLOCK SECURITY STATUS: reports which blocks are locked.
    public static let getMultipleBlockSecurityStatus = Self(rawValue: 0x2C)
    /// FAST READ MULTIPLE BLOCKS.
    public static let fastReadMultipleBlocks = Self(rawValue: 0x2D)
    /// EXTENDED READ SINGLE BLOCK, with a block number of two bytes.
    public static let extendedReadSingleBlock = Self(rawValue: 0x30)
    /// EXTENDED WRITE SINGLE BLOCK, with a block number of two bytes.
    public static let extendedWriteSingleBlock = Self(rawValue: 0x31)
    /// EXTENDED LOCK BLOCK, with a block number of two bytes.
    public static let extendedLockBlock = Self(rawValue: 0x32)
    /// EXTENDED READ MULTIPLE BLOCKS, with block numbers of two bytes.
    public static let extendedReadMultipleBlocks = Self(rawValue: 0x33)
    /// EXTENDED WRITE MULTIPLE BLOCKS, with block numbers of two bytes.
    public static let extendedWriteMultipleBlocks = Self(rawValue: 0x34)
    /// AUTHENTICATE.
    public static let authenticate = Self(rawValue: 0x35)
    /// KEY UPDATE.
    public static let keyUpdate = Self(rawValue: 0x36)
    /// CHALLENGE.
    public static let challenge = Self(rawValue: 0x39)
    /// READ BUFFER.
    public static let readBuffer = Self(rawValue: 0x3A)
    /// EXTENDED GET SYSTEM INFORMATION.
    public static let extendedGetSystemInformation = Self(rawValue: 0x3B)
    /// EXTENDED GET MULTIPLE BLOCK SECURITY STATUS, with block numbers of two bytes.
    public static let extendedGetMultipleBlockSecurityStatus = Self(rawValue: 0x3C)
}

/// A response of ISO/IEC 15693-3.
public enum ISO15693Response: Sendable, Hashable {
    /// The bytes after the response flags.
    case success([UInt8])
    /// The tag refused with an error code (ISO/IEC 15693-3, 7.4.2).
    case failure(ISO15693ErrorCode)

    /// Reads a response.
    ///
    /// - Parameter frame: the answer. If the link did not check the checksum, as after an EOF, a correct one is
    ///   removed.
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ frame: Frame) throws(TagError) {
        var bytes = frame.bytes
        if frame.checksum == .none, bytes.count > 2 {
            let crc = CyclicRedundancyCheck.b(bytes.dropLast(2))
            if crc.littleEndianBytes == Array(bytes.suffix(2)) { bytes.removeLast(2) }
        }
        guard let flags = bytes.first, frame.validBitsInLastByte == 8 else {
            throw TagError(.badAnswer, "A response has no flags (ISO/IEC 15693-3, 7.4).")
        }
        if flags & 0x01 != 0 {
            self = .failure(ISO15693ErrorCode(rawValue: bytes.count > 1 ? bytes[1] : 0x0F))
        } else {
            self = .success(Array(bytes.dropFirst()))
        }
    }
}

/// An error code in a response (ISO/IEC 15693-3, 7.4.2).
public struct ISO15693ErrorCode: RawRepresentable, Error, Sendable, Hashable, CustomStringConvertible {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The code's meaning.
    public var description: String {
        switch rawValue {
        case 0x01: "the command is not supported"
        case 0x02: "the command is not recognised"
        case 0x03: "the option is not supported"
        case 0x0F: "an unknown error"
        case 0x10: "the block is not available"
        case 0x11: "the block is locked already"
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
    /// DSFID, when the tag has one.
    public var dsfid: UInt8?
    /// AFI, when the tag has one.
    public var afi: UInt8?
    /// The number of blocks.
    public var blockCount: Int?
    /// The number of bytes in a block.
    public var blockSize: Int?
    /// The IC reference.
    public var icReference: UInt8?

    /// Reads the answer.
    ///
    /// - Parameters:
    ///   - bytes: the bytes after the response flags.
    ///   - isExtended: whether this is the answer to the extended command, where the block count has two bytes.
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
