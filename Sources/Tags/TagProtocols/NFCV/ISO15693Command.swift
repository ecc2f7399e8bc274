// SPDX-License-Identifier: Apache-2.0

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
