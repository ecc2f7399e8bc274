// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// What an NFC-F tag says of itself when it is polled (JIS X 6319-4; NFC Forum Digital 2.3, 8.6).
public struct NFCFTarget: Sendable, Hashable {
    /// IDm: eight octets by which the tag, and the system in it, is called.
    public var idm: [UInt8]
    /// PMm: eight octets; IC code, and how long commands may take.
    public var pmm: [UInt8]
    /// The system that was found, when the tag was asked for it or only one can have answered.
    public var systemCode: UInt16?

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - idm: eight octets.
    ///   - pmm: eight octets.
    ///   - systemCode: the system that was found.
    public init(idm: [UInt8], pmm: [UInt8], systemCode: UInt16?) {
        precondition(idm.count == 8 && pmm.count == 8, "IDm and PMm have eight octets")
        self.idm = idm
        self.pmm = pmm
        self.systemCode = systemCode
    }

    /// The system of NDEF tags (NFC Forum T3T 1.0, 3.2).
    public static let ndefSystemCode: UInt16 = 0x12FC
    /// The system of FeliCa Lite and Lite-S.
    public static let liteSystemCode: UInt16 = 0x88B4
    /// The system code that every tag answers to.
    public static let anySystemCode: UInt16 = 0xFFFF

    /// The IC code, the second octet of PMm: F0 is FeliCa Lite, F1 is Lite-S.
    public var icCode: UInt8 { pmm[1] }
    /// Whether the tag is a FeliCa Lite or Lite-S by its IC code.
    public var isLite: Bool { icCode == 0xF0 || icCode == 0xF1 }

    /// What a command's time may depend on (FeliCa Card User's Manual, 2.3.2: the octets D10 to D15 of PMm).
    public enum TimingClass: Int, Sendable {
        case requestService = 2
        case fixed, authenticate, read, write, other
    }

    /// The longest time that a command may take (JIS X 6319-4; NFC Forum Digital 2.3, 8.7).
    ///
    /// - Parameters:
    ///   - timing: the kind of command.
    ///   - count: the number of services or blocks.
    public func maximumResponseTime(_ timing: TimingClass, count: Int) -> Airtime {
        let octet = pmm[timing.rawValue]
        let fixed = Int(octet & 0x07) + 1
        let each = Int(octet >> 3 & 0x07) + 1
        let exponent = Int64(octet >> 6)
        return Airtime(carrierPeriods: Int64(fixed + each * count) * 4096 << (2 * exponent))
    }
}
