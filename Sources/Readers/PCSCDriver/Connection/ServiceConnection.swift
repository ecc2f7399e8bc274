// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The driver's connection to the service. It is opened when it is first needed, and again after it was lost. Calls
/// wait, and only the driver's thread makes them.
final class ServiceConnection: Sendable {
    private struct State {
        var context: Int?
        /// Ends the current wait when it is not a call with the context.
        var wait: CancellationSignal?
        var losses: UInt64 = 0
        /// When the service did not answer to the release of a connection, by ``Monitor/now``.
        var silentAt: UInt64?
    }

    /// How long closing a card, or the connection to the service, may take at most, in milliseconds. Closing the
    /// connection needs no reader. If either takes longer, the service does it when it sees that the connection is
    /// gone.
    private static let goodbyeLimit = (card: 300, service: 150)

    private let layer: any SmartCardLayer
    private let state: Locked<State>
    private let limit: CallLimit
    private let lookLimit: Int
    /// In nanoseconds.
    private let silence: UInt64

    /// Creates a connection.
    ///
    /// - Parameters:
    ///   - layer: the resource manager.
    ///   - limits: the longest that calls may take.
    init(layer: any SmartCardLayer, limits: CallTimeouts) {
        let state = Locked(State())
        self.layer = layer
        self.state = state
        lookLimit = limits.look
        silence = UInt64(limits.silence) * Monitor<State>.millisecond
        limit = CallLimit(milliseconds: limits.call) {
            let (context, wait) = state.withLock { ($0.context, $0.wait) }
            if let wait { wait.cut() } else if let context { layer.abandon(context) }
        }
    }

    deinit {
        close()
        limit.finish()
    }

    /// How many times the service was lost. A new service starts to count arrivals again.
    var losses: UInt64 { state.withLock { $0.losses } }

    /// Makes a call. If the call is cut, or the service is lost, the next call opens a new connection.
    ///
    /// - Parameters:
    ///   - milliseconds: a limit that is shorter than the limit of all calls; nil for that limit.
    ///   - body: the call.
    func call<Value>(
        within milliseconds: Int? = nil,
        _ body: (any SmartCardLayer, Int) throws(SmartCardError) -> Value
    ) throws(SmartCardError) -> Value {
        var context = state.withLock { $0.context }
        do throws(SmartCardError) {
            try limit.begin(within: milliseconds)
            let value: Value
            do throws(SmartCardError) {
                let established = try establish()
                context = established
                value = try body(layer, established)
            } catch {
                throw limit.end().map { SmartCardError($0, "The call") } ?? error
            }
            // The caller has given up, so the result is not used.
            if let reason = limit.end() { throw SmartCardError(reason, "The call") }
            return value
        } catch {
            if let context {
                if error.isServiceLost { state.withLock { $0.losses += 1 } }
                if error.isConnectionLost { lose(context) }
            }
            throw error
        }
    }

    /// Sends a command to a card, like ``call(within:_:)`` but with as little overhead as possible.
    ///
    /// - Parameter onLoss: called when there is a response, but the call was cut meanwhile: the card is closed then.
    func transmit(
        _ card: SmartCardHandle,
        _ command: [UInt8],
        onLoss: () -> Void
    ) throws(SmartCardError) -> [UInt8] {
        do throws(SmartCardError) {
            try limit.begin()
            let response = try layer.transmit(card, command)
            // The response is still valid, but the connection is gone.
            if limit.end() != nil {
                close()
                onLoss()
            }
            return response
        } catch {
            let error = limit.end().map { SmartCardError($0, "SCardTransmit") } ?? error
            if error.isServiceLost { state.withLock { $0.losses += 1 } }
            if error.isConnectionLost { close() }
            throw error
        }
    }

    /// Closes a card. If its connection is lost, it is closed already.
    func disconnect(_ card: SmartCardHandle, _ disposition: SmartCardDisposition) {
        guard state.withLock({ $0.context }) != nil else { return }
        do throws(SmartCardError) {
            try call(within: Self.goodbyeLimit.card) { layer, _ throws(SmartCardError) in
                layer.disconnect(card, disposition)
            }
        } catch {
            if error.code == .timeout { noteSilence() }
        }
    }

    /// Whether the service did not answer to the release of a connection a short time ago.
    var wasSilent: Bool {
        state.withLock { $0.silentAt }.map { Monitor<State>.now - $0 < silence } ?? false
    }

    private func noteSilence() {
        state.withLock { $0.silentAt = Monitor<State>.now }
    }

    /// Ends the current call of the driver's thread, from another thread.
    func cancel() {
        limit.cancel()
    }

    /// Ends the current call, and makes later calls fail until ``resume()``.
    func interrupt() {
        limit.interrupt()
    }

    /// Allows calls again.
    func resume() {
        limit.resume()
    }

    /// Closes the connection; the next call opens it again.
    func close() {
        if let context = state.withLock({ $0.context }) { lose(context) }
    }

    /// The states of the readers.
    ///
    /// - Parameter milliseconds: the maximum time; nil for the usual limit.
    func readers(within milliseconds: Int? = nil) throws(SmartCardError) -> [SmartCardReaderState] {
        let limit = min(milliseconds ?? lookLimit, lookLimit)
        return try call(within: limit) { layer, context throws(SmartCardError) in
            let states = try layer.listReaders(context).map { SmartCardReaderState($0) }
            guard !states.isEmpty else { return [] }
            return try layer.waitForChange(context, milliseconds: 0, of: states) ?? states
        }
    }

    /// Waits for a time, without a call to the service.
    ///
    /// - Throws: `cancelled` as soon as calls are interrupted.
    func pause(milliseconds: Int) throws(SmartCardError) {
        try limit.begin()
        let cut = CancellationSignal()
        state.withLock { $0.wait = cut }
        defer {
            state.withLock { $0.wait = nil }
            _ = limit.end()
        }
        try cut.sleep(milliseconds: milliseconds)
    }

    private func establish() throws(SmartCardError) -> Int {
        if let context = state.withLock({ $0.context }) { return context }
        let cut = CancellationSignal()
        state.withLock { $0.wait = cut }
        defer { state.withLock { $0.wait = nil } }
        let context = try layer.establishContext(cut)
        // From here on, a cut ends the call by its context. An earlier cut had nothing to end.
        state.withLock { state in
            state.context = context
            state.wait = nil
        }
        guard !cut.isCut else { throw SmartCardError(.cancelled, "SCardEstablishContext") }
        return context
    }

    private func lose(_ context: Int) {
        // If the release takes too long, the limit ends it by its context, so the context is forgotten only afterwards.
        do throws(SmartCardError) {
            try limit.begin(within: Self.goodbyeLimit.service)
            layer.releaseContext(context)
            if limit.end() == .timeout { noteSilence() }
        } catch {
            layer.abandon(context)
            layer.releaseContext(context)
        }
        state.withLock { if $0.context == context { $0.context = nil } }
    }
}
