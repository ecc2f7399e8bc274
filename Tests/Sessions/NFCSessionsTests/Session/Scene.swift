// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

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

    static let canceled = "a ended: userCanceled"

    let clock = ManualClock()
    let sheet = Sheet()
    let environment: NFCEnvironment
    private let notices = Locked<[String]>([])
    private let stream: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let found = Locked<[ConnectableTag]>([])
    /// Called in the observer with each session and its event, before the event is noted.
    let onEvent = Locked<(@Sendable (ReaderSession, ReaderSession.Event) -> Void)?>(nil)

    init(
        _ reader: NFCEnvironment.Reader,
        policy: SessionArbiter.BusyPolicy = .queue,
        gate: (any ReaderSharing)? = nil,
        sessionEndObserver: (any SessionEndObserver)? = nil,
        host: (any SessionHost)? = nil
    ) {
        (stream, continuation) = AsyncStream.makeStream()
        environment = NFCEnvironment(
            reader: reader,
            clock: clock,
            sheet: sheet,
            arbiter: SessionArbiter(policy: policy),
            belongsToTest: false,
            gate: gate,
            sessionEndObserver: sessionEndObserver,
            host: host,
            onNotice: { [notices] text in notices.withLock { $0.append(text) } },
            testContext: QuietTest()
        )
    }

    /// A session whose events are noted as "name active", "name found 2" and "name ended: …".
    func session(
        _ name: String = "a",
        plan: PollingPlan = .ndef,
        limits: SessionLimits? = nil
    ) throws -> ReaderSession {
        let session = try #require(ReaderSession(environment: environment, plan: plan, limits: limits))
        session.alertMessage = name
        session.observe { [continuation, found, onEvent, weak session] event in
            if let session { onEvent.withLock { $0 }?(session, event) }
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

    /// A session that has begun and found some tags, and these tags.
    func finding(
        _ count: Int = 1,
        plan: PollingPlan = .ndef,
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> (ReaderSession, [ConnectableTag]) {
        let session = try self.session(plan: plan)
        session.begin()
        #expect(await events(2) == ["a active", "a found \(count)"], sourceLocation: location)
        try #require(tags.count == count, sourceLocation: location)
        return (session, tags)
    }

    /// A session that has begun, found one tag, and connected to it, and this tag.
    func connected(
        plan: PollingPlan = .ndef,
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> (ReaderSession, ConnectableTag) {
        let (session, tags) = try await finding(plan: plan, location)
        #expect(await session.connects(to: tags[0]) == nil, sourceLocation: location)
        return (session, tags[0])
    }

    /// A session that has looked once and found nothing, and waits for its next look.
    func waiting(_ reader: ScriptedReader) async throws -> ReaderSession {
        let session = try self.session()
        session.begin()
        await reader.looks(1)
        await session.settles()
        return session
    }

    /// The next events of all sessions, in order.
    func events(_ count: Int) async -> [String] { await stream.next(count) }

    func event() async -> String? { await events(1).first }

    /// The tags that were found last.
    var tags: [ConnectableTag] { found.withLock { $0 } }

    /// How many lines to the app's author begin like this.
    func notices(_ start: String) -> Int { notices.withLock { $0 }.count { $0.hasPrefix(start) } }

    /// Waits until no session has the reader or waits for it.
    func untilIdle() async { await until { environment.arbiter.isIdle } }
}

/// Prints no lines to the app's author.
private final class QuietTest: TestContext {
    static var environmentOfCaller: NFCEnvironment? { nil }
    func made(_ object: AnyObject, as kind: MadeObject) {}
    func willConnect() {}
    func line(for notice: String) -> String? { nil }
    func note(_ event: String) {}
    func end(because reason: String) -> Bool { false }
    var isOpen: Bool { true }
}

/// Waits until something that another thread does is so, or the test's time is over.
func until(_ condition: () -> Bool) async { while !condition(), !Task.isCancelled { await Task.yield() } }

func ntag(_ number: UInt8 = 1) -> VirtualType2Tag { VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, number]) }

/// A field with some tags in it.
func field(_ tags: any VirtualTag...) -> VirtualField {
    let field = VirtualField()
    for tag in tags { field.bring(tag) }
    return field
}

extension CommandError {
    static func tag(_ code: TagError.Code) -> CommandError { .tag(TagError(code, "")) }
}

extension ReaderSession {
    /// Sends a packet and returns its answer.
    func answer(
        _ packet: [UInt8],
        of tag: ConnectableTag,
        within time: TagPacket.Answer = .within(.milliseconds(5)),
        connecting: Bool = false
    ) async -> Result<[UInt8], CommandError> {
        let packet = TagPacket(packet, answer: time)
        return await withCompletion { done in
            perform(
                on: tag,
                connecting: connecting ? .ifNeeded : .never,
                { tag throws(TagError) in
                    try await tag.send(packet)
                },
                completion: done
            )
        }
    }

    /// Runs a procedure on the connected tag, as a call of an app.
    func run<Value: Sendable>(
        on tag: ConnectableTag,
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value
    ) async -> Result<Value, CommandError> {
        await withCompletion { done in
            perform(on: tag, { tag throws(TagError) in try await procedure(tag.ndefForApp()) }, completion: done)
        }
    }

    func read(_ tag: ConnectableTag) async -> Result<[UInt8], CommandError> {
        await run(on: tag) { tag throws(TagError) in try await tag.readNDEF() }
    }

    func messages(of tags: [ConnectableTag]) async -> [[UInt8]]? {
        await withCompletion { readMessages(from: tags, completion: $0) }
    }

    /// Waits until everything that was asked before is done.
    func settles() async { _ = await messages(of: []) }
}

extension AsyncStream<String> {
    /// The next elements, in order.
    func next(_ count: Int) async -> [String] {
        var events: [String] = []
        for await event in self {
            events.append(event)
            if events.count == count { break }
        }
        return events
    }
}
