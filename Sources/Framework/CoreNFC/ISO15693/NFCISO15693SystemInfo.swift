// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What a tag reports about itself (ISO/IEC 15693-3, 10.4.11). A value that the tag does not report is -1.
public struct NFCISO15693SystemInfo {
    /// The UID as it is in the response: least significant byte first.
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
