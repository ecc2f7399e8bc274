// SPDX-License-Identifier: Apache-2.0

/// The known registers of the chip's contactless unit (PN532 user manual, 8.6.23).
struct RadioRegisters: Sendable {
    /// CIU_TxMode: bit 7 appends the checksum.
    static let transmitMode: UInt16 = 0x6302
    /// CIU_RxMode: bit 7 checks and removes the checksum of answers.
    static let receiveMode: UInt16 = 0x6303
    /// CIU_TxAuto: when the unit switches the carrier on by itself.
    static let transmitAutomatic: UInt16 = 0x6305
    /// CIU_ManualRCV: bit 4 turns parity off.
    static let manualReceive: UInt16 = 0x630D
    /// CIU_Command: the unit's current command.
    static let command: UInt16 = 0x6331
    /// CIU_FIFOData: the next byte to send, or the next received byte.
    static let fifoData: UInt16 = 0x6339
    /// CIU_FIFOLevel: the number of bytes in the buffer.
    static let fifoLevel: UInt16 = 0x633A
    /// CIU_BitFraming: bits 2 to 0 are the number of bits to send of the last byte; 0 for all.
    static let bitFraming: UInt16 = 0x633D

    /// Bit 7 of the modes.
    static let checksum: UInt8 = 0x80

    private var values: [UInt16: UInt8] = [:]

    subscript(register: UInt16) -> UInt8? {
        get { values[register] }
        set { values[register] = newValue }
    }
}
