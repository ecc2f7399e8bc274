// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
package import TagLink
import TextSafety

/// The reader of a simulated phone, over the local socket of `nfc simulator`.
///
/// The first use connects. If the simulator has ended and was started again, the next session works again. Exchanges
/// take as long as over the air.
package final class SimulatorReader: FieldDriver {
    let client: SimulatorClient
    private let links: [SimulatorLink]

    /// Creates a reader for a simulator's socket, without connecting. If `path` is nil, uses the socket of the user's
    /// own simulator.
    package convenience init(path: String? = nil) {
        let path = path ?? Self.defaultPath
        self.init { () throws(LinkError) in
            guard let descriptor = PrivateSocket.connect(path) else { throw SimulatorError.missing(path) }
            return descriptor
        }
    }

    /// Creates a reader without connecting.
    ///
    /// - Parameters:
    ///   - patience: how long the simulator may take to answer, in addition to the time on the air.
    ///   - connect: returns a connected, non-blocking socket. The reader closes it.
    package init(patience: Duration = .seconds(10), connect: @escaping @Sendable () throws(LinkError) -> Int32) {
        let client = SimulatorClient(patience: patience, connect: connect)
        self.client = client
        links = Technology.allCases.map { SimulatorLink($0, client) }
    }

    /// The socket of the user's own simulator: `opencorenfc/simulator.sock` in `XDG_RUNTIME_DIR` or, if that is unset,
    /// in `/run/user/UID`. If that folder is missing, a socket in `/tmp/opencorenfc-UID`.
    package static var defaultPath: String {
        if let folder = EnvironmentVariable.value("XDG_RUNTIME_DIR"), folder.hasPrefix("/") {
            return folder + "/opencorenfc/simulator.sock"
        }
        let usual = "/run/user/\(geteuid())"
        let hasFolder = unsafe access(usual, W_OK) == 0
        return (hasFolder ? usual + "/opencorenfc" : "/tmp/opencorenfc-\(geteuid())") + "/simulator.sock"
    }

    package var name: String { client.shared.withLock { $0.name } ?? "simulator" }

    package var technologies: Set<Technology> { client.shared.withLock { $0.technologies } }

    package var executor: (any SerialExecutor & TaskExecutor)? { client.executor }

    package var wasAvailable: Bool { client.shared.withLock { $0.name != nil } }

    package func prepare() async throws(LinkError) {
        try await client.perform { (client, cancellation) throws(LinkError) in try client.open(cancellation) }
    }

    package func link(for technology: Technology) -> (any FrameLink)? {
        technologies.contains(technology) ? links[Int(technology.rawValue)] : nil
    }

    package func setCarrier(_ isOn: Bool) async throws(LinkError) { try await client.setCarrier(isOn) }

    package func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        defer { client.executor.async { [client] in client.assumeIsolated { $0.watchTags() } } }
        return client.observers.add(handler)
    }

    /// Asks the simulator, if the caller runs on the reader's own thread, as sessions do. Otherwise returns the last
    /// answer.
    package func arrival(of identifier: [UInt8]) -> UInt64? {
        if let arrival = client.shared.withLock({ $0.arrivals[identifier] }) { return arrival }
        return client.executor.isCurrent ? client.assumeIsolated { $0.arrival(of: identifier) } : nil
    }

    package func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        await client.arrival(of: identifier) == arrival
    }
}

/// The link to tags near the simulated phone, in one technology.
final class SimulatorLink: FrameLink {
    let technology: Technology
    private let client: SimulatorClient
    private let counts = Locked(LinkStatistics.zero)

    init(_ technology: Technology, _ client: SimulatorClient) {
        self.technology = technology
        self.client = client
    }

    var maximumFrameLength: Int { 256 }

    var statistics: LinkStatistics { counts.withLock { $0 } }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        do throws(LinkError) {
            let (answer, elapsed) = try await client.perform { [technology] (client, cancellation) throws(LinkError) in
                try client.ask("frame", within: timeout.duration, cancellation) { writer in
                    writer.member("technology", technology.name)
                    writer.member("bytes", hex: frame.bytes)
                    writer.member("bits", frame.validBitsInLastByte)
                    writer.member("checksum", frame.checksum.simulatorName)
                    writer.member("timeout_us", Int(timeout.microseconds))
                }.frame()
            }
            counts.withLock { counts in
                let before = counts.airtime
                counts.count(frame, .success(answer), technology, timeout: timeout)
                if let elapsed { counts.tagWorkTime += max(.zero, elapsed - (counts.airtime - before)) }
            }
            return answer
        } catch {
            counts.withLock { $0.count(frame, .failure(error), technology, timeout: timeout) }
            throw error
        }
    }

    func resetField() async throws(LinkError) {
        try await client.setCarrier(false)
        try await client.setCarrier(true)
    }
}

