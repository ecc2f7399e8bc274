// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
public import TagLink

/// A reader for NFC-A, NFC-B and NFC-F: a PN532 on a serial line, I2C or SPI. The chip does not support NFC-V.
///
/// ```swift
/// let reader = try PN532Reader("/dev/ttyUSB0")
/// let tags = try await reader.discover([.nfcA], systemCodes: [])
/// ```
///
/// The first use of the reader opens the line, and ``release()`` closes it. If an adapter was unplugged and plugged in
/// again, the next ``discover(_:systemCodes:)`` works again. The reader waits for the line on its own thread. Every
/// wait has a time limit, and cancelling the task ends the wait.
///
/// The host implements ISO-DEP, over the chip's InCommunicateThru. The chip's own implementation only supports frames
/// of 64 bytes. It drops a card that asks for more time than the chip's timeout, and it can't distinguish a damaged
/// block from a lost card.
public final class PN532Reader: DiscoveringDriver {
    /// The line's path.
    public let path: String
    public let technologies: Set<Technology> = [.nfcA, .nfcB, .nfcF]

    private let worker: ChipWorker
    private let counts = Locked(LinkStatistics.zero)

    /// Creates a reader without opening the line.
    ///
    /// - Parameter connection: the path of a serial line, an I2C bus or an SPI bus: `/dev/ttyUSB0`, `/dev/i2c-1`,
    ///   `/dev/spidev0.0`. If the speed of a serial line is not 115,200, add `@` and the speed in bits per second:
    ///   `/dev/ttyUSB0@921600`. On I2C, the chip has the address 24 hex.
    /// - Throws: `LinkError` with `unsupported` when the path is missing, or the line does not support the speed.
    public convenience init(_ connection: String) throws(LinkError) {
        try self.init(connection, limits: HostLimits())
    }

    /// Creates a reader with limits for how long to wait for the chip. Tests open another bus.
    package init(
        _ connection: String,
        limits: HostLimits,
        openBus: @escaping BusOpener = SystemBus.init
    ) throws(LinkError) {
        let line = try ChipLineName(connection)
        path = line.path
        worker = ChipWorker(line, limits, openBus)
    }

    /// For example, `PN532 v1.6 (/dev/ttyUSB0)`. The version is missing until the chip is first opened.
    public var name: String { "\(worker.firmware?.name ?? "PN532") (\(path))" }

    /// Whether the chip has answered since the reader was created.
    public var wasAvailable: Bool { worker.firmware != nil }

    public var statistics: LinkStatistics { counts.withLock { $0 } }

    /// The reader's capabilities, as sentences.
    public static let capabilities = [
        "NFC-A: Types 1, 2 and 4A and other cards, two at once; frames of 256 bytes, ISO-DEP by the host.",
        "NFC-B: Type 4B and other cards with ISO-DEP, one at a time.",
        "NFC-F: Type 3 and other FeliCa cards at 212 kbit/s, two at once.",
        "NFC-V: not supported. The chip lacks ISO/IEC 15693, so NFCISO15693Tag is unavailable.",
        "As a card: ISO/IEC 14443-4 Type A, for CardSession and nfc emulate --air.",
        "It does not report when a tag arrives, so a session polls ten times a second.",
    ]

    /// Returns nil, because a PN532 can't report the arrival of a tag. It must be polled.
    public func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }

    /// Opens the line and wakes the chip. After that, ``name`` includes the version.
    ///
    /// - Throws: `LinkError` with `readerUnavailable`, whose reason explains what to do, or with `cancelled`.
    public func prepare() async throws(LinkError) {
        try await worker.perform { (_, _) throws(LinkError) in }
    }

    public func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag] {
        let (found, generation) = try await worker.perform {
            (worker, chip) throws(LinkError) -> ([ListedTarget], Int) in
            worker.generation += 1
            worker.current = nil
            let (found, ready) = try chip.findTargets(technologies, systemCodes: systemCodes)
            worker.current = ready.map { TagHandle(target: found[$0].target, generation: worker.generation) }
            worker.isUntouched = ready != nil
            return (found, worker.generation)
        }
        return found.map { tag in
            let link = PN532TagLink(
                handle: TagHandle(target: tag.target, generation: generation),
                worker: worker,
                onCount: { [counts] exchange in counts.withLock { $0 += exchange } }
            )
            return DiscoveredTag(identity: tag.identity, port: .frames(link))
        }
    }

    public func select(_ tag: DiscoveredTag) async throws(LinkError) {
        guard case .frames(let link) = tag.port, let link = link as? PN532TagLink else {
            throw LinkError(.tagRemoved, "The tag belongs to another reader.")
        }
        try await link.select()
    }

    /// Switches the field off and closes the line, so that other programs can use the line.
    public func release() async {
        await worker.close()
    }
}

