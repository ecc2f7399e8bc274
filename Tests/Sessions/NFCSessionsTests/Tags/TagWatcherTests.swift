// SPDX-License-Identifier: Apache-2.0
import Dispatch
import LinuxSupport
import NFCSessions
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Reading tags without a session.
@Suite(.timeLimit(.minutes(1))) struct TagWatcherTests {
    /// A watcher with its events, in order.
    private final class Watch: Sendable {
        let watcher: TagWatcher
        private let stream: AsyncStream<String>
        let readings: AsyncStream<TagWatcher.Reading>

        init(
            _ reader: NFCEnvironment.Reader,
            clock: any RuntimeClock = ManualClock(),
            attendant: TagWatcher.Attendant? = nil
        ) throws {
            let (stream, events) = AsyncStream.makeStream(of: String.self)
            let (readings, reading) = AsyncStream.makeStream(of: TagWatcher.Reading.self)
            (self.stream, self.readings) = (stream, readings)
            let environment = NFCEnvironment(reader: reader, clock: clock)
            let made = TagWatcher(environment, attendant: attendant) { event in
                switch event {
                case .available: events.yield("available")
                case .unavailable(let reason): events.yield("unavailable: \(reason)")
                case .near(let identifiers): events.yield("near \(identifiers.count)")
                case .read(let found):
                    reading.yield(found)
                    events.yield("read \(found.identifier.last ?? 0)\(found.message == nil ? "" : " with message")")
                }
            }
            watcher = try #require(made)
            watcher.start()
        }

        func events(_ count: Int) async -> [String] { await stream.next(count) }

        func event() async -> String? { await events(1).first }
        func stop() async { await watcher.stop() }
    }

    /// A clock whose events are due at once.
    private final class HastyClock: RuntimeClock {
        let now: Duration = .zero
        private let list = Locked<[Duration]>([])
        var delays: [Duration] { list.withLock { $0 } }

        func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
            list.withLock { $0.append(delay) }
            action()
            return ScheduledEvent {}
        }
    }

    private static let found = ["available", "near 1", "read 1"]
    private static let noise = ScriptedReader.Look.failure(.transmission, "Noise.")

    // MARK: Which tags are read

    @Test(arguments: 2...4) func `several watched tags: all are read, and no READ is sent to a halted tag`(count: Int)
        async throws
    {
        let reads = Locked((sent: 0, answered: 0))
        let near = VirtualField(onExchange: { exchange in
            guard exchange.request.bytes.first == 0x30 else { return }
            reads.withLock { $0.sent += 1 }
            if case .success = exchange.result { reads.withLock { $0.answered += 1 } }
        })
        for number in 1...count { near.bring(ntag(UInt8(number))) }
        let watch = try Watch(.field(near))
        #expect(await watch.events(2) == ["available", "near \(count)"])
        #expect(await watch.events(count).sorted() == (1...count).map { "read \($0)" })
        await watch.stop()
        let (sent, answered) = reads.withLock { $0 }
        #expect(sent >= count && answered == sent)
    }

    @Test func `watched tag: read once while near; again after it has left, was swapped, or the watcher was stopped`()
        async throws
    {
        let first = ntag(1)
        let near = field(first)
        let watch = try Watch(.field(near))
        watch.watcher.start()
        #expect(await watch.events(3) == Self.found)
        near.bring(ntag(2))
        #expect(await watch.event() == "read 2")
        near.remove(first)
        #expect(await watch.event() == "near 1")
        near.bring(first)
        #expect(await watch.event() == "read 1")
        near.removeAll()
        #expect(await watch.event() == "near 0")
        await watch.stop()
        // The first look after a start reports what is near, also where that is nothing.
        watch.watcher.start()
        #expect(await watch.events(2) == ["available", "near 0"])
        near.bring(first)
        #expect(await watch.event() == "read 1")
        // It is exchanged for itself with no look between.
        near.arm(.effect(.swap(first), atExchange: 0))
        near.bring(ntag(2))
        #expect(await watch.events(2) == ["near 1", "read 1"])
        await watch.stop()
    }

    @Test func `watched tag on a reader without arrivals: read again after a poll without the tag`() async throws {
        let tag = ntag()
        let reader = ScriptedReader([.tags(tag), .tags(tag), .nothing, .tags(tag)], tells: true)
        let watch = try Watch(.discovering(reader))
        #expect(await watch.events(3) == Self.found)
        reader.tell()
        await reader.looks(2)
        reader.tell()
        #expect(await watch.event() == "near 0")
        reader.tell()
        #expect(await watch.event() == "read 1")
        await watch.stop()
        #expect(reader.lookCount == 4 && !reader.isObserved)
    }

    // MARK: The reader

    @Test func `watched reader that leaves and returns: each reason is reported once, and tags are read again`()
        async throws
    {
        let reader = PluggedReader(ntag())
        reader.plug("It is not plugged in.")
        let watch = try Watch(.field(reader))
        #expect(await watch.event() == "unavailable: It is not plugged in.")
        reader.plug("It is not plugged in.")
        for reason in ["It does not answer.", "Another program has it."] {
            reader.plug(reason)
            #expect(await watch.event() == "unavailable: \(reason)")
            if reason == "Another program has it." { reader.virtual.removeAll() }
            reader.plug(nil)
            if reason == "It does not answer." { #expect(await watch.events(3) == Self.found) }
        }
        #expect(await watch.events(2) == ["available", "near 0"])
        await watch.stop()
    }

    @Test func `reader pulled out while a tag is read: reported at once, and the tag is read later`() async throws {
        let reader = PluggedReader(ntag())
        reader.pullsOutAt.withLock { $0 = 0x30 }
        let watch = try Watch(.field(reader))
        #expect(await watch.events(3) == ["available", "near 1", "unavailable: It was pulled out."])
        reader.pullsOutAt.withLock { $0 = nil }
        reader.plug(nil)
        #expect(await watch.events(3) == Self.found)
        await watch.stop()
    }

    @Test(arguments: [false, true])
    func `stop during a poll: the reader is interrupted once, and is not reported as missing`(isGone: Bool)
        async throws
    {
        let error = LinkError(isGone ? .readerUnavailable : .cancelled, "It was cut off.")
        let begun = Locked(0)
        let look = ScriptedReader.Look.waitsUntilCancelled(then: error) { begun.withLock { $0 += 1 } }
        let reader = ScriptedReader([look], executor: QueueExecutor(target: nil))
        let events = Locked(0)
        let environment = NFCEnvironment(reader: .discovering(reader), clock: ManualClock())
        let watcher = try #require(TagWatcher(environment) { _ in events.withLock { $0 += 1 } })
        await watcher.stop()
        #expect(reader.log == [])
        for count in 1...2 {
            watcher.start()
            await until { begun.withLock { $0 } >= count }
            for _ in 0..<2 { await watcher.stop() }
            #expect(reader.count("interrupt") == count && reader.count("release") == count)
        }
        #expect(events.withLock { $0 } == 0)
    }

    // MARK: Time

    @Test func `poll that fails: repeated every 100 ms, 20 times, then after the next presence report`() async throws {
        let reader = ScriptedReader([Self.noise], tells: true)
        let clock = ManualClock()
        let watch = try Watch(.discovering(reader), clock: clock)
        for retry in 1...20 {
            await reader.looks(retry)
            await until { clock.scheduledEventCount > 0 }
            clock.advance(by: .milliseconds(99))
            #expect(reader.lookCount == retry)
            clock.advance(by: .milliseconds(1))
        }
        // The reader is released between looks.
        await until { reader.count("release") == 21 }
        #expect(clock.scheduledEventCount == 0)
        reader.tell()
        await reader.looks(22)
        await watch.stop()
        #expect(!reader.isObserved)
    }

    @Test func `watched reader without presence reports: polled every 250 ms, or every 5 s while unavailable`()
        async throws
    {
        for isMissing in [false, true] {
            let reader = ScriptedReader([isMissing ? .failure(.readerUnavailable) : .nothing])
            let clock = HastyClock()
            let watch = try Watch(.discovering(reader), clock: clock)
            await reader.looks(20)
            #expect(reader.log == [])
            await watch.stop()
            #expect(Set(clock.delays) == [isMissing ? .seconds(5) : .milliseconds(250)])
            #expect(reader.log.sorted() == ["interrupt", "release"])
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

        init(_ number: UInt8) { base = ntag(number) }

        func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
            // READ, and WUPA, which would find that it is still near.
            if [0x30, 0x52].contains(request.bytes.first ?? 0), isSilent.withLock({ $0 }) { return nil }
            return base.answer(request, injectedFault: injectedFault)
        }

        func losePower() {
            base.losePower()
            powerLosses.withLock { $0 += 1 }
        }
    }

    @Test func `watched tag that can't be read: tried every 100 ms, 20 times, then when another tag has come`()
        async throws
    {
        let clock = ManualClock()
        let silent = SilentTag(1)
        let near = field(silent)
        let watch = try Watch(.field(near), clock: clock)
        #expect(await watch.events(2) == ["available", "near 1"])
        for _ in 0..<20 {
            await until { clock.scheduledEventCount > 0 }
            clock.advance(by: .milliseconds(99))
            #expect(clock.scheduledEventCount == 1)
            clock.advance(by: .milliseconds(1))
        }
        await until { silent.powerLosses.withLock { $0 } >= 21 }
        #expect(clock.scheduledEventCount == 0)
        silent.isSilent.withLock { $0 = false }
        near.bring(ntag(2))
        #expect(await watch.events(2).sorted() == ["read 1", "read 2"])
        await watch.stop()
        #expect(clock.scheduledEventCount == 0)
    }

    @Test func `reading of a watched tag: has the time when the tag was noticed, and the airtime of the read`()
        async throws
    {
        let clock = ManualClock()
        let near = VirtualField(onElapsed: { clock.advance(by: $0) })
        near.bring(ntag())
        clock.advance(by: .seconds(3))
        let watch = try Watch(.field(near), clock: clock)
        var readings = watch.readings.makeAsyncIterator()
        let first = try #require(await readings.next())
        #expect(first.identifier == [4, 1, 2, 3, 4, 5, 1] && first.noticed == .seconds(3))
        // It is rounded to a nanosecond.
        #expect(first.airtime > .zero && first.airtime <= near.statistics.airtime.duration + .nanoseconds(1))
        await watch.stop()
    }

    // MARK: Attendants and places

    @Test func `watcher's attendant: called once for each tag, and again after it threw or the watcher was stopped`()
        async throws
    {
        let near = field(ntag(1))
        let (calls, input) = AsyncStream.makeStream(of: UInt8.self)
        let (isFirst, isPatient) = (Locked<Bool?>(true), Locked(false))
        let watch = try Watch(.field(near), clock: HastyClock()) { (tag: WatchedTag) async throws(TagError) in
            let ndefStatus = try await tag.queryNDEFStatus()
            #expect(tag.forumTag?.type == .type2 && ndefStatus.message == [])
            #expect(await tag.productName() == "NTAG213")
            let number = tag.target.identifier.last ?? 0
            input.yield(number)
            if isFirst.withLock({ $0.take() }) != nil { throw TagError(.refused, "Try again.") }
            // Until it is cancelled. The first tag's second call may still run when this is asked for.
            guard number > 1, isPatient.withLock({ $0 }) else { return }
            let (never, end) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            end.finish()
        }
        var numbers = calls.makeAsyncIterator()
        #expect(await [numbers.next(), numbers.next()] == [1, 1])
        isPatient.withLock { $0 = true }
        near.bring(ntag(2))
        #expect(await numbers.next() == 2)
        near.bring(ntag(3))
        await watch.stop()
        isPatient.withLock { $0 = false }
        watch.watcher.start()
        #expect(await [numbers.next(), numbers.next(), numbers.next()].compactMap { $0 }.sorted() == [1, 2, 3])
        await watch.stop()
    }

    @Test func `watcher made in an actor: calls its observer and attendant in that actor`() async throws {
        actor Place {}
        let place = Place()
        let environment = NFCEnvironment(reader: .field(field(ntag())), clock: ManualClock())
        let (places, continuation) = AsyncStream.makeStream(of: String.self)
        let attendant: TagWatcher.Attendant = { _ in
            let isolation: (any Actor)? = #isolation
            continuation.yield(isolation === place ? "attendant" : "elsewhere")
        }
        let executor = QueueExecutor(target: nil)
        let made = TagWatcher(environment, executor: executor, isolation: place, attendant: attendant) { _ in
            place.assumeIsolated { _ in }
            continuation.yield("observer")
        }
        let watcher = try #require(made)
        watcher.start()
        var happened = places.makeAsyncIterator()
        for expected in ["observer", "observer", "attendant"] { #expect(await happened.next() == expected) }
        await watcher.stop()
    }
}
