// SPDX-License-Identifier: Apache-2.0

/// The two status flags of a FeliCa answer: the position and the kind of the error (FeliCa Card User's Manual, 4.5).
struct FeliCaStatus: Sendable, Hashable {
    var flag1: UInt8
    var flag2: UInt8

    /// Success.
    static let success = FeliCaStatus(flag1: 0x00, flag2: 0x00)
    /// The memory failed.
    static let memoryFailure = whole(0x70)
    /// The number of services is not allowed.
    static let serviceCount = whole(0xA1)
    /// The number of blocks is not allowed.
    static let blockCount = whole(0xA2)
    /// The system has no service with this code.
    static let unknownService = whole(0xA6)

    /// An error of one block in the list.
    enum BlockError: UInt8 {
        case serviceOrder = 0xA3
        case accessDenied = 0xA5
        case accessMode = 0xA7
        case blockNumber = 0xA8
        /// MAC and MAC_A were requested together.
        case codeCombination = 0xB0
        /// The reader has to authenticate first.
        case authenticationNeeded = 0xB1
        /// The MAC or its write counter is wrong, or there was no challenge.
        case wrongCode = 0xB2
    }

    /// An error that is not about one block.
    static func whole(_ code: UInt8) -> FeliCaStatus {
        FeliCaStatus(flag1: 0xFF, flag2: code)
    }

    /// An error in the block list: flag 1 has the bit of its position.
    static func block(_ position: Int, _ error: BlockError) -> FeliCaStatus {
        FeliCaStatus(flag1: 1 << (position % 8), flag2: error.rawValue)
    }

    var bytes: [UInt8] { [flag1, flag2] }
}
