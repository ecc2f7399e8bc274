// SPDX-License-Identifier: Apache-2.0

// Shared by the drivers of a PN531, PN532 or PN533 and the emulated chip (PN532 user manual, UM0701-02).

/// The commands of a chip (7).
package enum PN53xCommand: UInt8, Sendable {
    case diagnose = 0x00
    case getFirmwareVersion = 0x02
    case getGeneralStatus = 0x04
    case readRegister = 0x06
    case writeRegister = 0x08
    case readGPIO = 0x0C
    case writeGPIO = 0x0E
    case setSerialBaudRate = 0x10
    case setParameters = 0x12
    case samConfiguration = 0x14
    case powerDown = 0x16
    case rfConfiguration = 0x32
    case inDataExchange = 0x40
    case inCommunicateThru = 0x42
    case inDeselect = 0x44
    case inJumpForPSL = 0x46
    case inListPassiveTarget = 0x4A
    case inPSL = 0x4E
    case inATR = 0x50
    case inRelease = 0x52
    case inSelect = 0x54
    case inJumpForDEP = 0x56
    case inAutoPoll = 0x60
    case tgGetData = 0x86
    case tgGetTargetStatus = 0x8A
    case tgInitAsTarget = 0x8C
    case tgSetData = 0x8E
    case tgSetMetaData = 0x94
}

/// The targets that InListPassiveTarget can look for (7.3.5).
package enum PN53xModulation: UInt8, Sendable {
    case nfcA = 0x00, nfcF212, nfcF424, nfcB, type1
}

/// Registers of the contactless unit (8.6.23).
package enum PN53xRegister {
    /// CIU_TxMode: bit 7 appends the checksum, bits 1 and 0 are the framing.
    package static let transmitMode: UInt16 = 0x6302
    /// CIU_RxMode: bit 7 checks and removes the checksum of answers.
    package static let receiveMode: UInt16 = 0x6303
    /// CIU_TxAuto: controls when the unit switches the carrier on by itself.
    package static let transmitAutomatic: UInt16 = 0x6305
    /// CIU_ManualRCV: bit 4 turns parity off.
    package static let manualReceive: UInt16 = 0x630D
    /// CIU_Command: the unit's current command.
    package static let command: UInt16 = 0x6331
    /// CIU_FIFOData: the next byte to send, or the next received byte.
    package static let fifoData: UInt16 = 0x6339
    /// CIU_FIFOLevel: the number of bytes in the buffer; bit 7 clears the buffer.
    package static let fifoLevel: UInt16 = 0x633A
    /// CIU_Control: bits 2 to 0 are the number of valid bits in the last received byte.
    package static let control: UInt16 = 0x633C
    /// CIU_BitFraming: bits 2 to 0 are how many bits of the last byte to send; 0 for all.
    package static let bitFraming: UInt16 = 0x633D

    /// Bit 7 of CIU_TxMode and CIU_RxMode.
    package static let checksum: UInt8 = 0x80
}

