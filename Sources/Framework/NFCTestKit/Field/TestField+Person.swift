// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagLink
public import VirtualTags

extension TestField {
    // MARK: Time

    /// Waits until the code under test has nothing left to do but to wait for time or a person. On a reader, goes on at
    /// once.
    public func settle() async {
        guard drivenClock != nil else { return }
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                if state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if !waits { continuation.resume() }
        }
    }

    /// Lets time pass, with all that happens meanwhile. On a reader it is real time.
    ///
    /// It passes from the moment on at which the code has nothing left to do but to wait: what the test has just begun in
    /// another task comes first.
    public func wait(for duration: Duration) async {
        await settle()
        let clock = environment.clock
        let target = clock.now + duration
        state.withLock { $0.target = max($0.target, target) }
        await withCheckedContinuation { continuation in
            let wait = PersonsWait(continuation)
            _ = clock.schedule(after: duration) { wait.end() }
        }
        await settle()
    }

    // MARK: Tags

    /// Brings a tag near.
    ///
    /// - Parameter spec: the tag, made anew. On a reader the person is asked for it.
    /// - Returns: the tag.
    /// - Throws: ``FieldError`` with `fieldIsGone`, `unknownProduct`, `badTag`.
    @discardableResult
    public func bring(_ spec: TagSpec) async throws -> NearbyTag {
        let tag = try await make(spec)
        try await bring(tag)
        return tag
    }

    /// Brings a tag near that was near before, or that ``make(_:)`` made. Two can be near at once.
    public func bring(_ tag: NearbyTag) async throws {
        if isStarted { try await act("brings \(tag)") }
        virtual?.bring(tag.virtual)
    }

    /// Makes a tag, and keeps it far from the reader.
    public func make(_ spec: TagSpec) async throws -> NearbyTag {
        guard isOpen else { throw FieldError.fieldIsGone }
        let number = state.withLock { state in
            defer { state.tagsMade += 1 }
            return state.tagsMade
        }
        let tag = NearbyTag(try await spec.make(seed: seed &+ number), in: self)
        if drivenClock == nil { Self.ask("Put this on the reader: \(spec)") }
        state.withLock { $0.tags.append(tag) }
        return tag
    }

    /// Takes a tag away, or all of them.
    public func takeAway(_ tag: NearbyTag? = nil) async throws {
        try await act("takes \(tag.map(\.description) ?? "everything") away")
        if let tag { virtual?.remove(tag.virtual) } else { virtual?.removeAll() }
    }

    /// Takes all tags away and puts another one there at once.
    @discardableResult
    public func swap(for spec: TagSpec) async throws -> NearbyTag {
        let tag = try await make(spec)
        try await act("swaps it for \(tag)")
        virtual?.removeAll()
        virtual?.bring(tag.virtual)
        return tag
    }

    /// Sets what goes wrong from now on, in place of what was set before. Exchanges and writes count from here.
    ///
    /// - Throws: ``FieldError`` with `notVirtual` on a reader.
    public func inject(_ faults: FaultPlan) throws {
        guard let virtual else {
            throw FieldError(
                .notVirtual,
                "Faults are for virtual tags. Run this without NFC_TEST_READER and without a recording."
            )
        }
        virtual.arm(faults)
    }

    // MARK: The sheet

    /// Presses Cancel on the sheet.
    ///
    /// - Throws: ``FieldError`` with `fieldIsGone`, or `noButton` when the sheet is not there or is leaving.
    public func cancelSheet() async throws {
        try await act("presses Cancel")
        guard sheet.cancel() else {
            throw FieldError(.noButton, "There is no Cancel button: no session is active. Begin one first.")
        }
    }

    private func act(_ what: String) async throws {
        guard isOpen else { throw FieldError.fieldIsGone }
        await settle()
        guard isOpen else { throw FieldError.fieldIsGone }
        note("the person \(what)")
    }

    private static func ask(_ text: String) { OutputDescriptor.standardError.write(text + "\n") }

    var isStarted: Bool { state.withLock { $0.hasStarted } }

    // MARK: Completions

    /// Starts something that calls a completion handler, and waits for it.
    ///
    /// ```swift
    /// let result = try await field.completion("write") { app.write("Hello", completion: $0) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: what it is called in the trace.
    ///   - start: begins the work; it is given the handler.
    /// - Returns: what the handler was first called with. Further calls are counted, see ``Invariant/completesOnce``.
    /// - Throws: ``FieldError`` when the field ends before.
    public func completion<Value: Sendable>(
        _ name: String = "completion",
        of start: (@escaping @Sendable (Value) -> Void) -> Void
    ) async throws -> Value {
        let result: Result<Value, any Error> = await handedOver { done in
            // What comes first counts: the handler's call, or the field's end.
            let first = Locked<(@Sendable (Result<Value, any Error>) -> Void)?>(done)
            let isOpen = state.withLock { state in
                // A handler that is never called counts too.
                state.completions[name] = state.completions[name] ?? 0
                if state.isOpen {
                    state.pending.append((name, { error in first.withLock { $0.take() }?(.failure(error)) }))
                }
                return state.isOpen
            }
            guard isOpen else {
                first.withLock { $0.take() }?(.failure(FieldError.fieldIsGone))
                return
            }
            start { [self] value in
                completed(name)
                first.withLock { $0.take() }?(.success(value))
            }
        }
        return try result.get()
    }

    /// Counts a call of a completion handler that the test gives to the app by itself.
    public func completed(_ name: String = "completion") {
        note("called: \(name)")
        state.withLock { state in
            state.completions[name, default: 0] += 1
            state.pending.removeAll { $0.name == name }
        }
    }
}

/// A wait of the test, which ends when its time has come, or when the field has ended and nobody moves the time on.
private final class PersonsWait: Sendable {
    private let continuation: Locked<CheckedContinuation<Void, Never>?>

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = Locked(continuation) }

    deinit { end() }

    func end() { continuation.withLock { $0.take() }?.resume() }
}
