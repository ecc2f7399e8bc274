// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
public import NFCSessions
import TagLink

/// Runs a test in a field: every session that the code under test creates uses the field.
///
/// ```swift
/// @Test func `A tag is read`() async throws {
///     try await withField(.product("NTAG215", holding: .uri("https://example.com"))) { field in
///         let link = try await Scanner().scan()
///         #expect(link == "https://example.com")
///         #expect(field.sheetHistory.last?.content.state == .success)
///         #expect(field.airtime < .milliseconds(50))
///     }
/// }
/// ```
///
/// The field belongs to the test, so tests run in parallel. It applies to the test's task and the tasks it starts, to
/// blocks and delays on queues, and to delegates and completion handlers. If only one field is open, every session
/// belongs to that field. See `Documentation/Explanation/TestKitBehaviour.md` for the other cases, and for when time
/// advances.
///
/// If the closure has not ended at the field's time limit, it is abandoned: its task is cancelled, and the error
/// contains the trace so far.
///
/// - Parameters:
///   - tags: the tags that are near from the start.
///   - app: the app's property list and entitlements; nil for none, so that everything is allowed.
///   - seed: the seed of all random values. The same seed gives the same trace.
///   - limit: the field's time limit. A closure that takes longer is abandoned.
///   - grace: how long the test has to be idle, in real time, before a session's time limit of 60 or 20 seconds may
///     pass without a call of ``TestField/wait(for:)``.
///   - busyPolicy: the treatment of a session that begins while the previous session's sheet is still visible. Phones
///     refuse such a session with error 203: `.refuseWhileSheetLeaves`.
///   - reader: the reader on which the test runs.
///   - body: the test.
/// - Returns: the result of `body`.
/// - Throws: the error of `body`, or ``FieldError``: `neverEnds`, `queueIsBlocked`, `unknownField`, `fieldInField`, or
///   the reason why a tag could not be created.
@discardableResult
public func withField<Value: Sendable>(
    _ tags: TagSpec...,
    app: AppProperties? = nil,
    seed: UInt64 = 0,
    limit: Duration = .seconds(600),
    grace: Duration = .seconds(1),
    busyPolicy: SessionArbiter.BusyPolicy = .queue,
    reader: TestReader = .ofProcess,
    _ body: @escaping @isolated(any) @Sendable (TestField) async throws -> Value
) async throws -> Value {
    let settings = FieldSettings(tags, app, seed, limit, grace, busyPolicy, reader)
    let field = try await TestField.opened(settings)
    do {
        let value = try await field.run(body)
        await field.releaseReader()
        try field.checkRecording()
        field.close()
        return value
    } catch {
        field.reportMissingTag()
        field.close()
        // If the flow departed from the recording, that is the cause of the failure, and is reported instead.
        try field.checkRecording()
        throw error
    }
}

/// The parameters of a field, see ``withField(_:app:seed:limit:grace:busyPolicy:reader:_:)``.
struct FieldSettings: Sendable {
    var tags: [TagSpec]
    var app: AppProperties?
    var seed: UInt64
    var limit: Duration
    /// Nil for one second.
    var grace: Duration?
    var busyPolicy: SessionArbiter.BusyPolicy
    /// Nil for the reader of the process.
    var reader: TestReader?

    init(
        _ tags: [TagSpec],
        _ app: AppProperties?,
        _ seed: UInt64,
        _ limit: Duration,
        _ grace: Duration?,
        _ busyPolicy: SessionArbiter.BusyPolicy,
        _ reader: TestReader?
    ) {
        self.tags = tags
        self.app = app
        self.seed = seed
        self.limit = limit
        self.grace = grace
        self.busyPolicy = busyPolicy
        self.reader = reader
    }
}

extension TestField {
    /// Creates a field with tags.
    ///
    /// - Parameter hasGrace: false for a grace of zero as long as all work is tracked.
    static func opened(_ settings: FieldSettings, hasGrace: Bool = true) async throws -> TestField {
        try Task.checkCancellation()
        guard (NFCEnvironment.scoped?.testContext as? TestTracker)?.field == nil else {
            throw FieldError(
                .fieldInField,
                """
                This test already runs in a field. Use that field: its bring(_:) can add several tags. An exploration \
                creates its own fields: call explore outside of withField, and in a test without the trait .field.
                """
            )
        }
        guard settings.limit > .zero else {
            throw FieldError(
                .badDuration,
                "limit: must be longer than 0 s, but is \(settings.limit). The default is 600 seconds."
            )
        }
        let grace = IdleTimeout(duration: settings.grace ?? .seconds(1), isZeroWhenTracked: !hasGrace)
        guard grace.duration >= .zero else {
            throw FieldError(
                .badDuration,
                "grace: can't be negative, but is \(grace.duration). The default is one second."
            )
        }
        let field = TestField(settings, grace)
        for tag in settings.tags { try await field.bring(tag) }
        OpenFields.add(field.environment)
        return field
    }

