// SPDX-License-Identifier: Apache-2.0

/// Status words of readers (PC/SC 2.01 part 3, 3.2.2).
enum ReaderStatus {
    static let done: [UInt8] = [0x90, 0x00]
    /// The operation failed.
    static let failed: [UInt8] = [0x63, 0x00]
    /// The card has less data than requested.
    static let endOfData: [UInt8] = [0x62, 0x82]
    static let wrongLength: [UInt8] = [0x67, 0x00]
    static let unsupportedFunction: [UInt8] = [0x6A, 0x81]
    static let unknownInstruction: [UInt8] = [0x6D, 0x00]
    static let unknownAddress: [UInt8] = [0x6A, 0x82]
}
