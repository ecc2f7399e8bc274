// SPDX-License-Identifier: Apache-2.0
import TagLink
public import TagProtocols

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
    public func connect(to tag: ConnectableTag, completion: @escaping @Sendable (Result<Void, CommandError>) -> Void) {
        enqueue(completion: completion) { [self] channel throws(CommandError) in
            environment.place?.willConnect()
            do throws(CommandError) {
                try await channel.connect(tag)
            } catch {
                dropConnection(unlessSelected: channel.selected)
                throw error
            }
            setConnected(tag)
        }
    }

    /// Runs a procedure on a tag, after the commands that were given before.
    ///
    /// - Parameters:
    ///   - tag: the connected tag.
    ///   - procedure: works with the tag. It must not keep it.
    ///   - completion: called once, on any thread, with the procedure's value or ``CommandError``.
    public func perform<Value: Sendable>(
        on tag: ConnectableTag,
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value,
        completion: @escaping @Sendable (Result<Value, CommandError>) -> Void
    ) {
        run(
            on: tag,
            { channel throws(CommandError) in try await channel.run(on: tag, procedure) },
            completion: completion
        )
    }

    /// Runs a command on the connected tag, after the commands that were given before.
    func run<Value: Sendable>(
        on tag: ConnectableTag,
        _ command: @escaping @Sendable (isolated TagChannel) async throws(CommandError) -> Value,
        completion: @escaping @Sendable (Result<Value, CommandError>) -> Void
    ) {
        enqueue(completion: completion) { [self] channel throws(CommandError) in
            try await channel.check(tag)
            guard state.withLock({ $0.connected === tag }) else { throw .notConnected }
            return try await command(channel)
        }
    }

    /// Sends a packet of the tag's own technology, after the commands that were given before.
    ///
    /// - Parameters:
    ///   - packet: the bytes, see ``TagPacket``.
    ///   - tag: the connected tag.
    ///   - connects: whether to connect the tag first if no tag is connected.
    ///   - completion: called once, on any thread, with the bytes of the answer or ``CommandError``. The `TagError`
    ///     is `tagLost` when the tag has left, and `badAnswer` when it is near but did not answer.
    public func send(
        _ packet: TagPacket,
        to tag: ConnectableTag,
        connecting connects: Bool = false,
        completion: @escaping @Sendable (Result<[UInt8], CommandError>) -> Void
    ) {
        enqueue(completion: completion) { [self] channel throws(CommandError) in
            try await channel.check(tag)
            if connects, connectedTag == nil {
                try await channel.connect(tag)
                setConnected(tag)
            }
            guard state.withLock({ $0.connected === tag }) else { throw .notConnected }
            return try await channel.send(packet, to: tag)
        }
    }

    /// Reads the NDEF messages of tags that were found, one tag after the other. Tags without a message are left out.
    ///
    /// - Parameters:
    ///   - tags: the tags found last.
    ///   - completion: called once, on any thread, with the bytes of each message.
    public func readMessages(
        from tags: [ConnectableTag],
        completion: @escaping @Sendable (Result<[[UInt8]], CommandError>) -> Void
    ) {
        enqueue(completion: completion) { channel throws(CommandError) in
            // After a restart the tags are found again, and their messages are read then.
            guard self.areFoundLast(tags) else { throw .tagUnavailable }
            var messages: [[UInt8]] = []
            for tag in tags {
                // A tag without a message, or one that is lost, is skipped. The others still count.
                guard (try? await channel.select(tag)) != nil,
                    let message = try? await channel.run(on: tag, { tag throws(TagError) in try await tag.readNDEF() }),
                    !message.isEmpty
                else { continue }
                messages.append(message)
            }
            guard self.areFoundLast(tags) else { throw .tagUnavailable }
            return messages
        }
    }

    private func areFoundLast(_ tags: [ConnectableTag]) -> Bool {
        let found = state.withLock { $0.machine.phase == .paused ? $0.found : [] }
        return tags.allSatisfy { tag in found.contains { $0 === tag } }
    }

    /// Queues a command, and makes sure that its completion is called exactly once, even when the session has ended.
    private func enqueue<Value: Sendable>(
        completion: @escaping @Sendable (Result<Value, CommandError>) -> Void,
        _ command: @escaping @Sendable (isolated TagChannel) async throws(CommandError) -> Value
    ) {
        channel.enqueue { [self] channel in
            guard isActive else {
                if hasEnded, environment.arbiter.isHeld(byOtherThan: ObjectIdentifier(self)) {
                    mistakes.add(.tagOfOlderSession)
                }
                return completion(.failure(.sessionInvalidated))
            }
            let result: Result<Value, CommandError>
            do throws(CommandError) {
                result = .success(try await command(channel))
            } catch {
                // A command that was cut off by the end of the session failed because of it.
                result = .failure(hasEnded ? .sessionInvalidated : error)
            }
            noteContact()
            completion(result)
        }
    }

    /// Connects to a tag of any kind and runs a procedure on it, after the commands that were given before.
    ///
    /// - Parameters:
    ///   - tag: one of the tags found last.
    ///   - procedure: works with the tag. It must not keep it.
    /// - Returns: the procedure's value.
    /// - Throws: ``CommandError``.
    package func work<Value: Sendable>(
        with tag: ConnectableTag,
        _ procedure: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Value
    ) async throws(CommandError) -> Value {
        try await withCompletion { connect(to: tag, completion: $0) }.get()
        let result: Result<Value, CommandError> = await withCompletion { done in
            run(
                on: tag,
                { channel throws(CommandError) in try await channel.work(with: tag, procedure) },
                completion: done
            )
        }
        return try result.get()
    }
}

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

