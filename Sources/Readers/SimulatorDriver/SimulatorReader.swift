// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
package import TagLink

/// The reader of a simulated phone, over the local socket of `nfc simulator`.
///
/// The first use connects. If the simulator has ended and runs again, the next session works again. Exchanges take as long
/// as on the air.
package final class SimulatorReader: FieldDriver {
    let client: SimulatorClient
    private let links: [SimulatorLink]

    /// Creates a reader, without connecting.
    ///
    /// - Parameter path: the simulator's socket; nil for that of the user's own simulator.
    package convenience init(path: String? = nil) {
        let path = path ?? SimulatorPlace.ofUser
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
    package init(
        patience: Duration = .seconds(10),
        connect: @escaping @Sendable () throws(LinkError) -> Int32
    ) {
        let client = SimulatorClient(patience: patience, connect: connect)
        self.client = client
        links = Technology.allCases.map { SimulatorLink($0, client) }
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
            _ = try client.ask(cancellation) { id in
                var request = SimulatorRequest("carrier", id: id)
                request.add("on", isOn)
                return request
            }
        }
    }

    package func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        let number = client.known.withLock { known in
            known.lastObserver += 1
            known.observers[known.lastObserver] = handler
            return known.lastObserver
        }
        client.executor.async { [client] in client.assumeIsolated { $0.watchTags() } }
        return PresenceObservation { [client] in
            // Released outside the lock, because the handler may hold the last reference to other objects.
            let released = client.known.withLock { $0.observers.removeValue(forKey: number) }
            _ = released
        }
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
                try client.ask(within: timeout.duration, cancellation) { id in
                    .frame(frame, technology, timeout: timeout, id: id)
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
