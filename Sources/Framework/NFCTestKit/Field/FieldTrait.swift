// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
public import Testing
public import VirtualTags

/// Runs a test in a ``TestField``, see `.field(_:app:seed:limit:grace:busyPolicy:)`.
public struct FieldTrait: TestTrait, SuiteTrait, TestScoping {
    private var settings: FieldSettings

    fileprivate init(_ settings: FieldSettings) { self.settings = settings }

    /// The reader; nil for the reader of the process.
    package var reader: TestReader? {
        get { settings.reader }
        set { settings.reader = newValue }
    }

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A suite's trait is applied to each test and also to the suite itself, which needs no field.
        guard testCase != nil else { return try await function() }
        let field = try await TestField.opened(settings)
        defer {
            field.close()
            CurrentTest.detach()
        }
        do {
            try await field.attend(function)
        } catch {
            field.reportMissingTag()
            throw error
        }
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
    /// A test function can't be abandoned. If it does not end even after its task is cancelled, the process ends. The
    /// parameters are the same as for ``withField(_:app:seed:limit:grace:busyPolicy:reader:_:)``.
    public static func field(
        _ tags: TagSpec...,
        app: AppProperties? = nil,
        seed: UInt64 = 0,
        limit: Duration = .seconds(600),
        grace: Duration = .seconds(1),
        busyPolicy: SessionArbiter.BusyPolicy = .queue
    ) -> FieldTrait {
        FieldTrait(FieldSettings(tags, app, seed, limit, grace, busyPolicy, nil))
    }
}

/// A virtual field for code under test, with its own clock and scanning sheet.
///
/// ```swift
/// try await withVirtualField { field in
///     field.tags.bring(tag)
///     try await scan()  // the app's own Core NFC code
///     #expect(field.sheet.content?.state == .success)
/// }
/// ```
///
/// The scope belongs to the task, so tests can run in parallel. A session uses the field that is in scope when the
/// session is created.
public struct VirtualFieldScope: Sendable {
    /// The field, to which a test brings tags and from which it takes them away.
    public let tags: VirtualField
    /// The clock of sessions. Frames advance it by their airtime, and a test advances it by hand.
    public let clock: ManualClock
    /// The scanning sheet, with its history and its Cancel button.
    public let sheet: RecordingSheet
    /// The reader that uses the card if the code under test emulates one with `CardSession`.
    public let cardReader: VirtualCardReader
    /// The environment of the scope's sessions.
    public let environment: NFCEnvironment
}

/// Runs code with a virtual field instead of the machine's reader.
///
/// - Parameters:
///   - busyPolicy: the treatment of a session that begins while the previous session's sheet is still visible.
///   - limits: the time limits of a session.
///   - body: the code. Every session that the code or its child tasks create uses the field.
/// - Returns: the result of `body`.
public func withVirtualField<Value>(
    busyPolicy: SessionArbiter.BusyPolicy = .queue,
    limits: SessionLimits = SessionLimits(),
    _ body: (VirtualFieldScope) async throws -> Value
) async rethrows -> Value {
    let clock = ManualClock()
    let sheet = RecordingSheet()
    let field = VirtualField(onElapsed: { clock.advance(by: $0) })
    let cardReader = VirtualCardReader()
    let environment = NFCEnvironment(
        reader: .field(field),
        clock: clock,
        sheet: sheet,
        arbiter: SessionArbiter(policy: busyPolicy),
        limits: limits,
        cardPort: cardReader,
        belongsToTest: true,
        testContext: TestTracker(isDriven: false)
    )
    OpenFields.add(environment)
    defer { OpenFields.remove(environment) }
    let scope = VirtualFieldScope(
        tags: field,
        clock: clock,
        sheet: sheet,
        cardReader: cardReader,
        environment: environment
    )
    return try await NFCEnvironment.$scoped.withValue(environment) { try await body(scope) }
}

/// Runs code as on a machine without a reader.
///
/// - Returns: the result of `body`.
public func withoutReader<Value>(
    reason: String = "No reader was found.",
    _ body: () async throws -> Value
) async rethrows -> Value {
    let environment = NFCEnvironment(reader: .none(reason: reason), clock: ManualClock())
    return try await NFCEnvironment.$scoped.withValue(environment) { try await body() }
}

extension VirtualFieldScope {
    /// Waits, in real time, until no session uses the reader. This does not advance the field's clock.
    public func untilIdle() async throws {
        while !environment.arbiter.isIdle {
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
