// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import TagLink
import TagProtocols
import Testing

/// Sessions around one reader, with everything that they report, in order.
struct Scene {
    /// The sheet as a person sees it, with every Cancel button that it ever had.
    final class Sheet: ScanSheet {
        private let drawn = Locked<[(content: SheetContent, cancel: @Sendable () -> Void)]>([])

        func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
            drawn.withLock { $0.append((content, cancel)) }
        }

        /// What was shown, as "state: message".
        var history: [String] { drawn.withLock { $0 }.map { "\($0.content.state): \($0.content.message)" } }

        /// What is shown now; nil before the first session.
        var content: SheetContent? { drawn.withLock { $0.last }?.content }

        /// Presses the Cancel button of the sheet that was drawn as the first, second, … one.
        func pressCancel(drawing index: Int) { drawn.withLock { $0[index] }.cancel() }
    }

    let clock = ManualClock()
    let sheet = Sheet()
    let environment: NFCEnvironment
    private let notices = Locked<[String]>([])
    private let stream: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let found = Locked<[ConnectableTag]>([])

    init(
        _ reader: NFCEnvironment.Reader,
        policy: SessionArbiter.BusyPolicy = .queue,
        limits: SessionLimits = SessionLimits(),
        gate: (any ReaderSharing)? = nil
    ) {
        (stream, continuation) = AsyncStream.makeStream()
        environment = NFCEnvironment(
            reader: reader,
            clock: clock,
            sheet: sheet,
            arbiter: SessionArbiter(policy: policy),
            limits: limits,
            gate: gate,
            onNotice: { [notices] text in notices.withLock { $0.append(text) } }
        )
    }

    /// A session whose events come as "name active", "name found 2" and "name ended because of …".
    func session(_ name: String, plan: PollingPlan = .ndef, limits: SessionLimits? = nil) throws -> ReaderSession {
        let session = try #require(ReaderSession(environment: environment, plan: plan, limits: limits))
        session.alertMessage = name
        session.observe { [continuation, found] event in
            switch event {
            case .becameActive: continuation.yield("\(name) active")
            case .detected(let tags):
                found.withLock { $0 = tags }
                continuation.yield("\(name) found \(tags.count)")
            case .ended(let end): continuation.yield("\(name) ended: \(end)")
            }
        }
        return session
    }

    /// A session that has begun and found one tag, and that tag.
    func finding(
        plan: PollingPlan = .ndef,
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> (ReaderSession, ConnectableTag) {
        let session = try self.session("a", plan: plan)
        session.begin()
        #expect(await events(2) == ["a active", "a found 1"], sourceLocation: location)
        return (session, try #require(tags.first, sourceLocation: location))
    }

    /// A session that has looked once and found nothing, and waits for its next look.
    func waiting(
        _ reader: ScriptedReader,
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> ReaderSession {
        let session = try self.session("a")
        session.begin()
        await reader.looks(1)
        await session.settles()
        // The limit of the session, and the next look.
        try #require(clock.scheduledEventCount == 2, sourceLocation: location)
        return session
    }

    /// The next events of all sessions, in order.
    func events(_ count: Int) async -> [String] {
        var events: [String] = []
        for await event in stream {
            events.append(event)
            if events.count == count { break }
        }
        return events
    }

    func event() async -> String? { await events(1).first }

    /// The tags that were found last.
    var tags: [ConnectableTag] { found.withLock { $0 } }

    /// How many lines to the app's author begin like this.
    func notices(_ start: String) -> Int { notices.withLock { $0 }.count { $0.hasPrefix(start) } }

    /// Waits until no session has the reader or waits for it.
    func untilIdle() async { while !environment.arbiter.isIdle, !Task.isCancelled { await Task.yield() } }
}

extension ReaderSession {
    func answer(_ packet: [UInt8], of tag: ConnectableTag, connecting: Bool = false) async -> Result<
        [UInt8], CommandError
    > {
        let packet = TagPacket(packet, answer: .within(.milliseconds(5)))
        return await handedOver { send(packet, to: tag, connecting: connecting, completion: $0) }
    }

    func read(_ tag: ConnectableTag) async -> Result<[UInt8], CommandError> {
        await handedOver { done in
            perform(on: tag, { tag throws(TagError) in try await tag.readNDEF() }, completion: done)
        }
    }

    /// Waits until everything that was asked before is done.
    func settles() async {
        let _: Result<[[UInt8]], CommandError> = await handedOver { readMessages(from: [], completion: $0) }
    }
}
