// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
package import LinuxSupport
package import TagLink

/// A contactless reader on a UNIX socket. pcscd uses it through this package's driver.
///
/// The reader sends the first greeting, so a driver knows what it is connected to before it sends anything. Only one
/// pcscd can be connected. Another pcscd's driver is rejected, and tries again later. A program that does not answer
/// the greeting in time is also rejected.
package final class ReaderServer: Sendable {
    private enum Event: Sendable {
        case connection(Int32)
        case bytes([UInt8], link: Int)
        case end(link: Int)
        /// The driver did not answer the greeting in time.
        case silence(link: Int)
        case presence
        case plug(Bool)
        case settled(@Sendable () -> Void)
    }

    package enum Notice: Sendable {
        /// A pcscd has loaded the driver and now has this reader.
        case connected
        /// The driver in that pcscd has disconnected.
        case disconnected
    }

    private let name: String
    private let folder: PrivateFolder
    private let socket: ListeningSocket
    /// A separate queue, because hosts expect answers even if the process is busy.
    private let executor = QueueExecutor(target: nil)
    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let presence: PresenceObservation?
    private let reader: any ReaderFirmware
    private let onNotice: (@Sendable (Notice) -> Void)?
    private let greetingLimit: Double

    /// Creates a reader with a field, and its socket. pcscd's configuration contains the full path of the socket.
    package convenience init(
        _ name: String = "reader.sock",
        in folder: PrivateFolder,
        profile: ReaderProfile,
        field: any FieldDriver,
        onNotice: (@Sendable (Notice) -> Void)? = nil,
        onExchange: (@Sendable (Exchange) -> Void)? = nil
    ) throws(EmulationError) {
        try self.init(
            name,
            in: folder,
            reader: EmulatedReader(profile, field: field, onExchange: onExchange),
            observePresence: field.observePresence,
            onNotice: onNotice
        )
    }

    /// Creates a reader and its socket. `observePresence` must call its handler whenever a card may have arrived or
    /// left. A driver must answer the greeting within `greetingLimit` seconds.
    package init(
        _ name: String = "reader.sock",
        in folder: PrivateFolder,
        reader: any ReaderFirmware,
        observePresence: (@escaping @Sendable () -> Void) -> PresenceObservation?,
        greetingLimit: Double = 2,
        onNotice: (@Sendable (Notice) -> Void)? = nil
    ) throws(EmulationError) {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        self.continuation = continuation
        self.onNotice = onNotice
        self.greetingLimit = greetingLimit
        self.name = name
        self.folder = folder
        self.reader = reader
        presence = observePresence { continuation.yield(.presence) }
        socket = try ListeningSocket(name, in: folder, queue: executor.queue) { continuation.yield(.connection($0)) }
    }

    /// Starts to answer pcscd until ``stop()`` is called. Returns the task, which ends then.
    package func start() -> Task<Void, Never> {
        Task(executorPreference: executor) { await self.run() }
    }

    private func run() async {
        var reader = reader
        var link: DriverLink?
        var socket: ListeningSocket? = socket
        var linkCount = 0
        for await event in events {
            switch event {
            case .connection(let descriptor):
                guard link == nil else {
                    _ = close(descriptor)
                    continue
                }
                linkCount += 1
                executor.queue.asyncAfter(deadline: .now() + greetingLimit) { [continuation, linkCount] in
                    continuation.yield(.silence(link: linkCount))
                }
                link = DriverLink(linkCount, channel: channel(descriptor, link: linkCount))
                link?.channel.send(ReaderMessage.hello)
            case .silence(let number):
                guard link?.number == number, link?.isGreeted == false else { continue }
                leave(&link, &reader)
            case .bytes(let bytes, let number):
                guard link?.number == number else { continue }
                do throws(DriverRequestDecoder.Malformed) {
                    try await link?.receive(bytes, &reader) { onNotice?(.connected) }
                } catch {
                    leave(&link, &reader)
                }
            case .end(let number):
                guard link?.number == number else { continue }
                leave(&link, &reader)
            case .presence:
                guard let link, link.isGreeted else { continue }
                link.report(await reader.look())
            case .settled(let handler): handler()
            case .plug(true):
                guard socket == nil else { continue }
                socket = try? ListeningSocket(name, in: folder, queue: executor.queue) { [continuation] in
                    continuation.yield(.connection($0))
                }
            case .plug(false):
                // No message is sent to the driver, as when a cable is pulled.
                socket?.remove()
                socket = nil
                leave(&link, &reader)
            }
        }
        reader.hostDisconnected()
        socket?.remove()
        // Closing the channel ends the connection.
        link?.channel.send(ReaderMessage.removed + ReaderMessage.bye)
    }

    /// Ends a connection. A program that only checks whether the reader is listening does not greet.
    private func leave(_ link: inout DriverLink?, _ reader: inout any ReaderFirmware) {
        guard let ended = link.take() else { return }
        ended.channel.close()
        guard ended.isGreeted else { return }
        reader.hostDisconnected()
        onNotice?(.disconnected)
    }

    /// Calls a handler once the reader has seen all events in its field so far, and has reported them to pcscd. A card
    /// that leaves and returns between two checks is not reported.
    package func whenSettled(_ handler: @escaping @Sendable () -> Void) {
        continuation.yield(.settled(handler))
    }

    package func setPlugged(_ isPlugged: Bool) {
        continuation.yield(.plug(isPlugged))
    }

    /// Ends the task that ``start()`` returned. The card is removed first, and then the reader.
    package func stop() {
        continuation.finish()
    }

    private func channel(_ descriptor: Int32, link: Int) -> DescriptorChannel {
        DescriptorChannel(
            descriptor,
            queue: executor.queue,
            onBytes: { [continuation] in continuation.yield(.bytes($0, link: link)) },
            onEnd: { [continuation] in continuation.yield(.end(link: link)) }
        )
    }
}

