// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
import Foundation
public import NFCSessions
import TagImages
import TagLink
import TagTrace
public import UniversalLinks

/// A phone and a drawer of tags, for any number of windows and programs.
///
/// All of its methods may be called on any thread. They are done one after the other.
public final class Simulator: Sendable {
    /// What the simulator asks its program to do.
    public enum Request: Sendable {
        /// Start a program, with the environment that connects it to the simulator.
        case startApp(String, command: String)
        case stopApp(String)
        case quit
    }

    private struct Delivery {
        /// Where each program's events go.
        var programs: [Int: @Sendable (JSON) -> Void] = [:]
        /// Programs that wait in a call for their turn.
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
    ///   - clock: the time of taps, banners and sessions.
    ///   - seed: decides where noise and torn writes happen.
    ///   - wallTime: the milliseconds since 1970; the system's when nil.
    public init(
        clock: any RuntimeClock = SystemClock.shared,
        seed: UInt64 = 1,
        wallTime: (@Sendable () -> UInt64)? = nil
    ) {
        self.clock = clock
        self.wallTime = wallTime ?? { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }
        state = Locked(SimulatorState(seed: seed))
    }

    // MARK: Its life

    /// Sets what is called after changes, on any thread. Take the changes with ``takeChanges()`` then.
    public func onChange(_ handler: @escaping @Sendable () -> Void) {
        delivery.withLock { $0.onChange = handler }
    }

    /// Sets what does what the simulator can't do itself.
    public func onRequest(_ handler: @escaping @Sendable (Request) -> Void) {
        delivery.withLock { $0.onRequest = handler }
    }

    /// Starts background reading.
    public func start() {
        delivery.withLock { $0.watcher = BackgroundWatcher(simulator: self) }
        update { $0.conditionsChanged() }
    }

    /// Ends background reading. Programs that wait for their turn don't get it.
    public func stop() async {
        let (watcher, waiting) = delivery.withLock { delivery in
            delivery.isStopped = true
            defer { delivery.waiting = [:] }
            return (delivery.watcher.take(), Array(delivery.waiting.values))
        }
        for semaphore in waiting { semaphore.signal() }
        await watcher?.stop()
    }

    // MARK: Actions

    /// Does what an action asks for; see ``SimulatorFailure`` for what may be wrong with it.
    ///
    /// - Parameter action: an object with `do`.
    /// - Returns: the result, an object.
    public func perform(_ action: JSON) throws(SimulatorFailure) -> JSON {
        try update { state throws(SimulatorFailure) in try state.perform(action) }
    }

    /// Adds the tag of a file in any format.
    ///
    /// - Parameters:
    ///   - name: the file's name.
    ///   - bytes: the file.
    /// - Returns: the tag's id and remarks on the file.
    public func importFile(name: String, _ bytes: [UInt8]) throws(SimulatorFailure) -> JSON {
        try update { state throws(SimulatorFailure) in
            let (card, remarks) = try state.importFile(name: name, bytes)
            return ["tag": .string(card.id), "notes": .array(remarks.map { JSON.string($0) })]
        }
    }

    /// A tag as a file.
    ///
    /// - Parameters:
    ///   - tag: its id or name.
    ///   - format: the name of a format; nil for the one in which the tag came.
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

    /// Describes an app whose program has brought its description.
    ///
    /// - Parameters:
    ///   - id: the app's id on the phone.
    ///   - description: its description. One that is installed already counts rather than this one.
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

    /// A program that the simulator started is running, or has ended.
    ///
    /// - Parameter pid: its process; nil when it has ended.
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

    /// A program that the simulator started has printed a line.
    public func appPrinted(_ id: String, _ line: String) {
        update { $0.print(id, line) }
    }

    // MARK: The drawer's folder

    /// Fills the drawer with tags that were stored.
    ///
    /// - Parameters:
    ///   - tags: their ids, names and files.
    ///   - settings: phone, switches and notifications of the last run; nil on the first one.
    /// - Returns: sentences about files that can't be read.
    public func restore(_ tags: [(id: String, name: String, file: [UInt8])], settings: JSON?) -> [String] {
        update { state in
            var problems: [String] = []
            for tag in tags {
                do throws(TagImageError) {
                    let image = try TagImage(parsing: tag.file, as: SimulatorState.format(ofFile: tag.name))
                    let stem =
                        tag.name.hasSuffix(".mfd") || tag.name.hasSuffix(".bin")
                        ? String(tag.name.dropLast(4)) : tag.name
                    let name = (try? Drawer.name(stem)) ?? image.product
                    state.drawer.restore(DrawerCard(id: tag.id, name: name, image: image))
                } catch {
                    problems.append("\(tag.name) is left out: \(error.reason)")
                }
            }
            if let settings { state.restore(settings: settings) }
            for part in SimulatorState.Part.allCases { state.dirty.insert(part) }
            state.isUnsaved = false
            return problems
        }
    }

    /// Puts one tag of each kind into the drawer: what a first run begins with.
    public func addStarterSet() {
        update { state in
            StarterSet.fill(&state.drawer)
            state.touch(.tags)
        }
    }

    // MARK: Within the package

    /// Changes the state, and does what follows from it.
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

    /// Performs all effects, also those that come meanwhile.
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
        let waiting = delivery.withLock { delivery in
            delivery.programs[client] = nil
            return delivery.waiting.removeValue(forKey: client)
        }
        waiting?.signal()
    }

    /// Waits until a program that sends frames without a claim has its turn.
    func takeTurn(_ client: Int) throws(LinkError) {
        if state.withLock({ $0.turns.isGranted(client) }) { return }
        let semaphore = DispatchSemaphore(value: 0)
        let isStopped = delivery.withLock { delivery in
            delivery.waiting[client] = semaphore
            return delivery.isStopped
        }
        do throws(SimulatorFailure) {
            guard !isStopped else { throw SimulatorFailure("reader-unavailable", "The simulator ends.") }
            try update { state throws(SimulatorFailure) in
                guard state.turns.holder == nil || state.turns.holder == client else {
                    throw SimulatorFailure(
                        "in-use",
                        "Another program reads tags. Send a claim, which waits for its turn."
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
            throw LinkError(.readerUnavailable, "The simulator ends.")
        }
    }

    /// Sends a frame to the tags near the phone.
    ///
    /// - Returns: the answer, or why there is none; and the moment by the simulator's clock at which it is received.
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

    /// Reads the state.
    func read<Value: Sendable>(_ body: @Sendable (SimulatorState) -> Value) -> Value {
        state.withLock { body($0) }
    }

    /// Changes the state without effects, for what windows and files take from it.
    func take<Value: Sendable>(_ body: @Sendable (inout SimulatorState) -> Value) -> Value {
        state.withLock { state in body(&state) }
    }
}
