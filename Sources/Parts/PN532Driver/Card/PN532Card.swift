// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A PN532 on a serial line that is a card for other readers: ISO/IEC 14443-4 Type A, with whatever answers its APDUs.
///
/// ```swift
/// let card = try PN532Card("/dev/ttyUSB0")
/// try await card.waitForReader(as: PN532Card.Identity())
/// while let command = try await card.nextCommand() {
///     try await card.respond(answer(to: command))
/// }
/// ```
///
/// The chip answers anticollision and RATS by itself: its UID is 08 and three bytes, as random ones are, and its ATS is
/// its own but for the historical bytes. A Type 4 tag, or an app's card, is what answers behind it; Type 2 tags and NFC-B
/// cards can't be shown, since the chip selects its answers itself.
///
/// The line is opened by ``waitForReader(as:)`` and closed by ``close()``. A task that is cancelled stops waiting.
public final class PN532Card: Sendable {
    /// What readers see of the card before its first command.
    public struct Identity: Sendable, Hashable {
        /// The last three bytes of the UID; the first is 08.
        public var uid: [UInt8]
        /// The historical bytes in the ATS, 15 at most.
        public var historicalBytes: [UInt8]

        /// Creates an identity.
        ///
        /// - Parameters:
        ///   - uid: the last three bytes of the UID; random ones unless given.
        ///   - historicalBytes: the historical bytes in the ATS, 15 at most.
        public init(uid: [UInt8]? = nil, historicalBytes: [UInt8] = []) {
            self.uid = uid ?? (0..<3).map { _ in UInt8.random(in: 0...0xFF) }
            self.historicalBytes = historicalBytes
        }
    }

    /// The serial line's path.
    public let path: String
    private let worker: ChipWorker

    /// Creates a card. Nothing is opened yet.
    ///
    /// - Parameter connection: the serial line, as ``PN532Reader/init(_:)`` takes it.
    /// - Throws: ``LinkError`` with `unsupported`.
    public convenience init(_ connection: String) throws(LinkError) {
        try self.init(connection, limits: .standard)
    }

    /// The same, with how long the chip is waited for.
    package init(_ connection: String, limits: HostLimits) throws(LinkError) {
        let line = try SerialLineName(connection)
        path = line.path
        worker = ChipWorker(line, limits)
    }

    /// Waits, for ever, until a reader has selected the card and begun ISO-DEP.
    ///
    /// - Parameter identity: what the reader sees.
    /// - Throws: ``LinkError`` with `unsupported` when the identity is not one, `readerUnavailable` or `cancelled`.
    public func waitForReader(as identity: Identity) async throws(LinkError) {
        guard identity.uid.count == 3, identity.historicalBytes.count <= 15 else {
            throw LinkError(.unsupported, "A PN532 as a card has three bytes of UID, and 15 historical bytes at most.")
        }
        try await worker.perform { (_, chip, cancellation) throws(LinkError) in
            try chip.initializeAsCard(identity.uid, historicalBytes: identity.historicalBytes, cancellation)
        }
    }

    /// Waits for the reader's next command.
    ///
    /// - Returns: the command APDU; nil when the reader has let go of the card, or its field is gone.
    /// - Throws: ``LinkError`` with `transmission`, `frameTooLong`, `readerUnavailable` or `cancelled`.
    public func nextCommand() async throws(LinkError) -> [UInt8]? {
        try await worker.perform { (_, chip, cancellation) throws(LinkError) in
            try chip.receiveAsCard(cancellation)
        }
    }

    /// Answers the command that came last. The chip asks the reader for more time by itself until then.
    ///
    /// - Parameter response: the response APDU with its status word.
    /// - Returns: false when the reader is gone.
    /// - Throws: ``LinkError`` with `transmission`, `readerUnavailable` or `cancelled`.
    @discardableResult
    public func respond(_ response: [UInt8]) async throws(LinkError) -> Bool {
        try await worker.perform { (_, chip, cancellation) throws(LinkError) in
            try chip.sendAsCard(response, cancellation)
        }
    }

    /// Stops being a card and closes the line.
    public func close() async {
        await worker.close()
    }
}
