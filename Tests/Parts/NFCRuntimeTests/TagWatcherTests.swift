// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import NFCReaders
import NFCRuntime
import NFCTestKit
import SystemLibrary
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Checks reading without a session, and giving the reader up to sessions.
@Suite(.timeLimit(.minutes(5)))
struct TagWatcherTests {
    private typealias Events = AsyncStream<TagWatcher.Event>

    private func watch(
        _ field: any FieldDriver,
        clock: ManualClock = ManualClock()
    ) throws -> (TagWatcher, Events.Iterator) {
        let environment = NFCEnvironment(reader: .field(field), clock: clock)
        let (events, continuation) = Events.makeStream()
        let watcher = try #require(TagWatcher(environment) { continuation.yield($0) })
        return (watcher, events.makeAsyncIterator())
    }

    private func next(_ events: inout Events.Iterator) async -> String {
        switch await events.next(isolation: #isolation) {
        case .available: "available"
        case .unavailable(let reason): "unavailable \(reason)"
        case .near(let identifiers): "near \(identifiers.count)"
        case .read(let reading): "read \(reading.identifier.last ?? 0) \(reading.message == nil ? "empty" : "message")"
        case nil: "end"
        }
    }

    private func tag(_ number: UInt8) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [0x04, 1, 2, 3, 4, 5, number])
    }

    @Test(arguments: 2...4) func `Tags that are near together are all read`(count: Int) async throws {
        let field = VirtualField()
        let reads = Locked((sent: 0, answered: 0))
        for number in 1...count { field.bring(CountedTag(tag(UInt8(number)), reads, isFirst: number == 1)) }
        let (watcher, stream) = try watch(field)
        var events = stream
        watcher.start()
        #expect(await next(&events) == "available")
        #expect(await next(&events) == "near \(count)")
        var read: [String] = []
        for _ in 0..<count { read.append(await next(&events)) }
        #expect(read.sorted() == (1...count).map { "read \($0) empty" })
        await watcher.stop()
        // Each was awake when it was read: no command was sent in vain.
        let (sent, answered) = reads.withLock { $0 }
        #expect(sent >= count && answered == sent)
    }

    @Test func `Each tag is read once while it stays, and again when it comes back`() async throws {
        let field = VirtualField()
        let first = tag(1)
        field.bring(first)
        var (watcher, events) = try watch(field)
        watcher.start()
        watcher.start()
        #expect(await next(&events) == "available")
        #expect(await next(&events) == "near 1")
        #expect(await next(&events) == "read 1 empty")
        field.bring(tag(2))
        #expect(await next(&events) == "read 2 empty")
        field.remove(first)
        #expect(await next(&events) == "near 1")
        field.bring(first)
        #expect(await next(&events) == "read 1 empty")
        field.removeAll()
        #expect(await next(&events) == "near 0")
        await watcher.stop()
        // The first look after a start says what is near, also where that is nothing.
        watcher.start()
        #expect(await next(&events) == "available")
        #expect(await next(&events) == "near 0")
        field.bring(first)
        #expect(await next(&events) == "read 1 empty")
        await watcher.stop()
    }

    @Test func `A tag that comes back at once is read again`() async throws {
        let field = VirtualField()
        let first = tag(1)
        field.bring(first)
        var (watcher, events) = try watch(field)
        watcher.start()
        #expect(await next(&events) == "available")
        #expect(await next(&events) == "near 1")
        #expect(await next(&events) == "read 1 empty")
        // Nobody looks between the two.
        field.arm(.effect(.swap(first), atExchange: 0))
        field.bring(tag(2))
        #expect(await next(&events) == "near 1")
        #expect(await next(&events) == "read 1 empty")
        await watcher.stop()
    }

    @Test func `A reader that goes and comes is reported, with each new reason and with the tags that stayed`()
        async throws
    {
        let reader = PluggedReader()
        reader.field.bring(tag(1))
        var (watcher, events) = try watch(reader)
        reader.plug("It is not plugged in.")
        watcher.start()
        #expect(await next(&events) == "unavailable It is not plugged in.")
        // The same reason is no news; another one is.
        reader.plug("It is not plugged in.")
        reader.plug("It does not answer.")
        #expect(await next(&events) == "unavailable It does not answer.")
        for reason in ["It is gone.", "Another program has it."] {
            reader.plug(nil)
            #expect(await next(&events) == "available")
            #expect(await next(&events) == "near 1")
            #expect(await next(&events) == "read 1 empty")
            // That the tag left with the reader is not made up.
            reader.plug(reason)
            #expect(await next(&events) == "unavailable \(reason)")
        }
        reader.field.removeAll()
        reader.plug(nil)
        #expect(await next(&events) == "available")
        #expect(await next(&events) == "near 0")
        await watcher.stop()
    }

    @Test func `A failed poll is repeated every tenth of a second, twenty times, then at the next event`()
        async throws
    {
        let reader = ScriptedReader([.failure(LinkError(.transmission, "Noise."))], tells: true)
        let clock = ManualClock()
        let environment = NFCEnvironment(reader: .discovering(reader), clock: clock)
        let watcher = try #require(TagWatcher(environment) { _ in #expect(Bool(false), "Nothing was found.") })
        watcher.start()
        for round in 0..<2 {
            for retry in 0...20 {
                await reader.looks(21 * round + retry + 1)
                if round == 1 || retry == 20 { break }
                while clock.scheduledEventCount == 0, !Task.isCancelled { await Task.yield() }
                clock.advance(by: .milliseconds(99))
                #expect(reader.lookCount == retry + 1)
                clock.advance(by: .milliseconds(1))
            }
            // It is let go of between looks, and waits without an end.
            while reader.releaseCount < reader.lookCount, !Task.isCancelled { await Task.yield() }
            #expect(clock.scheduledEventCount == 0)
            reader.tell()
        }
        #expect(reader.isObserved)
        await watcher.stop()
        #expect(!reader.isObserved)
    }

    @Test func `A tag that can't be read is tried again every tenth of a second, twenty times`()
        async throws
    {
        let field = VirtualField()
        let clock = ManualClock()
        let silent = SilentTag(tag(1))
        field.bring(silent)
        var (watcher, events) = try watch(field, clock: clock)
        watcher.start()
        #expect(await next(&events) == "available")
        #expect(await next(&events) == "near 1")
        for _ in 0..<20 {
            while clock.scheduledEventCount == 0, !Task.isCancelled { await Task.yield() }
            clock.advance(by: .milliseconds(99))
            #expect(clock.scheduledEventCount == 1)
            clock.advance(by: .milliseconds(1))
        }
        // After that it waits until the reader reports an event.
        while silent.powerLosses.withLock({ $0 }) < 21, !Task.isCancelled { await Task.yield() }
        #expect(clock.scheduledEventCount == 0)
        field.bring(tag(2))
        #expect(await next(&events) == "read 2 empty")
        while silent.powerLosses.withLock({ $0 }) < 22, !Task.isCancelled { await Task.yield() }
        silent.isSilent.withLock { $0 = false }
        field.bring(tag(3))
        let read = [await next(&events), await next(&events)]
        #expect(read.sorted() == ["read 1 empty", "read 3 empty"])
        await watcher.stop()
        #expect(clock.scheduledEventCount == 0)
    }

    @Test func `A tag that comes while another one can't be read is tried as often as that one was`() async throws {
        let field = VirtualField()
        let clock = ManualClock()
        let (first, second) = (SilentTag(tag(1)), SilentTag(tag(2)))
        field.bring(first)
        var (watcher, events) = try watch(field, clock: clock)
        watcher.start()
        #expect(await next(&events) == "available")
        #expect(await next(&events) == "near 1")
        for _ in 0..<20 {
            while clock.scheduledEventCount == 0, !Task.isCancelled { await Task.yield() }
            clock.advance(by: .milliseconds(100))
        }
        while first.powerLosses.withLock({ $0 }) < 21, !Task.isCancelled { await Task.yield() }
        #expect(clock.scheduledEventCount == 0)
        field.bring(second)
        while clock.scheduledEventCount == 0, !Task.isCancelled { await Task.yield() }
        second.isSilent.withLock { $0 = false }
        clock.advance(by: .milliseconds(100))
        #expect(await next(&events) == "read 2 empty")
        await watcher.stop()
    }

    @Test func `A reader that can't tell is asked again, also when the time is over before the watcher waits`()
        async throws
    {
        let reader = ScriptedReader([.nothing])
        let clock = HastyClock()
        let environment = NFCEnvironment(reader: .discovering(reader), clock: clock)
        let watcher = try #require(TagWatcher(environment) { _ in })
        watcher.start()
        await reader.looks(20)
        #expect(reader.releaseCount == 0)
        await watcher.stop()
        #expect(clock.delays.withLock { $0.allSatisfy { $0 == .milliseconds(250) } })
        // It keeps the reader while it looks, and lets go of it at the end.
        #expect(reader.releaseCount == 1)
    }

    @Test func `Without a reader there is nothing to watch`() {
        let environment = NFCEnvironment(reader: .none(reason: "None."), clock: ManualClock())
        #expect(TagWatcher(environment) { _ in } == nil)
    }

    @Test func `A session has the reader after the service gave it up, until its end`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gate-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let gate = ReaderGate(path: folder.path + "/nfc/background")
        let (purposes, continuation) = AsyncStream.makeStream(of: Set<ReaderGate.Purpose>.self)
        let (tags, noted) = AsyncStream.makeStream(of: [[UInt8]].self)
        let server = try ReaderGateServer(gate) {
            noted.yield($0)
        } onChange: {
            continuation.yield($0)
        }
        var wanted = purposes.makeAsyncIterator()
        let field = VirtualField()
        field.bring(tag(1))
        let environment = NFCEnvironment(reader: .field(field), clock: ManualClock(), gate: gate)
        let (events, told) = AsyncStream.makeStream(of: ReaderSession.Event.self)
        let session = try #require(ReaderSession(environment: environment))
        session.observe { told.yield($0) }
        session.begin()
        #expect(await wanted.next() == [.session])
        var happened = events.makeAsyncIterator()
        guard case .becameActive = await happened.next() else { throw CancellationError() }
        // It does not poll before the service grants access.
        #expect(field.statistics.exchanges == 0)
        server.grant()
        guard case .detected = await happened.next() else { throw CancellationError() }
        // The service gets the tag's identifier before it has the reader back.
        var found = tags.makeAsyncIterator()
        #expect(await found.next() == [[0x04, 1, 2, 3, 4, 5, 1]])
        session.invalidate()
        #expect(await wanted.next() == [])
        withExtendedLifetime(server) {}
    }

    @Test func `A reader that goes while a tag is read is reported at once, and the tag is read when it is back`()
        async throws
    {
        let reader = PluggedReader()
        reader.field.bring(tag(1))
        var (watcher, events) = try watch(reader)
        reader.pullsOutAtRead.withLock { $0 = "It was pulled out." }
        watcher.start()
        #expect(await next(&events) == "available")
        #expect(await next(&events) == "near 1")
        #expect(await next(&events) == "unavailable It was pulled out.")
        reader.pullsOutAtRead.withLock { $0 = nil }
        reader.plug(nil)
        #expect(await next(&events) == "available")
        #expect(await next(&events) == "near 1")
        #expect(await next(&events) == "read 1 empty")
        await watcher.stop()
    }

    @Test(arguments: [true, false]) func `It works where its caller says`(discovers: Bool) async throws {
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "watching")
        queue.setSpecific(key: key, value: "here")
        let reader = ScriptedReader([.tags([tag(1)])])
        let field = VirtualField()
        field.bring(tag(1))
        let environment = NFCEnvironment(reader: discovers ? .discovering(reader) : .field(field), clock: ManualClock())
        let (places, continuation) = AsyncStream.makeStream(of: String?.self)
        let watcher = try #require(
            TagWatcher(environment, executor: QueueExecutor(target: queue)) { _ in
                continuation.yield(DispatchQueue.getSpecific(key: key))
            }
        )
        #expect(watcher.readerName == environment.driver?.name)
        watcher.start()
        var happened = places.makeAsyncIterator()
        for _ in 0..<3 { #expect(await happened.next() == "here") }
        await watcher.stop()
    }

    @Test func `It works in an actor of its caller's`() async throws {
        actor Place {}
        let place = Place()
        let field = VirtualField()
        field.bring(tag(1))
        let environment = NFCEnvironment(reader: .field(field), clock: ManualClock())
        let (places, continuation) = AsyncStream.makeStream(of: String.self)
        let attendant: TagWatcher.Attendant = { _ in
            let isolation: (any Actor)? = #isolation
            continuation.yield(isolation === place ? "attendant" : "elsewhere")
        }
        let executor = QueueExecutor(target: nil)
        let watcher = try #require(
            TagWatcher(environment, executor: executor, isolation: place, attendant: attendant) { _ in
                place.assumeIsolated { _ in }
                continuation.yield("observer")
            }
        )
        watcher.start()
        var happened = places.makeAsyncIterator()
        for expected in ["observer", "observer", "attendant"] { #expect(await happened.next() == expected) }
        await watcher.stop()
    }
}

