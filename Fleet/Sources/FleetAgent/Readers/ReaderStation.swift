// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import NFCSessions
import TagLink
import TagProtocols

/// One reader: watches it, reads the tags that come, does the jobs for them, and notices when they leave.
///
/// What happens is handled in its order by one task, so that the events of a reader are stored in the order in which they
/// happened.
final class ReaderStation: Sendable {
    /// What has happened at the reader.
    enum Happening: Sendable {
        case available
        case unavailable(reason: String)
        case near([[UInt8]])
        /// A tag answers. The reply says whether it was near all the time.
        case seen([UInt8], reply: @Sendable (Bool) -> Void)
        /// A tag has come and was read. The reply has what to do with it.
        case arrived(TagReport, reply: @Sendable (WorkOrder?) -> Void)
        /// A tag can't be read.
        case unreadable([UInt8], TagError)
        /// Tags may have been away for long enough.
        case sweep
        /// The agent ends.
        case end
    }

    let reader: StationReader
    private let happenings = Mailbox<Happening>()
    private let watcher: TagWatcher?
    private let handler: StationHandler

    /// Creates a station. ``start()`` begins to look for tags.
    init(_ reader: StationReader, handler: StationHandler) {
        self.reader = reader
        self.handler = handler
        let attendant = TagAttendant(happenings: happenings, handler: handler)
        watcher = TagWatcher(
            reader.environment,
            executor: reader.place?.loop,
            isolation: reader.place
        ) { tag throws(TagError) in
            try await attendant.attend(tag)
        } observer: { [happenings] event in
            switch event {
            case .available: happenings.send(.available)
            case .unavailable(let reason): happenings.send(.unavailable(reason: reason))
            case .near(let identifiers): happenings.send(.near(identifiers))
            case .read: break
            }
        }
    }

    /// Begins to look for tags. ``run()`` handles what happens.
    func start() {
        if let watcher {
            watcher.start()
        } else if case .none(let reason) = reader.environment.reader {
            happenings.send(.unavailable(reason: reason))
        }
    }

    /// Handles what happens, until ``stop()``.
    func run() async {
        var log = StationLog(delay: handler.removalDelay)
        while let next = await happenings.next() {
            for happening in next {
                await log.take(happening, handler) { [happenings, clock = reader.environment.clock] delay in
                    _ = clock.schedule(after: delay) { happenings.send(.sweep) }
                }
            }
        }
    }

    /// Stops to look for tags, and ends ``run()``.
    func stop() async {
        await watcher?.stop()
        happenings.send(.end)
        happenings.close()
    }
}
