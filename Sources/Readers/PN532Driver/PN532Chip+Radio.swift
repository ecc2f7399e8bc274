// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink

/// Sends frames to tags and receives their answers.
extension PN532Chip {
    /// The maximum length of a frame in either direction, with its checksum. The chip's own buffer has 262 bytes.
    static let maximumFrameLength = 256

    /// Sends a frame. Throws `LinkError`, as described at `FrameLink`.
    func send(_ frame: Frame, to target: TagHandle.Target, timeout: Airtime) throws(LinkError) -> Frame {
        guard frame.validBitsInLastByte == 8, !frame.bytes.isEmpty, frame.checksum != .none else {
            throw LinkError(.unsupported, "The PN532 selects its tags by itself: frames of a few bits can't be sent.")
        }
        guard frame.byteCountOnAir <= Self.maximumFrameLength else {
            throw LinkError(
                .frameTooLong,
                "A frame has \(frame.byteCountOnAir) bytes; the maximum for a PN532 is \(Self.maximumFrameLength)."
            )
        }
        switch target {
        case .type1:
            let answer = try type1Exchange(frame.bytes, timeout: timeout)
            return Frame(answer, checksum: frame.checksum)
        case .nfcA:
            guard frame.checksum == .automatic else {
                throw LinkError(.unsupported, "The PN532 appends CRC_B only for Type 1 tags.")
            }
            if target.isClassic {
                try setFraming(appendsChecksum: true, removesChecksum: true)
                let limit = try prepare(timeout)
                return try Frame(ofClassic: sendOnce(.inDataExchange, [0x01] + frame.bytes, limit: limit))
            }
            try setFraming(appendsChecksum: true, removesChecksum: false)
            return try Frame(uncheckedByPN53x: communicate(frame.bytes, timeout: timeout))
        case .nfcB, .nfcF:
            return Frame(try communicate(frame.bytes, timeout: timeout))
        }
    }

    // MARK: Commands

    /// Polls once for 1 or 2 targets, with the initiator data for the modulation. Switches the field on if necessary.
    func list(_ modulation: PN53xModulation, limit: Int, _ initiatorData: [UInt8]) throws(LinkError) -> TargetList {
        registers = [:]
        self.modulation = nil
        let data = [UInt8(limit), modulation.rawValue] + initiatorData
        let answer = try ask(.inListPassiveTarget, data, limit: limits.list)
        guard let count = answer.first, count <= limit else {
            throw LinkError(.transmission, "The PN532's list of targets can't be read.")
        }
        if count > 0 { self.modulation = modulation }
        return TargetList(count: Int(count), data: Array(answer.dropFirst()))
    }

    /// Sends bytes as a frame in the modulation of the last poll, and waits for the answer. Returns the answer's bytes,
    /// with the checksum if the chip does not remove it.
    func communicate(_ bytes: [UInt8], timeout: Airtime) throws(LinkError) -> [UInt8] {
        let limit = try prepare(timeout)
        let answer = try sendOnce(.inCommunicateThru, bytes, limit: limit)
        return try Self.payload(of: answer)
    }

    /// Sends a command to the listed target. The chip uses the target's own protocol.
    func exchangeData(_ bytes: [UInt8], timeout: Airtime) throws(LinkError) -> [UInt8] {
        let limit = try prepare(timeout)
        let answer = try sendOnce(.inDataExchange, [0x01] + bytes, limit: limit)
        return try Self.payload(of: answer)
    }

    static func payload(of answer: [UInt8]) throws(LinkError) -> [UInt8] {
        if let error = try status(of: answer).error { throw error }
        return Array(answer.dropFirst())
    }

    static func status(of answer: [UInt8]) throws(LinkError) -> PN53xStatus {
        guard let first = answer.first else { throw LinkError(.transmission, "The PN532's answer lacks a status.") }
        return PN53xStatus(byte: first)
    }

    // MARK: Time

