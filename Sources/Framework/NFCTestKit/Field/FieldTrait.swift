// SPDX-License-Identifier: Apache-2.0
public import NFCRuntime
public import Testing

/// Puts a ``TestField`` around a test, see `.field(_:app:seed:limit:grace:busyPolicy:)`.
public struct FieldTrait: TestTrait, SuiteTrait, TestScoping {
    let tags: [TagSpec]
    let app: AppProperties?
    let seed: UInt64
    let limit: Duration
    let grace: Duration
    let busyPolicy: SessionArbiter.BusyPolicy

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A suite's trait comes to each of its tests, and again for the suite itself, which has no field.
        guard testCase != nil else { return try await function() }
        let field = try await TestField.opened(
            tags,
            app: app,
            seed: seed,
            limit: limit,
            grace: Grace(duration: grace),
            busyPolicy: busyPolicy,
            reader: .ofProcess
        )
        defer {
            field.close()
            CarriedPlace.handOver()
        }
        try await field.attend(function)
        await field.letGoOfReader()
    }
}

extension Trait where Self == FieldTrait {
    /// Puts a field around a test, or around each test of a suite; ``TestField/current`` is it.
    ///
    /// ```swift
    /// @Test(.field("NTAG215")) func `An empty tag is told`() async throws {
    ///     let field = try #require(TestField.current)
    ///     …
    /// }
    /// ```
    ///
    /// A test function can't be left behind: one that never ends, not when its task is cancelled either, ends the process.
    ///
    /// - Parameters:
    ///   - tags: tags that are near from the start.
    ///   - app: what the app declares of itself.
    ///   - seed: where all that is random comes from.
    ///   - limit: the field's time at which a test that has not ended fails.
    ///   - grace: how long nothing happens, in real time, before a session's limit of 60 or 20 seconds passes that the test has
    ///     not let pass with ``TestField/wait(for:)``.
    ///   - busyPolicy: what happens to a session that begins while the sheet of the last one is still leaving. Phones refuse it
    ///     with error 203: `.refuseWhileSheetLeaves`.
    public static func field(
        _ tags: TagSpec...,
        app: AppProperties? = nil,
        seed: UInt64 = 0,
        limit: Duration = .seconds(600),
        grace: Duration = .seconds(1),
        busyPolicy: SessionArbiter.BusyPolicy = .queue
    ) -> FieldTrait {
        FieldTrait(tags: tags, app: app, seed: seed, limit: limit, grace: grace, busyPolicy: busyPolicy)
    }
}
