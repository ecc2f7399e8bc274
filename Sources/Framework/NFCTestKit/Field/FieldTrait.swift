// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
public import Testing

/// Runs a test in a ``TestField``, see `.field(_:app:seed:limit:grace:busyPolicy:)`.
public struct FieldTrait: TestTrait, SuiteTrait, TestScoping {
    let tags: [TagSpec]
    let app: AppProperties?
    let seed: UInt64
    let limit: Duration
    let grace: Duration
    let busyPolicy: SessionArbiter.BusyPolicy
    /// The reader; nil for the one of the process.
    package var reader: TestReader?

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A suite's trait is applied to each of its tests, and also to the suite itself, which gets no field.
        guard testCase != nil else { return try await function() }
        let field = try await TestField.opened(
            tags,
            app: app,
            seed: seed,
            limit: limit,
            grace: Grace(duration: grace),
            busyPolicy: busyPolicy,
            reader: reader ?? .ofProcess
        )
        defer {
            field.close()
            CurrentTest.handOver()
        }
        try await field.attend(function)
        await field.releaseReader()
    }
}

extension Trait where Self == FieldTrait {
    /// Runs a test, or each test of a suite, in a field. The test gets the field from ``TestField/current``.
    ///
    /// ```swift
    /// @Test(.field("NTAG215")) func `An empty tag is reported`() async throws {
    ///     let field = try #require(TestField.current)
    ///     …
    /// }
    /// ```
    ///
    /// A test function can't be abandoned. If it does not end even after its task is cancelled, the process ends.
    ///
    /// - Parameters:
    ///   - tags: the tags that are near from the start.
    ///   - app: the app's property list and entitlements.
    ///   - seed: the source of everything random.
    ///   - limit: the field's time limit; a test that has not ended by then fails.
    ///   - grace: how long nothing has to happen, in real time, before a session's time limit of 60 or 20 seconds may
    ///     pass without a call of ``TestField/wait(for:)``.
    ///   - busyPolicy: what happens to a session that begins while the previous session's sheet is still disappearing.
    ///     Phones refuse it with error 203: `.refuseWhileSheetLeaves`.
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
