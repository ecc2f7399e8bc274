// SPDX-License-Identifier: Apache-2.0

/// The properties of FeliCa Lite and Lite-S that other Type 3 tags don't have (FeliCa Lite-S User's Manual, 7).
enum FeliCaLite {
    /// The memory configuration block, MC.
    static let memoryConfiguration = 0x88
    /// The write counter block of Lite-S, WCNT.
    static let writeCounter = 0x90
    /// The number of scratch pad blocks that can hold a message: 14 without the attribute block.
    static let messageBlocks = 13

    /// Returns MC with every scratch pad block read-only and the system blocks frozen.
    static func locked(_ configuration: [UInt8]) -> [UInt8] {
        var result = configuration
        result[0] = 0x00
        // Bits 6 and 7 of the second byte are not for scratch pad blocks: REG, and a reserved one.
        result[1] &= 0xC0
        result[2] = 0x00
        return result
    }

    /// Returns MC of a tag that answers to system 12FC.
    static func withNDEFSystem(_ configuration: [UInt8]) -> [UInt8] {
        var result = configuration
        result[3] = 0x01
        return result
    }
}
