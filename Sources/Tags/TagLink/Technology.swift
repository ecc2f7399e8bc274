// SPDX-License-Identifier: Apache-2.0

/// One of the four ways in which NFC Forum tags modulate the field (NFC Forum Digital 2.3, 1.6).
public enum Technology: UInt8, Sendable, Hashable, CaseIterable {
    /// ISO/IEC 14443 Type A at 106 kbit/s: Type 1, Type 2 and Type 4A tags, MIFARE.
    case nfcA
    /// ISO/IEC 14443 Type B at 106 kbit/s: Type 4B tags.
    case nfcB
    /// JIS X 6319-4 (FeliCa) at 212 kbit/s: Type 3 tags.
    case nfcF
    /// ISO/IEC 15693, 1 out of 4, one sub-carrier, high data rate: Type 5 tags.
    case nfcV

    /// The name in traces and in JSON, such as `nfc-a`.
    public var name: String {
        switch self {
        case .nfcA: "nfc-a"
        case .nfcB: "nfc-b"
        case .nfcF: "nfc-f"
        case .nfcV: "nfc-v"
        }
    }
}
