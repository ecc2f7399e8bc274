// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import NFCSessions
import TagLink
import TagProtocols

/// Manages one reader: watches it, reads arriving tags, performs jobs, and notices when tags leave.
///
/// A single task handles all events in order, so that a reader's events are stored in the order in which they happened.
final class ReaderStation: Sendable {
    /// An event at the reader.
    enum Event: Sendable {
        case available
        case unavailable(reason: String)
        case near([[UInt8]])
        /// A tag responds. `reply` receives whether the tag has been near the whole time.
        case seen([UInt8], reply: @Sendable (Bool) -> Void)
        /// A new tag was read. `reply` receives the job for this tag, if any.
        case arrived(TagReport, reply: @Sendable (WorkOrder?) -> Void)
        /// A tag can't be read.
        case unreadable([UInt8], TagError)
        /// It is time to check for tags that have left.
        case sweep
        /// The agent is stopping.
        case end
    }

    let reader: StationReader
    private let events = Mailbox<Event>()
    private let watcher: TagWatcher?
    private let handler: StationHandler

    /// Creates a station. ``start()`` begins polling for tags.
    init(_ reader: StationReader, handler: StationHandler) {
        self.reader = reader
        self.handler = handler
        let attendant = TagAttendant(events: events, handler: handler)
        watcher = TagWatcher(
            reader.environment,
            executor: reader.place?.loop,
            isolation: reader.place
        ) { tag throws(TagError) in
            try await attendant.attend(tag)
        } observer: { [events] event in
            switch event {
            case .available: events.send(.available)
            case .unavailable(let reason): events.send(.unavailable(reason: reason))
            case .near(let identifiers): events.send(.near(identifiers))
            case .read: break
            }
        }
    }

    /// Starts polling for tags. ``run()`` handles the events.
    func start() {
        if let watcher {
            watcher.start()
        } else if case .none(let reason) = reader.environment.reader {
            events.send(.unavailable(reason: reason))
        }
    }

    /// Handles events until ``stop()``.
    func run() async {
        var log = StationLog(delay: handler.removalDelay)
        while let next = await events.next() {
            for event in next {
                await log.take(event, handler) { [events, clock = reader.environment.clock] delay in
                    _ = clock.schedule(after: delay) { events.send(.sweep) }
                }
            }
        }
    }

    /// Stops polling for tags, and ends ``run()``.
    func stop() async {
        await watcher?.stop()
        events.send(.end)
        events.close()
    }
}
