// SPDX-License-Identifier: Apache-2.0
package import FleetMQTT
package import FleetModel
package import FleetSpool
import NFCRuntime
import TagProtocols

/// Takes jobs, gives each to one tag, and reports what became of it. The journal in the spool comes first in all of it.
package actor JobDesk {
    /// What a desk needs.
    package struct Parts: Sendable {
        package var spool: Spool
        package var naming: TagNaming
        package var keys: JobKeys
        package var secrets: SecretsFolder
        package var acceptsJobs: Bool
        package var log: AgentLog
        package var loop: EventLoop

        package init(
            spool: Spool,
            naming: TagNaming = TagNaming(),
            keys: JobKeys = JobKeys(),
            secrets: SecretsFolder = SecretsFolder(nil),
            acceptsJobs: Bool = true,
            log: AgentLog = .silent,
            loop: EventLoop = .agents
        ) {
            self.spool = spool
            self.naming = naming
            self.keys = keys
            self.secrets = secrets
            self.acceptsJobs = acceptsJobs
            self.log = log
            self.loop = loop
        }
    }

    nonisolated let parts: Parts
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe parts.loop.asUnownedSerialExecutor() }
    /// Called after an event was stored.
    let onStored: @Sendable () -> Void
    var board = JobBoard()
    var lists = AllowLists()
    var readers: Set<FleetName> = []
    /// Refusals of nonsense, which anybody can send.
    var refusals = MinuteLimit(10)
    /// Outcomes that are sent again.
    var repetitions = MinuteLimit(100)
    /// The log of what anybody can send.
    let strangersLog: LimitedLog
    var timer: Task<Void, Never>?
    var working = 0
    var isClosed = false

    package init(_ parts: Parts, onStored: @escaping @Sendable () -> Void) {
        self.parts = parts
        strangersLog = LimitedLog(parts.log, about: "jobs", loop: parts.loop)
        self.onStored = onStored
    }

    /// Takes up what an earlier run has left.
    package func begin() async throws(SpoolError) {
        board = JobBoard(try await parts.spool.openJobs())
        lists = try await parts.spool.allowLists()
        scheduleSweep()
    }

    /// Notes the readers that the node has.
    package func note(readers: Set<FleetName>) { self.readers = readers }

    /// Whether a tag is allowed at a reader; nil when there is no list.
    package func allows(_ uid: [UInt8], at reader: FleetName) -> Bool? { lists.allows(uid, at: reader) }

    // MARK: Time

    func scheduleSweep() {
        timer?.cancel()
        guard let limit = board.nextLimit, !isClosed else { return }
        let delay = min(max(limit - Timestamp.now, 20), 3_600_000)
        timer = Task { [weak self] in
            try? await Task.sleep(for: .milliseconds(delay))
            guard !Task.isCancelled else { return }
            await self?.sweep()
        }
    }

    private func sweep() async {
        for outcome in board.sweep(now: Timestamp.now) {
            do throws(SpoolError) {
                try await end(outcome)
            } catch {
                parts.log("spool", "The end of a job can't be stored: \(error.reason)")
            }
        }
        scheduleSweep()
    }

    /// Gives no more jobs to tags, and waits a few seconds for the work that has begun.
    package func close() async {
        isClosed = true
        timer?.cancel()
        strangersLog.reportLeftOut()
        for _ in 0..<250 where working > 0 { try? await Task.sleep(for: .milliseconds(20)) }
    }
}
