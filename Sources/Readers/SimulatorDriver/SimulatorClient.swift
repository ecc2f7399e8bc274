// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import TagLink
import TextSafety

/// The connection to a simulator. Its first use connects, and the next use after it has ended connects again.
///
/// Everything runs on one queue, which waits for the simulator's answers. Between exchanges the queue is free, and lines that
/// the simulator sends by itself are read then.
actor SimulatorClient {
    /// What other threads may look at.
    struct Known: Sendable {
        /// The name of the simulator; nil before the first connection.
        var name: String?
        var technologies = Set(Technology.allCases)
        /// The arrivals that were asked for since the tags near the phone last changed.
        var arrivals: [[UInt8]: UInt64] = [:]
        /// What goes wrong on purpose; nil before the first connection.
        var switches: SimulatorSwitches?
        /// Called when the person cancels the sheet.
        var onCancel: (@Sendable () -> Void)?
        /// Called with each row or button that is pressed.
        var onPress: (@Sendable (String) -> Void)?
        /// Called with each link that background reading opens in this app.
        var onLink: (@Sendable (SimulatorLinkEvent) -> Void)?
        /// The links that came before there was anybody to call.
        var waitingLinks: [SimulatorLinkEvent] = []
    }

    /// How many links wait for an app that asks for none yet. The oldest is dropped.
    static let maximumWaitingLinks = 16
    /// How often an app with a screen looks for a simulator that has ended.
    static let returnInterval = DispatchTimeInterval.seconds(2)

    nonisolated let executor = QueueExecutor(target: nil, knowsCallers: true)
    nonisolated let known = Locked(Known())
    nonisolated let observers = PresenceObservers()
    private nonisolated let interrupt = Interrupt()
    /// How long the simulator may take to answer, besides the time on the air.
    let patience: Duration
    private let connect: @Sendable () throws(LinkError) -> Int32
    var socket: LineSocket?
    private var watch: ReadWatch?
    private var isWatchingTags = false
    private var lastID = 0
    /// The requests whose answers nobody needs any more.
    private var abandoned: Set<Int> = []
    /// The requests whose answers may take long, and are not waited for on the queue.
    private var unanswered: [Int: CheckedContinuation<Result<SimulatorAnswer, LinkError>, Never>] = [:]
    /// The screen of this app, which each connection shows; nil for none.
    var screen: [UInt8]?
    var isReturning = false
    /// The events that were received and not handled yet.
    var events: [JSONLine] = []

    /// Creates a client, without connecting. `connect` returns a connected socket, which does not block and which the
    /// client closes.
    init(patience: Duration, connect: @escaping @Sendable () throws(LinkError) -> Int32) {
        self.patience = patience
        self.connect = connect
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    // MARK: Requests

    /// Runs work on the client's queue. A wait in it ends when the caller's task is cancelled.
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

    /// Sends a request without an answer. Without a simulator, nothing happens.
    func send(_ line: [UInt8]) {
        try? keepingConnection { () throws(LinkError) in
            try open(nil)
            try socket?.send(line, before: .now + patience, nil)
        }
    }

    /// Sends a request whose answer may take as long as another program reads tags. The queue is free meanwhile. Throws
    /// the error that the answer reports, or `LinkError` with `readerUnavailable` or `cancelled`.
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
                // Answers are read in later turns of the queue.
                unanswered[id] = continuation
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
    }

    /// Ends the wait for an answer. The answer is dropped when it comes.
    private func abandon(_ id: Int) {
        guard let continuation = unanswered.removeValue(forKey: id) else { return }
        abandoned.insert(id)
        continuation.resume(returning: .failure(SimulatorError.cancelled))
    }

    /// Waits for the answer with a number. Lines that come before it are kept or handled.
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

    /// Takes a line that is not the answer to the running request.
    private func take(_ line: JSONLine) throws(LinkError) {
        if line.string("event") != nil {
            events.append(line)
        } else if let id = line.number("id"), let continuation = unanswered.removeValue(forKey: id) {
            continuation.resume(returning: .success(SimulatorAnswer(line)))
        } else if let id = line.number("id") {
            guard abandoned.remove(id) != nil else {
                throw SimulatorError.invalid("It answers a request that was not made.")
            }
        } else if line["error"] == nil {
            throw SimulatorError.invalid("A line is neither an answer nor an event.")
        }
    }

    /// Ends the connection when work fails, unless it was only cancelled.
    func keepingConnection<Value>(
        abandoning id: Int? = nil,
        _ work: () throws(LinkError) -> Value
    ) throws(LinkError) -> Value {
        do throws(LinkError) {
            return try work()
        } catch {
            if error.code == .cancelled {
                if let id { abandoned.insert(id) }
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
        // Lines may have come together with the answer.
        readLines()
    }

    private func accept(_ hello: JSONLine) throws(LinkError) {
        if let error = hello.string("error") { throw SimulatorError.refused(hello.string("message") ?? error) }
        guard hello.number("hello") == 1, let name = hello.string("name"), let names = hello.strings("technologies")
        else {
            throw SimulatorError.invalid("The first line is not a greeting.")
        }
        let technologies = Set(Technology.allCases.filter { names.contains($0.name) })
        guard technologies.count == names.count else { throw SimulatorError.invalid("A technology is unknown.") }
        known.withLock { known in
            known.name = VisibleText.escaped(name)
            known.technologies = technologies
            known.switches = SimulatorSwitches(hello)
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
        abandoned = []
        // A link that came just before the end is not lost.
        let links = events.filter { $0.string("event") == "link" }.compactMap(SimulatorLinkEvent.init)
        events = []
        let waiting = unanswered.values
        unanswered = [:]
        for continuation in waiting { continuation.resume(returning: .failure(SimulatorError.gone)) }
        known.withLock { known in
            known.arrivals = [:]
            known.switches = nil
        }
        comeBackLater()
        // A session that waits for a tag looks again, and learns why it waits in vain.
        executor.async { [weak self] in
            self?.assumeIsolated { client in
                for link in links { client.handle(link) }
                client.observers.notify()
            }
        }
    }

    /// Reads what the simulator sent by itself. Returns whether the connection goes on.
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

    /// Asks the simulator to report when tags come and leave, if anybody wants to know.
    func watchTags() {
        guard socket != nil, !isWatchingTags, !observers.isEmpty else { return }
        isWatchingTags = true
        lastID += 1
        abandoned.insert(lastID)
        send(SimulatorRequest.line("watch", id: lastID) { _ in })
    }

    /// Asks for the number of a tag's arrival.
    func arrival(of identifier: [UInt8]) -> UInt64? {
        let answer = try? ask("arrival", nil) { $0.member("identifier", hex: identifier) }
        let arrival = answer?.arrival()
        known.withLock { $0.arrivals[identifier] = arrival }
        return arrival
    }
}

/// What the simulator sends by itself.
extension SimulatorClient {
    func handleEventsLater() {
        guard !events.isEmpty else { return }
        executor.async { [weak self] in self?.assumeIsolated { $0.handleEvents() } }
    }

    func handleEvents() {
        // A handler may make a request, with which further events come.
        while !events.isEmpty {
            let event = events.removeFirst()
            switch event.string("event") {
            case "presence":
                known.withLock { $0.arrivals = [:] }
                observers.notify()
            case "switches": known.withLock { $0.switches = SimulatorSwitches(event) }
            case "cancel": known.withLock { $0.onCancel }?()
            case "press":
                guard let item = event.string("item") else { break }
                known.withLock { $0.onPress }?(item)
            case "link":
                guard let link = SimulatorLinkEvent(event) else { break }
                handle(link)
            // Later versions may have more events.
            default: break
            }
        }
    }

    func handle(_ link: SimulatorLinkEvent) {
        let handler = known.withLock { known in
            if known.onLink == nil {
                known.waitingLinks.append(link)
                if known.waitingLinks.count > Self.maximumWaitingLinks { known.waitingLinks.removeFirst() }
            }
            return known.onLink
        }
        handler?(link)
    }
}

extension SimulatorClient {
    /// Shows a screen now, and at the beginning of each later connection; nil when the app shows none any more.
    func show(_ line: [UInt8]?) {
        screen = line
        guard let line else { return }
        do throws(LinkError) {
            guard socket != nil else { return try open(nil) }
            try keepingConnection { () throws(LinkError) in
                try socket?.send(line, before: .now + patience, nil)
            }
        } catch {
            comeBackLater()
        }
    }

    /// An app with a screen returns to the phone when its simulator runs again.
    func comeBackLater() {
        guard screen != nil, !isReturning else { return }
        isReturning = true
        executor.queue.asyncAfter(deadline: .now() + Self.returnInterval) { [weak self] in
            self?.assumeIsolated { $0.comeBack() }
        }
    }

    func comeBack() {
        isReturning = false
        guard screen != nil else { return }
        do throws(LinkError) {
            try open(nil)
        } catch {
            comeBackLater()
        }
    }
}
