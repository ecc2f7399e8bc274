// SPDX-License-Identifier: Apache-2.0
import TagLink
public import TagProtocols

extension ReaderSession {
    /// Connects to a tag, waking it when another one is selected, and makes sure that it is near.
    ///
    /// A tag that is connected already is asked whether it is near, by the cheapest exchange of its technology: READ of a
    /// page, R(NAK), Request Response or polling, READ SINGLE BLOCK; a reader behind PC/SC is asked in place of a card.
    /// The time that it may stay connected goes on.
    ///
    /// - Parameters:
    ///   - tag: one of the tags found last.
    ///   - completion: called once, on any thread, with ``CommandError`` when it failed.
    public func connect(to tag: DetectedTag, completion: @escaping @Sendable (Result<Void, CommandError>) -> Void) {
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

    /// Runs a procedure on a tag, after those that were given before it.
    ///
    /// - Parameters:
    ///   - tag: the connected tag.
    ///   - procedure: works with the tag; it may not keep it.
    ///   - completion: called once, on any thread, with the procedure's value or ``CommandError``.
    public func perform<Value: Sendable>(
        on tag: DetectedTag,
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value,
        completion: @escaping @Sendable (Result<Value, CommandError>) -> Void
    ) {
        run(
            on: tag,
            { channel throws(CommandError) in try await channel.run(on: tag, procedure) },
            completion: completion
        )
    }

    /// Runs a command on the connected tag, after those that were given before it.
    func run<Value: Sendable>(
        on tag: DetectedTag,
        _ command: @escaping @Sendable (isolated TagChannel) async throws(CommandError) -> Value,
        completion: @escaping @Sendable (Result<Value, CommandError>) -> Void
    ) {
        enqueue(completion: completion) { [self] channel throws(CommandError) in
            guard tag.isAvailable else { throw .tagUnavailable }
            guard state.withLock({ $0.connected === tag }) else { throw .notConnected }
            return try await command(channel)
        }
    }

    /// Sends one packet of the tag's own technology, after the commands that were given before it.
    ///
    /// - Parameters:
    ///   - packet: the octets, see ``TagPacket``.
    ///   - tag: the connected tag.
    ///   - connects: whether the tag is connected first when no tag is.
    ///   - completion: called once, on any thread, with the answer's octets or ``CommandError``. ``TagError`` is
    ///     `tagLost` when the tag is not there any more, and `badAnswer` when it is there and did not answer.
    public func send(
        _ packet: TagPacket,
        to tag: DetectedTag,
        connecting connects: Bool = false,
        completion: @escaping @Sendable (Result<[UInt8], CommandError>) -> Void
    ) {
        enqueue(completion: completion) { [self] channel throws(CommandError) in
            guard tag.isAvailable else { throw .tagUnavailable }
            if connects, connectedTag == nil {
                try await channel.connect(tag)
                setConnected(tag)
            }
            guard state.withLock({ $0.connected === tag }) else { throw .notConnected }
            return try await channel.exchange(with: tag) { port throws(TagError) in try await port.send(packet) }
        }
    }

    /// Reads the NDEF messages of tags that were found, one tag after the other, leaving out those that hold none.
    ///
    /// - Parameters:
    ///   - tags: the tags found last.
    ///   - completion: called once, on any thread, with the octets of each message.
    public func readMessages(
        from tags: [DetectedTag],
        completion: @escaping @Sendable (Result<[[UInt8]], CommandError>) -> Void
    ) {
        enqueue(completion: completion) { channel throws(CommandError) in
            // After a restart the tags are found again, and their messages read then.
            guard self.areFoundLast(tags) else { throw .tagUnavailable }
            var messages: [[UInt8]] = []
            for tag in tags {
                // A tag without a message, or one that is lost, is nothing to report: the others still count.
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

    private func areFoundLast(_ tags: [DetectedTag]) -> Bool {
        let found = state.withLock { $0.machine.phase == .paused ? $0.found : [] }
        return tags.allSatisfy { tag in found.contains { $0 === tag } }
    }

    /// Queues a command and sees to it that its completion is called exactly once, also when the session has ended.
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
            do throws(CommandError) {
                let value = try await command(channel)
                noteContact()
                completion(.success(value))
            } catch {
                noteContact()
                // What was cut off by the end of the session failed because of it.
                completion(.failure(hasEnded ? .sessionInvalidated : error))
            }
        }
    }
}
