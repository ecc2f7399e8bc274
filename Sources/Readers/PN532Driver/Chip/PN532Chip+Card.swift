// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink

/// The chip as a card of ISO/IEC 14443-4 Type A (PN532 user manual, 7.3.14 to 7.3.22).
extension PN532Chip {
    /// The longest accepted command: an extended APDU.
    static let maximumCommand = 65544
    /// The maximum number of data bytes in one TgSetData.
    private static let maximumPart = 262

    /// Makes the chip a card, and waits until a reader has selected it and sent RATS, which the chip answers.
    ///
    /// - Parameters:
    ///   - uid: the last three bytes of the UID.
    ///   - historicalBytes: the historical bytes of the ATS.
    func initializeAsCard(
        _ uid: [UInt8],
        historicalBytes: [UInt8],
        _ cancellation: Cancellation?
    ) throws(LinkError) {
        try setField(false, cancellation)
        // ISO/IEC 14443-4 as a card. ATR_RES is not needed, but is the chip's default.
        try set(parameters: 0x24, cancellation)
        registers = RadioRegisters()
        try setFraming(appendsChecksum: true, removesChecksum: true, cancellation)
        // CIU_TxAuto, InitialRFOn: the reader's field wakes the chip.
        let automatic = try read([RadioRegisters.transmitAutomatic], cancellation)[0]
        try write([(RadioRegisters.transmitAutomatic, automatic | 0x04)], cancellation)
        // Passive, only ISO/IEC 14443-4.
        var data: [UInt8] = [0x05]
        // SENS_RES with its low byte first, NFCID1, SEL_RES.
        data += [0x04, 0x00] + uid + [0x20]
        // No FeliCa and no NFC-DEP: NFCID2, PAD and system code; NFCID3; general bytes.
        data += [UInt8](repeating: 0, count: 18 + 10 + 1)
        data += [UInt8(historicalBytes.count)] + historicalBytes
        while true {
            let answer = try sendOnce(.tgInitAsTarget, data, limit: nil, cancellation)
            // Bit 3: selected as a card of ISO/IEC 14443-4. Otherwise the reader selected something else.
            if let mode = answer.first, mode & 0x08 != 0 { return }
        }
    }

    /// Receives a command and joins its parts.
    ///
    /// - Returns: the command; nil when the reader is gone.
    func receiveAsCard(_ cancellation: Cancellation?) throws(LinkError) -> [UInt8]? {
        var command: [UInt8] = []
        while true {
            let answer = try sendOnce(.tgGetData, [], limit: nil, cancellation)
            guard let status = answer.first.map(PN532Status.init) else {
                throw LinkError(.transmission, "An answer of the PN532 has no status.")
            }
            if Self.isReaderGone(status) { return nil }
            if let error = status.error { throw error }
            command += answer.dropFirst()
            guard command.count <= Self.maximumCommand else {
                throw LinkError(.frameTooLong, "The reader's command is longer than \(Self.maximumCommand) bytes.")
            }
            if !status.hasMore { return command }
        }
    }

    /// Answers a command, in several parts if the answer is long.
    ///
    /// - Returns: false when the reader is gone.
    func sendAsCard(_ response: [UInt8], _ cancellation: Cancellation?) throws(LinkError) -> Bool {
        var rest = response[...]
        repeat {
            let part = Array(rest.prefix(Self.maximumPart))
            rest = rest.dropFirst(part.count)
            // TgSetMetaData means that more data follow.
            let command: PN532Command = rest.isEmpty ? .tgSetData : .tgSetMetaData
            let answer = try sendOnce(command, part, limit: limits.answer, cancellation)
            guard let status = answer.first.map(PN532Status.init) else {
                throw LinkError(.transmission, "An answer of the PN532 has no status.")
            }
            if Self.isReaderGone(status) { return false }
            if let error = status.error { throw error }
        } while !rest.isEmpty
        return true
    }

    /// The codes mean: released; the field is gone; no longer selected.
    private static func isReaderGone(_ status: PN532Status) -> Bool {
        [PN532Status.released, 0x0A, 0x25].contains(status.code)
    }
}
