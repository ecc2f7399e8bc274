// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Frames through the PN531, PN532 or PN533 inside a reader such as the ACR122U. The pseudo-APDU FF 00 00 00 passes a
/// command to the chip (ACR122U API 2.04, 4.2; NXP UM0701-02, 7).
struct PN53xRoute: FrameRoute {
    /// The chip's commands.
    enum Command {
        /// GetFirmwareVersion.
        static let firmware: UInt8 = 0x02
        /// WriteRegister.
        static let writeRegister: UInt8 = 0x08
        /// InDataExchange with target 1, with which the chip's firmware supports Type 1 tags.
        static let dataExchange: UInt8 = 0x40
        /// InCommunicateThru: the unchanged frame, with the technology's checksum.
        static let communicateThru: UInt8 = 0x42
    }

    let technology: Technology
    let isType1: Bool

    /// A frame, its checksum and the chip's own header fit into the reader's message of 255 bytes.
    var maximumFrameLength: Int { 250 }

    /// CIU_RxMode, and its bit for the checksum of received frames (NXP UM0701-02, 8.6.23.20).
    private static let receiveMode: [UInt8] = [0x63, 0x03]
    private static let receiveChecksum: UInt8 = 0x80

    /// The chip treats an ACK of four bits as a damaged answer, because it has no checksum. So the driver itself checks
    /// the checksums of a Type 2 tag.
    private var checksAnswers: Bool { technology == .nfcA && !isType1 }

    func begin(_ connection: CardConnection) throws(LinkError) {
        guard checksAnswers else { return }
        _ = try Self.send([Command.writeRegister] + Self.receiveMode + [0x00], connection)
    }

    func end(_ connection: CardConnection) {
        guard checksAnswers else { return }
        _ = try? Self.send([Command.writeRegister] + Self.receiveMode + [Self.receiveChecksum], connection)
    }

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        let command: [UInt8]
        switch frame.checksum {
        case .crcB where isType1: command = [Command.dataExchange, 0x01] + frame.bytes
        case .automatic where frame.validBitsInLastByte == 8 && !frame.bytes.isEmpty && !isType1:
            command = [Command.communicateThru] + frame.bytes
        default: throw .noWay("The reader's chip, after it has selected a tag,", "frames without their checksum")
        }
        guard command.count <= 254 else {
            throw LinkError(.frameTooLong, "The reader's chip takes frames of 252 bytes.")
        }
        let answer = try Self.send(command, connection)
        guard let status = answer.first else {
            throw LinkError(.transmission, "The reader's chip answered without a status.")
        }
        try Self.check(status & 0x3F)
        let bytes = Array(answer.dropFirst())
        guard !bytes.isEmpty else { throw LinkError(.timeout, "The tag did not answer.") }
        guard checksAnswers else { return Frame(bytes, checksum: frame.checksum) }
        if bytes.count == 1 { return Frame(bits: [bytes[0] & 0x0F], validBitsInLastByte: 4) }
        let data = bytes.dropLast(2)
        let checksum = CyclicRedundancyCheck.a(data)
        guard !data.isEmpty, Array(bytes.suffix(2)) == checksum.littleEndianBytes else {
            throw LinkError(.transmission, "The tag's answer was damaged.")
        }
        return Frame(Array(data))
    }

    /// Sends a command to the chip.
    ///
    /// - Returns: the data after the answer's code.
    static func send(_ command: [UInt8], _ connection: CardConnection) throws(LinkError) -> [UInt8] {
        var answer = try connection.ask([0xFF, 0x00, 0x00, 0x00, UInt8(command.count + 1), 0xD4] + command)
        if answer.status >> 8 == 0x61 {
            // Readers of the first series keep the answer until the host fetches it.
            answer = try connection.ask([0xFF, 0xC0, 0x00, 0x00, UInt8(answer.status & 0xFF)])
        }
        switch answer.status {
        case 0x9000: break
        // The chip did not answer, or its answer was damaged.
        case 0x6300, 0x6301, 0x6327, 0x637F: throw LinkError(.timeout, "The tag did not answer (\(answer.statusText)).")
        default: throw LinkError(.unsupported, "The reader has no way to its chip (\(answer.statusText)).")
        }
        guard answer.data.count >= 2, answer.data[0] == 0xD5, answer.data[1] == command[0] + 1 else {
            throw LinkError(.transmission, "The reader's chip answered another command than it was given.")
        }
        return Array(answer.data.dropFirst(2))
    }

    /// The chip's errors (NXP UM0701-02, 7.1).
    private static func check(_ status: UInt8) throws(LinkError) {
        switch status {
        case 0x00: break
        case 0x01, 0x0A: throw LinkError(.timeout, "The tag did not answer.")
        case 0x02, 0x03, 0x04, 0x05, 0x0B, 0x13:
            throw LinkError(.transmission, "The tag's answer was damaged (the chip's error \(status)).")
        case 0x06: throw LinkError(.collision, "Several tags answered (the chip's error \(status)).")
        case 0x07, 0x09, 0x0E: throw LinkError(.frameTooLong, "The answer is longer than the reader's chip takes.")
        case 0x0D:
            throw LinkError(.readerUnavailable, "The reader's chip is too hot, and has turned its field off.")
        case 0x2D: throw LinkError(.readerUnavailable, "The antenna of the reader's chip draws too much current.")
        case 0x25, 0x26, 0x27, 0x29, 0x2A, 0x2B:
            throw LinkError(.tagRemoved, "The reader's chip has lost the tag (its error \(status)).")
        default: throw LinkError(.transmission, "The reader's chip answered with error \(status).")
        }
    }

    /// The reader's chip, such as `PN532 1.6`; nil when there is none, or no access to it.
    static func firmware(_ connection: CardConnection) -> String? {
        firmware(after: (try? send([Command.firmware], connection)) ?? [])
    }

    /// The pseudo-APDU that asks for the chip. It also works as an escape command.
    static let firmwareCommand: [UInt8] = [0xFF, 0x00, 0x00, 0x00, 0x02, 0xD4, Command.firmware]

    /// The chip in the answer to an escape command.
    static func firmware(in answer: [UInt8]) -> String? {
        guard answer.starts(with: [0xD5, Command.firmware + 1]) else { return nil }
        return firmware(after: Array(answer.dropFirst(2)))
    }

    private static func firmware(after answer: [UInt8]) -> String? {
        switch answer.count {
        // PN531: only version and revision.
        case 2: return "PN531 \(answer[0]).\(answer[1])"
        case 4...: return "PN5\(String(answer[0], radix: 16)) \(answer[1]).\(answer[2])"
        default: return nil
        }
    }
}
