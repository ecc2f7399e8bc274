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
/// The field belongs to the test, so tests run in parallel. It applies to the test's task and all tasks that it starts,
/// to the blocks and delays that it puts on queues, and to delegates and completion handlers. If only one field is
/// open, every session belongs to it. See <doc:Reference> for the other cases, and for when time advances.
///
/// If the closure has not ended at the field's time limit, it is abandoned: its task is cancelled, and the error
/// contains the trace so far.
///
/// - Parameters:
///   - tags: the tags that are near from the start.
///   - app: the app's property list and entitlements; nil for none, so that everything is allowed.
///   - seed: the source of everything random. The same seed gives the same trace.
///   - limit: the field's time limit; a closure that has not ended by then is abandoned.
///   - grace: how long nothing has to happen, in real time, before a session's time limit of 60 or 20 seconds may pass
///     without a call of ``TestField/wait(for:)``.
///   - busyPolicy: what happens to a session that begins while the previous session's sheet is still disappearing.
///     Phones refuse it with error 203: `.refuseWhileSheetLeaves`.
///   - reader: the reader on which the test runs.
///   - body: the test.
/// - Returns: what `body` returns.
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
        field.close()
        // If the flow departed from the recording, that is why it failed: report that instead.
        try field.checkRecording()
        throw error
    }
}

/// What a field is opened with, see ``withField(_:app:seed:limit:grace:busyPolicy:reader:_:)``.
struct FieldSettings: Sendable {
    var tags: [TagSpec]
    var app: AppProperties?
    var seed: UInt64
    var limit: Duration
    /// Nil for a second.
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
    /// - Parameter hasGrace: false if there is no grace as long as all work is counted.
    static func opened(_ settings: FieldSettings, hasGrace: Bool = true) async throws -> TestField {
        try Task.checkCancellation()
        guard (NFCEnvironment.scoped?.testContext as? TestTracker)?.field == nil else {
            throw FieldError(
                .fieldInField,
                """
                There is a field around this test already. Use it: its bring(_:) puts several tags in it at once. An exploration \
                makes fields of its own: call explore outside of withField, and in a test without the trait .field.
                """
            )
        }
        guard settings.limit > .zero else {
            throw FieldError(
                .badDuration,
                "limit: is \(settings.limit), which leaves no time for a test. Leave it out for 600 seconds."
            )
        }
        let grace = IdleTimeout(duration: settings.grace ?? .seconds(1), isNoneWhenCounted: !hasGrace)
        guard grace.duration >= .zero else {
            throw FieldError(.badDuration, "grace: is \(grace.duration). Leave it out for a second.")
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
        let task = within {
            Task { [self] in
                let result = await Result { try await body(self) }
                CurrentTest.detached { outcome.set(result) }
            }
        }
        defer { task.cancel() }
        return try await withTaskCancellationHandler {
            try await limited(by: [limit]) { try await outcome.value() }
        } onCancel: {
            task.cancel()
        }
    }

    /// Runs code while the field's time is watched.
    ///
    /// - Parameter limits: when to stop the code if the field has real time.
    private func limited<Value>(by limits: [Duration], _ work: () async throws -> Value) async throws -> Value {
        let timers =
            drivenClock == nil
            ? limits.map { environment.clock.schedule(after: $0) { [weak self] in self?.stop() } } : []
        if drivenClock != nil { QuiescenceMonitor.shared.add(place) }
        defer {
            for timer in timers { timer.cancel() }
            QuiescenceMonitor.shared.remove(place)
        }
        return try await work()
    }

    /// Throws if the code departed from the recording.
    func checkRecording() throws(FieldError) {
        guard let departure = replay?.departure else { return }
        throw FieldError(.badRecording, "\(departure.reason) NFC_RECORD=FILE records.", trace: trace)
    }

    /// Runs a test function in the field. It can't be abandoned: if it does not end after its task was cancelled, the
    /// process ends.
    ///
    /// - Parameters:
    ///   - patience: how long a function has at least to end after it was cancelled, on a reader. A machine whose processors
    ///     are all busy with other tests may need many seconds to resume it.
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

    /// Runs code as the field's test.
    private func within<Value>(_ work: () -> Value) -> Value {
        CurrentTest.within(environment) { NFCEnvironment.$scoped.withValue(environment) { work() } }
    }

    private func perform(_ function: @concurrent @Sendable () async throws -> Void, _ outcome: Outcome<Void>) async {
        let result = await Result { try await function() }
        CurrentTest.detached { outcome.set(result) }
    }

    /// On a reader, waits for the sessions that are ending, up to a limit. A reader takes time to release a tag, and
    /// the next test and the end of a recording need that to be done.
    func releaseReader() async {
        guard drivenClock == nil else { return }
        let end = now + .seconds(10)
        while !environment.arbiter.isIdle, now < end { await wait(for: .milliseconds(10)) }
    }

    /// Removes all tags and ends everything that is still active. That may also end an abandoned flow.
    func close() {
        let (waiting, pending) = state.withLock { state in
            defer { (state.waiting, state.pending, state.stop, state.isOpen) = ([], [], nil, false) }
            return (state.waiting, state.pending)
        }
        OpenFields.remove(environment)
        for continuation in waiting { continuation.resume() }
        for completion in pending { completion.fail(FieldError.fieldIsGone) }
        virtual?.removeAll()
        if !environment.arbiter.isIdle { drivenClock?.advance(by: environment.limits.session) }
        // Ends sessions that wait for their turn or whose sheet is still disappearing; otherwise they would keep the
        // environment alive.
        environment.arbiter.close(with: .terminatedUnexpectedly(reason: "The field of the test has ended."))
        drivenClock?.close()
    }
}

extension Result {
    /// The result of some code.
    init(_ work: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}

/// The outcome of a flow or a call: the first result counts, and the waiting caller gets it.
final class Outcome<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiting: (@Sendable (Result<Value, any Error>) -> Void)?
    }

    private let state = Locked(State())

    func set(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> (@Sendable (Result<Value, any Error>) -> Void)? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.waiting.take()
        }
        waiting?(result)
    }

    func value() async throws -> Value {
        try await withCompletion { done in
            let result = state.withLock { state in
                if state.result == nil { state.waiting = done }
                return state.result
            }
            if let result { done(result) }
        }.get()
    }
}