/// The status byte at the start of most answers (7.1).
package struct PN53xStatus: Sendable, Equatable {
    /// An error code in bits 5 to 0. Bit 6 is set when more of the answer follows.
    package let byte: UInt8

    package init(byte: UInt8) {
        self.byte = byte
    }

    package static let timeout = PN53xStatus(byte: 0x01)
    /// The answer's checksum is wrong.
    package static let checksum = PN53xStatus(byte: 0x02)
    package static let framing = PN53xStatus(byte: 0x05)
    package static let collision = PN53xStatus(byte: 0x06)
    /// The answer is longer than the chip's buffer.
    package static let bufferOverflow = PN53xStatus(byte: 0x07)
    /// The other side's field did not appear in time, or was turned off.
    package static let fieldLost = PN53xStatus(byte: 0x0A)
    package static let protocolError = PN53xStatus(byte: 0x0B)
    /// The answer does not have the form that the command requires, such as a 4-bit NAK.
    package static let dataFormat = PN53xStatus(byte: 0x13)
    /// A MIFARE Classic did not accept the key.
    package static let authentication = PN53xStatus(byte: 0x14)
    /// The command does not fit the current state, such as an exchange without a target.
    package static let context = PN53xStatus(byte: 0x27)
    /// The initiator has deselected the chip in card mode.
    package static let released = PN53xStatus(byte: 0x29)

    /// The error code; 0 for success.
    package var code: UInt8 { byte & 0x3F }
    /// Whether the answer continues in the next exchange.
    package var hasMore: Bool { byte & 0x40 != 0 }

    /// The error that the code stands for; nil for success.
    package var error: LinkError? {
        switch code {
        case 0x00: nil
        case 0x01, 0x0A: LinkError(.timeout, "The tag did not answer.")
        case 0x02: LinkError(.transmission, "The checksum of the answer is wrong.")
        case 0x03: LinkError(.transmission, "The parity of the answer is wrong.")
        case 0x04: LinkError(.transmission, "The answer has a wrong number of bits.")
        case 0x05: LinkError(.transmission, "The framing of the answer is wrong.")
        case 0x06: LinkError(.collision, "More than one tag answered at once.")
        case 0x07, 0x09, 0x0E: LinkError(.frameTooLong, "The answer is too long for the reader's chip.")
        case 0x0B, 0x13, 0x23: LinkError(.transmission, "The reader's chip can't read the answer \(named).")
        case 0x0D: LinkError(.readerUnavailable, "The reader's chip is too hot, so it turned its field off.")
        case 0x2D: LinkError(.readerUnavailable, "The antenna of the reader's chip draws too much current.")
        case 0x27, 0x29, 0x2A, 0x2B: LinkError(.tagRemoved, "The reader's chip has lost the tag \(named).")
        case 0x14: LinkError(.timeout, "The card does not accept the key \(named).")
        case 0x10, 0x12, 0x25, 0x26: LinkError(.unsupported, "The reader's chip refuses the command \(named).")
        default: LinkError(.transmission, "The reader's chip reports an error \(named).")
        }
    }

    private var named: String { "(status \(code.hexText(digits: 2)))" }
}

extension Frame {
    /// Creates a frame from an NFC-A tag's answer, whose checksum the chip was told not to check. With checks on, the
    /// chip would report a Type 2 tag's 4-bit ACK as a damaged answer.
    package init(uncheckedByPN53x answer: [UInt8]) throws(LinkError) {
        if answer.count == 1 {
            self.init(bits: [answer[0] & 0x0F], validBitsInLastByte: 4)
            return
        }
        let payload = Array(answer.dropLast(2))
        guard !payload.isEmpty, Array(answer.suffix(2)) == Technology.nfcA.checksum(payload) else {
            throw LinkError(.transmission, "The checksum of the answer is wrong.")
        }
        self.init(payload)
    }

    /// Creates a MIFARE Classic's answer to a command that the chip executed, from the chip's status and data.
    package init(ofClassic answer: [UInt8]) throws(LinkError) {
        let status = PN53xStatus(byte: answer.first ?? PN53xStatus.dataFormat.byte)
        // The chip reports a NAK as data of a wrong form.
        if let error = status.error, status != .dataFormat { throw error }
        let nibble: UInt8 = status == .dataFormat ? 0x4 : 0xA
        self = answer.count > 1 ? Frame(Array(answer.dropFirst())) : Frame(bits: [nibble], validBitsInLastByte: 4)
    }
}

/// A frame between a PN53x chip and its host (PN532 user manual, 6.2.1).
package enum PN53xFrame: Sendable, Equatable {
    /// The other side received the last frame. A host also sends it to cancel a running command.
    case acknowledge
    /// The host requests the last answer again.
    case negativeAcknowledge
    /// The code and data of a command or an answer; never empty. An answer's code is the command's plus one.
    case message([UInt8])
    /// The chip does not know the command, or its parameters are wrong.
    case syntaxError
    /// A message with this code; the rest is damaged or missing.
    case damaged(code: UInt8)

    /// The sender of a message. The raw value is TFI, the first byte of the payload.
    package enum Sender: UInt8, Sendable {
        case host = 0xD4, chip = 0xD5
    }

    /// The maximum number of bytes in a frame's payload: TFI, code and data.
    package static let maximumPayload = 265

    package static let acknowledgeBytes: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    package static let negativeAcknowledgeBytes: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]
    package static let syntaxErrorBytes = bytes([0x7F])

    /// Returns a message as the bytes of a frame.
    ///
    /// - Parameter message: the code and its data, at most ``maximumPayload`` - 1 bytes.
    package static func bytes(_ message: [UInt8], from sender: Sender) -> [UInt8] {
        bytes([sender.rawValue] + message)
    }

    /// Returns a frame, which is an extended one from 256 bytes of payload on.
    private static func bytes(_ payload: [UInt8]) -> [UInt8] {
        let low = UInt8(truncatingIfNeeded: payload.count)
        let high = UInt8(truncatingIfNeeded: payload.count >> 8)
        let length = high == 0 ? [low, 0 &- low] : [0xFF, 0xFF, high, low, 0 &- high &- low]
        return [0x00, 0x00, 0xFF] + length + payload + [0 &- payload.reduce(0, &+), 0x00]
    }
}