extension PN532Reader {
    /// The Core NFC calls that a PN532 supports, and why it does not support the others.
    public static var calls: [SupportedAPI] {
        let frames = "The host's own frames go through InCommunicateThru."
        let rows: [(String, SupportedAPI.Support, String)] = [
            ("NFCNDEFTag.readNDEF, writeNDEF", .yes, "For tags that the calls below support, and Type 1 tags."),
            (
                "NFCISO7816Tag.sendCommand", .yes,
                "The host implements ISO-DEP for NFC-A and NFC-B cards; extended APDUs are sent in chained blocks."
            ),
            ("NFCMiFareTag.sendMiFareCommand", .yes, frames),
            ("NFCFeliCaTag's commands", .yes, frames),
            ("NFCISO15693Tag's commands", .no, "The chip does not support ISO/IEC 15693."),
            ("NFCVASReaderSession", .no, "Readers that find tags by themselves do not send the VAS polling frame."),
            ("CardSession", .yes, "The chip is an ISO/IEC 14443-4 Type A card for other readers."),
        ]
        return rows.map { SupportedAPI(name: $0, support: $1, reason: $2) }
    }
}

/// The link to one tag of a ``PN532Reader``.
final class PN532TagLink: SelfActivatingLink {
    let technology: Technology
    private let worker: ChipWorker
    private let handle: TagHandle
    private let counts = Locked(LinkStatistics.zero)
    private let onCount: @Sendable (LinkStatistics) -> Void

    init(handle: TagHandle, worker: ChipWorker, onCount: @escaping @Sendable (LinkStatistics) -> Void) {
        self.technology = handle.target.technology
        self.handle = handle
        self.worker = worker
        self.onCount = onCount
    }

    var maximumFrameLength: Int { PN532Chip.maximumFrameLength }
    var statistics: LinkStatistics { counts.withLock { $0 } }
    var authenticatesClassic: Bool { handle.target.isClassic }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        do throws(LinkError) {
            let handle = handle
            let answer = try await worker.perform { (worker, chip) throws(LinkError) -> Frame in
                guard worker.current == handle else {
                    throw LinkError(.tagRemoved, "Another tag was selected, or the reader has polled again.")
                }
                worker.isUntouched = false
                return try chip.send(frame, to: handle.target, timeout: timeout)
            }
            count(frame, .success(answer), timeout)
            return answer
        } catch {
            count(frame, .failure(error), timeout)
            throw error
        }
    }

    func reactivate() async throws(LinkError) { try await reactivate(afterReset: false) }

    func resetField() async throws(LinkError) { try await reactivate(afterReset: true) }

    private func reactivate(afterReset: Bool) async throws(LinkError) {
        let handle = handle
        try await worker.perform { (worker, chip) throws(LinkError) in
            guard worker.generation == handle.generation else {
                throw LinkError(.tagRemoved, "The reader has polled for tags again.")
            }
            worker.current = nil
            if afterReset { try chip.restartField() }
            try chip.wake(handle.target)
            worker.current = handle
        }
    }

    /// Selects the tag. Does nothing if the tag is already selected and has not received a command.
    func select() async throws(LinkError) {
        let handle = handle
        let isReady = try await worker.perform { (worker, _) throws(LinkError) in
            defer { worker.isUntouched = false }
            return worker.current == handle && worker.isUntouched
        }
        if !isReady { try await reactivate() }
    }

    private func count(_ request: Frame, _ outcome: Result<Frame, LinkError>, _ timeout: Airtime) {
        var counted = LinkStatistics.zero
        counted.count(request, outcome, technology, timeout: timeout)
        let exchange = counted
        counts.withLock { $0 += exchange }
        onCount(exchange)
    }
}
