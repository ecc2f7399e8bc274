// SPDX-License-Identifier: Apache-2.0
import Glibc
public import NFCRuntime
import TagLink

/// Puts a field in front of code under test: every session that the code makes uses it.
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
/// The field belongs to the test, so tests run in parallel: to its task and all tasks that it begins, to the blocks that it
/// puts on queues and delays, and to delegates and completion handlers. Where one field is open, every session belongs to it. See
/// <doc:Reference> for what else is followed, and for when time moves.
///
/// A closure that has not ended when the field's time is up is left behind: its task is cancelled, and the error has
/// the trace so far.
///
/// - Parameters:
///   - tags: tags that are near from the start.
///   - app: what the app declares of itself; nil for nothing, and all is allowed.
///   - seed: where all that is random comes from. The same seed gives the same trace.
///   - limit: the field's time at which a closure that has not ended is left behind.
///   - grace: how long nothing happens, in real time, before a session's limit of 60 or 20 seconds passes that the test has
///     not let pass with ``TestField/wait(for:)``.
///   - busyPolicy: what happens to a session that begins while the sheet of the last one is still leaving. Phones refuse it
///     with error 203: `.refuseWhileSheetLeaves`.
///   - reader: what the test runs on.
///   - body: the test.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws, or ``FieldError``: `neverEnds`, `queueIsBlocked`, `unknownField`, `fieldInField`, or why a tag
///   could not be made.
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
    let field = try await TestField.opened(
        tags,
        app: app,
        seed: seed,
        limit: limit,
        grace: Grace(duration: grace),
        busyPolicy: busyPolicy,
        reader: reader
    )
    do {
        let value = try await field.run(body)
        await field.letGoOfReader()
        try field.checkRecording()
        field.close()
        return value
    } catch {
        field.close()
        // A flow that fails because the recording does not fit fails for that reason.
        try field.checkRecording()
        throw error
    }
}

extension TestField {
    /// Makes a field with tags in it.
    static func opened(
        _ tags: [TagSpec],
        app: AppProperties?,
        seed: UInt64,
        limit: Duration,
        grace: Grace,
        busyPolicy: SessionArbiter.BusyPolicy = .queue,
        reader: TestReader
    ) async throws -> TestField {
        try Task.checkCancellation()
        guard (NFCEnvironment.scoped?.place as? FieldPlace)?.field == nil else {
            throw FieldError(
                .fieldInField,
                """
                There is a field around this test already. Use it: its bring(_:) puts several tags in it at once. An exploration \
                makes fields of its own: call explore outside of withField, and in a test without the trait .field.
                """
            )
        }
        guard limit > .zero else {
            throw FieldError(
                .badDuration,
                "limit: is \(limit), which leaves no time for a test. Leave it out for 600 seconds."
            )
        }
        guard grace.duration >= .zero else {
            throw FieldError(.badDuration, "grace: is \(grace.duration). Leave it out for a second.")
        }
        let field = TestField(
            reader: reader,
            app: app,
            seed: seed,
            limit: limit,
            grace: grace,
            busyPolicy: busyPolicy
        )
        for tag in tags { try await field.bring(tag) }
        OpenFields.add(field.environment)
        return field
    }

    /// Runs code in the field, until it ends or the field's time is up.
    func run<Value: Sendable>(
        _ body: @escaping @isolated(any) @Sendable (TestField) async throws -> Value
    ) async throws -> Value {
        let outcome = Outcome<Value>()
        state.withLock { state in
            state.hasStarted = true
            state.stop = { outcome.set(.failure($0)) }
        }
        let task = within {
            Task { [self] in
                let result: Result<Value, any Error>
                do {
                    result = .success(try await body(self))
                } catch {
                    result = .failure(error)
                }
                outcome.set(result)
            }
        }
        // On a reader the limit is one of real time.
        let timer = drivenClock == nil ? environment.clock.schedule(after: limit) { [weak self] in self?.stop() } : nil
        if drivenClock != nil { RestMonitor.shared.add(place) }
        defer {
            timer?.cancel()
            RestMonitor.shared.remove(place)
            task.cancel()
        }
        return try await withTaskCancellationHandler {
            try await outcome.value()
        } onCancel: {
            task.cancel()
        }
    }

    /// Says where a recording was left.
    func checkRecording() throws(FieldError) {
        guard let departure = replay?.departure else { return }
        throw FieldError(
            .badRecording,
            "\(departure.reason) NFC_RECORD=FILE records.",
            trace: trace
        )
    }

    /// Runs a test's own function in the field. It can't be left behind: when it does not end after its task was
    /// cancelled, the process ends.
    func attend(_ function: @concurrent @Sendable () async throws -> Void) async throws {
        let outcome = Outcome<Void>()
        state.withLock { state in
            state.hasStarted = true
            state.stop = { [state = self.state] error in
                outcome.set(.failure(error))
                state.withLock { state in
                    state.stop = { error in
                        OutputDescriptor.standardError.write("\(error)\nNothing else can end this test function.\n")
                        exit(1)
                    }
                }
            }
        }
        if drivenClock != nil { RestMonitor.shared.add(place) }
        defer { RestMonitor.shared.remove(place) }
        try await NFCEnvironment.$scoped.withValue(environment) {
            async let end: Void = perform(function, outcome)
            try await outcome.value()
            await end
        }
    }

    /// Does something as the field's test.
    private func within<Value>(_ work: () -> Value) -> Value {
        CarriedPlace.within(environment) { NFCEnvironment.$scoped.withValue(environment) { work() } }
    }

    private func perform(_ function: @concurrent @Sendable () async throws -> Void, _ outcome: Outcome<Void>) async {
        do {
            try await function()
            outcome.set(.success(()))
        } catch {
            outcome.set(.failure(error))
        }
    }

    /// On a reader, waits for the sessions that are ending: a reader takes its time to let go of a tag, and the next test
    /// and a recording's end want it done. A session that is left open is waited for in vain.
    func letGoOfReader() async {
        guard drivenClock == nil else { return }
        let end = now + .seconds(10)
        while !environment.arbiter.isIdle, now < end { await wait(for: .milliseconds(10)) }
    }

    /// Takes everything out of the field and ends what is still there; a flow that was left behind may end by that.
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
        // A session that waits for its turn, or whose sheet is still leaving, would hold the environment.
        environment.arbiter.close(with: .terminatedUnexpectedly(reason: "The field of the test has ended."))
        drivenClock?.close()
    }
}

/// What becomes of a flow: the first result counts, and whoever waits for it gets it.
private final class Outcome<Value: Sendable>: Sendable {
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
        CarriedPlace.handingOver { waiting?(result) }
    }

    func value() async throws -> Value {
        try await handedOver { done in
            let result = state.withLock { state in
                if state.result == nil { state.waiting = done }
                return state.result
            }
            if let result { done(result) }
        }.get()
    }
}