/// A clock whose events are due at once.
final class HastyClock: RuntimeClock {
    let now: Duration = .zero
    let delays = Locked<[Duration]>([])

    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        delays.withLock { $0.append(delay) }
        action()
        return ScheduledEvent {}
    }
}

/// A tag that is found, and can not be read for a while.
private final class SilentTag: VirtualTag {
    private let base: VirtualType2Tag
    let isSilent = Locked(true)
    /// How often the field was turned off.
    let powerLosses = Locked(0)
    var technology: Technology { base.technology }
    var identifier: [UInt8] { base.identifier }

    init(_ base: VirtualType2Tag) { self.base = base }

    func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        // READ, and WUPA, which would find that it is still there.
        if [0x30, 0x52].contains(request.bytes.first ?? 0), isSilent.withLock({ $0 }) { return nil }
        return base.answer(request, disturbance: disturbance)
    }

    func losePower() {
        base.losePower()
        powerLosses.withLock { $0 += 1 }
    }
}

/// A tag that counts the READ commands in its field, and those that any tag answers.
private final class CountedTag: VirtualTag {
    private let base: VirtualType2Tag
    private let reads: Locked<(sent: Int, answered: Int)>
    private let isFirst: Bool
    var technology: Technology { base.technology }
    var identifier: [UInt8] { base.identifier }

    /// - Parameter isFirst: whether it counts what is sent, which every tag hears.
    init(_ base: VirtualType2Tag, _ reads: Locked<(sent: Int, answered: Int)>, isFirst: Bool) {
        (self.base, self.reads, self.isFirst) = (base, reads, isFirst)
    }

    func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        let answer = base.answer(request, disturbance: disturbance)
        guard request.bytes.first == 0x30 else { return answer }
        reads.withLock { reads in
            if isFirst { reads.sent += 1 }
            if answer != nil { reads.answered += 1 }
        }
        return answer
    }

    func losePower() { base.losePower() }
}
