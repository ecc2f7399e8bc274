// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
import Foundation
public import NFCSessions
import TagImages
import TagLink
import TagTrace
public import UniversalLinks

/// A phone and a drawer of tags, shared by any number of windows and programs.
///
/// All methods may be called on any thread. Calls are serialized.
public final class Simulator: Sendable {
    /// A request of the simulator to the program that runs it.
    public enum Request: Sendable {
        /// Start a program in an environment that connects it to the simulator.
        case startApp(String, command: String)
        case stopApp(String)
        case quit
    }

    private struct Delivery {
        /// The functions that send events to each program.
        var programs: [Int: @Sendable (JSON) -> Void] = [:]
        /// Programs that block in a call until their turn.
        var waiting: [Int: DispatchSemaphore] = [:]
        var onChange: (@Sendable () -> Void)?
        var onRequest: (@Sendable (Request) -> Void)?
        var watcher: BackgroundWatcher?
        var isStopped = false
    }

    private let state: Locked<SimulatorState>
    private let delivery = Locked(Delivery())
    let clock: any RuntimeClock
    private let wallTime: @Sendable () -> UInt64

    /// Creates a simulator with an empty drawer.
    ///
    /// - Parameters:
    ///   - clock: the clock for taps, banners and sessions.
    ///   - seed: determines where noise and torn writes happen.
    ///   - wallTime: returns the milliseconds since 1970; if nil, the system's time.
    public init(
        clock: any RuntimeClock = SystemClock.shared,
        seed: UInt64 = 1,
        wallTime: (@Sendable () -> UInt64)? = nil
    ) {
        self.clock = clock
        self.wallTime = wallTime ?? { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }
        state = Locked(SimulatorState(seed: seed))
    }

    // MARK: Lifecycle

    /// Sets a handler that is called after changes, on any thread. The handler should call ``takeChanges()``.
    public func onChange(_ handler: @escaping @Sendable () -> Void) {
        delivery.withLock { $0.onChange = handler }
    }

    /// Sets the handler for requests that the simulator can't carry out itself.
    public func onRequest(_ handler: @escaping @Sendable (Request) -> Void) {
        delivery.withLock { $0.onRequest = handler }
    }

    /// Starts background reading.
    public func start() {
        delivery.withLock { $0.watcher = BackgroundWatcher(simulator: self) }
        update { $0.conditionsChanged() }
    }

    /// Ends background reading. Programs that wait for their turn fail.
    public func stop() async {
        let (watcher, semaphores) = delivery.withLock { delivery in
            delivery.isStopped = true
            defer { delivery.waiting = [:] }
            return (delivery.watcher.take(), Array(delivery.waiting.values))
        }
        for semaphore in semaphores { semaphore.signal() }
        await watcher?.stop()
    }

    // MARK: Actions

    /// Performs an action. ``SimulatorFailure`` describes what may go wrong.
    ///
    /// - Parameter action: an object with `do`.
    /// - Returns: the result, as an object.
    public func perform(_ action: JSON) throws(SimulatorFailure) -> JSON {
        try update { state throws(SimulatorFailure) in try state.perform(action) }
    }

    /// Adds the tag from a file in any format.
    ///
    /// - Parameters:
    ///   - name: the file's name.
    ///   - bytes: the contents of the file.
    /// - Returns: the tag's id, and remarks about the file.
    public func importFile(name: String, _ bytes: [UInt8]) throws(SimulatorFailure) -> JSON {
        try update { state throws(SimulatorFailure) in
            let (card, remarks) = try state.importFile(name: name, bytes)
            return ["tag": .string(card.id), "notes": .array(remarks.map { JSON.string($0) })]
        }
    }

    /// Encodes a tag as a file.
    ///
    /// - Parameters:
    ///   - tag: the tag's id or name.
    ///   - format: the name of a format; nil for the tag's original format.
    public func exportTag(
        _ tag: String,
        format: String?
    ) throws(SimulatorFailure) -> (name: String, bytes: [UInt8]) {
        try update { state throws(SimulatorFailure) in
            try state.exportFile(try state.drawer.find(tag), format: format)
        }
    }

