// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import NFCSessions
import TagLink
import TagTrace
public import VirtualTags

extension TestField {
    // MARK: Time

    /// Waits until the code under test can continue only if time passes or the user acts. Not needed on a real reader,
    /// where it returns at once.
    ///
    /// The phone's own pauses pass meanwhile, up to half a second: the sheet appears in 300 ms, the reader looks for
    /// tags 250 ms after polling was restarted, and a session's end is reported after 50 ms.
    public func settle() async { await settle(passing: .milliseconds(500)) }

    /// Waits like ``settle()``, and lets the phone's own pauses pass that end within a time from now.
    private func settle(passing pauses: Duration) async {
        guard let clock = drivenClock else { return }
        let end = clock.now + pauses
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                if state.isOpen { state.settleCalls.append(SettleCall(continuation: continuation, end: end)) }
                return state.isOpen
            }
            if !waits { continuation.resume() }
        }
    }

    /// Lets time pass, including all events in that time. On a real reader, this is real time.
    ///
    /// The time starts when the code under test can do nothing but wait. Work that the test has just started in another
    /// task is done before.
    public func wait(for duration: Duration) async {
        await settle()
        let clock = environment.clock
        let target = clock.now + duration
        state.withLock { $0.target = max($0.target, target) }
        await withCheckedContinuation { continuation in
            let wait = VirtualUserWait(continuation)
            _ = clock.schedule(after: duration) { wait.end() }
        }
        await settle(passing: .zero)
    }

    // MARK: Tags

    /// Brings a tag near.
    ///
    /// - Parameter spec: the new tag. On a real reader, the user is asked to put it on the reader.
    /// - Returns: the tag.
    /// - Throws: ``FieldError`` with `fieldIsGone`, `unknownProduct`, `badTag`.
    @discardableResult
    public func bring(_ spec: TagSpec) async throws -> NearbyTag {
        let tag = try await make(spec)
        try await bring(tag)
        return tag
    }

    /// Brings an existing tag near. Several tags can be in the field at the same time.
    public func bring(_ tag: NearbyTag) async throws {
        if isStarted { try await act("brings \(tag)") }
        virtual?.bring(tag.virtual)
    }

    /// Creates a tag without bringing it near.
    public func make(_ spec: TagSpec) async throws -> NearbyTag {
        guard isOpen else { throw FieldError.fieldIsGone }
        let number = state.withLock { state in
            defer { state.tagsMade += 1 }
            return state.tagsMade
        }
        // In a task of its own: a flow that was cancelled can still bring a tag.
        let made = try await Task { [seed] in try await spec.make(seed: seed &+ number) }.value
        let tag = NearbyTag(made, in: self)
        if virtual == nil, replay == nil { Self.ask("Put this on the reader: \(spec)") }
        state.withLock { state in
            state.tags.append(tag)
            state.courses?.append(MemoryCourse(tag.areasBefore))
        }
        return tag
    }

    /// Creates the second tag of an exploration. The UIDs of the tags that the flow creates stay the same.
    func makeCompanion(_ spec: TagSpec) async throws -> NearbyTag {
        let tag = NearbyTag(try await spec.make(seed: seed &- 1), in: self, isCompanion: true)
        state.withLock { $0.tags.append(tag) }
        return tag
    }

    /// Takes a tag away; nil for all tags.
    public func takeAway(_ tag: NearbyTag? = nil) async throws {
        try await act("takes \(tag.map(\.description) ?? "everything") away")
        if let tag { virtual?.remove(tag.virtual) } else { virtual?.removeAll() }
    }

    /// Takes all tags away, and brings a new tag near at the same moment.
    @discardableResult
    public func swap(for spec: TagSpec) async throws -> NearbyTag {
        let tag = try await make(spec)
        try await act("swaps it for \(tag)")
        virtual?.removeAll()
        virtual?.bring(tag.virtual)
        return tag
    }

    /// Sets the faults, which replace all earlier faults. Exchanges and writes are counted from this call.
    ///
    /// - Throws: ``FieldError`` with `notVirtual` on a real reader.
    public func inject(_ faults: FaultPlan) throws {
        guard let virtual else {
            throw FieldError(
                .notVirtual,
                "Faults are for virtual tags. Run this without NFC_TEST_READER and without a recording."
            )
        }
        if !faults.isEmpty { note("\(Trace.faultMark)set by the test: \(faults)") }
        virtual.arm(faults)
    }

    /// Whether a raw MIFARE command that the tag refuses gets the four bits of its negative acknowledgement as a byte of
    /// data. Reports of phones differ; by default, the command fails with error 100, and the tag is lost.
    public var deliversRefusals: Bool {
        get { environment.deliversRefusals }
        set { environment.deliversRefusals = newValue }
    }

    // MARK: The sheet

    /// Presses Cancel on the sheet.
    ///
    /// - Throws: ``FieldError`` with `fieldIsGone`, or `noButton` when the sheet is not shown or is disappearing.
    public func cancelSheet() async throws {
        try await act("presses Cancel")
        guard sheet.cancel() else {
            throw FieldError(.noButton, "No session is active, so there is no Cancel button. Begin a session first.")
        }
        state.withLock { $0.isCancelledByTest = true }
    }

    private func act(_ what: String) async throws {
        guard isOpen else { throw FieldError.fieldIsGone }
        await settle()
        guard isOpen else { throw FieldError.fieldIsGone }
        note("the user \(what)")
    }

    // MARK: Scans

    /// Scans twice, one scan after the other. Finds a client that keeps state from a scan that ended.
    ///
    /// ```swift
    /// try await explore(.everything, near: ticket) { field in
    ///     let scanner = Scanner()
    ///     return try await field.twice { try await scanner.scan() }
    /// }
    /// ```
    ///
    /// The user tries a failed scan again, once. So a fault of an exploration may end one scan, and two still succeed.
    /// The second scan has to be possible on a tag that the first has written.
    ///
    /// - Parameter scan: scans once.
    /// - Returns: the result of the last scan.
    /// - Throws: the error of the second scan that fails.
    @discardableResult
    public func twice<Value>(_ scan: () async throws -> Value) async throws -> Value {
        var (successes, failures) = (0, 0)
        while true {
            do {
                let value = try await scan()
                successes += 1
                if successes == 2 { return value }
            } catch {
                failures += 1
                if failures == 2 || error is FieldError { throw error }
            }
            // The user can press the app's button again when the sheet has disappeared.
            await wait(for: .seconds(3))
            note("the user scans again")
        }
    }

    /// Scans as if the user tapped the app's button twice: the second scan begins before the first has shown its sheet.
    /// Finds a client whose second scan replaces what the first one needs to end.
    ///
    /// A client may refuse either scan, but both have to end.
    ///
    /// - Parameter scan: scans once.
    /// - Returns: the result of the first scan; if that fails, the result of the second.
    /// - Throws: the first scan's error, if both fail.
    @discardableResult
    public func doubleTap<Value: Sendable>(
        _ scan: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        async let first = Result { try await scan() }
        await settle(passing: .zero)
        note("the user taps a second time")
        let second = await Result { try await scan() }
        switch (await first, second) {
        case (.success(let value), _), (.failure, .success(let value)): return value
        case (.failure(let error), .failure): throw error
        }
    }

    private static func ask(_ text: String) { OutputDescriptor.standardError.write(text + "\n") }

    var isStarted: Bool { state.withLock { $0.hasStarted } }

    // MARK: Completions

    /// Starts work that calls a completion handler, and waits for the call.
    ///
    /// ```swift
    /// let result = try await field.completion("write") { app.write("Hello", completion: $0) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: the name of the handler in the trace. A repeated name gets a number, as in "write 2".
    ///   - start: starts the work, and receives the handler.
    /// - Returns: the argument of the handler's first call. Further calls are counted, see ``Invariant/completesOnce``.
    /// - Throws: ``FieldError`` when the field ends before the first call.
    public func completion<Value: Sendable>(
        _ name: String = "completion",
        of start: (@escaping @Sendable (Value) -> Void) -> Void
    ) async throws -> Value {
        // The outcome is either the handler's call or the field's end, whichever happens first.
        let outcome = Outcome<Value>()
        let (isOpen, key) = state.withLock { state in
            let key = state.newCompletion(name)
            if state.isOpen { state.pending.append((key, { outcome.set(.failure($0)) })) }
            return (state.isOpen, key)
        }
        guard isOpen else { throw FieldError.fieldIsGone }
        start { [self] value in
            completed(key)
            outcome.set(.success(value))
        }
        return try await outcome.value()
    }

    /// Counts a call of a completion handler that the test passes to the app without ``completion(_:of:)``.
    public func completed(_ name: String = "completion") {
        note("called: \(name)")
        state.withLock { state in
            state.completions[name, default: 0] += 1
            state.pending.removeAll { $0.name == name }
        }
    }
}

/// A wait of the test. It ends when its time is over. It also ends when the field has ended, because the time does not
/// advance any more.
private final class VirtualUserWait: Sendable {
    private let continuation: Locked<CheckedContinuation<Void, Never>?>

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = Locked(continuation) }

    deinit { end() }

    func end() { continuation.withLock { $0.take() }?.resume() }
}