private struct DriverLink {
    /// Identifies the link, because descriptors of ended links may be reused.
    let number: Int
    let channel: DescriptorChannel
    private(set) var isGreeted = false
    private var decoder = DriverRequestDecoder()

    init(_ number: Int, channel: DescriptorChannel) {
        self.number = number
        self.channel = channel
    }

    func report(_ change: EmulatedReader.Change) {
        if change.hasLost { channel.send(ReaderMessage.removed) }
        if change.hasFound { channel.send(ReaderMessage.inserted) }
    }

    /// Answers the driver's requests. Throws when the other side is not a driver of this version.
    mutating func receive(
        _ bytes: [UInt8],
        _ reader: inout any ReaderFirmware,
        onHello: () -> Void
    ) async throws(DriverRequestDecoder.Malformed) {
        decoder.append(bytes)
        while let (request, sequence) = try decoder.next() {
            let reply: EmulatedReader.Reply
            switch request {
            case .hello(let version):
                guard version == DriverRequest.version, !isGreeted else { throw DriverRequestDecoder.Malformed() }
                isGreeted = true
                // A new driver does not know about any card.
                report(await reader.hostConnected())
                onHello()
                continue
            // Requests before the greeting are errors.
            case _ where !isGreeted: throw DriverRequestDecoder.Malformed()
            case .power(let power): reply = await reader.setPower(power)
            case .transmit(let apdu): reply = await reader.transmit(apdu)
            case .control(let code, let data): reply = await reader.control(code, data)
            case .attribute(let tag): reply = reader.attribute(tag)
            }
            channel.send(ReaderMessage.reply(reply, to: sequence))
        }
    }
}

private enum DriverRequest {
    /// The driver has accepted the greeting, and uses this protocol version.
    case hello(version: UInt8)
    case power(EmulatedReader.Power)
    case transmit([UInt8])
    case control(UInt32, [UInt8])
    case attribute(UInt32)

    /// The protocol version of both sides.
    static let version: UInt8 = 2

    /// Parses a request; nil when the kind is unknown, or the bytes are incomplete.
    init?(_ kind: UInt8, _ payload: [UInt8]) {
        let number = payload.count >= 4 ? UInt32(bytes: payload.prefix(4)) : nil
        switch (Unicode.Scalar(kind), payload.first, number) {
        case ("H", let version?, _): self = .hello(version: version)
        case ("P", let power?, _):
            guard let power = EmulatedReader.Power(rawValue: power) else { return nil }
            self = .power(power)
        case ("T", _, _): self = .transmit(payload)
        case ("C", _, let code?): self = .control(code, Array(payload.dropFirst(4)))
        case ("G", _, let tag?): self = .attribute(tag)
        default: return nil
        }
    }
}

/// Finds requests in the bytes from the socket. Each request has a kind, a sequence number that the answer repeats, a
/// length of four bytes, and that many bytes.
private struct DriverRequestDecoder {
    /// The bytes are not requests, so the other side is not this package's driver.
    struct Malformed: Error {}

    private static let headerLength = 6
    /// The longest APDU, with the data that surround it.
    private static let maximumPayload = 65548 + 16

    private var buffer: [UInt8] = []

    mutating func append(_ bytes: [UInt8]) {
        buffer += bytes
    }

    /// Returns the next complete request and its sequence number; nil when more bytes are needed.
    mutating func next() throws(Malformed) -> (DriverRequest, sequence: UInt8)? {
        guard buffer.count >= Self.headerLength else { return nil }
        let end = Self.headerLength + Int(bytes: buffer[2..<6])
        guard end <= Self.headerLength + Self.maximumPayload else { throw Malformed() }
        guard buffer.count >= end else { return nil }
        defer { buffer.removeFirst(end) }
        guard let request = DriverRequest(buffer[0], Array(buffer[Self.headerLength..<end])) else { throw Malformed() }
        return (request, buffer[1])
    }
}

private enum ReaderMessage {
    /// The first message: the protocol version.
    static let hello = message("H", 0, [DriverRequest.version])
    static let inserted = message("I", 0, [])
    static let removed = message("O", 0, [])
    /// The reader leaves in an orderly way, and may return.
    static let bye = message("B", 0, [])

    /// Creates the answer to a request: a status and data.
    static func reply(_ reply: EmulatedReader.Reply, to sequence: UInt8) -> [UInt8] {
        switch reply {
        case .done(let bytes): message("R", sequence, [0] + bytes)
        case .noCard: message("R", sequence, [1])
        case .unsupported: message("R", sequence, [2])
        case .failed: message("R", sequence, [3])
        }
    }

    private static func message(_ kind: Unicode.Scalar, _ sequence: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [UInt8(ascii: kind), sequence] + [UInt8](bigEndian: payload.count, count: 4) + payload
    }
}
