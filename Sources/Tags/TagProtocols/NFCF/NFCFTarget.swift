// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The data that an NFC-F tag sends when it is polled (JIS X 6319-4; NFC Forum Digital 2.3, 8.6).
public struct NFCFTarget: Sendable, Hashable {
    /// IDm: eight bytes that address the tag and a system in it.
    public var idm: [UInt8]
    /// PMm: eight bytes with the IC code and the maximum response times of commands.
    public var pmm: [UInt8]
    /// The system code of the tag. Nil when only a wildcard was polled for and the tag did not report its code.
    public var systemCode: UInt16?

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - idm: eight bytes.
    ///   - pmm: eight bytes.
    ///   - systemCode: the system code of the tag.
    public init(idm: [UInt8], pmm: [UInt8], systemCode: UInt16?) {
        precondition(idm.count == 8 && pmm.count == 8, "IDm and PMm have eight bytes")
        self.idm = idm
        self.pmm = pmm
        self.systemCode = systemCode
    }

    /// The system code of NDEF tags (NFC Forum T3T 1.0, 3.2).
    public static let ndefSystemCode: UInt16 = 0x12FC
    /// The system code of FeliCa Lite and Lite-S.
    public static let liteSystemCode: UInt16 = 0x88B4
    /// The system code that every tag answers to.
    public static let anySystemCode: UInt16 = 0xFFFF

    /// The IC code, the second byte of PMm: F0 is FeliCa Lite, F1 is Lite-S.
    public var icCode: UInt8 { pmm[1] }
    /// Whether the tag is a FeliCa Lite or Lite-S by its IC code.
    public var isLite: Bool { icCode == 0xF0 || icCode == 0xF1 }

    /// Whether the other is a system of the same card.
    package func isOfSameCard(as other: NFCFTarget) -> Bool { idm.isIDmOfSameCard(as: other.idm) }

    /// The kinds of commands with a maximum response time of their own (FeliCa Card User's Manual, 2.3.2: the bytes D10
    /// to D15 of PMm).
    public enum TimingClass: Int, Sendable {
        case requestService = 2
        case fixed, authenticate, read, write, other
    }

    /// Returns the maximum response time of a command (JIS X 6319-4; NFC Forum Digital 2.3, 8.7).
    ///
    /// - Parameters:
    ///   - timing: the kind of command.
    ///   - count: the number of services or blocks.
    public func maximumResponseTime(_ timing: TimingClass, count: Int) -> Airtime {
        let byte = pmm[timing.rawValue]
        let fixed = Int(byte & 0x07) + 1
        let each = Int(byte >> 3 & 0x07) + 1
        let exponent = Int64(byte >> 6)
        return Airtime(carrierPeriods: Int64(fixed + each * count) * 4096 << (2 * exponent))
    }
}
