// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Sends frames through the PN531, PN532 or PN533 in a reader such as the ACR122U. The pseudo-APDU FF 00 00 00 passes a
/// command to the chip (ACR122U API 2.04, 4.2; NXP UM0701-02, 7).
struct PN53xRoute: FrameRoute {
    let technology: Technology
    let isType1: Bool
    /// Whether the tag is a MIFARE Classic, for which the chip has its own commands.
    var authenticatesClassic = false

    /// The reader's message of 255 bytes has room for a frame, its checksum and the chip's own header.
    var maximumFrameLength: Int { 250 }

    /// Whether the driver, not the chip, verifies the checksum of the tag's answers.
    private var checksAnswers: Bool { technology == .nfcA && !isType1 && !authenticatesClassic }

    func begin(_ connection: CardConnection) throws(LinkError) {
        guard checksAnswers else { return }
        try Self.setReceiveMode(0, connection)
    }

    func end(_ connection: CardConnection) {
        guard checksAnswers else { return }
        try? Self.setReceiveMode(PN53xRegister.checksum, connection)
    }

    private static func setReceiveMode(_ value: UInt8, _ connection: CardConnection) throws(LinkError) {
        _ = try send(.writeRegister, PN53xRegister.receiveMode.bigEndianBytes + [value], connection)
    }

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        let (command, data): (PN53xCommand, [UInt8])
        switch frame.checksum {
        case .crcB where isType1: (command, data) = (.inDataExchange, [0x01] + frame.bytes)
        case .automatic where authenticatesClassic: (command, data) = (.inDataExchange, [0x01] + frame.bytes)
        case .automatic where frame.validBitsInLastByte == 8 && !frame.bytes.isEmpty && !isType1:
            (command, data) = (.inCommunicateThru, frame.bytes)
        default: throw .cannotSend("The reader's chip, after it has selected a tag,", "frames without their checksum")
        }
        guard data.count <= 253 else { throw LinkError(.frameTooLong, "The reader's chip accepts at most 252 bytes.") }
        let answer = try Self.send(command, data, connection)
        if authenticatesClassic { return try Frame(ofClassic: answer) }
        guard let status = answer.first else {
            throw LinkError(.transmission, "The reader's chip answered without a status.")
        }
        if let error = PN53xStatus(byte: status).error { throw error }
        let bytes = Array(answer.dropFirst())
        guard !bytes.isEmpty else { throw LinkError(.timeout, "The tag did not answer.") }
        guard checksAnswers else { return Frame(bytes, checksum: frame.checksum) }
        return try Frame(uncheckedByPN53x: bytes)
    }

    /// Sends a command to the chip. Returns the data after the answer's code.
    static func send(
        _ command: PN53xCommand,
        _ data: [UInt8],
        _ connection: CardConnection
    ) throws(LinkError) -> [UInt8] {
        let header: [UInt8] = [0xFF, 0x00, 0x00, 0x00, UInt8(data.count + 2), 0xD4, command.rawValue]
        var answer = try connection.ask(header + data)
        if answer.status >> 8 == 0x61 {
            // Readers of the first series store the answer until the host fetches it.
            answer = try connection.ask([0xFF, 0xC0, 0x00, 0x00, UInt8(answer.status & 0xFF)])
        }
        switch answer.status {
        case 0x9000: break
        // The chip did not answer, or its answer was damaged.
        case 0x6300, 0x6301, 0x6327, 0x637F: throw LinkError(.timeout, "The tag did not answer (\(answer.statusText)).")
        default: throw LinkError(.unsupported, "The reader gives no access to its chip (\(answer.statusText)).")
        }
        guard answer.data.starts(with: [0xD5, command.rawValue + 1]) else {
            throw LinkError(.transmission, "The reader's chip answered a different command.")
        }
        return Array(answer.data.dropFirst(2))
    }

    /// Returns the reader's chip, such as `PN532 1.6`; nil when there is none, or no access to it.
    static func firmware(_ connection: CardConnection) -> String? {
        firmware(after: (try? send(.getFirmwareVersion, [], connection)) ?? [])
    }

    /// The pseudo-APDU that asks for the chip's version. It also works as an escape command.
    static let firmwareCommand: [UInt8] = [0xFF, 0x00, 0x00, 0x00, 0x02, 0xD4, 0x02]

    static func firmware(in answer: [UInt8]) -> String? {
        guard answer.starts(with: [0xD5, 0x03]) else { return nil }
        return firmware(after: Array(answer.dropFirst(2)))
    }

    private static func firmware(after answer: [UInt8]) -> String? {
        switch answer.count {
        // A PN531 reports only its version and revision.
        case 2: return "PN531 \(answer[0]).\(answer[1])"
        case 4...: return "PN5\(String(answer[0], radix: 16)) \(answer[1]).\(answer[2])"
        default: return nil
        }
    }
}
