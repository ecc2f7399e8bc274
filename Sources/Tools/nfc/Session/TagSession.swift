// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCReaders
import NFCSessions
import TagLink
import TagProtocols
import TagTrace

/// A reader session for a command. Shows the scanning sheet and reports tags. Ctrl-C cancels the session.
struct TagSession {
    typealias Event = ReaderSession.Event

    let environment: NFCEnvironment
    let session: ReaderSession
    /// The session's events, in order. Ends after ``ReaderSession/Event/ended(_:)``.
    let events: AsyncStream<Event>
    private let givesFeedback: Bool
    /// Whether it was said that the reader has neither light nor sound.
    private let hasNoFeedback = Locked(false)
    private let interrupt: ProcessSignals
    /// How long a reader may take to respond.
    private static let patience = Duration.milliseconds(500)

    /// Begins a session. If `seconds` is nil, the session's own time limit applies.
    init(
        environment: NFCEnvironment,
        prompt: String,
        seconds: Double?,
        plan: PollingPlan = .everyTag,
        givesFeedback: Bool = false
    ) throws {
        self.givesFeedback = givesFeedback
        guard let session = ReaderSession(environment: environment, plan: plan, limits: SessionLimits()) else {
            throw CommandFailure(.noReader, "no-reader", "No reader was found.")
        }
        self.environment = environment
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.session = session
        self.events = events
        // A sheet that owns the terminal receives Ctrl-C as a key. Otherwise Ctrl-C arrives as this signal.
        interrupt = ProcessSignals([SIGINT]) { _ in session.fail(.userCanceled) }
        if let seconds { _ = environment.clock.schedule(after: .seconds(seconds)) { session.fail(.timeout) } }
        session.alertMessage = prompt
        session.observe { event in
            continuation.yield(event)
            if case .ended = event { continuation.finish() }
        }
        session.begin()
    }

    /// Lets the reader blink and beep, if the command was asked for that.
    func signal(isSuccess: Bool) async {
        guard givesFeedback, let driver = environment.driver?.unrecorded,
            await !driver.signal(isSuccess: isSuccess),
            hasNoFeedback.withLock({ wasTold in
                defer { wasTold = true }
                return !wasTold
            })
        else { return }
        StandardError.writeLine("Note: \(driver.name) has no light or buzzer that --feedback can use.")
    }

    /// Waits until the reader is free and changed images are saved. Call this after the last event.
    func close() async {
        for _ in 0..<1000 {
            if environment.arbiter.isIdle { break }
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Throws if no tag could have been detected: the reader is gone, does not respond within half a second, or has a
    /// card that another program has opened.
    func checkReader() async throws {
        if let reason = session.obstacle { throw CommandFailure.inUse(reason) }
        guard let driver = environment.driver?.unrecorded else { return }
        let kind = ReaderKind.of(driver)
        let check = Task { () -> LinkError? in
            do throws(LinkError) {
                try await driver.prepare()
                return try await kind?.obstacle(driver)
            } catch {
                return error
            }
        }
        let limit = environment.clock.schedule(after: Self.patience) { check.cancel() }
        defer { limit.cancel() }
        guard let error = await check.value else { return }
        if error.code == .inUse { throw CommandFailure.inUse(error.reason) }
        let isSilent = error.code == .cancelled
        throw CommandFailure.unusable(driver, isSilent ? kind?.silence ?? ReaderKind.silence : error.reason)
    }

    /// Throws if the session differs from the recording it replays, or if recording or saving failed. Prints a note if
    /// the recording contains more exchanges than the session.
    func checkFiles() throws {
        if let failure = environment.tagSaver?.failure { throw failure }
        if let departure = environment.replay?.departure {
            throw CommandFailure("recording-left", departure.reason)
        }
        if let failure = environment.recorder?.failure { throw failure }
        if let count = environment.replay?.remainingExchangeCount, count > 0 {
            StandardError.writeLine("The session did not use the whole recording: \(count) of its exchanges were left.")
        }
    }

    /// Runs `body`, which prints, while the sheet may be visible.
    func print(_ body: () -> Void) {
        if let sheet = environment.sheet as? TerminalSheet {
            sheet.interrupted(by: body)
        } else {
            body()
        }
    }
}

extension TagSession {
    /// Waits for a single tag, runs a procedure with it, and ends the session. The sheet shows any error thrown, or the
    /// text that `failure` returns for the result.
    func withOneTag<Value: Sendable>(
        doneMessage: String,
        failure: (Value) -> String? = { _ in nil },
        _ procedure: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Value
    ) async throws -> Value {
        try await naming { try await useOneTag(doneMessage, failure, procedure) }
    }

    var readerName: String? { environment.driver?.name }

    /// Adds the reader to the failures that `body` throws.
    func naming<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            throw CommandFailure(reporting: error)?.on(readerName) ?? error
        }
    }

    private func useOneTag<Value: Sendable>(
        _ doneMessage: String,
        _ failure: (Value) -> String?,
        _ procedure: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Value
    ) async throws -> Value {
        var result: Result<Value, CommandFailure>?
        var hasTimedOut = false
        var hasSeveral = false
        for await event in events {
            switch event {
            case .becameActive: break
            case .detected(let tags):
                hasSeveral = tags.count > 1
                guard !hasSeveral, let tag = tags.first else {
                    session.alertMessage = Self.severalTags
                    _ = environment.clock.schedule(after: Self.pause) { [session] in session.restartPolling() }
                    continue
                }
                do {
                    let value = try await work(with: tag, procedure)
                    result = .success(value)
                    let message = failure(value)
                    await signal(isSuccess: message == nil)
                    if let message {
                        session.invalidate(errorMessage: message)
                    } else {
                        session.alertMessage = doneMessage
                        session.endAfterFirstMessage()
                    }
                } catch {
                    result = .failure(error)
                    await signal(isSuccess: false)
                    session.invalidate(errorMessage: error.message)
                }
            case .ended(let end):
                hasTimedOut = result == nil && end == .timeout
                // If the session's end interrupted the work, report why the session ended.
                var visit = TagVisit.none
                if case .failure(let failure)? = result, failure.isCutOff { (result, visit) = (nil, .failed) }
                result = result ?? CommandFailure(end, after: visit, on: environment.driver).map { .failure($0) }
            }
        }
        await close()
        try checkFiles()
        if hasTimedOut {
            if hasSeveral { throw CommandFailure("several-tags", Self.severalTags) }
            try await checkReader()
        }
        guard let result else { throw CommandFailure(.cancelled, "cancelled", "Cancelled.") }
        return try result.get()
    }

    /// How long to show the message about several tags before polling again.
    private static let pause = Duration.milliseconds(500)

    private static let severalTags = "More than one tag was found. Remove all but one."

    func work<Value: Sendable>(
        with tag: ConnectableTag,
        _ procedure: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Value
    ) async throws(CommandFailure) -> Value {
        do throws(CommandError) {
            return try await session.work(with: tag, procedure)
        } catch {
            throw CommandFailure(error)
        }
    }
}

/// What happened with the tags detected in a session.
enum TagVisit {
    case none
    /// Tags were detected, but none could be used.
    case failed
    case used
}
