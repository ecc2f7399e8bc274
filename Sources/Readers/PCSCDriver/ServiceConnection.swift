// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TagLink

/// The driver's connection to the service. It is opened when it is first needed, and opened again after a loss. Calls
/// wait, so only the driver's thread makes them.
final class ServiceConnection: Sendable {
    private struct State {
        var context: Int?
        /// Ends the current wait, if it is not a call with the context.
        var wait: CancellationSignal?
        var losses: UInt64 = 0
        /// When the service failed to answer the release of a connection.
        var silentAt: ContinuousClock.Instant?
    }

    /// The time limits for closing a card, and for closing the connection to the service, in milliseconds. Closing the
    /// connection does not involve the reader. If a limit is exceeded, the service does the rest when it notices that
    /// the connection is closed.
    private static let goodbyeLimit = (card: 300, service: 150)

    private let layer: any SmartCardLayer
    private let state: Locked<State>
    private let limit: CallLimit
    private let statusLimit: Int
    private let silence: Duration

    init(layer: any SmartCardLayer, limits: CallTimeouts) {
        let state = Locked(State())
        self.layer = layer
        self.state = state
        statusLimit = limits.status
        silence = .milliseconds(limits.silence)
        limit = CallLimit(milliseconds: limits.call) {
            let (context, wait) = state.withLock { ($0.context, $0.wait) }
            if let wait { wait.cut() } else if let context { layer.abandon(context) }
        }
    }

    deinit {
        close()
    }

    /// How many times the service was lost. A new service starts counting arrivals from zero.
    var losses: UInt64 { state.withLock { $0.losses } }

    /// Makes a call, within the usual time limit or a shorter one. If the call is cut off, or the service is lost, the
    /// next call opens a new connection.
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
            // The time limit has passed or the call was cancelled, so the result is not used.
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

    /// Closes a card. If the connection is lost, the card is already closed.
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

    /// Whether the service recently failed to answer the release of a connection.
    var wasSilent: Bool {
        state.withLock { $0.silentAt }.map { .now - $0 < silence } ?? false
    }

    private func noteSilence() {
        state.withLock { $0.silentAt = .now }
    }

    /// Ends the current call of the driver's thread. Call this from another thread.
    func cancel() {
        limit.cancel()
    }

    /// With true, ends the current call and makes later calls fail. With false, allows calls again.
    func setInterrupted(_ isInterrupted: Bool) {
        limit.setInterrupted(isInterrupted)
    }

    func close() {
        if let context = state.withLock({ $0.context }) { lose(context) }
    }

    /// Returns the states of the readers, within the usual time limit or a shorter one.
    func readers(within milliseconds: Int? = nil) throws(SmartCardError) -> [SmartCardReaderState] {
        let limit = min(milliseconds ?? statusLimit, statusLimit)
        return try call(within: limit) { layer, context throws(SmartCardError) in
            let states = try layer.listReaders(context).map { SmartCardReaderState($0) }
            guard !states.isEmpty else { return [] }
            return try layer.waitForChange(context, milliseconds: 0, of: states) ?? states
        }
    }

