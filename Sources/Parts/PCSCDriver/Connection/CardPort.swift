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
    /// When the caller's task is cancelled, the current call is ended. If the caller runs on this thread, the call ends
    /// only at its time limit.
    func perform<Value: Sendable>(
        cancelling service: ServiceConnection,
        _ work: @escaping @Sendable () throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        guard !Task.isCancelled else { throw LinkError(.cancelled, "The task was cancelled.") }
        // A cancellation handler would run its closure on another executor, and this thread has to wait anyway.
        if isCurrent { return try work() }
        let result = await withTaskCancellationHandler {
            await handedOver { done in run { done(Self.result(work)) } }
        } onCancel: {
            service.cancel()
        }
        if case .failure(let error) = result, Task.isCancelled, error.code != .cancelled {
            throw LinkError(.cancelled, "The task was cancelled.")
        }
        return try result.get()
    }

    private static func result<Value>(_ work: () throws(LinkError) -> Value) -> Result<Value, LinkError> {
        do throws(LinkError) {
            return .success(try work())
        } catch {
            return .failure(error)
        }
    }
}
