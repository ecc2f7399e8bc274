// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink

final class CardAPDULink: APDULink {
    private let port: CardPort
    /// Whether the reader accepts extended APDUs.
    private let takesExtended: Bool

    init(port: CardPort, takesExtended: Bool) {
        self.port = port
        self.takesExtended = takesExtended
    }

    // Extended: a header, length fields of 3 and 2 bytes, and 65535 bytes of data. Short: 1 byte each, and 255 bytes.
    var maximumCommandLength: Int { takesExtended ? 4 + 3 + 65535 + 2 : 4 + 1 + 255 + 1 }
    var maximumResponseLength: Int { takesExtended ? 65538 : 258 }
    var statistics: LinkStatistics { port.statistics }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        guard apdu.count <= maximumCommandLength else {
            throw LinkError(
                .frameTooLong,
                "The reader does not support extended APDUs, and the command has \(apdu.count) bytes."
            )
        }
        return try await port.run { connection throws(LinkError) in try connection.transmit(apdu) }
    }

    func isPresent() async -> Bool {
        await port.isCardPresent()
    }
}

/// Sends frames to one tag, over the route that its reader supports.
final class CardFrameLink: SelfActivatingLink {
    let technology: Technology
    let route: any FrameRoute
    private let port: CardPort
    private let identifier: [UInt8]
    private let counts = Locked(LinkStatistics.zero)

    init(technology: Technology, route: any FrameRoute, port: CardPort, identifier: [UInt8]) {
        self.technology = technology
        self.route = route
        self.port = port
        self.identifier = identifier
    }

    var maximumFrameLength: Int { route.maximumFrameLength }
    /// Counts the reader's frames. A route with only the reader's commands counts exchanges with the host.
    var statistics: LinkStatistics { countsAir ? counts.withLock { $0 } : port.statistics }
    var countsAir: Bool { route.carriesFrames }
    var authenticatesClassic: Bool { route.authenticatesClassic }

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

    /// Resets the tag, and checks that the tag is still the same.
    func reactivate() async throws(LinkError) { try await reactivate(.reset) }

    /// Turns the tag's power off and on, which a reset of many readers does not.
    func resetField() async throws(LinkError) { try await reactivate(.unpower) }

    private func reactivate(_ disposition: SmartCardDisposition) async throws(LinkError) {
        try await port.run { [route, identifier] connection throws(LinkError) in
            route.end(connection)
            try connection.reset(disposition)
            let found = try TagIdentification.identifier(connection)
            guard found == identifier else {
                // Otherwise the next frames for the tag would go to another tag.
                if !found.isEmpty { connection.closeAsLost() }
                throw LinkError(.tagRemoved, "Another tag has replaced the tag.")
            }
            try route.begin(connection)
        }
    }
}

/// The part that all links to one tag share: the connection while it is open to this tag, and the thread.
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

    /// Uses the connection on the driver's thread. Throws the error of `body`, or `LinkError` with `tagRemoved` when
    /// another tag was opened since, or with `cancelled`.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (CardConnection) throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        try await thread.perform(cancelling: connection.service) { [self] () throws(LinkError) in
            try connection.check(generation)
            return try body(connection)
        }
    }

    /// Returns whether the card is still in the reader, according to the reader.
    func isCardPresent() async -> Bool {
        let present = try? await run { connection throws(LinkError) in connection.isCardPresent() }
        return present ?? false
    }
}

extension QueueExecutor {
    /// Runs work that waits on this thread. If the caller already runs on this thread, the work runs at once.
    ///
    /// When the caller's task is cancelled, the work's current call ends. Work that has not started is dropped, and no
    /// other work is affected. If the caller runs on this thread, the call ends only at its time limit.
    func perform<Value: Sendable>(
        cancelling service: ServiceConnection,
        _ work: @escaping @Sendable () throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        guard !Task.isCancelled else { throw Self.cancelled }
        // A cancellation handler would run the closure on another executor, and this thread must wait anyway.
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
            // Under the lock, so that the work can't finish meanwhile and the next work's call be cancelled instead.
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

private enum WorkStage: Sendable {
    case waiting
    case running
    /// The work has finished, or its caller has cancelled it.
    case over
}