    /// Sets the installed apps and the association files of their domains.
    public func install(_ router: LinkRouter) {
        update { state in
            state.apps.install(router.apps)
            state.apply(state.background.handle(.router(router), now: state.now))
            state.touch(.apps)
        }
    }

    /// Adds the description of an app, as supplied by its running program.
    ///
    /// - Parameters:
    ///   - id: the app's id on the phone.
    ///   - description: the app's description. Ignored if an app with the same identifier is installed.
    ///   - associations: the association files of its domains.
    public func describe(_ id: String, _ description: InstalledApp, associations: [String: LinkMatcher]) {
        update { state in
            var router = state.background.router
            guard !router.apps.contains(where: { $0.id == description.id }) else { return }
            router.apps.append(description)
            router.associations.merge(associations) { old, _ in old }
            state.apps.update(id) { app in
                app.description = description
                app.name = description.name
            }
            state.apply(state.background.handle(.router(router), now: state.now))
            state.touch(.apps)
        }
    }

    /// Records that a program started by the simulator is running or has ended.
    ///
    /// - Parameter pid: the program's process; nil if it has ended.
    public func appRuns(_ id: String, pid: Int32?) {
        update { state in
            state.apps.update(id) { app in
                app.pid = pid
                app.isRunning = pid != nil
                app.isStartedHere = pid != nil
            }
            state.touch(.apps)
        }
    }

    /// Records a line printed by a program that the simulator started.
    public func appPrinted(_ id: String, _ line: String) {
        update { $0.print(id, line) }
    }

    // MARK: The drawer's folder

    /// Fills the drawer with saved tags.
    ///
    /// - Parameters:
    ///   - tags: the tags' ids, names and files.
    ///   - settings: phone, switches and notifications of the last run; nil on the first run.
    /// - Returns: sentences about files that could not be read.
    public func restore(_ tags: [(id: String, name: String, file: [UInt8])], settings: JSON?) -> [String] {
        update { state in
            var problems: [String] = []
            for tag in tags {
                do throws(TagImageError) {
                    let image = try TagImage(parsing: tag.file, as: TagImage.Format(fileName: tag.name))
                    let stem =
                        tag.name.hasSuffix(".mfd") || tag.name.hasSuffix(".bin")
                        ? String(tag.name.dropLast(4)) : tag.name
                    let name = (try? Drawer.name(stem)) ?? image.product
                    state.drawer.restore(DrawerCard(id: tag.id, name: name, image: image))
                } catch {
                    problems.append("\(tag.name) was skipped: \(error.reason)")
                }
            }
            if let settings { state.restore(settings: settings) }
            for part in SimulatorState.Part.allCases { state.dirty.insert(part) }
            state.isUnsaved = false
            return problems
        }
    }

    /// Adds the starter set, which contains one tag of each popular kind.
    public func addStarterSet() {
        update { state in
            StarterSet.fill(&state.drawer)
            state.touch(.tags)
        }
    }

    // MARK: Internals

    /// Changes the state, and then performs the resulting effects.
    @discardableResult
    func update<Value: Sendable, Failure: Error>(
        _ body: @Sendable (inout SimulatorState) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let (now, wall) = (clock.now, wallTime())
        let (result, drains, isDirty) = state.withLock { state in
            state.now = now
            state.wallTime = wall
            let result: Result<Value, Failure>
            do throws(Failure) {
                result = .success(try body(&state))
            } catch {
                result = .failure(error)
            }
            let drains = !state.isDraining && !state.effects.isEmpty
            if drains { state.isDraining = true }
            return (result, drains, state.hasNews)
        }
        if drains { performEffects() }
        if isDirty { delivery.withLock { $0.onChange }?() }
        return try result.get()
    }