    /// Returns the smallest index of an RFConfiguration timeout that is at least as long as the given timeout: 100 us
    /// times 2^(n-1). If the longest timeout, 3.28 s, is too short, returns 0 for no limit.
    static func timeoutIndex(_ timeout: Airtime) -> UInt8 {
        (1...16).first { Airtime.microseconds(100 << Int64($0 - 1)) >= timeout } ?? 0
    }

    private static func span(of index: UInt8) -> Airtime { .microseconds(100 << Int64(index - 1)) }

    /// How much longer than necessary the chip's timeout may be.
    private static let excess = Airtime.milliseconds(20)

    /// Sets the chip's timeout, and returns how long to wait for the chip.
    ///
    /// Setting the timeout takes as long as a short exchange. So a longer timeout is kept if it is at most eight times
    /// too long, and at most 20 ms too long. A long timeout only costs time when no tag answers, as in a check whether
    /// a tag is still near.
    private func prepare(_ timeout: Airtime) throws(LinkError) -> Duration {
        let wanted = Self.timeoutIndex(timeout)
        let isGood = timeoutIndex.map { index in
            guard wanted > 0, index > 0 else { return index == wanted }
            return index >= wanted && index <= wanted + 3 && Self.span(of: index) <= Self.span(of: wanted) + Self.excess
        }
        if isGood != true {
            timeoutIndex = nil
            _ = try ask(.rfConfiguration, [0x02, 0x00, 0x0B, wanted])
            timeoutIndex = wanted
        }
        guard let index = timeoutIndex, index > 0 else { return timeout.duration + limits.tolerance }
        return Self.span(of: index).duration + limits.tolerance
    }

    // MARK: Registers

    func read(_ addresses: [UInt16]) throws(LinkError) -> [UInt8] {
        let data = addresses.flatMap { $0.bigEndianBytes }
        let values = try ask(.readRegister, data)
        guard values.count == addresses.count else {
            throw LinkError(
                .transmission,
                "The PN532 returned \(values.count) registers instead of \(addresses.count)."
            )
        }
        return values
    }

    /// Writes registers in order. Only for registers that may be written twice.
    func write(_ values: [(UInt16, UInt8)]) throws(LinkError) {
        _ = try ask(.writeRegister, Self.data(of: values))
        for (register, value) in values { registers[register] = value }
    }

    /// Writes registers that trigger an action. They are written only once.
    func perform(_ values: [(UInt16, UInt8)]) throws(LinkError) {
        _ = try sendOnce(.writeRegister, Self.data(of: values), limit: limits.own)
    }

    private static func data(of values: [(UInt16, UInt8)]) -> [UInt8] {
        values.flatMap { $0.bigEndianBytes + [$1] }
    }

    /// Sets who handles checksums, and how many bits of the last byte to send. Writes only the registers that change.
    func setFraming(appendsChecksum: Bool, removesChecksum: Bool, bitsOfLastByte: Int = 8) throws(LinkError) {
        let modes = [PN53xRegister.transmitMode, PN53xRegister.receiveMode]
        if registers[modes[0]] == nil || registers[modes[1]] == nil {
            for (register, value) in zip(modes, try read(modes)) { registers[register] = value }
            registers[PN53xRegister.bitFraming] = 0
        }
        func mode(_ register: UInt16, _ isOn: Bool) -> (UInt16, UInt8) {
            let others = (registers[register] ?? 0) & ~PN53xRegister.checksum
            return (register, isOn ? others | PN53xRegister.checksum : others)
        }
        let wanted = [
            mode(PN53xRegister.transmitMode, appendsChecksum), mode(PN53xRegister.receiveMode, removesChecksum),
            (PN53xRegister.bitFraming, UInt8(bitsOfLastByte % 8)),
        ]
        let changedRegisters = wanted.filter { registers[$0.0] != $0.1 }
        if !changedRegisters.isEmpty { try write(changedRegisters) }
    }
}

/// Sends commands to a Type 1 tag.
///
/// The firmware supports the commands for tags with static memory, but refuses commands for blocks and segments. Those
/// are sent through the registers of the contactless unit. Each byte is a separate frame, the first with 7 bits, and
/// the parity of the answer is not checked (NFC Forum Digital 2.3, 7; PN532 user manual, 8.6.23).
extension PN532Chip {
    /// READ8, WRITE-E8, WRITE-NE8 and RSEG (NFC Forum T1T 1.2, 5).
    private enum BlockCommand: UInt8 {
        case readSegment = 0x10, readBlock = 0x02, writeErasing = 0x54, writeSetting = 0x1B
    }

