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
