// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Registers of a PN53x's contactless unit (PN532 user manual, 7.2.4 and 8.6.23). Most registers only store the written
/// value; a few determine the format of frames.
struct PN53xRegisters: Sendable {
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
            case PN53xRegister.fifoData: answer.append(unit.pop())
            case PN53xRegister.fifoLevel: answer.append(UInt8(unit.buffer.count))
            case let address: answer.append(self[address])
            }
        }
        return .answer(answer)
    }

    /// Writes a register. Only the registers of the contactless unit and the special function registers exist. Returns
    /// the data to send, if the host has made the unit wait for the answer.
    mutating func write(_ value: UInt8, to address: UInt16) -> PN53xRadioUnit.Transmission? {
        switch address {
        case PN53xRegister.fifoData: unit.push(value)
        case PN53xRegister.fifoLevel: if value & 0x80 != 0 { unit.flush() }
        case PN53xRegister.command:
            self[address] = value
            return unit.begin(value, bits: bitsOfLastByte)
        case 0x6100...0x63FF, 0xFF80...: self[address] = value
        default: break
        }
        return nil
    }

    /// Receives the answer to the unit's data.
    mutating func receive(_ answer: Frame) {
        setReceivedBits(unit.take(answer, keepsParity: self[PN53xRegister.manualReceive] & 0x10 != 0))
    }

    /// Sets framing and checksum as after listing a target. For a Type 1 tag, the firmware itself appends the checksum
    /// of commands, because that checksum differs from NFC-A's.
    mutating func setMode(of card: FieldCard) {
        let framing: UInt8 =
            switch card.technology {
            case .nfcA where card.isType1: 0x00
            case .nfcA, .nfcV: 0x80
            // 212 kbit/s, FeliCa.
            case .nfcF: 0x92
            case .nfcB: 0x83
            }
        self[PN53xRegister.transmitMode] = framing
        self[PN53xRegister.receiveMode] = framing
        self[PN53xRegister.bitFraming] = 0
        self[PN53xRegister.control] = 0
    }

    /// The technology for the framing in CIU_TxMode.
    var technology: Technology {
        switch self[PN53xRegister.transmitMode] & 0x03 {
        case 0x02: .nfcF
        case 0x03: .nfcB
        default: .nfcA
        }
    }

    var addsChecksum: Bool { self[PN53xRegister.transmitMode] & 0x80 != 0 }
    var checksChecksum: Bool { self[PN53xRegister.receiveMode] & 0x80 != 0 }
    /// How many bits of the last byte to send: 1 to 8.
    var bitsOfLastByte: Int {
        let bits = Int(self[PN53xRegister.bitFraming] & 0x07)
        return bits == 0 ? 8 : bits
    }

    /// Stores how many bits of the last byte were received.
    mutating func setReceivedBits(_ count: Int) {
        self[PN53xRegister.control] = self[PN53xRegister.control] & 0xF8 | (count == 8 ? 0 : UInt8(count))
    }
}

/// The buffer and the commands of a PN53x's contactless unit, for hosts that send frames with them. The firmware does
/// not support block commands for a Type 1 tag, so nfcpy sends those bytes one by one (PN532 user manual, 8.6.23).
struct PN53xRadioUnit: Sendable {
    /// The capacity of the buffer in bytes.
    static let capacity = 64

    /// The commands of CIU_Command that have an effect here.
    private enum Command: UInt8 {
        case idle = 0x0, transmit = 0x4, receive = 0x8
    }

    private(set) var buffer: [UInt8] = []
    /// The frames sent since the last answer, each with the number of bits in its last byte.
    private var sent: [(bytes: [UInt8], bits: Int)] = []

    mutating func push(_ byte: UInt8) {
        if buffer.count < Self.capacity { buffer.append(byte) }
    }

    /// Removes the next byte from the buffer; 0 when the buffer is empty.
    mutating func pop() -> UInt8 {
        buffer.isEmpty ? 0 : buffer.removeFirst()
    }

    mutating func flush() {
        buffer = []
    }

    /// Starts a command of the unit. Commands that are not emulated have no effect, like NoCmdChange. Returns the sent
    /// data, if the unit now waits for the answer.
    mutating func begin(_ value: UInt8, bits: Int) -> Transmission? {
        switch Command(rawValue: value & 0x0F) {
        case .idle: sent = []
        case .transmit where !buffer.isEmpty:
            // Bounds the memory use. No command to a tag needs more frames than the buffer has bytes.
            if sent.count < Self.capacity { sent.append((buffer, bits)) }
            buffer = []
        case .receive where !sent.isEmpty:
            defer { sent = [] }
            return Transmission(sent)
        default: break
        }
        return nil
    }

    /// Receives an answer. Returns the number of received bits in the buffer's last byte, 1 to 8.
    mutating func take(_ frame: Frame, keepsParity: Bool) -> Int {
        guard keepsParity, frame.validBitsInLastByte == 8 else {
            buffer = Array(frame.bytes.prefix(Self.capacity))
            return frame.validBitsInLastByte
        }
        let bits = frame.bytes.flatMap { (byte: UInt8) -> [UInt8] in
            (0..<8).map { byte >> $0 & 1 } + [byte.nonzeroBitCount.isMultiple(of: 2) ? 1 : 0]
        }
        buffer = stride(from: 0, to: bits.count, by: 8).prefix(Self.capacity).map { start in
            bits[start...].prefix(8).enumerated().reduce(0) { $0 | $1.element << $1.offset }
        }
        return (bits.count + 7) % 8 + 1
    }

    /// The data that a host sends before it waits for an answer.
    struct Transmission: Sendable, Equatable {
        var bytes: [UInt8]
        /// How many bits of the last byte are sent: 1 to 8.
        var bitsOfLastByte: Int
        /// Whether each byte is a separate frame, the first with 7 bits. Only commands to a Type 1 tag are sent in this
        /// way (NFC Forum Digital 2.3, 7).
        var isType1: Bool

        fileprivate init(_ frames: [(bytes: [UInt8], bits: Int)]) {
            bytes = frames.flatMap(\.bytes)
            bitsOfLastByte = frames.last?.bits ?? 8
            isType1 = frames.count > 1
        }
    }
}

extension PN53xChip {
    /// WriteRegister: any number of addresses and values (PN532 user manual, 7.2.5). A command of the contactless unit
    /// is executed as soon as it is written.
    mutating func writeRegisters(_ data: [UInt8]) async -> Outcome {
        guard !data.isEmpty, data.count % 3 == 0 else { return .syntaxError }
        for index in stride(from: 0, to: data.count, by: 3) {
            let address = UInt16(high: data[index], low: data[index + 1])
            guard let sent = registers.write(data[index + 2], to: address) else { continue }
            if let answer = await exchange(sent) { registers.receive(answer) }
        }
        return .answer([])
    }

    /// Sends the data in the contactless unit's buffer, and waits for the answer; nil without an answer.
    private func exchange(_ sent: PN53xRadioUnit.Transmission) async -> Frame? {
        guard isFieldOn, let link = field.link(for: registers.technology) else { return nil }
        // The unit would append a checksum to each frame of a Type 1 command, which tags do not accept.
        if sent.isType1, registers.addsChecksum { return nil }
        return try? await link.transceive(
            raw: sent.bytes,
            bitsOfLastByte: sent.bitsOfLastByte,
            appends: registers.addsChecksum,
            removes: registers.checksChecksum,
            timeout: timeout
        )
    }
}
