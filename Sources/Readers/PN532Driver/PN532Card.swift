// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
public import TagLink

/// A PN532 that acts as a card for other readers: ISO/IEC 14443-4 Type A. Your code answers the APDUs.
///
/// ```swift
/// let card = try PN532Card("/dev/ttyUSB0")
/// try await card.waitForReader(as: PN532Card.Identity())
/// while let command = try await card.nextCommand() {
///     try await card.respond(answer(to: command))
/// }
/// ```
///
/// The chip answers anticollision and RATS by itself. The UID is 08 and three bytes, like a random UID. The ATS is
/// fixed, except for the historical bytes. Your code can be a Type 4 tag or an app's card. Type 2 tags and NFC-B cards
/// are not possible, because the chip itself chooses those answers.
///
/// ``waitForReader(as:)`` opens the line, and ``close()`` closes it. Cancelling the task ends a wait.
public final class PN532Card: Sendable {
    /// The data that a reader receives before it sends the first command.
    public struct Identity: Sendable, Hashable {
        /// The last three bytes of the UID. The first byte is 08.
        public var uid: [UInt8]
        /// The historical bytes in the ATS: at most 15.
        public var historicalBytes: [UInt8]

        /// Creates an identity.
        ///
        /// - Parameters:
        ///   - uid: the last three bytes of the UID; nil for random bytes.
        ///   - historicalBytes: the historical bytes in the ATS: at most 15.
        public init(uid: [UInt8]? = nil, historicalBytes: [UInt8] = []) {
            self.uid = uid ?? (0..<3).map { _ in UInt8.random(in: 0...0xFF) }
            self.historicalBytes = historicalBytes
        }
    }

    /// The line's path.
    public let path: String
    private let worker: ChipWorker

    /// Creates a card without opening the line.
    ///
    /// - Parameter connection: the chip's line, in the same form as for ``PN532Reader/init(_:)``.
    /// - Throws: `LinkError` with `unsupported`.
    public convenience init(_ connection: String) throws(LinkError) {
        try self.init(connection, limits: HostLimits())
    }

    /// Creates a card with limits for how long to wait for the chip. Tests open another bus.
    package init(
        _ connection: String,
        limits: HostLimits,
        openBus: @escaping BusOpener = SystemBus.init
    ) throws(LinkError) {
        let line = try ChipLineName(connection)
        path = line.path
        worker = ChipWorker(line, limits, openBus)
    }

    /// Waits without limit until a reader has selected the card and started ISO-DEP.
    ///
    /// - Parameter identity: the data that the reader receives.
    /// - Throws: `LinkError` with `unsupported` when the identity is invalid, `readerUnavailable` or `cancelled`.
    public func waitForReader(as identity: Identity) async throws(LinkError) {
        guard identity.uid.count == 3, identity.historicalBytes.count <= 15 else {
            throw LinkError(.unsupported, "As a card, a PN532 has 3 UID bytes and at most 15 historical bytes.")
        }
        try await worker.perform { (_, chip) throws(LinkError) in
            try chip.initializeAsCard(identity.uid, historicalBytes: identity.historicalBytes)
        }
    }

    /// Waits for the reader's next command.
    ///
    /// - Returns: the command APDU; nil when the reader has deselected the card or switched off its field.
    /// - Throws: `LinkError` with `transmission`, `frameTooLong`, `readerUnavailable` or `cancelled`.
    public func nextCommand() async throws(LinkError) -> [UInt8]? {
        try await worker.perform { (_, chip) throws(LinkError) in
            try chip.receiveAsCard()
        }
    }

    /// Answers the last command. Until then, the chip itself asks the reader for more time.
    ///
    /// - Parameter response: the response APDU with its status word.
    /// - Returns: false when the reader is gone.
    /// - Throws: `LinkError` with `transmission`, `readerUnavailable` or `cancelled`.
    @discardableResult
    public func respond(_ response: [UInt8]) async throws(LinkError) -> Bool {
        try await worker.perform { (_, chip) throws(LinkError) in
            try chip.sendAsCard(response)
        }
    }

    /// Stops being a card and closes the line.
    public func close() async {
        await worker.close()
    }
}

/// Runs the chip as an ISO/IEC 14443-4 Type A card (PN532 user manual, 7.3.14 to 7.3.22).
extension PN532Chip {
    /// The maximum length of a command: that of an extended APDU.
    static let maximumCommand = 65544
    /// The maximum number of data bytes in one TgSetData.
    private static let maximumPart = 262

    /// Makes the chip a card. Waits until a reader has selected the card and sent RATS, which the chip answers.
    func initializeAsCard(_ uid: [UInt8], historicalBytes: [UInt8]) throws(LinkError) {
        try setField(false)
        // Enables ISO/IEC 14443-4 for the card. ATR_RES is not needed, but is the chip's default.
        try set(parameters: 0x24)
        registers = [:]
        try setFraming(appendsChecksum: true, removesChecksum: true)
        // CIU_TxAuto, InitialRFOn: the reader's field wakes the chip.
        let automatic = try read([PN53xRegister.transmitAutomatic])[0]
        try write([(PN53xRegister.transmitAutomatic, automatic | 0x04)])
        // Passive mode, only ISO/IEC 14443-4.
        var data: [UInt8] = [0x05]
        // SENS_RES with the low byte first, NFCID1, SEL_RES.
        data += [0x04, 0x00] + uid + [0x20]
        // Zeros, because FeliCa and NFC-DEP are unused: NFCID2, PAD and system code; NFCID3; general bytes.
        data += [UInt8](repeating: 0, count: 18 + 10 + 1)
        data += [UInt8(historicalBytes.count)] + historicalBytes
        while true {
            let answer = try sendOnce(.tgInitAsTarget, data, limit: nil)
            // Bit 3 means selected as an ISO/IEC 14443-4 card. Otherwise the reader selected something else.
            if let mode = answer.first, mode & 0x08 != 0 { return }
        }
    }

    /// Receives a command and joins its parts. Returns the command; nil when the reader is gone.
    func receiveAsCard() throws(LinkError) -> [UInt8]? {
        var command: [UInt8] = []
        while true {
            let answer = try sendOnce(.tgGetData, [], limit: nil)
            let status = try Self.status(of: answer)
            if Self.isReaderGone(status) { return nil }
            if let error = status.error { throw error }
            command += answer.dropFirst()
            guard command.count <= Self.maximumCommand else {
                throw LinkError(.frameTooLong, "The reader's command is longer than \(Self.maximumCommand) bytes.")
            }
            if !status.hasMore { return command }
        }
    }

    /// Answers a command. A long answer is sent in several parts. Returns false when the reader is gone.
    func sendAsCard(_ response: [UInt8]) throws(LinkError) -> Bool {
        var rest = response[...]
        repeat {
            let part = Array(rest.prefix(Self.maximumPart))
            rest = rest.dropFirst(part.count)
            // TgSetMetaData announces that more data follow.
            let command: PN53xCommand = rest.isEmpty ? .tgSetData : .tgSetMetaData
            let answer = try sendOnce(command, part, limit: limits.answer)
            let status = try Self.status(of: answer)
            if Self.isReaderGone(status) { return false }
            if let error = status.error { throw error }
        } while !rest.isEmpty
        return true
    }

    /// The codes mean that the card was released, that the field is gone, and that the card is no longer selected.
    private static func isReaderGone(_ status: PN53xStatus) -> Bool {
        [PN53xStatus.released.code, PN53xStatus.fieldLost.code, 0x25].contains(status.code)
    }
}
