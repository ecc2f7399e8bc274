// SPDX-License-Identifier: Apache-2.0
import Dispatch
import LinuxSupport
package import TagLink

/// What the simulated phone does besides reading tags: turns, the scanning sheet, the app's screen, links, and switches.
extension SimulatorReader {
    // MARK: Turns

    /// Waits until it is this program's turn to read tags.
    ///
    /// - Throws: `LinkError`: `readerUnavailable` when there is no simulator or it refuses, `cancelled`.
    package func claimTurn() async throws(LinkError) {
        do throws(LinkError) {
            _ = try await client.request("claim")
        } catch {
            if error.code == .cancelled { releaseTurn() }
            throw error
        }
    }

    /// Gives the turn back, or the place in the queue.
    package func releaseTurn() { tell(SimulatorRequest("release", id: nil)) }

    // MARK: What the app shows

    /// Shows the scanning sheet.
    ///
    /// - Parameters:
    ///   - state: `ready`, `scanning`, `success`, `failure` or `dismissed`.
    ///   - title: the title.
    ///   - message: the app's text.
    ///   - showsErrorSymbol: whether a failure has a symbol.
    ///   - onCancel: called when the person cancels this sheet or a later one without an own action.
    package func showSheet(
        state: String,
        title: String,
        message: String,
        showsErrorSymbol: Bool,
        onCancel: @escaping @Sendable () -> Void
    ) {
        // Released outside the lock, because the handler may hold the last reference to other objects.
        let released = client.known.withLock { known in
            defer { known.onCancel = state == "dismissed" ? nil : onCancel }
            return known.onCancel
        }
        _ = released
        var request = SimulatorRequest("sheet", id: nil)
        request.add("state", state)
        request.add("title", title)
        request.add("message", message)
        request.add("shows_error_symbol", showsErrorSymbol)
        tell(request)
    }

    /// Adds a line to the simulator's timeline.
    ///
    /// - Parameters:
    ///   - kind: `session`, `callback` or `log`.
    ///   - session: the number of the session in this process.
    ///   - name: what happened.
    ///   - detail: more about it.
    package func note(_ kind: String, session: Int, name: String, detail: String) {
        var request = SimulatorRequest("event", id: nil)
        request.add("kind", kind)
        request.add("session", session)
        request.add("name", name)
        request.add("detail", detail)
        tell(request)
    }

    /// Shows the app's screen, also when the simulator has started again.
    ///
    /// - Parameter screen: a JSON object; nil for the app's name and output.
    package func showScreen(_ screen: String?) {
        var request = SimulatorRequest("screen", id: nil)
        request.add("screen", json: screen ?? "null")
        let line = request.line
        if screen == nil { tell(request) }
        client.executor.async { [client] in client.assumeIsolated { $0.show(screen == nil ? nil : line) } }
    }

    /// Sets what is called with the id of each row or button that is pressed; on the reader's queue.
    package func onPress(_ handler: @escaping @Sendable (String) -> Void) {
        client.known.withLock { $0.onPress = handler }
    }

    /// Sets what is called with each link that background reading opens in this app; on the reader's queue. Links that came
    /// before come first.
    package func onLink(_ handler: @escaping @Sendable (SimulatorLinkEvent) -> Void) {
        // On the queue, so that no later link comes before those that waited.
        client.executor.async { [client] in
            let waiting = client.known.withLock { known in
                known.onLink = handler
                defer { known.waitingLinks = [] }
                return known.waitingLinks
            }
            for link in waiting { handler(link) }
        }
    }

    /// Connects without waiting, so that the phone knows the app.
    package func connectSoon() {
        client.executor.async { [client] in client.assumeIsolated { try? $0.open(nil) } }
    }

    // MARK: What the phone withholds

    /// The switches of the simulator. Connects when it is not connected.
    ///
    /// - Returns: switches that withhold nothing when there is no simulator. A session then ends with the reason.
    package var switches: SimulatorSwitches {
        if let known = client.known.withLock({ $0.switches }) { return known }
        if client.executor.isCurrent {
            client.assumeIsolated { try? $0.open(nil) }
        } else {
            client.executor.queue.sync { client.assumeIsolated { try? $0.open(nil) } }
        }
        return client.known.withLock { $0.switches } ?? SimulatorSwitches()
    }

    private func tell(_ request: SimulatorRequest) {
        client.executor.async { [client] in client.assumeIsolated { $0.tell(request) } }
    }
}
