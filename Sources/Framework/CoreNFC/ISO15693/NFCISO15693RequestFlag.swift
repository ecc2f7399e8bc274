// SPDX-License-Identifier: Apache-2.0

/// The flags of a request (ISO/IEC 15693-3, 7.3.1), except those of an inventory.
///
/// A request is addressed by default: unless ``select`` is set, the framework sets ``address`` and adds the tag's UID.
public struct NFCISO15693RequestFlag: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

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
