// SPDX-License-Identifier: Apache-2.0

/// Control codes of PC/SC part 10 and of pcsc-lite. `SCARD_CTL_CODE(x)` is 42000000 plus x.
enum ControlCode {
    static let getFeatureRequest: UInt32 = 0x4200_0D48
    static let getTLVProperties: UInt32 = 0x4233_0012
    /// The code of libccid.
    static let escape: UInt32 = 0x4200_0001
    /// `IOCTL_CCID_ESCAPE`, 3500, as in Windows drivers.
    static let escapeOfWindows: UInt32 = 0x4200_0DAC

    /// FEATURE_GET_TLV_PROPERTIES and FEATURE_CCID_ESC_COMMAND, each with its code (PC/SC part 10, 2.2).
    static let features: [UInt8] = [0x12, 4] + bytes(getTLVProperties) + [0x13, 4] + bytes(escape)

    private static func bytes(_ code: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }
    }
}
