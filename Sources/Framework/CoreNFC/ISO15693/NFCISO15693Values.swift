// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The flags of a request (ISO/IEC 15693-3, 7.3.1), except for the inventory flags.
///
/// A request is addressed by default: unless ``select`` is set, the framework sets ``address`` and adds the tag's UID.
public struct NFCISO15693RequestFlag: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The tag answers with two subcarriers.
    public static let dualSubCarriers = NFCISO15693RequestFlag(rawValue: 1 << 0)
    /// The tag answers at the high data rate.
    public static let highDataRate = NFCISO15693RequestFlag(rawValue: 1 << 1)
    /// The request has an extended form.
    public static let protocolExtension = NFCISO15693RequestFlag(rawValue: 1 << 3)
    /// Only the tag in the selected state answers.
    public static let select = NFCISO15693RequestFlag(rawValue: 1 << 4)
    /// Only the tag whose UID is in the request answers.
    public static let address = NFCISO15693RequestFlag(rawValue: 1 << 5)
    /// The meaning depends on the command: a read returns the security status with each block.
    public static let option = NFCISO15693RequestFlag(rawValue: 1 << 6)
    /// The meaning depends on the command.
    public static let commandSpecificBit8 = NFCISO15693RequestFlag(rawValue: 1 << 7)
}

extension NFCISO15693RequestFlag {
    /// The tag answers with two subcarriers.
    @available(*, deprecated, renamed: "dualSubCarriers")
    public static var RequestFlagDualSubCarriers: NFCISO15693RequestFlag { .dualSubCarriers }
    /// The tag answers at the high data rate.
    @available(*, deprecated, renamed: "highDataRate")
    public static var RequestFlagHighDataRate: NFCISO15693RequestFlag { .highDataRate }
    /// The request has an extended form.
    @available(*, deprecated, renamed: "protocolExtension")
    public static var RequestFlagProtocolExtension: NFCISO15693RequestFlag { .protocolExtension }
    /// Only the tag in the selected state answers.
    @available(*, deprecated, renamed: "select")
    public static var RequestFlagSelect: NFCISO15693RequestFlag { .select }
    /// Only the tag whose UID is in the request answers.
    @available(*, deprecated, renamed: "address")
    public static var RequestFlagAddress: NFCISO15693RequestFlag { .address }
    /// The meaning depends on the command.
    @available(*, deprecated, renamed: "option")
    public static var RequestFlagOption: NFCISO15693RequestFlag { .option }
}

/// The flags of a request.
@available(*, deprecated, renamed: "NFCISO15693RequestFlag")
public typealias RequestFlag = NFCISO15693RequestFlag

/// The flags of a response (ISO/IEC 15693-3, 7.4.1).
public struct NFCISO15693ResponseFlag: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The tag reports an error, with an error code after the flags.
    public static let error = NFCISO15693ResponseFlag(rawValue: 1 << 0)
    /// The tag's response buffer contains a result.
    public static let responseBufferValid = NFCISO15693ResponseFlag(rawValue: 1 << 1)
    /// This is the last response to the request.
    public static let finalResponse = NFCISO15693ResponseFlag(rawValue: 1 << 2)
    /// The response has an extended form.
    public static let protocolExtension = NFCISO15693ResponseFlag(rawValue: 1 << 3)
    /// Bit 5 of the security status of a block.
    public static let blockSecurityStatusBit5 = NFCISO15693ResponseFlag(rawValue: 1 << 4)
    /// Bit 6 of the security status of a block.
    public static let blockSecurityStatusBit6 = NFCISO15693ResponseFlag(rawValue: 1 << 5)
    /// The tag asks for more time.
    public static let waitTimeExtension = NFCISO15693ResponseFlag(rawValue: 1 << 6)
}

/// A tag's system information (ISO/IEC 15693-3, 10.4.11). A number that the tag does not report is -1.
public struct NFCISO15693SystemInfo {
    /// The UID in the order of the response: least significant byte first.
    public var uniqueIdentifier: Data
    /// The data storage format identifier (DSFID), 0 to 255.
    public var dataStorageFormatIdentifier: Int
    /// The application family identifier (AFI), 0 to 255.
    public var applicationFamilyIdentifier: Int
    /// The size of a block in bytes, 1 to 32.
    public var blockSize: Int
    /// The number of blocks, 1 to 256.
    public var totalBlocks: Int
    /// The IC reference, 0 to 255.
    public var icReference: Int

    /// Creates a value, for example for your own tag class. Each argument sets the property of the same name.
    public init(
        uniqueIdentifier: Data,
        dataStorageFormatIdentifier: Int,
        applicationFamilyIdentifier: Int,
        blockSize: Int,
        totalBlocks: Int,
        icReference: Int
    ) {
        self.uniqueIdentifier = uniqueIdentifier
        self.dataStorageFormatIdentifier = dataStorageFormatIdentifier
        self.applicationFamilyIdentifier = applicationFamilyIdentifier
        self.blockSize = blockSize
        self.totalBlocks = totalBlocks
        self.icReference = icReference
    }
}

extension NFCISO15693SystemInfo {
    /// Creates a value from the arguments of a completion handler.
    init(_ uid: Data?, _ dsfid: Int, _ afi: Int, _ blockSize: Int, _ totalBlocks: Int, _ icReference: Int) {
        self.init(
            uniqueIdentifier: uid ?? Data(),
            dataStorageFormatIdentifier: dsfid,
            applicationFamilyIdentifier: afi,
            blockSize: blockSize,
            totalBlocks: totalBlocks,
            icReference: icReference
        )
    }
}

/// The security status of blocks (ISO/IEC 15693-3, 10.4.12).
public struct NFCISO15693MultipleBlockSecurityStatus {
    /// The status of each block, in order: 0 for an unlocked block, 1 for a locked block.
    public var blockSecurityStatus: [Int]

    /// Creates a value, for example for your own tag class.
    ///
    /// - Parameter blockSecurityStatus: the status of each block, in order.
    public init(blockSecurityStatus: [Int]) { self.blockSecurityStatus = blockSecurityStatus }

    init(_ statuses: [NSNumber]) { self.init(blockSecurityStatus: statuses.map(\.intValue)) }
}
