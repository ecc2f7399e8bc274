// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink

/// Commands to a Type 1 tag.
///
/// The firmware supports the commands for tags with static memory. It refuses the other commands, on blocks and
/// segments. These are sent through the registers of the contactless unit. Each byte is a separate frame, the first
/// with 7 bits, and the parity of the answer is not checked (NFC Forum Digital 2.3, 7; PN532 user manual, 8.6.23).
extension PN532Chip {
    /// READ8, WRITE-E8, WRITE-NE8 and RSEG (NFC Forum T1T 1.2, 5).
    private enum BlockCommand: UInt8 {
        case readSegment = 0x10, readBlock = 0x02, writeErasing = 0x54, writeSetting = 0x1B
    }

    /// Sends a command.
    ///
    /// - Parameter bytes: the command, without checksum.
    /// - Returns: the answer, without checksum.
    func type1Exchange(
        _ bytes: [UInt8],
        timeout: Airtime,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> [UInt8] {
        guard let command = bytes.first.flatMap(BlockCommand.init) else {
            return try exchangeData(bytes, timeout: timeout, cancellation)
        }
        if !refusesBlockCommands {
            do throws(LinkError) {
                return try exchangeData(bytes, timeout: timeout, cancellation)
            } catch {
                guard error.isAboutTag || error.code == .unsupported else { throw error }
            }
        }
        let answer: [UInt8]
        if command == .readSegment {
            answer = try readSegment(bytes, timeout, cancellation)
        } else {
            answer = try type1Registers(bytes, timeout, cancellation)
        }
        refusesBlockCommands = true
        return answer
    }

    /// Replaces RSEG by a READ8 for each of its blocks, because the answer of RSEG is longer than the unit's buffer.
    private func readSegment(
        _ bytes: [UInt8],
        _ timeout: Airtime,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> [UInt8] {
        guard bytes.count >= 2 else { throw LinkError(.unsupported, "RSEG names no segment.") }
        var answer = [bytes[1]]
        for block in 0..<UInt8(16) {
            let command = [BlockCommand.readBlock.rawValue, bytes[1] & 0xF0 | block] + bytes[2...]
            let part = try type1Registers(command, timeout, cancellation)
            guard part.count == 9 else { throw LinkError(.transmission, "An answer to READ8 has no block.") }
            answer += part[1...]
        }
        return answer
    }

    /// Sends a command byte by byte.
    private func type1Registers(
        _ bytes: [UInt8],
        _ timeout: Airtime,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> [UInt8] {
        let checksum = CyclicRedundancyCheck.b(bytes)
        let frame = bytes + checksum.littleEndianBytes
        // The unit's commands: Transmit, NoCmdChange, Receive.
        let transmit: UInt8 = 0x04
        var values: [(UInt16, UInt8)] = [
            (RadioRegisters.fifoData, frame[0]), (RadioRegisters.bitFraming, 7), (RadioRegisters.command, transmit),
            (RadioRegisters.bitFraming, 0), (RadioRegisters.manualReceive, 0x30),
        ]
        for byte in frame.dropFirst() {
            values += [
                (RadioRegisters.fifoData, byte), (RadioRegisters.command, transmit), (RadioRegisters.command, 0x07),
            ]
        }
        values.append((RadioRegisters.command, 0x08))
        guard values.count * 3 <= HostFrame.maximumData else {
            throw LinkError(.frameTooLong, "The command is longer than a Type 1 tag's.")
        }
        try perform(values, cancellation)
        usleep(UInt32(clamping: timeout.microseconds))
        try perform([(RadioRegisters.manualReceive, 0x20)], cancellation)
        let level = try read([RadioRegisters.fifoLevel], cancellation)[0] & 0x7F
        guard level > 0 else { throw LinkError(.timeout, "The tag does not answer.") }
        let received = try read([UInt16](repeating: RadioRegisters.fifoData, count: Int(level)), cancellation)
        let answer = Self.withoutParity(received)
        guard answer.count > 2 else { throw LinkError(.transmission, "The answer has no whole bytes.") }
        let expected = CyclicRedundancyCheck.b(answer.dropLast(2))
        guard answer.suffix(2) == expected.littleEndianBytes else {
            throw LinkError(.transmission, "The checksum of the answer is wrong.")
        }
        return Array(answer.dropLast(2))
    }

    /// Removes the parity bit after each eight bits; the bits are ordered from the least significant one.
    static func withoutParity(_ bytes: [UInt8]) -> [UInt8] {
        (0..<bytes.count * 8 / 9).map { index in
            (0..<8).reduce(UInt8(0)) { byte, bit in
                bytes.hasBit(index * 9 + bit) ? byte | 1 << bit : byte
            }
        }
    }
}
