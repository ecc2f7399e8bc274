// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Registers of a PN53x's contactless unit (PN532 user manual, 7.2.4 and 8.6.23). Most of them only hold the written
/// value; a few determine the form of frames.
struct PN53xRegisters: Sendable {
    /// CIU_TxMode: bit 7 adds the checksum, bits 1 and 0 are the framing.
    static let txMode: UInt16 = 0x6302
    /// CIU_RxMode: bit 7 checks and removes the checksum.
    static let rxMode: UInt16 = 0x6303
    /// CIU_Control: bits 2 to 0 are the number of valid bits in the last received byte.
    static let control: UInt16 = 0x633C
    /// CIU_BitFraming: bits 2 to 0 are the number of bits to send of the last byte.
    static let bitFraming: UInt16 = 0x633D

    /// CIU_ManualRCV: bit 4 turns parity off.
    static let manualReceive: UInt16 = 0x630D
    /// CIU_Command: the unit's current command.
    static let command: UInt16 = 0x6331
    /// CIU_FIFOData: the next byte of the buffer.
    static let fifoData: UInt16 = 0x6339
    /// CIU_FIFOLevel: the number of bytes in the buffer; bit 7 clears the buffer.
    static let fifoLevel: UInt16 = 0x633A

    private var values: [UInt16: UInt8] = [:]
    private var unit = PN53xRadioUnit()

    subscript(address: UInt16) -> UInt8 {
        get { values[address] ?? 0 }
        set { values[address] = newValue }
    }

    /// ReadRegister: one byte for each address.
    mutating func read(_ data: [UInt8]) -> PN53xChip.Outcome {
        guard !data.isEmpty, data.count % 2 == 0 else { return .syntaxError }
        var answer: [UInt8] = []
        for index in stride(from: 0, to: data.count, by: 2) {
            switch UInt16(high: data[index], low: data[index + 1]) {
            case Self.fifoData: answer.append(unit.pop())
            case Self.fifoLevel: answer.append(UInt8(unit.buffer.count))
            case let address: answer.append(self[address])
            }
        }
        return .answer(answer)
    }

    /// Writes a register. Only the registers of the contactless unit and the special function registers exist.
    ///
    /// - Returns: the data that the unit has sent, if the host has switched it to wait for the answer.
    mutating func write(_ value: UInt8, to address: UInt16) -> PN53xRadioUnit.Transmission? {
        switch address {
        case Self.fifoData: unit.push(value)
        case Self.fifoLevel: if value & 0x80 != 0 { unit.flush() }
        case Self.command:
            self[address] = value
            return unit.begin(value, bits: bitsOfLastByte)
        case 0x6100...0x63FF, 0xFF80...: self[address] = value
        default: break
        }
        return nil
    }

    /// Receives the answer to the unit's data.
    mutating func receive(_ answer: Frame) {
        setReceivedBits(unit.take(answer, keepsParity: self[Self.manualReceive] & 0x10 != 0))
    }

    /// Sets framing and checksum as they are after listing a target. The firmware appends the checksum of a Type 1
    /// tag's commands itself, because it differs from NFC-A's.
    mutating func setMode(of card: FieldCard) {
        let framing: UInt8 =
            switch card.technology {
            case .nfcA where card.isType1: 0x00
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

    /// The technology that corresponds to the framing in CIU_TxMode.
    var technology: Technology {
        switch self[Self.txMode] & 0x03 {
        case 0x02: .nfcF
        case 0x03: .nfcB
        default: .nfcA
        }
    }

    var addsChecksum: Bool { self[Self.txMode] & 0x80 != 0 }
    var checksChecksum: Bool { self[Self.rxMode] & 0x80 != 0 }
    /// The number of bits to send of the last byte: 1 to 8.
    var bitsOfLastByte: Int {
        let bits = Int(self[Self.bitFraming] & 0x07)
        return bits == 0 ? 8 : bits
    }

    /// Stores the number of received bits of the last byte.
    mutating func setReceivedBits(_ count: Int) {
        self[Self.control] = self[Self.control] & 0xF8 | (count == 8 ? 0 : UInt8(count))
    }
}