    /// Sends a command without its checksum. Returns the answer without its checksum.
    func type1Exchange(_ bytes: [UInt8], timeout: Airtime) throws(LinkError) -> [UInt8] {
        guard let command = bytes.first.flatMap(BlockCommand.init) else {
            return try exchangeData(bytes, timeout: timeout)
        }
        if !refusesBlockCommands {
            do throws(LinkError) {
                return try exchangeData(bytes, timeout: timeout)
            } catch {
                guard error.concernsTag || error.code == .unsupported else { throw error }
            }
        }
        let answer =
            command == .readSegment ? try readSegment(bytes, timeout) : try type1Registers(bytes, timeout)
        refusesBlockCommands = true
        return answer
    }

    /// Replaces RSEG with a READ8 for each block, because the answer to RSEG is longer than the unit's buffer.
    private func readSegment(_ bytes: [UInt8], _ timeout: Airtime) throws(LinkError) -> [UInt8] {
        guard bytes.count >= 2 else { throw LinkError(.unsupported, "RSEG lacks its segment.") }
        var answer = [bytes[1]]
        for block in 0..<UInt8(16) {
            let command = [BlockCommand.readBlock.rawValue, bytes[1] & 0xF0 | block] + bytes[2...]
            let part = try type1Registers(command, timeout)
            guard part.count == 9 else { throw LinkError(.transmission, "An answer to READ8 has no block.") }
            answer += part[1...]
        }
        return answer
    }

    private func type1Registers(_ bytes: [UInt8], _ timeout: Airtime) throws(LinkError) -> [UInt8] {
        let checksum = CyclicRedundancyCheck.b(bytes)
        let frame = bytes + checksum.littleEndianBytes
        // The unit's commands: Transmit, NoCmdChange, Receive.
        let transmit: UInt8 = 0x04
        var values: [(UInt16, UInt8)] = [
            (PN53xRegister.fifoData, frame[0]), (PN53xRegister.bitFraming, 7), (PN53xRegister.command, transmit),
            (PN53xRegister.bitFraming, 0), (PN53xRegister.manualReceive, 0x30),
        ]
        for byte in frame.dropFirst() {
            values += [
                (PN53xRegister.fifoData, byte), (PN53xRegister.command, transmit), (PN53xRegister.command, 0x07),
            ]
        }
        values.append((PN53xRegister.command, 0x08))
        guard values.count * 3 <= HostInterface.maximumData else {
            throw LinkError(.frameTooLong, "The command is too long for a Type 1 tag.")
        }
        try perform(values)
        usleep(UInt32(clamping: timeout.microseconds))
        try perform([(PN53xRegister.manualReceive, 0x20)])
        let level = try read([PN53xRegister.fifoLevel])[0] & 0x7F
        guard level > 0 else { throw LinkError(.timeout, "The tag does not answer.") }
        let received = try read([UInt16](repeating: PN53xRegister.fifoData, count: Int(level)))
        let answer = Self.withoutParity(received)
        guard answer.count > 2 else {
            throw LinkError(.transmission, "The answer is too short for data and a checksum.")
        }
        let expected = CyclicRedundancyCheck.b(answer.dropLast(2))
        guard answer.suffix(2) == expected.littleEndianBytes else {
            throw LinkError(.transmission, "The checksum of the answer is wrong.")
        }
        return Array(answer.dropLast(2))
    }

    /// Removes the parity bit after each eight bits. The bits are ordered from the least significant bit.
    static func withoutParity(_ bytes: [UInt8]) -> [UInt8] {
        (0..<bytes.count * 8 / 9).map { index in
            (0..<8).reduce(UInt8(0)) { byte, bit in
                bytes.hasBit(index * 9 + bit) ? byte | 1 << bit : byte
            }
        }
    }
}
