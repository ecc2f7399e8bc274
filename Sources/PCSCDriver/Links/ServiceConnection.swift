// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The driver's connection to the service, opened when it is first needed and again when it was lost. Calls wait, and are
/// only made on the driver's thread.
final class ServiceConnection: Sendable {
    private struct State {
        var context: Int?
        var losses: UInt64 = 0
    }

    private let layer: any SmartCardLayer
    private let state: Locked<State>
    private let limit: CallLimit

    /// Creates a connection.
    ///
    /// - Parameters:
    ///   - layer: the resource manager.
    ///   - callLimit: the longest that a call may take, in milliseconds. ISO-DEP lets a card take 5 s for a block, and ask
    ///     for more.
    init(layer: any SmartCardLayer, callLimit: Int) {
        let state = Locked(State())
        self.layer = layer
        self.state = state
        limit = CallLimit(milliseconds: callLimit) {
            if let context = state.withLock({ $0.context }) { layer.abandon(context) }
        }
    }

    deinit {
        limit.finish()
        if let context = state.withLock({ $0.context }) { layer.releaseContext(context) }
    }

    /// How often the service was lost: one that comes counts arrivals from its start.
    var losses: UInt64 { state.withLock { $0.losses } }

    /// Makes a call. When it is cut, or the service is lost, the next one begins with a new connection.
    func call<Value>(
        _ body: (any SmartCardLayer, Int) throws(SmartCardError) -> Value
    ) throws(SmartCardError) -> Value {
        let context = try establish()
        do throws(SmartCardError) {
            try limit.begin()
            let value: Value
            do throws(SmartCardError) {
                value = try body(layer, context)
            } catch {
                throw limit.end().map { SmartCardError($0, "The call") } ?? error
            }
            // What came all the same is too late for a caller that has gone.
            if let reason = limit.end() { throw SmartCardError(reason, "The call") }
            return value
        } catch {
            if error.isServiceLost { state.withLock { $0.losses += 1 } }
            if error.isConnectionLost { lose(context) }
            throw error
        }
    }

    /// Sends a command to a card: what ``call(_:)`` would do, with nothing on the way that costs time.
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
    func readers() throws(SmartCardError) -> [SmartCardReaderState] {
        try call { layer, context throws(SmartCardError) in
            let states = try layer.listReaders(context).map { SmartCardReaderState($0) }
            guard !states.isEmpty else { return [] }
            return try layer.waitForChange(context, milliseconds: 0, of: states) ?? states
        }
    }

    /// Waits until the state of a reader changes, such as when another program lets go of its card.
    func waitForRelease(of reader: String, milliseconds: UInt32) throws(SmartCardError) {
        try call { layer, context throws(SmartCardError) in
            let states = [SmartCardReaderState(reader)]
            guard let now = try layer.waitForChange(context, milliseconds: 0, of: states) else { return }
            _ = try layer.waitForChange(context, milliseconds: milliseconds, of: now)
        }
    }

    private func establish() throws(SmartCardError) -> Int {
        if let context = state.withLock({ $0.context }) { return context }
        let context = try layer.establishContext()
        state.withLock { $0.context = context }
        return context
    }

    private func lose(_ context: Int) {
        state.withLock { if $0.context == context { $0.context = nil } }
        layer.releaseContext(context)
    }
}
