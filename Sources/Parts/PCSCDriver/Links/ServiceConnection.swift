// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The driver's connection to the service, opened when it is first needed and again when it was lost. Calls wait, and are
/// only made on the driver's thread.
final class ServiceConnection: Sendable {
    private struct State {
        var context: Int?
        /// Ends what is under way and is no call with the context.
        var wait: WaitCut?
        var losses: UInt64 = 0
        /// When the service did not answer to a goodbye, by ``Monitor/now``.
        var silentAt: UInt64?
    }

    /// The longest that letting go of a card may take, and of the service, which has nothing to ask a reader for then, in
    /// milliseconds. What takes longer, the service does when it sees that we are gone.
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
    init(layer: any SmartCardLayer, limits: CallLimits) {
        let state = Locked(State())
        self.layer = layer
        self.state = state
        lookLimit = limits.look
        silence = UInt64(limits.silence) * 1_000_000
        limit = CallLimit(milliseconds: limits.call) {
            let (context, wait) = state.withLock { ($0.context, $0.wait) }
            if let wait { wait.cut() } else if let context { layer.abandon(context) }
        }
    }

    deinit {
        close()
        limit.finish()
    }

    /// How often the service was lost: one that comes counts arrivals from its start.
    var losses: UInt64 { state.withLock { $0.losses } }

    /// Makes a call. When it is cut, or the service is lost, the next one begins with a new connection.
    ///
    /// - Parameters:
    ///   - milliseconds: the longest that it may take, where that is less than the limit of all calls; nil for that limit.
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
            // What came all the same is too late for a caller that has gone.
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

    /// Sends a command to a card: what ``call(within:_:)`` would do, with nothing on the way that costs time.
    func transmit(_ card: SmartCardHandle, _ command: [UInt8]) throws(SmartCardError) -> [UInt8] {
        do throws(SmartCardError) {
            try limit.begin()
            let response = try layer.transmit(card, command)
            // What came all the same is as good as ever, but the connection is gone.
            if limit.end() != nil { close() }
            return response
        } catch {
            let error = limit.end().map { SmartCardError($0, "SCardTransmit") } ?? error
            if error.isServiceLost { state.withLock { $0.losses += 1 } }
            if error.isConnectionLost { close() }
            throw error
        }
    }

    /// Closes a card. One whose connection is lost is closed already.
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

    /// Whether the service did not answer to a goodbye a short while ago.
    var wasSilent: Bool {
        state.withLock { $0.silentAt }.map { Monitor<State>.now - $0 < silence } ?? false
    }

    private func noteSilence() {
        state.withLock { $0.silentAt = Monitor<State>.now }
    }

    /// Ends the call that is under way in the driver's thread, from another one.
    func cancel() {
        limit.cancel()
    }

    /// Ends the call that is under way, and fails those that come, until ``resume()``.
    func interrupt() {
        limit.interrupt()
    }

    /// Lets calls be made again.
    func resume() {
        limit.resume()
    }

    /// Closes the connection; the next call opens it again.
    func close() {
        if let context = state.withLock({ $0.context }) { lose(context) }
    }

    /// The states of the readers.
    ///
    /// - Parameter milliseconds: the longest that this may take; nil for the usual limit.
    func readers(within milliseconds: Int? = nil) throws(SmartCardError) -> [SmartCardReaderState] {
        let limit = min(milliseconds ?? lookLimit, lookLimit)
        return try call(within: limit) { layer, context throws(SmartCardError) in
            let states = try layer.listReaders(context).map { SmartCardReaderState($0) }
            guard !states.isEmpty else { return [] }
            return try layer.waitForChange(context, milliseconds: 0, of: states) ?? states
        }
    }

    /// Waits so long without asking the service anything.
    ///
    /// - Throws: `cancelled` as soon as calls are interrupted.
    func pause(milliseconds: Int) throws(SmartCardError) {
        try limit.begin()
        let cut = WaitCut()
        state.withLock { $0.wait = cut }
        defer {
            state.withLock { $0.wait = nil }
            _ = limit.end()
        }
        try cut.sleep(milliseconds: milliseconds)
    }

    private func establish() throws(SmartCardError) -> Int {
        if let context = state.withLock({ $0.context }) { return context }
        let cut = WaitCut()
        state.withLock { $0.wait = cut }
        defer { state.withLock { $0.wait = nil } }
        let context = try layer.establishContext(cut)
        // From here on a cut ends the call by its context; one that came before has ended nothing.
        state.withLock { state in
            state.context = context
            state.wait = nil
        }
        guard !cut.isCut else { throw SmartCardError(.cancelled, "SCardEstablishContext") }
        return context
    }

    private func lose(_ context: Int) {
        // The limit ends a release by the context, which is forgotten afterwards.
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
