// SPDX-License-Identifier: Apache-2.0
package import Dispatch
import TagLink
public import TagProtocols

/// Why an app's command to a tag failed.
public enum CommandError: Error, Sendable, Hashable {
    /// The session has ended, or was never begun.
    case sessionInvalidated
    /// The tag is not the connected one.
    case notConnected
    /// The tag can't be used any more: it left, its time limit was over, or polling was restarted.
    case tagUnavailable
    /// The procedure on the tag failed.
    case tag(TagError)
}

/// Whether a command connects its tag first.
package enum Connecting: Sendable {
    case never
    /// If no tag is connected.
    case ifNeeded
    /// In any case; a connected tag is asked whether it is near.
    case always
}

extension ReaderSession {
    /// Connects to a tag. If another tag is selected, this wakes the tag; in any case, it checks that the tag is near.
    ///
    /// A tag that is already connected is checked with the cheapest exchange of its technology: READ of a page, R(NAK),
    /// Request Response or polling, READ SINGLE BLOCK. For a card behind PC/SC, the reader is asked instead. The time
    /// limit of the connection does not restart.
    ///
    /// - Parameters:
    ///   - tag: one of the tags found last.
    ///   - completion: called once, on any thread; with ``CommandError`` on failure.
    public nonisolated func connect(
        to tag: ConnectableTag,
        completion: @escaping @Sendable (Result<Void, CommandError>) -> Void
    ) {
        perform(on: tag, connecting: .always, { _ in }, completion: completion)
    }

    /// Runs a procedure on a tag, after the commands that were given before. All commands of an app take this way.
    ///
    /// - Parameters:
    ///   - tag: the connected tag, or one of those found last if it is connected first.
    ///   - connecting: whether to connect it first.
    ///   - queue: where the completion is called, within the environment; nil for any thread.
    ///   - procedure: works with the tag. It must not keep it.
    ///   - completion: called once, with the procedure's value or ``CommandError``, even when the session has ended.
    package nonisolated func perform<Value: Sendable>(
        on tag: ConnectableTag,
        connecting: Connecting = .never,
        queue: DispatchQueue? = nil,
        _ procedure: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Value,
        completion: @escaping @Sendable (Result<Value, CommandError>) -> Void
    ) {
        enqueue { session in
            let result: Result<Value, CommandError>
            do throws(CommandError) {
                let activated = try await session.usable(tag, connecting)
                do throws(TagError) {
                    result = .success(try await procedure(activated))
                } catch {
                    throw session.failure(error, of: tag)
                }
            } catch {
                // A command that was cut off by the end of the session failed because of it.
                result = .failure(session.hasEnded ? .sessionInvalidated : error)
            }
            session.noteContact()
            guard let queue else { return completion(result) }
            session.environment.call(on: queue) { completion(result) }
        }
    }

    /// Connects to a tag and runs a procedure on it, after the commands that were given before.
    ///
    /// - Parameters:
    ///   - tag: one of the tags found last.
    ///   - procedure: works with the tag. It must not keep it.
    /// - Returns: the procedure's value.
    /// - Throws: ``CommandError``.
    package nonisolated func work<Value: Sendable>(
        with tag: ConnectableTag,
        _ procedure: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Value
    ) async throws(CommandError) -> Value {
        try await withCompletion { perform(on: tag, connecting: .always, procedure, completion: $0) }.get()
    }

    /// Reads the NDEF messages of tags that were found, one tag after the other. Tags without a message are left out.
    ///
    /// - Parameters:
    ///   - tags: the tags found last.
    ///   - completion: called once, on any thread, with the bytes of each message; with nil if these tags are not the
    ///     ones found last, or the session has ended.
    package nonisolated func readMessages(
        from tags: [ConnectableTag],
        completion: @escaping @Sendable ([[UInt8]]?) -> Void
    ) {
        enqueue { session in
            // After a restart the tags are found again, and their messages are read then.
            guard session.areFoundLast(tags) else { return completion(nil) }
            var messages: [[UInt8]] = []
            for tag in tags {
                // A tag without a message, or one that is lost, is skipped. The others still count.
                guard let activated = try? await session.select(tag) else { continue }
                do throws(TagError) {
                    let message = try await activated.forumTag?.readNDEF() ?? []
                    if !message.isEmpty { messages.append(message) }
                } catch {
                    _ = session.failure(error, of: tag)
                }
            }
            session.noteContact()
            completion(session.areFoundLast(tags) ? messages : nil)
        }
    }

    // MARK: Tags

    private nonisolated func areFoundLast(_ tags: [ConnectableTag]) -> Bool {
        let found = state.withLock { $0.machine.phase == .paused ? $0.found : [] }
        return tags.allSatisfy { tag in found.contains { $0 === tag } }
    }

    private func tag(of handle: ConnectableTag) throws(CommandError) -> ActivatedTag {
        let tag = tags.first { $0.handle === handle }?.tag
        guard handle.isAvailable, let tag else { throw .tagUnavailable }
        return tag
    }

    /// Selects a tag, and wakes it if another one was selected.
    @discardableResult
    private func select(_ handle: ConnectableTag) async throws(CommandError) -> ActivatedTag {
        let tag = try tag(of: handle)
        guard selected !== handle else { return tag }
        do throws(TagError) {
            if let last = selected, let (_, other) = tags.first(where: { $0.handle === last }) {
                selected = nil
                try await other.deselect()
            }
            try await tag.wake()
            selected = handle
            return tag
        } catch {
            throw failure(error, of: handle)
        }
    }

