// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink

/// APDUs to a card for which the reader handles ISO-DEP.
final class CardAPDULink: APDULink {
    private let port: CardPort
    /// Whether the reader accepts extended APDUs.
    private let takesExtended: Bool

    init(port: CardPort, takesExtended: Bool) {
        self.port = port
        self.takesExtended = takesExtended
    }

    // Either a header, length fields of three and two bytes, and 65535 bytes of data; or one byte each and 255 bytes.
    var maximumCommandLength: Int { takesExtended ? 4 + 3 + 65535 + 2 : 4 + 1 + 255 + 1 }
    var maximumResponseLength: Int { takesExtended ? 65538 : 258 }
    var statistics: LinkStatistics { port.statistics }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        guard apdu.count <= maximumCommandLength else {
            throw LinkError(
                .frameTooLong,
                "The reader takes no extended APDUs, and the command has \(apdu.count) bytes."
            )
        }
        return try await port.run { connection throws(LinkError) in try connection.transmit(apdu) }
    }

    func isPresent() async -> Bool {
        await port.isCardPresent()
    }
}

/// Frames to one tag, through the route that its reader has.
final class CardFrameLink: SelfActivatingLink {
    let technology: Technology
    let route: any FrameRoute
    private let port: CardPort
    /// The tag's identifier, as the reader reports it.
    private let identifier: [UInt8]
    private let counts = Locked(LinkStatistics.zero)

    init(technology: Technology, route: any FrameRoute, port: CardPort, identifier: [UInt8]) {
        self.technology = technology
        self.route = route
        self.port = port
        self.identifier = identifier
    }

    var maximumFrameLength: Int { route.maximumFrameLength }
    /// The frames that the reader has sent; or its exchanges with the host, if it has only its own commands.
    var statistics: LinkStatistics { countsAir ? counts.withLock { $0 } : port.statistics }
    var countsAir: Bool { route.carriesFrames }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        do throws(LinkError) {
            let answer = try await port.run { [route] connection throws(LinkError) in
                try route.exchange(frame, timeout: timeout, connection)
            }
            counts.withLock { $0.count(frame, .success(answer), technology, timeout: timeout) }
            return answer
        } catch {
            counts.withLock { $0.count(frame, .failure(error), technology, timeout: timeout) }
            throw error
        }
    }

    /// Makes the reader reset the tag, and checks that it is the same tag.
    func reactivate() async throws(LinkError) {
        try await port.run { [route, identifier] connection throws(LinkError) in
            route.end(connection)
            try connection.reset()
            let found = try TagIdentification.identifier(connection)
            guard found == identifier else {
                // Otherwise the tag's next frames would go to the other one.
                if !found.isEmpty { connection.closeAsLost() }
                throw LinkError(.tagRemoved, "Another tag has replaced the tag.")
            }
            try route.begin(connection)
        }
    }
}

/// The shared part of all links to one tag: the connection, as long as it has this tag, and the thread that may wait.
final class CardPort: Sendable {
    private let thread: QueueExecutor
    let connection: CardConnection
    private let generation: Int

    init(thread: QueueExecutor, connection: CardConnection) {
        self.thread = thread
        self.connection = connection
        generation = connection.generation
    }

    var statistics: LinkStatistics { connection.statistics }

    /// Uses the connection on the driver's thread. Throws the error of `body`; `LinkError` with `tagRemoved` when
    /// another tag was opened since, `cancelled`.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (CardConnection) throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        try await thread.perform(cancelling: connection.service) { [self] () throws(LinkError) in
            try connection.check(generation)
            return try body(connection)
        }
    }

    /// Whether the card is still in the reader, according to the reader.
    func isCardPresent() async -> Bool {
        let present = try? await run { connection throws(LinkError) in connection.isCardPresent() }
        return present ?? false
    }
}

extension QueueExecutor {
    /// Runs work that waits on this thread. If the caller already runs on this thread, the work runs at once.
    ///
    /// When the caller's task is cancelled, the current call of the work is ended. Work that waits for its turn is not
    /// done, and ends no other work's call. If the caller runs on this thread, the call ends only at its time limit.
    func perform<Value: Sendable>(
        cancelling service: ServiceConnection,
        _ work: @escaping @Sendable () throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        guard !Task.isCancelled else { throw Self.cancelled }
        // A cancellation handler would run its closure on another executor, and this thread has to wait anyway.
        if isCurrent { return try work() }
        let stage = Locked(WorkStage.waiting)
        let result: Result<Value, LinkError> = await withTaskCancellationHandler {
            await withCompletion { done in
                async {
                    let isWanted = stage.withLock { stage in
                        guard stage == .waiting else { return false }
                        stage = .running
                        return true
                    }
                    guard isWanted else { return done(.failure(Self.cancelled)) }
                    let result = Self.result(work)
                    stage.withLock { $0 = .over }
                    done(result)
                }
            }
        } onCancel: {
            // Under the lock. Otherwise the work could end meanwhile, and the call of the next one would be ended.
            stage.withLock { stage in
                if stage == .running { service.cancel() }
                stage = .over
            }
        }
        if case .failure(let error) = result, Task.isCancelled, error.code != .cancelled {
            throw Self.cancelled
        }
        return try result.get()
    }

    private static var cancelled: LinkError { LinkError(.cancelled, "The task was cancelled.") }

    private static func result<Value>(_ work: () throws(LinkError) -> Value) -> Result<Value, LinkError> {
        do throws(LinkError) {
            return .success(try work())
        } catch {
            return .failure(error)
        }
    }
}

/// How far work on the driver's thread has come.
private enum WorkStage: Sendable {
    case waiting
    case running
    /// It has ended, or its caller does not want it any more.
    case over
}
