// SPDX-License-Identifier: Apache-2.0
package import Dispatch
import TagLink
public import TagProtocols

/// Why an app's command to a tag failed.
public enum CommandError: Error, Sendable, Hashable {
    /// The session has ended, or has not begun yet.
    case sessionInvalidated
    /// The tag is not the connected one.
    case notConnected
    /// The tag can't be used any more: it left, or polling was restarted.
    case tagUnavailable
    /// The tag can't be used any more: it was connected for as long as a tag may be.
    case connectionExpired(after: Duration)
    /// The procedure on the tag failed.
    case tag(TagError)
}

package enum Connecting: Sendable {
    case never
    case ifNeeded
    /// Always connects. If the tag is already connected, checks that it is still in the field.
    case always
}

extension ReaderSession {
    /// Connects to a tag: wakes it if another tag is selected, and checks that it is still in the field.
    ///
    /// A tag that is already connected is checked with the cheapest exchange of its technology: READ of a page, R(NAK),
    /// Request Response or polling, READ SINGLE BLOCK. For a card behind PC/SC, the reader is asked instead. Connecting
    /// again does not restart the time limit of the connection.
    ///
    /// - Parameters:
    ///   - tag: a tag of the last search.
    ///   - completion: called once, on any thread; with ``CommandError`` on failure.
    public nonisolated func connect(
        to tag: ConnectableTag,
        completion: @escaping @Sendable (Result<Void, CommandError>) -> Void
    ) {
        perform(on: tag, connecting: .always, { _ in }, completion: completion)
    }

