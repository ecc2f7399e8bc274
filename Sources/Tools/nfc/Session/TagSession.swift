// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCReaders
import NFCSessions
import TagLink
import TagProtocols
import TagTrace

/// A reader session that a command waits for. It shows the scanning sheet and reports tags; Ctrl-C cancels it.
struct TagSession {
    typealias Event = ReaderSession.Event

    let environment: NFCEnvironment
    let session: ReaderSession
    /// The events, in order; ends after ``ReaderSession/Event/ended(_:)``.
    let events: AsyncStream<Event>
    private let interrupt: ProcessSignals
    /// How long a reader may take to answer.
    private static let patience = Duration.milliseconds(500)

    /// Begins a session. Without `seconds`, the session's own limit counts.
    init(environment: NFCEnvironment, prompt: String, seconds: Double?, plan: PollingPlan = .ndef) throws {
        guard let session = ReaderSession(environment: environment, plan: plan) else {
            throw CommandFailure(.noReader, "no-reader", "There is no reader.")
        }
        self.environment = environment
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.session = session
        self.events = events
        // A sheet that owns the terminal reads Ctrl-C as a key; otherwise it is this signal.
        interrupt = ProcessSignals([SIGINT]) { _ in session.fail(.userCanceled) }
        if let seconds { _ = environment.clock.schedule(after: .seconds(seconds)) { session.fail(.timeout) } }
        session.alertMessage = prompt
        session.observe { event in
            continuation.yield(event)
            if case .ended = event { continuation.finish() }
        }
        session.begin()
    }

    /// Waits until the reader is free and changed images are saved. Call it after the last event.
    func close() async {
        for _ in 0..<1000 {
            if environment.arbiter.isIdle { break }
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Fails when no tag could come: the reader is gone, does not answer within half a second, or has a card that another
    /// program has opened.
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

    /// Fails when the session differs from the recording that it replays, could not be recorded to its end, or could not
    /// save its images. Prints a note when the recording has more exchanges than the session made.
    func checkFiles() throws {
        if let failure = environment.tagSaver?.failure { throw failure }
        if let departure = environment.replay?.departure {
            throw CommandFailure("recording-left", departure.reason)
        }
        if let failure = environment.recorder?.failure { throw failure }
        if let count = environment.replay?.remainingExchangeCount, count > 0 {
            StandardError.writeLine("The session ended before the recording: \(count) of its exchanges were not made.")
        }
    }

    /// Prints while the sheet may be visible.
    func print(_ body: () -> Void) {
        if let sheet = environment.sheet as? TerminalSheet {
            sheet.interrupted(by: body)
        } else {
            body()
        }
    }
}

extension TagSession {
    /// Waits for a tag that is alone near the reader, runs a procedure on it, and ends the session.
    /// The sheet shows an error of the procedure, and the text of `failure` for a value that is a failure.
    ///
    /// - Returns: the result of the procedure.
    func withOneTag<Value: Sendable>(
        doneMessage: String,
        failure: (Value) -> String? = { _ in nil },
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
                    if let message = failure(value) {
                        session.invalidate(errorMessage: message)
                    } else {
                        session.alertMessage = doneMessage
                        session.endAfterFirstMessage()
                    }
                } catch {
                    result = .failure(error)
                    session.invalidate(errorMessage: error.message)
                }
            case .ended(let end):
                hasTimedOut = result == nil && end == .timeout
                // The end that cut the work off is the reason of the failure.
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

    /// How long the sheet says that there are several tags, before the session looks again.
    private static let pause = Duration.milliseconds(500)

    private static let severalTags = "There is more than one tag. Remove all but one."

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

/// What became of the tags that came near in a session.
enum TagVisit {
    case none
    /// Tags came, but none could be used.
    case failed
    case used
}
