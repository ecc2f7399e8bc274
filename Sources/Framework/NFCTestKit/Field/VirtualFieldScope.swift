// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
public import VirtualTags

/// A virtual field for code under test, with its own clock and its own scanning sheet.
///
/// ```swift
/// try await withVirtualField { field in
///     field.tags.bring(tag)
///     try await scan()  // the app's own Core NFC code
///     #expect(field.sheet.content?.state == .success)
/// }
/// ```
///
/// The scope belongs to the task, so tests run in parallel. A session uses the field that is in scope when the session
/// is created.
public struct VirtualFieldScope: Sendable {
    /// The field: bring tags near it, and take them away.
    public let tags: VirtualField
    /// The clock of sessions. Frames advance it by their airtime, and a test advances it by hand.
    public let clock: ManualClock
    /// The scanning sheet: what it showed, and its Cancel button.
    public let sheet: RecordingSheet
    /// The reader for which the code under test may emulate a card, with `CardSession`.
    public let cardReader: VirtualCardReader
    /// The environment that sessions of the scope use.
    public let environment: NFCEnvironment
}

/// Runs code with a virtual field in place of the machine's reader.
///
/// - Parameters:
///   - busyPolicy: what happens to a session that begins while the previous session's sheet is still disappearing.
///   - limits: the time limits of a session.
///   - body: the code. Every session that it creates uses the field, also in child tasks.
/// - Returns: what `body` returns.
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
        place: TestTracker(isDriven: false)
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
/// - Parameters:
///   - reason: why there is no reader.
///   - body: the code.
/// - Returns: what `body` returns.
public func withoutReader<Value>(
    reason: String = "There is no reader.",
    _ body: () async throws -> Value
) async rethrows -> Value {
    let environment = NFCEnvironment(reader: .none(reason: reason), clock: ManualClock())
    return try await NFCEnvironment.$scoped.withValue(environment) { try await body() }
}

extension VirtualFieldScope {
    /// Waits until no session uses the reader. Real time passes meanwhile; the field's own time does not.
    public func untilIdle() async throws {
        while !environment.arbiter.isIdle {
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