    /// Runs a procedure on a tag, after all earlier commands. Every command of an app goes through this function.
    ///
    /// - Parameters:
    ///   - tag: the connected tag; or any tag of the last search, if `connecting` allows a connection.
    ///   - queue: where the completion is called, within the environment; nil for any thread.
    ///   - note: describes the result, which is nil for success, for a test's trace; it may return nil.
    ///   - procedure: works with the tag. It must not keep a reference to the tag.
    ///   - completion: called once, with the procedure's value or ``CommandError``, even when the session has ended.
    package nonisolated func perform<Value: Sendable>(
        on tag: ConnectableTag,
        connecting: Connecting = .never,
        queue: DispatchQueue? = nil,
        note: (@Sendable (CommandError?) -> String?)? = nil,
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
                // A command that the end of the session interrupted reports that end, not its own error.
                result = .failure(session.hasEnded ? .sessionInvalidated : error)
            }
            session.noteContact()
            // The result is noted before the queue gets it: by then, the reader may carry out the next command.
            if let test = session.environment.testContext, let note {
                let error: CommandError? = if case .failure(let error) = result { error } else { nil }
                if let text = note(error) { test.note(text) }
            }
            guard let queue else { return completion(result) }
            session.environment.call(on: queue) { completion(result) }
        }
    }

    /// Connects to a tag and runs a procedure on it, after all earlier commands.
    ///
    /// - Parameters:
    ///   - tag: a tag of the last search.
    ///   - procedure: works with the tag. It must not keep a reference to the tag.
    package nonisolated func work<Value: Sendable>(
        with tag: ConnectableTag,
        _ procedure: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Value
    ) async throws(CommandError) -> Value {
        try await withCompletion { perform(on: tag, connecting: .always, procedure, completion: $0) }.get()
    }

    /// Reads the NDEF messages of the tags, one tag after the other. Tags without a message are skipped.
    ///
    /// - Parameters:
    ///   - tags: the tags of the last search.
    ///   - completion: called once, on any thread, with the bytes of each message; with nil if the tags are not those
    ///     of the last search, or the session has ended.
    package nonisolated func readMessages(
        from tags: [ConnectableTag],
        completion: @escaping @Sendable ([[UInt8]]?) -> Void
    ) {
        enqueue { session in
            // After a restart of polling, the tags are found and read again.
            guard session.areFoundLast(tags) else { return completion(nil) }
            var messages: [[UInt8]] = []
            for tag in tags {
                // A lost tag, or a tag without a message, is skipped. The other tags are still read.
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

    /// The position of a tag among those of the last search; nil if it is not one of them.
    package nonisolated func index(of tag: ConnectableTag) -> Int? {
        state.withLock { $0.found.firstIndex { $0 === tag } }
    }

    private nonisolated func areFoundLast(_ tags: [ConnectableTag]) -> Bool {
        let found = state.withLock { $0.machine.phase == .paused ? $0.found : [] }
        return tags.allSatisfy { tag in found.contains { $0 === tag } }
    }

    private func tag(of handle: ConnectableTag) throws(CommandError) -> ActivatedTag {
        let tag = tags.first { $0.handle === handle }?.tag
        if let unavailable = handle.unavailable { throw unavailable }
        guard let tag else { throw .tagUnavailable }
        return tag
    }

    /// Selects a tag, and wakes it if another tag was selected.
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

    /// Selects a tag for an app, and checks that the tag is still in the field.
    ///
    /// A reader that distinguishes visits knows whether a newly found tag is still in the field. Otherwise the tag
    /// itself is asked, as is any tag that was connected before. The time limit starts with a new connection, but not
    /// when the same tag is connected again.
    private func connect(_ handle: ConnectableTag) async throws(CommandError) -> ActivatedTag {
        let tag = try tag(of: handle)
        let isKnownPresent = await handle.isKnownPresent(by: driver)
        if isKnownPresent == false { throw lost(handle) }
        let wasSelected = selected === handle
        try await select(handle)
        if isKnownPresent == nil || wasSelected && tag.wasConnected {
            guard await tag.isPresent() else { throw lost(handle) }
        }
        tag.wasConnected = true
        let isNewConnection = state.withLock { state in
            defer { state.connected = handle }
            return state.connected !== handle
        }
        if isNewConnection { self.handle(.tagConnected) }
        return tag
    }

    /// Returns the handle's tag, ready for a command. If the reader distinguishes visits, a tag that has left is not
    /// usable even after its return: data read earlier may be outdated, and the tag has lost its state.
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
        if let unavailable = handle.unavailable { throw unavailable }
        // The presence check is part of a recording. A replayed reader does not report departures in time, so it is
        // asked before each command, and gives the recorded answers.
        if handle.hasLeft || !driver.reportsPresenceInTime {
            let presenceDriver = driver.reportsPresenceInTime ? driver : driver.unrecorded
            if await handle.isKnownPresent(by: presenceDriver) == false { throw lost(handle) }
        }
        let hasConnection = connectedTag.map { $0.isAvailable && !$0.hasLeft && selected === $0 } ?? false
        if connecting == .ifNeeded, !hasConnection { return try await connect(handle) }
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

    // MARK: Presence of the app's tags

    /// How long the connected tag has to be idle before its presence is checked.
    private static let presenceInterval = Duration.milliseconds(250)

    /// Returns whether a tag can be used and, as far as the session knows, is still in the field.
    ///
    /// A reader that reports departures has already reported this one. With any other reader, such as a PN532, this
    /// call makes the session check the tag in the background, unless the tag had a command in the last 250 ms. The
    /// next call then returns the result.
    ///
    /// - Parameter tag: a tag of the last search.
    /// - Returns: true when the last search found the tag and the session has not noticed its departure.
    public nonisolated func isNear(_ tag: ConnectableTag) -> Bool {
        guard areFoundLast([tag]), tag.isAvailable, !tag.hasLeft else { return false }
        let now = environment.clock.now
        let startsCheck = state.withLock { state in
            guard state.machine.phase == .paused, state.presence == nil, !state.isAsking,
                now - state.lastContact >= Self.presenceInterval
            else { return false }
            state.isAsking = true
            return true
        }
        if startsCheck {
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

    /// Checks the app's tags, because the reader reported that a tag may have arrived or left.
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
        // This driver knows at once which tags are in the field.
        for tag in tags {
            guard let arrival = tag.presence.arrival, driver.arrival(of: tag.presence.identifier) != arrival else {
                continue
            }
            tag.noticeDeparture()
        }
    }

    /// Marks a tag as departed if it has left. If the reader does not know and the tag is selected, asks the tag.
    private func noticeDeparture(of handle: ConnectableTag, from driver: any ReaderDriver) async {
        guard let tag = try? tag(of: handle) else { return }
        if let isNear = await handle.isKnownPresent(by: driver) {
            if !isNear { handle.noticeDeparture() }
        } else if selected === handle, await !tag.isPresent() {
            handle.noticeDeparture()
        }
    }
}
