// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
package import TagLink
import TextSafety

/// The reader of a simulated phone, over the local socket of `nfc simulator`.
///
/// The first use connects. If the simulator has ended and runs again, the next session works again. Exchanges take as long
/// as on the air.
package final class SimulatorReader: FieldDriver {
    let client: SimulatorClient
    private let links: [SimulatorLink]

    /// Creates a reader on a simulator's socket, without connecting; nil for that of the user's own simulator.
    package convenience init(path: String? = nil) {
        let path = path ?? Self.defaultPath
        self.init { () throws(LinkError) in
            guard let descriptor = PrivateSocket.connect(path) else { throw SimulatorError.missing(path) }
            return descriptor
        }
    }

    /// Creates a reader, without connecting.
    ///
    /// - Parameters:
    ///   - patience: how long the simulator may take to answer, besides the time on the air.
    ///   - connect: returns a connected socket, which does not block. The reader closes it.
    package init(patience: Duration = .seconds(10), connect: @escaping @Sendable () throws(LinkError) -> Int32) {
        let client = SimulatorClient(patience: patience, connect: connect)
        self.client = client
        links = Technology.allCases.map { SimulatorLink($0, client) }
    }

    /// The socket of the user's own simulator: `opencorenfc/simulator.sock` in `XDG_RUNTIME_DIR`, by default in
    /// `/run/user/UID`, and without such a folder in `/tmp/opencorenfc-UID`.
    package static var defaultPath: String {
        if let folder = EnvironmentVariable.value("XDG_RUNTIME_DIR"), folder.hasPrefix("/") {
            return folder + "/opencorenfc/simulator.sock"
        }
        let usual = "/run/user/\(geteuid())"
        let hasFolder = unsafe access(usual, W_OK) == 0
        return (hasFolder ? usual + "/opencorenfc" : "/tmp/opencorenfc-\(geteuid())") + "/simulator.sock"
    }

    package var name: String { client.known.withLock { $0.name } ?? "simulator" }

    package var technologies: Set<Technology> { client.known.withLock { $0.technologies } }

    package var executor: (any SerialExecutor & TaskExecutor)? { client.executor }

    /// Whether the simulator has answered since the reader was created.
    package var wasAvailable: Bool { client.known.withLock { $0.name != nil } }

    package func prepare() async throws(LinkError) {
        try await client.perform { (client, cancellation) throws(LinkError) in try client.open(cancellation) }
    }

    package func link(for technology: Technology) -> (any FrameLink)? {
        technologies.contains(technology) ? links[Int(technology.rawValue)] : nil
    }

    package func setCarrier(_ isOn: Bool) async throws(LinkError) {
        try await client.perform { (client, cancellation) throws(LinkError) in
            _ = try client.ask("carrier", cancellation) { $0.member("on", isOn) }
        }
    }

    package func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        defer { client.executor.async { [client] in client.assumeIsolated { $0.watchTags() } } }
        return client.observers.add(handler)
    }

    /// Asks the simulator when the caller runs on the reader's own thread, as sessions do. Otherwise it returns what was
    /// asked for last.
    package func arrival(of identifier: [UInt8]) -> UInt64? {
        if let arrival = client.known.withLock({ $0.arrivals[identifier] }) { return arrival }
        return client.executor.isCurrent ? client.assumeIsolated { $0.arrival(of: identifier) } : nil
    }

    package func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        await client.arrival(of: identifier) == arrival
    }
}

/// The link to the tags near the simulated phone, in one technology.
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
}

/// What the simulated phone does besides reading tags: turns, the scanning sheet, the app's screen, links, and switches.
extension SimulatorReader {
    // MARK: Turns

    /// Waits until it is this program's turn to read tags. Throws `LinkError`: `readerUnavailable` when there is no
    /// simulator or it refuses, `cancelled`.
    package func claimTurn() async throws(LinkError) {
        do throws(LinkError) {
            _ = try await client.request("claim")
        } catch {
            if error.code == .cancelled { releaseTurn() }
            throw error
        }
    }

    /// Gives the turn back, or the place in the queue.
    package func releaseTurn() { send("release") { _ in } }

    // MARK: What the app shows

    /// Shows the scanning sheet in a state: `ready`, `scanning`, `success`, `failure` or `dismissed`. `onCancel` is
    /// called when the person cancels this sheet or a later one without an own action.
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

    /// Shows the app's screen, a JSON object, also when the simulator has started again; nil for the app's name and
    /// output.
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

    /// The switches of the simulator. Connects when it is not connected. Returns switches that withhold nothing when
    /// there is no simulator. A session then ends with the reason.
    package var switches: SimulatorSwitches {
        if let known = client.known.withLock({ $0.switches }) { return known }
        if client.executor.isCurrent {
            client.assumeIsolated { try? $0.open(nil) }
        } else {
            client.executor.queue.sync { client.assumeIsolated { try? $0.open(nil) } }
        }
        return client.known.withLock { $0.switches } ?? SimulatorSwitches()
    }

    private func send(_ name: String, _ members: (inout JSONWriter) -> Void) {
        let line = SimulatorRequest.line(name, id: nil, members)
        client.executor.async { [client] in client.assumeIsolated { $0.send(line) } }
    }
}
