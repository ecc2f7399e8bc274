// SPDX-License-Identifier: Apache-2.0
import TagLink

/// What the links to one tag share: the connection while the tag is the one in it, and the thread that may wait.
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

    /// Works with the connection on the driver's thread.
    ///
    /// - Throws: what `body` throws; ``LinkError`` with `tagRemoved` when another tag has been opened since, `cancelled`.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (CardConnection) throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        try await thread.perform(cancelling: connection.service) { [self] () throws(LinkError) in
            try connection.check(generation)
            return try body(connection)
        }
    }

    /// Sends a command APDU: what ``run(_:)`` would do, with nothing on the way that costs time.
    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        guard thread.isCurrent, !Task.isCancelled else {
            return try await run { connection throws(LinkError) in try connection.transmit(apdu) }
        }
        return try connection.transmit(apdu, generation: generation)
    }

    /// Whether the card is still in the reader, by what the reader says.
    func isCardPresent() async -> Bool {
        let present = try? await run { connection throws(LinkError) in connection.isCardThere() }
        return present ?? false
    }
}

extension DriverThread {
    /// Does work that waits, on this thread; a caller that runs on it already does it at once.
    ///
    /// When the caller's task is cancelled, the call under way is ended; on this thread, at the call's limit.
    func perform<Value: Sendable>(
        cancelling service: ServiceConnection,
        _ work: @escaping @Sendable () throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        guard !Task.isCancelled else { throw LinkError(.cancelled, "The task was cancelled.") }
        // A cancellation handler's closure would run on another executor, and this thread has to wait anyway.
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