extension SimulatorClient {
    fileprivate nonisolated func setCarrier(_ isOn: Bool) async throws(LinkError) {
        try await perform { (client, cancellation) throws(LinkError) in
            _ = try client.ask("carrier", cancellation) { $0.member("on", isOn) }
        }
    }
}

/// The other functions of the simulated phone: turns, the scanning sheet, the app's screen, links, and switches.
extension SimulatorReader {
    // MARK: Turns

    /// Waits for this program's turn to read tags. Throws `LinkError` with `readerUnavailable` when there is no
    /// simulator or it refuses, or with `cancelled`.
    package func claimTurn() async throws(LinkError) {
        do throws(LinkError) {
            _ = try await client.request("claim")
        } catch {
            if error.code == .cancelled { releaseTurn() }
            throw error
        }
    }

    /// Gives up the turn, or the wait for it.
    package func releaseTurn() { send("release") { _ in } }

    // MARK: App screen

    /// Shows the scanning sheet in a state: `ready`, `scanning`, `success`, `failure` or `dismissed`. `onCancel` is
    /// called when the person cancels this sheet, or a later sheet that does not set its own.
    package func showSheet(
        state: String,
        title: String,
        message: String,
        showsErrorSymbol: Bool,
        onCancel: @escaping @Sendable () -> Void
    ) {
        // Released outside the lock, because the handler may hold the last reference to other objects.
        let released = client.shared.withLock { shared in
            defer { shared.onCancel = state == "dismissed" ? nil : onCancel }
            return shared.onCancel
        }
        _ = released
        send("sheet") { writer in
            writer.member("state", state)
            writer.member("title", title)
            writer.member("message", message)
            writer.member("shows_error_symbol", showsErrorSymbol)
        }
    }

    /// Adds a line to the simulator's timeline. Its kind is `session`, `callback` or `log`.
    package func note(_ kind: String, session: Int, name: String, detail: String) {
        send("event") { writer in
            writer.member("kind", kind)
            writer.member("session", session)
            writer.member("name", name)
            writer.member("detail", detail)
        }
    }

    /// Reports a call of the app on a tag, with its result. `error` is the error's code.
    package func noteCall(_ name: String, session: Int, sent: [UInt8], received: [UInt8], error: Int?) {
        send("event") { writer in
            writer.member("kind", "call")
            writer.member("session", session)
            writer.member("name", name)
            writer.member("sent", hex: sent)
            writer.member("received", hex: received)
            if let error { writer.member("error", error) }
        }
    }

    /// Shows the app's screen, a JSON object, now and after a restart of the simulator. Nil shows the app's name and
    /// output instead.
    package func showScreen(_ screen: String?) {
        let line = SimulatorRequest.line("screen", id: nil) { writer in
            writer.key("screen")
            writer.value(json: screen ?? "null")
        }
        client.executor.async { [client] in
            client.assumeIsolated { client in
                if screen == nil { client.send(line) }
                client.show(screen == nil ? nil : line)
            }
        }
    }

    /// Sets the handler that is called when the user leaves the app or locks the phone while the sheet waits for a tag, on
    /// the reader's queue.
    package func onBackground(_ handler: @escaping @Sendable () -> Void) {
        client.shared.withLock { $0.onBackground = handler }
    }

    /// Sets the handler that is called with the id of each pressed row or button, on the reader's queue.
    package func onPress(_ handler: @escaping @Sendable (String) -> Void) {
        client.shared.withLock { $0.onPress = handler }
    }

    /// Sets the handler that is called with each link that background reading opens in this app, on the reader's queue.
    /// Links that have already arrived are handled first.
    package func onLink(_ handler: @escaping @Sendable (SimulatorLinkEvent) -> Void) {
        // Runs on the queue, so that no later link is handled before the waiting links.
        client.executor.async { [client] in
            let waiting = client.shared.withLock { shared in
                shared.onLink = handler
                defer { shared.waitingLinks = [] }
                return shared.waitingLinks
            }
            for link in waiting { handler(link) }
        }
    }

    /// Connects without making the caller wait, so that the phone knows the app.
    package func connectSoon() {
        client.executor.async { [client] in client.assumeIsolated { try? $0.open(nil) } }
    }

    // MARK: Simulated problems

    /// The simulator's switches. Connects if necessary. Without a simulator, returns switches without problems. A
    /// session then ends with the reason.
    package var switches: SimulatorSwitches {
        if let switches = client.shared.withLock({ $0.switches }) { return switches }
        if client.executor.isCurrent {
            client.assumeIsolated { try? $0.open(nil) }
        } else {
            client.executor.queue.sync { client.assumeIsolated { try? $0.open(nil) } }
        }
        return client.shared.withLock { $0.switches } ?? SimulatorSwitches()
    }

    private func send(_ name: String, _ members: (inout JSONWriter) -> Void) {
        let line = SimulatorRequest.line(name, id: nil, members)
        client.executor.async { [client] in client.assumeIsolated { $0.send(line) } }
    }
}
