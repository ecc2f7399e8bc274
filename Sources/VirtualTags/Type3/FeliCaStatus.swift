// SPDX-License-Identifier: Apache-2.0

/// The two status flags of a FeliCa answer: where the error is, and what it is (FeliCa Card User's Manual, 4.5).
struct FeliCaStatus: Sendable, Hashable {
    var flag1: UInt8
    var flag2: UInt8

    /// Done.
    static let success = FeliCaStatus(flag1: 0x00, flag2: 0x00)
    /// The memory failed.
    static let memoryFailure = whole(0x70)
    /// The number of services is not one that the card takes.
    static let serviceCount = whole(0xA1)
    /// The number of blocks is not one that the card takes.
    static let blockCount = whole(0xA2)
    /// A service code that the system does not have.
    static let unknownService = whole(0xA6)

    /// What a block of the list can be wrong in.
    enum BlockError: UInt8 {
        case serviceOrder = 0xA3
        case accessDenied = 0xA5
        case accessMode = 0xA7
        case blockNumber = 0xA8
        /// MAC and MAC_A are asked for together.
        case codeCombination = 0xB0
        /// The reader has to authenticate itself first.
        case authenticationNeeded = 0xB1
        /// A code is wrong, its write counter is, or there was no challenge.
        case wrongCode = 0xB2
    }

    /// An error that is not about one block.
    static func whole(_ code: UInt8) -> FeliCaStatus {
        FeliCaStatus(flag1: 0xFF, flag2: code)
    }

    /// An error in the block list: flag 1 has the bit of its position.
    static func block(_ position: Int, _ error: BlockError) -> FeliCaStatus {
        FeliCaStatus(flag1: 1 << UInt8(position % 8), flag2: error.rawValue)
    }

    var isSuccess: Bool { flag1 == 0 }

    var bytes: [UInt8] { [flag1, flag2] }
}