/// Whether the app's tags are still near.
extension ReaderSession {
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
    public func isConnected(to tag: ConnectableTag) -> Bool {
        guard connectedTag === tag else { return false }
        askInTheBackground(tag)
        return true
    }

    private func askInTheBackground(_ tag: ConnectableTag) {
        let now = environment.clock.now
        let asks = state.withLock { state in
            guard state.machine.phase == .paused, state.presence == nil, !state.isAsking,
                now - state.lastContact >= Self.presenceInterval
            else { return false }
            state.isAsking = true
            return true
        }
        guard asks else { return }
        channel.enqueue { [self] channel in
            await channel.noticeDeparture(of: tag, from: driver)
            state.withLock { $0.isAsking = false }
            noteContact()
        }
    }

    /// Stores the time of the tag's last command.
    func noteContact() {
        let now = environment.clock.now
        state.withLock { $0.lastContact = now }
    }

    /// Stores which tag is connected. The time limit starts with a new connection, but not when the same tag is
    /// connected again.
    func setConnected(_ tag: ConnectableTag) {
        let isAnother = state.withLock { state in
            defer { state.connected = tag }
            return state.connected !== tag
        }
        if isAnother { handle(.tagConnected) }
    }

    /// Removes the connection if the reader has released the tag, for example to select another one.
    func dropConnection(unlessSelected selected: ConnectableTag?) {
        state.withLock { if $0.connected !== selected { $0.connected = nil } }
    }

    /// The reader reports that a tag may have arrived or left. The app's tags are checked.
    func noticeDepartures() {
        guard driver.reportsPresenceInTime else { return }
        let tags = state.withLock { $0.machine.phase == .paused ? $0.found : [] }
        guard !tags.isEmpty else { return }
        // These checks are not part of the flow in a recording.
        let driver = driver.unrecorded
        guard driver is any FieldDriver else {
            return channel.enqueue { channel in
                for tag in tags { await channel.noticeDeparture(of: tag, from: driver) }
            }
        }
        // This driver knows without waiting which tags are near.
        for tag in tags {
            guard let arrival = tag.stay.arrival, driver.arrival(of: tag.stay.identifier) != arrival else { continue }
            tag.noticeDeparture()
        }
    }
}