    /// Runs code in the field until the code ends or the field's time is over.
    func run<Value: Sendable>(
        _ body: @escaping @isolated(any) @Sendable (TestField) async throws -> Value
    ) async throws -> Value {
        let outcome = Outcome<Value>()
        state.withLock { state in
            state.hasStarted = true
            state.stop = { error in CurrentTest.detached { outcome.set(.failure(error)) } }
        }
        // Under the lock, because the flow may come to the exchange that cancels its task before the task is known here.
        let task = within {
            state.withLock { state in
                let task = Task { [self] in
                    let result = await Result { try await body(self) }
                    CurrentTest.detached { outcome.set(result) }
                }
                state.task = task
                return task
            }
        }
        defer { task.cancel() }
        return try await withTaskCancellationHandler {
            try await limited(by: [limit]) { try await outcome.value() }
        } onCancel: {
            task.cancel()
        }
    }

    /// Runs code while the field's time is monitored.
    ///
    /// - Parameter limits: the times at which to stop the code if the field has real time.
    private func limited<Value>(by limits: [Duration], _ work: () async throws -> Value) async throws -> Value {
        let timers =
            drivenClock == nil
            ? limits.map { environment.clock.schedule(after: $0) { [weak self] in self?.stop() } } : []
        if drivenClock != nil { QuiescenceMonitor.shared.add(tracker) }
        defer {
            for timer in timers { timer.cancel() }
            QuiescenceMonitor.shared.remove(tracker)
        }
        return try await work()
    }

    /// Prints why a failed test found no tag. The app's own error, such as a time limit, does not say so.
    func reportMissingTag() {
        if let missingTag { environment.print(missingTag, from: "NFCTestKit") }
    }

    /// Throws if the code departed from the recording.
    func checkRecording() throws(FieldError) {
        guard let departure = replay?.departure else { return }
        throw FieldError(.badRecording, "\(departure.reason) To record, set NFC_RECORD=FILE.", trace: trace)
    }

    /// Runs a test function in the field. A test function can't be abandoned, so the process ends if the function does
    /// not end after its task was cancelled.
    ///
    /// - Parameters:
    ///   - patience: on a real reader, the minimum time that a cancelled function has to end. A busy machine may need
    ///     many seconds to resume it.
    ///   - function: the test function.
    func attend(
        patience: Duration = .seconds(30),
        _ function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let outcome = Outcome<Void>()
        state.withLock { state in
            state.hasStarted = true
            state.stop = { [state = self.state] error in
                CurrentTest.detached { outcome.set(.failure(error)) }
                state.withLock { state in
                    state.stop = { error in
                        OutputDescriptor.standardError.write("\(error)\nNothing else can end this test function.\n")
                        exit(1)
                    }
                }
            }
        }
        // In real time, a function that has not ended after twice its limit ends the process.
        try await limited(by: [limit, limit + max(limit, patience)]) {
            try await NFCEnvironment.$scoped.withValue(environment) {
                async let end: Void = perform(function, outcome)
                try await outcome.value()
                await end
            }
        }
    }

    private func within<Value>(_ work: () -> Value) -> Value {
        CurrentTest.within(environment) { NFCEnvironment.$scoped.withValue(environment) { work() } }
    }

    private func perform(_ function: @concurrent @Sendable () async throws -> Void, _ outcome: Outcome<Void>) async {
        let result = await Result { try await function() }
        CurrentTest.detached { outcome.set(result) }
    }

    /// On a real reader, waits up to ten seconds for ending sessions. The next test, and the end of a recording, need
    /// the tag to be released.
    func releaseReader() async {
        guard drivenClock == nil else { return }
        let end = now + .seconds(10)
        while !environment.arbiter.isIdle, now < end { await wait(for: .milliseconds(10)) }
    }

    /// Removes all tags and ends all sessions and waits. This may also end an abandoned flow.
    func close() {
        let (settleCalls, pending) = state.withLock { state in
            defer {
                (state.settleCalls, state.pending, state.stop, state.isOpen, state.task) = ([], [], nil, false, nil)
            }
            return (state.settleCalls, state.pending)
        }
        OpenFields.remove(environment)
        for call in settleCalls { call.continuation.resume() }
        for completion in pending { completion.fail(FieldError.fieldIsGone) }
        virtual?.removeAll()
        if !environment.arbiter.isIdle { drivenClock?.advance(by: environment.limits.session) }
        // Waiting sessions, and sessions whose sheet is still visible, would otherwise keep the environment alive.
        environment.arbiter.close(with: .terminatedUnexpectedly(reason: "The field of the test has ended."))
        drivenClock?.close()
        VirtualTimers.fieldHasEnded(of: tracker)
    }
}

extension Result {
    init(_ work: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}

/// The outcome of a flow or a call. Passes the first result to the waiting caller, and ignores further results.
final class Outcome<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var resumeWaiter: (@Sendable (Result<Value, any Error>) -> Void)?
    }

    private let state = Locked(State())

    func set(_ result: Result<Value, any Error>) {
        let resumeWaiter = state.withLock { state -> (@Sendable (Result<Value, any Error>) -> Void)? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.resumeWaiter.take()
        }
        resumeWaiter?(result)
    }

    func value() async throws -> Value {
        try await withCompletion { done in
            let result = state.withLock { state in
                if state.result == nil { state.resumeWaiter = done }
                return state.result
            }
            if let result { done(result) }
        }.get()
    }
}
