// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import TagLink
import TextSafety

/// The connection to a simulator. The first use connects. After the connection has ended, the next use connects again.
///
/// All work runs on one queue, which waits for the simulator's answers. Between exchanges the queue is free, and reads
/// the lines that the simulator sends by itself.
actor SimulatorClient {
    struct SharedState: Sendable {
        /// The name of the simulator; nil before the first connection.
        var name: String?
        var technologies = Set(Technology.allCases)
        /// The known arrivals of tags. Emptied when the tags near the phone change.
        var arrivals: [[UInt8]: UInt64] = [:]
        /// The simulated problems; nil before the first connection.
        var switches: SimulatorSwitches?
        var onCancel: (@Sendable () -> Void)?
        var onBackground: (@Sendable () -> Void)?
        /// Called with each row or button that is pressed.
        var onPress: (@Sendable (String) -> Void)?
        /// Called with each link that background reading opens in this app.
        var onLink: (@Sendable (SimulatorLinkEvent) -> Void)?
        /// The links that arrived before ``onLink`` was set.
        var waitingLinks: [SimulatorLinkEvent] = []
    }

    /// The maximum number of links that wait for ``SharedState/onLink``. After that, the oldest link is dropped.
    static let maximumWaitingLinks = 16
    /// How often an app with a screen tries to connect again after the simulator has ended.
    static let returnInterval = DispatchTimeInterval.seconds(2)

    nonisolated let executor = QueueExecutor(target: nil, knowsCallers: true)
    nonisolated let shared = Locked(SharedState())
    nonisolated let observers = PresenceObservers()
    private nonisolated let interrupt = Interrupt()
    /// How long the simulator may take to answer, in addition to the time on the air.
    let patience: Duration
    private let connect: @Sendable () throws(LinkError) -> Int32
    var socket: LineSocket?
    private var watch: ReadWatch?
    private var isWatchingTags = false
    private var lastID = 0
    /// The requests whose answers are no longer needed.
    private var abandonedIDs: Set<Int> = []
    /// The requests whose answers may take long. The queue does not wait for these answers.
    private var pendingAnswers: [Int: CheckedContinuation<Result<SimulatorAnswer, LinkError>, Never>] = [:]
    /// The screen of this app, which is sent on each connection; nil when the app has no screen.
    var screen: [UInt8]?
    var isReturning = false
    /// The received events that were not handled yet.
    var events: [JSONLine] = []

    /// Creates a client without connecting. `connect` must return a connected, non-blocking socket. The client closes
    /// the socket.
    init(patience: Duration, connect: @escaping @Sendable () throws(LinkError) -> Int32) {
        self.patience = patience
        self.connect = connect
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    // MARK: Requests

    /// Runs work on the client's queue. If the caller's task is cancelled, a wait in the work ends.
    nonisolated func perform<Value: Sendable>(
        _ work: @Sendable (isolated SimulatorClient, Cancellation) throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        let cancellation = Cancellation(interrupt)
        let result = await withTaskCancellationHandler {
            await outcome(of: work, cancellation)
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    private func outcome<Value: Sendable>(
        of work: @Sendable (isolated SimulatorClient, Cancellation) throws(LinkError) -> Value,
        _ cancellation: Cancellation
    ) -> Result<Value, LinkError> {
        do throws(LinkError) {
            guard !cancellation.isCancelled else { throw SimulatorError.cancelled }
            return .success(try work(self, cancellation))
        } catch {
            return .failure(error)
        }
    }

    func open(_ cancellation: Cancellation?) throws(LinkError) {
        if socket == nil { try greet(cancellation) }
    }

    /// Sends a request and waits for its answer. Throws the error that the answer reports, or `LinkError` with
    /// `readerUnavailable` or `cancelled`.
    func ask(
        _ name: String,
        within limit: Duration = .zero,
        _ cancellation: Cancellation?,
        _ members: (inout JSONWriter) -> Void
    ) throws(LinkError) -> SimulatorAnswer {
        try open(cancellation)
        lastID += 1
        let id = lastID
        let deadline = ContinuousClock.now + limit + patience
        let answer = try keepingConnection(abandoning: id) { () throws(LinkError) in
            let line = SimulatorRequest.line(name, id: id, members)
            try socket?.send(line, before: deadline, cancellation)
            return try receive(id, before: deadline, cancellation)
        }
        handleEventsLater()
        try answer.check()
        return answer
    }

    func send(_ line: [UInt8]) {
        try? keepingConnection { () throws(LinkError) in
            try open(nil)
            try socket?.send(line, before: .now + patience, nil)
        }
    }

    /// Sends a request. The answer may take as long as another program reads tags, and the queue is free meanwhile.
    /// Throws the error that the answer reports, or `LinkError` with `readerUnavailable` or `cancelled`.
    nonisolated func request(_ name: String) async throws(LinkError) -> SimulatorAnswer {
        let id = try await perform { (client, cancellation) throws(LinkError) in
            try client.open(cancellation)
            client.lastID += 1
            return client.lastID
        }
        let result = await withTaskCancellationHandler {
            await reply(to: SimulatorRequest.line(name, id: id) { _ in }, id)
        } onCancel: {
            executor.async { [weak self] in self?.assumeIsolated { $0.abandon(id) } }
        }
        let answer = try result.get()
        try answer.check()
        return answer
    }

    private func reply(to line: [UInt8], _ id: Int) async -> Result<SimulatorAnswer, LinkError> {
        guard !Task.isCancelled else { return .failure(SimulatorError.cancelled) }
        return await withCheckedContinuation { continuation in
            do throws(LinkError) {
                try keepingConnection { () throws(LinkError) in
                    guard let socket else { throw SimulatorError.gone }
                    try socket.send(line, before: .now + patience, nil)
                }
                // The answer is read later on the queue.
                pendingAnswers[id] = continuation
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
    }

    /// Ends the wait for an answer. An answer that arrives later is dropped.
    private func abandon(_ id: Int) {
        guard let continuation = pendingAnswers.removeValue(forKey: id) else { return }
        abandonedIDs.insert(id)
        continuation.resume(returning: .failure(SimulatorError.cancelled))
    }

    /// Waits for the answer to a request. Other lines that arrive first are stored or handled.
    private func receive(
        _ id: Int,
        before deadline: ContinuousClock.Instant,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> SimulatorAnswer {
        while true {
            while let line = try socket?.next() {
                if line.number("id") == id { return SimulatorAnswer(line) }
                try take(line)
            }
            guard let filled = try socket?.fill(before: deadline, cancellation) else { throw SimulatorError.gone }
            guard filled else { throw SimulatorError.silent }
        }
    }

    /// Handles a line that is not the answer to the current request.
    private func take(_ line: JSONLine) throws(LinkError) {
        if line.string("event") != nil {
            events.append(line)
        } else if let id = line.number("id"), let continuation = pendingAnswers.removeValue(forKey: id) {
            continuation.resume(returning: .success(SimulatorAnswer(line)))
        } else if let id = line.number("id") {
            guard abandonedIDs.remove(id) != nil else {
                throw SimulatorError.invalid("The simulator answered a request that was not sent.")
            }
        } else if line["error"] == nil {
            throw SimulatorError.invalid("A line is neither an answer nor an event.")
        }
    }

    /// Ends the connection if the work fails, unless the work was only cancelled.
    func keepingConnection<Value>(
        abandoning id: Int? = nil,
        _ work: () throws(LinkError) -> Value
    ) throws(LinkError) -> Value {
        do throws(LinkError) {
            return try work()
        } catch {
            if error.code == .cancelled {
                if let id { abandonedIDs.insert(id) }
            } else {
                disconnect()
            }
            throw error
        }
    }

    // MARK: The connection

    private func greet(_ cancellation: Cancellation?) throws(LinkError) {
        let descriptor = try connect()
        var socket = LineSocket(descriptor, interrupt: interrupt)
        do throws(LinkError) {
            let deadline = ContinuousClock.now + patience
            let program = ProgramPath.own.flatMap { $0.split(separator: "/").last.map(String.init) } ?? "app"
            let greeting = SimulatorRequest.hello(program: program, process: getpid())
            try socket.send(greeting, before: deadline, cancellation)
            var hello = try socket.next()
            while hello == nil {
                guard try socket.fill(before: deadline, cancellation) else { throw SimulatorError.silent }
                hello = try socket.next()
            }
            if let hello { try accept(hello) }
            if let screen { try socket.send(screen, before: deadline, cancellation) }
            try watchSocket(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        self.socket = socket
        watchTags()
        // More lines may have arrived together with the greeting.
        readLines()
    }

    private func accept(_ hello: JSONLine) throws(LinkError) {
        if let error = hello.string("error") { throw SimulatorError.refused(hello.string("message") ?? error) }
        guard hello.number("hello") == 1, let name = hello.string("name"), let names = hello.strings("technologies")
        else { throw SimulatorError.invalid("The first line is not a greeting.") }
        let technologies = Set(Technology.allCases.filter { names.contains($0.name) })
        guard technologies.count == names.count else { throw SimulatorError.invalid("A technology is unknown.") }
        shared.withLock { shared in
            shared.name = VisibleText.escaped(name)
            shared.technologies = technologies
            shared.switches = SimulatorSwitches(hello)
        }
    }

    private func watchSocket(_ descriptor: Int32) throws(LinkError) {
        watch = ReadWatch(descriptor, queue: executor.queue) { [weak self] in
            self?.assumeIsolated { $0.readLines() } ?? false
        } onClose: {
            close(descriptor)
        }
        guard watch != nil else {
            throw LinkError(.readerUnavailable, "The process has too many open files. Close some, and try again.")
        }
    }

    /// Ends the connection. The next request connects again.
    private func disconnect() {
        guard let ended = socket.take() else { return }
        shutdown(ended.descriptor, Int32(SHUT_RDWR))
        watch = nil
        isWatchingTags = false
        abandonedIDs = []
        // Links that arrived just before the end are still handled.
        let links = events.filter { $0.string("event") == "link" }.compactMap(SimulatorLinkEvent.init)
        events = []
        let waiting = pendingAnswers.values
        pendingAnswers = [:]
        for continuation in waiting { continuation.resume(returning: .failure(SimulatorError.gone)) }
        shared.withLock { shared in
            shared.arrivals = [:]
            shared.switches = nil
        }
        reconnectLater()
        // A session that waits for a tag then polls again, and receives the error.
        executor.async { [weak self] in
            self?.assumeIsolated { client in
                for link in links { client.handle(link) }
                client.observers.notify()
            }
        }
    }

    /// Reads the lines that the simulator sent by itself. Returns whether the connection still exists.
    @discardableResult
    private func readLines() -> Bool {
        guard socket != nil else { return false }
        do throws(LinkError) {
            try keepingConnection { () throws(LinkError) in
                repeat {
                    while let line = try socket?.next() { try take(line) }
                } while try socket?.fill(before: nil, nil) == true
            }
            handleEventsLater()
            return true
        } catch {
            return false
        }
    }

    // MARK: Tags near the phone

    /// Asks the simulator to report when tags arrive or leave, if there are observers.
    func watchTags() {
        guard socket != nil, !isWatchingTags, !observers.isEmpty else { return }
        isWatchingTags = true
        lastID += 1
        abandonedIDs.insert(lastID)
        send(SimulatorRequest.line("watch", id: lastID) { _ in })
    }

    func arrival(of identifier: [UInt8]) -> UInt64? {
        let answer = try? ask("arrival", nil) { $0.member("identifier", hex: identifier) }
        let arrival = answer?.arrival()
        shared.withLock { $0.arrivals[identifier] = arrival }
        return arrival
    }
}

extension SimulatorClient {
    func handleEventsLater() {
        guard !events.isEmpty else { return }
        executor.async { [weak self] in self?.assumeIsolated { $0.handleEvents() } }
    }

    func handleEvents() {
        // A handler may make a request, and more events may arrive with the answer.
        while !events.isEmpty {
            let event = events.removeFirst()
            switch event.string("event") {
            case "presence":
                shared.withLock { $0.arrivals = [:] }
                observers.notify()
            case "switches": shared.withLock { $0.switches = SimulatorSwitches(event) }
            case "cancel": shared.withLock { $0.onCancel }?()
            case "background": shared.withLock { $0.onBackground }?()
            case "press":
                guard let item = event.string("item") else { break }
                shared.withLock { $0.onPress }?(item)
            case "link":
                guard let link = SimulatorLinkEvent(event) else { break }
                handle(link)
            // Ignores events of later versions.
            default: break
            }
        }
    }

    func handle(_ link: SimulatorLinkEvent) {
        let handler = shared.withLock { shared in
            if shared.onLink == nil {
                shared.waitingLinks.append(link)
                if shared.waitingLinks.count > Self.maximumWaitingLinks { shared.waitingLinks.removeFirst() }
            }
            return shared.onLink
        }
        handler?(link)
    }
}

extension SimulatorClient {
    /// Shows a screen now and on each later connection; nil when the app no longer shows a screen.
    func show(_ line: [UInt8]?) {
        screen = line
        guard let line else { return }
        do throws(LinkError) {
            guard socket != nil else { return try open(nil) }
            try keepingConnection { () throws(LinkError) in
                try socket?.send(line, before: .now + patience, nil)
            }
        } catch {
            reconnectLater()
        }
    }

    /// Tries later to connect again, if the app has a screen.
    func reconnectLater() {
        guard screen != nil, !isReturning else { return }
        isReturning = true
        executor.queue.asyncAfter(deadline: .now() + Self.returnInterval) { [weak self] in
            self?.assumeIsolated { $0.reconnect() }
        }
    }

    func reconnect() {
        isReturning = false
        guard screen != nil else { return }
        do throws(LinkError) {
            try open(nil)
        } catch {
            reconnectLater()
        }
    }
}