    /// Performs all effects, including those added in the meantime.
    private func performEffects() {
        while let effect = state.withLock({ state -> SimulatorState.Effect? in
            guard !state.effects.isEmpty else {
                state.isDraining = false
                return nil
            }
            return state.effects.removeFirst()
        }) {
            perform(effect)
        }
    }

    private func perform(_ effect: SimulatorState.Effect) {
        switch effect {
        case .send(let client, let event): delivery.withLock { $0.programs[client] }?(event)
        case .wake(let client): delivery.withLock { $0.waiting.removeValue(forKey: client) }?.signal()
        case .startWatching: delivery.withLock { $0.watcher }?.start()
        case .stopWatching:
            guard let watcher = delivery.withLock({ $0.watcher }) else {
                update { $0.watchingStopped() }
                return
            }
            Task {
                await watcher.stopLooking()
                self.update { $0.watchingStopped() }
            }
        case .schedule(let delay, let timer):
            _ = clock.schedule(after: delay) { [weak self] in self?.update { $0.fired(timer) } }
        case .startApp(let id, let command): delivery.withLock { $0.onRequest }?(.startApp(id, command: command))
        case .stopApp(let id): delivery.withLock { $0.onRequest }?(.stopApp(id))
        case .quit: delivery.withLock { $0.onRequest }?(.quit)
        }
    }

    // MARK: Programs

    func register(_ client: Int, send: @escaping @Sendable (JSON) -> Void) {
        delivery.withLock { $0.programs[client] = send }
    }

    func unregister(_ client: Int) {
        let semaphore = delivery.withLock { delivery in
            delivery.programs[client] = nil
            return delivery.waiting.removeValue(forKey: client)
        }
        semaphore?.signal()
    }

    /// Blocks until it is the program's turn. For programs that send frames without a claim.
    func takeTurn(_ client: Int) throws(LinkError) {
        if state.withLock({ $0.turns.isGranted(client) }) { return }
        let semaphore = DispatchSemaphore(value: 0)
        let isStopped = delivery.withLock { delivery in
            delivery.waiting[client] = semaphore
            return delivery.isStopped
        }
        do throws(SimulatorFailure) {
            guard !isStopped else { throw SimulatorFailure("reader-unavailable", "The simulator has ended.") }
            try update { state throws(SimulatorFailure) in
                guard state.turns.holder == nil || state.turns.holder == client else {
                    throw SimulatorFailure(
                        "in-use",
                        "Another program is reading tags. Send a claim, which waits for its turn."
                    )
                }
                try state.claim(client, request: nil)
            }
        } catch {
            _ = delivery.withLock { $0.waiting.removeValue(forKey: client) }
            let code: LinkError.Code = error.code == "in-use" ? .inUse : .readerUnavailable
            throw LinkError(code, error.message)
        }
        semaphore.wait()
        guard state.withLock({ $0.turns.isGranted(client) }) else {
            throw LinkError(.readerUnavailable, "The simulator has ended.")
        }
    }

    /// Sends a frame to the tags near the phone.
    ///
    /// - Returns: the answer or the error, the airtime, and the time at which the answer is due; nil to answer at once.
    func exchange(
        _ frame: Frame,
        _ technology: Technology,
        timeout: Airtime,
        source: String
    ) -> (result: Result<Frame, LinkError>, elapsed: Airtime, due: Duration?) {
        update { state in
            let outcome = state.exchange(frame, technology, timeout: timeout, source: source)
            return (
                outcome.result, outcome.elapsed, state.switches.instant ? nil : state.now + outcome.elapsed.duration
            )
        }
    }

    // MARK: Changes

    /// Calls `body` with the state.
    func read<Value: Sendable>(_ body: @Sendable (SimulatorState) -> Value) -> Value {
        state.withLock { body($0) }
    }

    /// Changes the state without performing effects. For windows and files, which take their changes from the state.
    func take<Value: Sendable>(_ body: @Sendable (inout SimulatorState) -> Value) -> Value {
        state.withLock { state in body(&state) }
    }
}
