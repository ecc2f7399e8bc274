// SPDX-License-Identifier: Apache-2.0

/// Registers of the chip's contactless unit, as far as they are known (PN532 user manual, 8.6.23).
struct RadioRegisters: Sendable {
    /// CIU_TxMode: bit 7 appends the checksum.
    static let transmitMode: UInt16 = 0x6302
    /// CIU_RxMode: bit 7 checks and removes the checksum of answers.
    static let receiveMode: UInt16 = 0x6303
    /// CIU_TxAuto: when the carrier is turned on by itself.
    static let transmitAutomatic: UInt16 = 0x6305
    /// CIU_ManualRCV: bit 4 turns parity off.
    static let manualReceive: UInt16 = 0x630D
    /// CIU_Command: what the unit does.
    static let command: UInt16 = 0x6331
    /// CIU_FIFOData: the next byte to send, or that came.
    static let fifoData: UInt16 = 0x6339
    /// CIU_FIFOLevel: how many bytes are in the buffer.
    static let fifoLevel: UInt16 = 0x633A
    /// CIU_BitFraming: bits 2 to 0 are how many bits of the last byte go out; 0 for all.
    static let bitFraming: UInt16 = 0x633D

    /// Bit 7 of the modes.
    static let checksum: UInt8 = 0x80

    private var values: [UInt16: UInt8] = [:]

    subscript(register: UInt16) -> UInt8? {
        get { values[register] }
        set { values[register] = newValue }
    }
}
