// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The shared part of all links to one tag: the connection, as long as it has this tag, and the thread that may wait.
final class CardPort: Sendable {
    private let thread: DriverThread
    let connection: CardConnection
    private let generation: Int

    init(thread: DriverThread, connection: CardConnection) {
        self.thread = thread
        self.connection = connection
        generation = connection.generation
    }

    var statistics: LinkStatistics { connection.statistics }

    /// Uses the connection on the driver's thread.
    ///
    /// - Throws: the error of `body`; `LinkError` with `tagRemoved` when another tag was opened since, `cancelled`.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (CardConnection) throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        try await thread.perform(cancelling: connection.service) { [self] () throws(LinkError) in
            try connection.check(generation)
            return try body(connection)
        }
    }

    /// Sends a command APDU, like ``run(_:)`` but with as little overhead as possible.
    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        guard thread.isCurrent, !Task.isCancelled else {
            return try await run { connection throws(LinkError) in try connection.transmit(apdu) }
        }
        return try connection.transmit(apdu, generation: generation)
    }

    /// Whether the card is still in the reader, according to the reader.
    func isCardPresent() async -> Bool {
        let present = try? await run { connection throws(LinkError) in connection.isCardThere() }
        return present ?? false
    }
}

extension DriverThread {
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
                run {
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