/// Finds the frames of one sender in a stream of received bytes.
///
/// It skips everything between frames: preambles, noise, the other side's messages, and frames with wrong lengths. It
/// never buffers more than one frame.
package struct PN53xFrameDecoder: Sendable {
    private let sender: PN53xFrame.Sender
    private var buffer: [UInt8] = []

    package init(from sender: PN53xFrame.Sender) {
        self.sender = sender
    }

    package mutating func append(_ bytes: [UInt8]) {
        buffer += bytes
    }

    /// Whether the buffer may contain the start of a frame.
    package var isInFrame: Bool { buffer.count > 1 }

    package var keptCount: Int { buffer.count }

    package mutating func reset() {
        buffer = []
    }

    /// Removes and returns the next frame; nil when more bytes are needed.
    package mutating func next() -> PN53xFrame? {
        var position = 0
        defer { buffer.removeFirst(position) }
        while true {
            // The start code is 00 FF. If only 00 was received so far, it may be the start of that code.
            while position < buffer.count, !isStartCode(position) { position += 1 }
            switch candidate(at: position) {
            case .incomplete: return nil
            case .invalid: position += 1
            case .damaged(let code):
                // Skips only one byte, because a whole frame may start in the rest.
                position += 1
                return .damaged(code: code)
            case .whole(let frame, let length):
                position += length
                return frame
            }
        }
    }

    /// Stops waiting for the rest of a frame.
    ///
    /// - Returns: a whole frame found within the buffered bytes, or else a damaged frame if its code is known.
    package mutating func abandonPartial() -> PN53xFrame? {
        guard !buffer.isEmpty else { return nil }
        let header = extendedLength(at: 0) == nil ? 4 : 7
        let code = buffer.count > header + 1 && buffer[header] == sender.rawValue ? buffer[header + 1] : nil
        while !buffer.isEmpty {
            buffer.removeFirst()
            if let frame = next() { return frame }
        }
        return code.map { .damaged(code: $0) }
    }

    private func isStartCode(_ position: Int) -> Bool {
        buffer[position] == 0x00 && (position + 1 == buffer.count || buffer[position + 1] == 0xFF)
    }

    private enum Candidate {
        case incomplete
        case invalid
        case damaged(UInt8)
        case whole(PN53xFrame, length: Int)
    }

    private func candidate(at start: Int) -> Candidate {
        guard buffer.count >= start + 4 else { return .incomplete }
        let length = buffer[start + 2]
        let lengthChecksum = buffer[start + 3]
        switch (length, lengthChecksum) {
        case (0x00, 0xFF): return .whole(.acknowledge, length: 4)
        case (0xFF, 0x00): return sender == .host ? .whole(.negativeAcknowledge, length: 4) : .invalid
        case (0xFF, 0xFF):
            guard buffer.count >= start + 7 else { return .incomplete }
            guard let count = extendedLength(at: start) else { return .invalid }
            return payload(at: start + 7, count: count, from: start)
        default:
            guard length &+ lengthChecksum == 0 else { return .invalid }
            return payload(at: start + 4, count: Int(length), from: start)
        }
    }

    private func extendedLength(at start: Int) -> Int? {
        guard buffer.count >= start + 7, buffer[start + 2] == 0xFF, buffer[start + 3] == 0xFF else { return nil }
        let high = buffer[start + 4]
        let low = buffer[start + 5]
        return high &+ low &+ buffer[start + 6] == 0 ? Int(high: high, low: low) : nil
    }

    private func payload(at first: Int, count: Int, from start: Int) -> Candidate {
        guard (1...PN53xFrame.maximumPayload).contains(count) else { return .invalid }
        let end = first + count
        guard buffer.count > end else { return .incomplete }
        let length = end + 1 - start
        let payload = buffer[first..<end]
        let isGood = payload.reduce(0, &+) &+ buffer[end] == 0
        if isGood, count == 1, buffer[first] == 0x7F { return .whole(.syntaxError, length: length) }
        guard count >= 2, buffer[first] == sender.rawValue else { return .invalid }
        guard isGood else { return .damaged(buffer[first + 1]) }
        return .whole(.message(Array(payload.dropFirst())), length: length)
    }
}
