// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Registers of a PN53x's contactless unit (PN532 user manual, 7.2.4 and 8.6.23). Most hold what was written; a few say
/// how frames are made.
struct PN53xRegisters: Sendable {
    /// CIU_TxMode: bit 7 adds the checksum, bits 1 and 0 are the framing.
    static let txMode: UInt16 = 0x6302
    /// CIU_RxMode: bit 7 checks and removes the checksum.
    static let rxMode: UInt16 = 0x6303
    /// CIU_Control: bits 2 to 0 are the valid bits of the last octet that was received.
    static let control: UInt16 = 0x633C
    /// CIU_BitFraming: bits 2 to 0 are the bits of the last octet to send.
    static let bitFraming: UInt16 = 0x633D

    private var values: [UInt16: UInt8] = [:]

    subscript(address: UInt16) -> UInt8 {
        get { values[address] ?? 0 }
        set { values[address] = newValue }
    }

    /// ReadRegister: an octet an address.
    func read(_ data: [UInt8]) -> PN53xChip.Outcome {
        guard !data.isEmpty, data.count % 2 == 0 else { return .syntaxError }
        let addresses = stride(from: 0, to: data.count, by: 2).map { (index: Int) -> UInt16 in
            UInt16(high: data[index], low: data[index + 1])
        }
        return .answer(addresses.map { self[$0] })
    }

    /// WriteRegister: address and value, as often as they come. There are no more than the commands' own length allows.
    mutating func write(_ data: [UInt8]) -> PN53xChip.Outcome {
        guard !data.isEmpty, data.count % 3 == 0 else { return .syntaxError }
        for index in stride(from: 0, to: data.count, by: 3) {
            let address = UInt16(high: data[index], low: data[index + 1])
            // The contactless unit and the special function registers.
            guard (0x6100...0x63FF).contains(address) || address >= 0xFF80 else { continue }
            self[address] = data[index + 2]
        }
        return .answer([])
    }

    /// Sets framing and checksum as listing targets of a technology leaves them.
    mutating func setMode(_ technology: Technology) {
        let framing: UInt8 =
            switch technology {
            case .nfcA, .nfcV: 0x80
            // 212 kbit/s, FeliCa.
            case .nfcF: 0x92
            case .nfcB: 0x83
            }
        self[Self.txMode] = framing
        self[Self.rxMode] = framing
        self[Self.bitFraming] = 0
        self[Self.control] = 0
    }

    /// The technology that CIU_TxMode's framing stands for.
    var technology: Technology {
        switch self[Self.txMode] & 0x03 {
        case 0x02: .nfcF
        case 0x03: .nfcB
        default: .nfcA
        }
    }

    var addsChecksum: Bool { self[Self.txMode] & 0x80 != 0 }
    var checksChecksum: Bool { self[Self.rxMode] & 0x80 != 0 }
    /// How many bits of the last octet go out: 1 to 8.
    var bitsOfLastOctet: Int {
        let bits = Int(self[Self.bitFraming] & 0x07)
        return bits == 0 ? 8 : bits
    }

    /// Notes how many bits of the last octet came in.
    mutating func setReceivedBits(_ count: Int) {
        self[Self.control] = self[Self.control] & 0xF8 | (count == 8 ? 0 : UInt8(count))
    }
}