    /// Selects a tag for an app, and makes sure that it is near.
    ///
    /// A reader that distinguishes arrivals knows whether a newly found tag is still the same. A tag that was already
    /// connected is asked, and so is any tag on a reader that does not know. The time limit starts with a new connection,
    /// but not when the same tag is connected again.
    private func connect(_ handle: ConnectableTag) async throws(CommandError) -> ActivatedTag {
        // The reader may release the connected tag to select this one, and then fail.
        defer {
            state.withLock { [selected] state in
                if state.connected !== selected { state.connected = nil }
            }
        }
        let tag = try tag(of: handle)
        let isKnownToStay = await handle.isKnownToStay(by: driver)
        if isKnownToStay == false { throw lost(handle) }
        let wasSelected = selected === handle
        try await select(handle)
        if isKnownToStay == nil || wasSelected && tag.wasConnected {
            guard await tag.isPresent() else { throw lost(handle) }
        }
        tag.wasConnected = true
        let isAnother = state.withLock { state in
            defer { state.connected = handle }
            return state.connected !== handle
        }
        if isAnother { self.handle(.tagConnected) }
        return tag
    }

    /// The connected tag of a handle, which can still be used. If the reader distinguishes arrivals, one that has left
    /// can't: neither what was read of it before is true, nor does it know what was done with it when it is back.
    private func usable(
        _ handle: ConnectableTag,
        _ connecting: Connecting
    ) async throws(CommandError) -> ActivatedTag {
        guard isActive else {
            if hasEnded, environment.arbiter.isHeld(byOtherThan: ObjectIdentifier(self)) {
                mistakes.add(.tagOfOlderSession)
            }
            throw .sessionInvalidated
        }
        if connecting == .always {
            environment.testContext?.willConnect()
            return try await connect(handle)
        }
        guard handle.isAvailable else { throw .tagUnavailable }
        // The question is part of the flow in a recording. A replay does not know in time that a tag has left. So it is
        // asked before each command, and answers as the reader did where that was asked.
        if handle.hasLeft || !driver.reportsPresenceInTime {
            let asked = driver.reportsPresenceInTime ? driver : driver.unrecorded
            if await handle.isKnownToStay(by: asked) == false { throw lost(handle) }
        }
        if connecting == .ifNeeded, connectedTag == nil { return try await connect(handle) }
        guard selected === handle, state.withLock({ $0.connected === handle }) else { throw .notConnected }
        return try tag(of: handle)
    }

    private func lost(_ handle: ConnectableTag) -> CommandError {
        failure(TagError(.tagLost, "The tag has left the field. Restart polling to find it again."), of: handle)
    }

    private nonisolated func failure(_ error: TagError, of handle: ConnectableTag) -> CommandError {
        if error.code == .tagLost { handle.becomeUnavailable() }
        return .tag(error)
    }

    // MARK: Whether the app's tags are still near

    /// How long the connected tag has to be idle before it is asked whether it is near.
    private static let presenceInterval = Duration.milliseconds(250)

    /// Returns whether a tag is connected and still near, as far as known.
    ///
    /// A reader that reports departures has already reported it. With any other reader, such as a PN532, this call
    /// makes the session ask the tag in the background, unless it had a command in the last 250 ms. The next call then
    /// has the result.
    ///
    /// - Parameter tag: one of the tags found last.
    /// - Returns: true when it is connected, and nothing shows that it has left.
    public nonisolated func isConnected(to tag: ConnectableTag) -> Bool {
        guard connectedTag === tag else { return false }
        let now = environment.clock.now
        let asks = state.withLock { state in
            guard state.machine.phase == .paused, state.presence == nil, !state.isAsking,
                now - state.lastContact >= Self.presenceInterval
            else { return false }
            state.isAsking = true
            return true
        }
        if asks {
            enqueue { session in
                await session.noticeDeparture(of: tag, from: session.driver)
                session.state.withLock { $0.isAsking = false }
                session.noteContact()
            }
        }
        return true
    }

    /// Stores the time of the tag's last command.
    private nonisolated func noteContact() {
        let now = environment.clock.now
        state.withLock { $0.lastContact = now }
    }

    /// The reader reports that a tag may have arrived or left. The app's tags are checked.
    nonisolated func noticeDepartures() {
        guard driver.reportsPresenceInTime else { return }
        let tags = state.withLock { $0.machine.phase == .paused ? $0.found : [] }
        guard !tags.isEmpty else { return }
        // These checks are not part of the flow in a recording.
        let driver = driver.unrecorded
        guard driver is any FieldDriver else {
            return enqueue { session in
                for tag in tags { await session.noticeDeparture(of: tag, from: driver) }
            }
        }
        // This driver knows without waiting which tags are near.
        for tag in tags {
            guard let arrival = tag.presence.arrival, driver.arrival(of: tag.presence.identifier) != arrival else {
                continue
            }
            tag.noticeDeparture()
        }
    }

    /// Finds out whether a tag has left. If the reader does not know and the tag is selected, the tag is asked.
    private func noticeDeparture(of handle: ConnectableTag, from driver: any ReaderDriver) async {
        guard let tag = try? tag(of: handle) else { return }
        if let isNear = await handle.isKnownToStay(by: driver) {
            if !isNear { handle.noticeDeparture() }
        } else if selected === handle, await !tag.isPresent() {
            handle.noticeDeparture()
        }
    }
}