    /// Waits without a call to the service. Throws `cancelled` as soon as calls are interrupted.
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
        // From here on, a cut ends the call through its context. An earlier cut did not end anything.
        state.withLock { state in
            state.context = context
            state.wait = nil
        }
        guard !cut.isCut else { throw SmartCardError(.cancelled, "SCardEstablishContext") }
        return context
    }

    private func lose(_ context: Int) {
        // If the release takes too long, the limit ends it through the context. So the context is removed afterwards.
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

/// Time limits for calls to the service, and for its absence, in milliseconds.
package struct CallTimeouts: Sendable {
    /// For any call. ISO-DEP allows a card 5 s for a block, and the card may request more time.
    let call: Int
    /// For reading the readers' states. A service that has just started does not answer until its drivers have
    /// answered.
    let status: Int
    /// For a service that has disappeared. Its socket or its supervisor should restart it within this time.
    let absence: Int
    /// How long to avoid a service that failed to answer the release of a connection.
    let silence: Int

    package init(call: Int, status: Int, absence: Int, silence: Int = 1000) {
        self.call = call
        self.status = status
        self.absence = absence
        self.silence = silence
    }

    /// The limits for normal use: short enough for users, and long enough for cards.
    package static let usual = CallTimeouts(call: 20_000, status: 10_000, absence: 4000)

    /// Uses the same limit for every kind of call.
    package static func same(_ milliseconds: Int) -> CallTimeouts {
        CallTimeouts(
            call: milliseconds,
            status: milliseconds,
            absence: usual.absence,
            silence: max(milliseconds, usual.silence)
        )
    }
}

/// Limits the time of calls to the service. If a call takes too long, or is cancelled, the connection is cut.
///
/// One check may serve many calls: it is planned again for the deadline of the current call.
final class CallLimit: Sendable {
    private struct State {
        /// When to cut off the current call; nil between calls.
        var deadline: ContinuousClock.Instant?
        /// The time of the next check; nil when no check is planned.
        var nextCheck: ContinuousClock.Instant?
        var wasCutOff = false
        var isInterrupted = false
    }

    private let state = Locked(State())
    private let checks = DispatchQueue(label: "org.opencorenfc.pcsc.limit")
    private let milliseconds: Int
    private let cut: @Sendable () -> Void

    /// Creates a limit. `cut` ends the current call from another thread.
    init(milliseconds: Int, cut: @escaping @Sendable () -> Void) {
        self.milliseconds = milliseconds
        self.cut = cut
    }

    /// Begins a call, with the usual time limit or a shorter one. Throws `cancelled` while calls are interrupted; then
    /// the caller must not make the call.
    func begin(within limit: Int? = nil) throws(SmartCardError) {
        let isWanted = state.withLock { state in
            guard !state.isInterrupted else { return false }
            let deadline = ContinuousClock.now + .milliseconds(min(limit ?? milliseconds, milliseconds))
            state.deadline = deadline
            state.wasCutOff = false
            planCheck(at: deadline, &state)
            return true
        }
        guard isWanted else { throw SmartCardError(.cancelled, "The call") }
    }

    /// Ends a call that has returned. Returns nil, or why the call was cut off: `cancelled` or `timeout`.
    func end() -> SmartCardError.Code? {
        state.withLock { state in
            state.deadline = nil
            guard state.wasCutOff else { return nil }
            return state.isInterrupted ? .cancelled : .timeout
        }
    }

    func cancel() {
        state.withLock { cutCall(&$0) }
    }

    /// With true, cuts off the current call and forbids others. With false, allows calls again.
    func setInterrupted(_ isInterrupted: Bool) {
        state.withLock { state in
            state.isInterrupted = isInterrupted
            if isInterrupted { cutCall(&state) }
        }
    }

    /// Call this under the lock. Otherwise the call could return meanwhile, and the next call would be cut off instead.
    private func cutCall(_ state: inout State) {
        guard state.deadline != nil, !state.wasCutOff else { return }
        state.wasCutOff = true
        cut()
    }

    /// Plans a check, unless an earlier check is planned. That check then plans the next one.
    private func planCheck(at deadline: ContinuousClock.Instant, _ state: inout State) {
        if let next = state.nextCheck, next <= deadline { return }
        state.nextCheck = deadline
        let nanoseconds = Int((deadline - .now) / .nanoseconds(1))
        checks.asyncAfter(deadline: .now() + .nanoseconds(max(0, nanoseconds))) { [weak self] in self?.check(deadline) }
    }

    private func check(_ planned: ContinuousClock.Instant) {
        state.withLock { state in
            guard state.nextCheck == planned else { return }
            state.nextCheck = nil
            guard let deadline = state.deadline else { return }
            if deadline <= .now { cutCall(&state) } else { planCheck(at: deadline, &state) }
        }
    }
}

/// Lets another thread end the current wait and all later waits.
package final class CancellationSignal: Sendable {
    private struct State {
        var isCut = false
        var end: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let signal = DispatchSemaphore(value: 0)

    package init() {}

    package var isCut: Bool { state.withLock { $0.isCut } }

    /// Ends the current wait and all later waits, from any thread.
    package func cut() {
        state.withLock { state in
            state.isCut = true
            // Called under the lock, so that the object of the wait still exists.
            state.end?()
        }
        signal.signal()
    }

    /// Runs work that waits. `end` must end that wait from another thread, without waiting itself. Throws `cancelled`
    /// when waits have already been ended.
    package func wait<Value>(
        endedBy end: @escaping @Sendable () -> Void,
        _ body: () throws(SmartCardError) -> Value
    ) throws(SmartCardError) -> Value {
        let isCut = state.withLock { state in
            if !state.isCut { state.end = end }
            return state.isCut
        }
        guard !isCut else { throw SmartCardError(.cancelled, "The wait") }
        defer { state.withLock { $0.end = nil } }
        return try body()
    }

    /// Waits for a time. Throws `cancelled` as soon as waits are ended.
    package func sleep(milliseconds: Int) throws(SmartCardError) {
        guard signal.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return }
        // Signals again, so that later waits end too.
        signal.signal()
        throw SmartCardError(.cancelled, "The wait")
    }
}
