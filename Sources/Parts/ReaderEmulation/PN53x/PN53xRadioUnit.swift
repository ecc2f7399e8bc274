// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The buffer and the commands of a PN53x's contactless unit, for hosts that send frames with them: the firmware does not
/// know the commands on blocks of a Type 1 tag, so nfcpy sends their bytes one by one (PN532 user manual, 8.6.23).
struct PN53xRadioUnit: Sendable {
    /// How many bytes the buffer holds.
    static let capacity = 64

    /// The commands of CIU_Command that do something here.
    private enum Command: UInt8 {
        case idle = 0x0, transmit = 0x4, receive = 0x8
    }

    /// What is to be sent, or what came.
    private(set) var buffer: [UInt8] = []
    /// The frames that went out since the last answer, and how many bits of the last byte of each.
    private var sent: [(bytes: [UInt8], bits: Int)] = []

    /// Puts a byte into the buffer; a full one drops it.
    mutating func push(_ byte: UInt8) {
        if buffer.count < Self.capacity { buffer.append(byte) }
    }

    /// Takes the next byte out of the buffer; an empty one gives 0.
    mutating func pop() -> UInt8 {
        buffer.isEmpty ? 0 : buffer.removeFirst()
    }

    /// Empties the buffer.
    mutating func flush() {
        buffer = []
    }

    /// Begins a command of the unit. Those that are not modelled change nothing, as NoCmdChange does.
    ///
    /// - Parameters:
    ///   - value: what the host wrote to CIU_Command.
    ///   - bits: how many bits of the last byte go out.
    /// - Returns: what went out, when the unit now waits for the answer to it.
    mutating func begin(_ value: UInt8, bits: Int) -> Transmission? {
        switch Command(rawValue: value & 0x0F) {
        case .idle: sent = []
        case .transmit where !buffer.isEmpty:
            // No command to a tag has as many frames as the buffer has bytes.
            if sent.count < Self.capacity { sent.append((buffer, bits)) }
            buffer = []
        case .receive where !sent.isEmpty:
            defer { sent = [] }
            return Transmission(sent)
        default: break
        }
        return nil
    }

    /// Takes an answer.
    ///
    /// - Parameters:
    ///   - frame: what came.
    ///   - keepsParity: whether parity is not checked, so that the parity bit of each byte is in the buffer behind it.
    /// - Returns: how many bits of the buffer's last byte came, 1 to 8.
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

    /// What a host has sent before it waits for an answer.
    struct Transmission: Sendable, Equatable {
        /// The bytes of all frames.
        var bytes: [UInt8]
        /// How many bits of the last byte went out, 1 to 8.
        var bitsOfLastByte: Int
        /// Whether each byte went out as a frame of its own, the first one of 7 bits: a command to a Type 1 tag (NFC Forum
        /// Digital 2.3, 7).
        var isType1: Bool

        fileprivate init(_ frames: [(bytes: [UInt8], bits: Int)]) {
            bytes = frames.flatMap(\.bytes)
            bitsOfLastByte = frames.last?.bits ?? 8
            isType1 = frames.count > 1
        }
    }
}

extension PN53xChip {
    /// WriteRegister: address and value, as often as they come (PN532 user manual, 7.2.5). A command of the contactless
    /// unit is carried out where it stands among them.
    mutating func writeRegisters(_ data: [UInt8]) async -> Outcome {
        guard !data.isEmpty, data.count % 3 == 0 else { return .syntaxError }
        for index in stride(from: 0, to: data.count, by: 3) {
            let address = UInt16(high: data[index], low: data[index + 1])
            guard let sent = registers.write(data[index + 2], to: address) else { continue }
            if let answer = await exchange(sent) { registers.receive(answer) }
        }
        return .answer([])
    }

    /// Sends what a host has put into the contactless unit's buffer, and waits for the answer; nil when none came.
    private func exchange(_ sent: PN53xRadioUnit.Transmission) async -> Frame? {
        guard isFieldOn, let link = field.link(for: registers.technology) else { return nil }
        // The unit would append a checksum to each of several frames, which no tag takes.
        if sent.isType1, registers.addsChecksum { return nil }
        return try? await link.transceive(
            raw: sent.bytes,
            bitsOfLastOctet: sent.bitsOfLastByte,
            appends: registers.addsChecksum,
            removes: registers.checksChecksum,
            timeout: timeout
        )
    }
}
