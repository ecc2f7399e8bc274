// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Checks how soon a watcher looks again after a failure, how it stops, and the times that it reports.
@Suite(.timeLimit(.minutes(1))) struct `A watcher and its time` {
    @Test func `A reader that is missing is looked for every five seconds`() async throws {
        let reader = ScriptedReader([.failure(LinkError(.readerUnavailable, "It is gone."))])
        let clock = HastyClock()
        let watcher = try #require(TagWatcher(NFCEnvironment(reader: .discovering(reader), clock: clock)) { _ in })
        watcher.start()
        await reader.looks(5)
        await watcher.stop()
        let delays = clock.delays.withLock { $0 }
        #expect(delays.count >= 4 && delays.allSatisfy { $0 == .seconds(5) })
    }

    @Test func `Failures before a good look do not count after it`() async throws {
        let noise = ScriptedReader.Look.failure(LinkError(.transmission, "Noise."))
        let reader = ScriptedReader(
            [ScriptedReader.Look](repeating: noise, count: 21) + [.nothing, noise],
            tells: true
        )
        let clock = HastyClock()
        let watcher = try #require(TagWatcher(NFCEnvironment(reader: .discovering(reader), clock: clock)) { _ in })
        watcher.start()
        // Twenty repetitions, then it waits.
        while reader.releaseCount < 21, !Task.isCancelled { await Task.yield() }
        #expect(clock.delays.withLock { $0 } == [Duration](repeating: .milliseconds(100), count: 20))
        reader.tell()
        while reader.releaseCount < 22, !Task.isCancelled { await Task.yield() }
        #expect(clock.delays.withLock { $0.count } == 20)
        // As often as at first.
        reader.tell()
        while reader.releaseCount < 23, !Task.isCancelled { await Task.yield() }
        await watcher.stop()
        let delays = clock.delays.withLock { $0 }
        #expect(delays.count > 20 && delays.allSatisfy { $0 == .milliseconds(100) })
    }

    @Test func `Failures before a reader went away do not count when it is back`() async throws {
        let noise = ScriptedReader.Look.failure(LinkError(.transmission, "Noise."))
        let gone = ScriptedReader.Look.failure(LinkError(.readerUnavailable, "It is gone."))
        let reader = ScriptedReader(
            [ScriptedReader.Look](repeating: noise, count: 20) + [gone, noise],
            tells: true
        )
        let clock = HastyClock()
        let watcher = try #require(TagWatcher(NFCEnvironment(reader: .discovering(reader), clock: clock)) { _ in })
        watcher.start()
        // A report changes none of the times, and has a watcher go on that would not try again.
        while reader.releaseCount < 42 {
            reader.tell()
            await Task.yield()
        }
        await watcher.stop()
        let repeated = [Duration](repeating: .milliseconds(100), count: 20)
        #expect(clock.delays.withLock { $0 } == repeated + [.seconds(5)] + repeated)
    }

    @Test func `A tag whose write was cut off is looked at again, and read when it is whole`() async throws {
        let field = VirtualField()
        field.bring(TornTag())
        let (messages, continuation) = AsyncStream.makeStream(of: [UInt8]?.self)
        let environment = NFCEnvironment(reader: .field(field), clock: HastyClock())
        let made = TagWatcher(environment) { event in
            if case .read(let reading) = event { continuation.yield(reading.message) }
        }
        let watcher = try #require(made)
        watcher.start()
        var read = messages.makeAsyncIterator()
        #expect(await read.next() == [0xD0, 0x00, 0x00])
        await watcher.stop()
    }

    @Test func `A tag that was away is read again where arrivals can't be told apart, and one that stays is not`()
        async throws
    {
        let tag = VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        let reader = ScriptedReader([.tags([tag]), .tags([tag]), .nothing, .tags([tag])], tells: true)
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        let made = TagWatcher(NFCEnvironment(reader: .discovering(reader), clock: ManualClock())) { event in
            switch event {
            case .available: continuation.yield("available")
            case .unavailable: continuation.yield("unavailable")
            case .near(let identifiers): continuation.yield("near \(identifiers.count)")
            case .read: continuation.yield("read")
            }
        }
        let watcher = try #require(made)
        watcher.start()
        var happened = events.makeAsyncIterator()
        for expected in ["available", "near 1", "read"] { #expect(await happened.next() == expected) }
        reader.tell()
        await reader.looks(2)
        reader.tell()
        #expect(await happened.next() == "near 0")
        reader.tell()
        #expect(await happened.next() == "read")
        await watcher.stop()
        #expect(reader.lookCount == 4 && !reader.isObserved)
    }

    @Test func `A tag of a later run has the moment of that run's look, and not of a report before the stop`()
        async throws
    {
        let (clock, reader) = (ManualClock(), EarlyReader())
        let (readings, continuation) = AsyncStream.makeStream(of: TagWatcher.Reading.self)
        let made = TagWatcher(NFCEnvironment(reader: .discovering(reader), clock: clock)) { event in
            if case .read(let reading) = event { continuation.yield(reading) }
        }
        let watcher = try #require(made)
        clock.advance(by: .seconds(1))
        watcher.start()
        while !reader.hasReported, !Task.isCancelled { await Task.yield() }
        await watcher.stop()
        clock.advance(by: .seconds(60))
        watcher.start()
        var read = readings.makeAsyncIterator()
        #expect(await read.next()?.noticed == .seconds(61))
        await watcher.stop()
    }

    @Test func `Its reader is interrupted when it stops, and not when it has stopped`() async throws {
        let reader = InterruptedReader()
        let environment = NFCEnvironment(reader: .discovering(reader), clock: ManualClock())
        let watcher = try #require(TagWatcher(environment) { _ in })
        await watcher.stop()
        #expect(reader.interruptions == 0)
        for count in 1...2 {
            watcher.start()
            while reader.looks < count, !Task.isCancelled { await Task.yield() }
            await watcher.stop()
            await watcher.stop()
            #expect(reader.interruptions == count)
        }
    }

    @Test func `A reader that is cut off is not said to be missing, whatever it says then`() async throws {
        let reader = InterruptedReader(LinkError(.readerUnavailable, "It is gone."))
        let events = Locked(0)
        let made = TagWatcher(NFCEnvironment(reader: .discovering(reader), clock: ManualClock())) { _ in
            events.withLock { $0 += 1 }
        }
        let watcher = try #require(made)
        for count in 1...2 {
            watcher.start()
            while reader.looks < count, !Task.isCancelled { await Task.yield() }
            await watcher.stop()
        }
        #expect(events.withLock { $0 } == 0)
    }

    @Test func `The field is on for each look alone, and is not turned off where it could not be turned on`()
        async throws
    {
        let reader = PluggedReader()
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        let made = TagWatcher(NFCEnvironment(reader: .field(reader), clock: ManualClock())) { event in
            switch event {
            case .available: continuation.yield("available")
            case .unavailable: continuation.yield("unavailable")
            case .near, .read: break
            }
        }
        let watcher = try #require(made)
        /// Waits until the field was switched so many times.
        func switches(_ count: Int) async {
            while reader.carriers.withLock({ $0.count }) < count, !Task.isCancelled { await Task.yield() }
        }
        watcher.start()
        var happened = events.makeAsyncIterator()
        #expect(await happened.next() == "available")
        await switches(2)
        reader.plug(nil)
        await switches(4)
        reader.plug("It is gone.")
        #expect(await happened.next() == "unavailable")
        reader.plug(nil)
        #expect(await happened.next() == "available")
        await switches(6)
        await watcher.stop()
        #expect(reader.carriers.withLock { $0 } == [true, false, true, false, true, false])
    }

    @Test func `A reading has the moment of the first report, and the airtime since its look began`() async throws {
        let (clock, hook) = (ManualClock(), Locked<[@Sendable () -> Void]>([]))
        let field = VirtualField(
            onElapsed: { clock.advance(by: $0) },
            onExchange: { exchange in
                // One after the other while the tags of NFC-A are looked for, which are the last ones.
                guard exchange.technology == .nfcA else { return }
                let bring = hook.withLock { hooks -> (@Sendable () -> Void)? in
                    hooks.isEmpty ? nil : hooks.removeFirst()
                }
                bring?()
            }
        )
        let reports = Locked<[Duration]>([])
        for number: UInt8 in 1...2 {
            let bring: @Sendable () -> Void = {
                reports.withLock { $0.append(clock.now) }
                let uid: [UInt8] = [0xE0, 4, 1, 0x10, 1, 2, 3, number]
                field.bring(VirtualType5Tag(Type5Contents(blank: .icodeSLIX, uid: uid)))
            }
            hook.withLock { $0.append(bring) }
        }
        field.bring(VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, 6]))
        clock.advance(by: .seconds(3))
        let (stream, continuation) = AsyncStream.makeStream(of: (TagWatcher.Reading, Airtime).self)
        let made = TagWatcher(NFCEnvironment(reader: .field(field), clock: clock)) { event in
            if case .read(let reading) = event { continuation.yield((reading, field.statistics.airtime)) }
        }
        let watcher = try #require(made)
        watcher.start()
        var readings = stream.makeAsyncIterator()
        let (first, end) = try #require(await readings.next())
        #expect(first.identifier == [4, 1, 2, 3, 4, 5, 6] && first.noticed == .seconds(3))
        #expect(first.airtime > .zero && first.airtime == end.duration)
        for _ in 0..<2 {
            // Both came during the first look, and are found by the second one.
            let (next, counted) = try #require(await readings.next())
            #expect(next.identifier.first == 0xE0 && next.noticed == reports.withLock { $0.first })
            #expect(next.airtime > .zero && next.airtime == (counted - end).duration)
        }
        let moments = reports.withLock { $0 }
        #expect(moments.count == 2 && moments[0] < moments[1])
        await watcher.stop()
    }
}

/// A Type 3 tag whose write was cut off, and that is whole after its first loss of power.
private final class TornTag: VirtualTag {
    private let torn: VirtualType3Tag
    private let whole: VirtualType3Tag
    private let isWhole = Locked(false)
    private var current: VirtualType3Tag { isWhole.withLock { $0 } ? whole : torn }
    var technology: Technology { whole.technology }
    var identifier: [UInt8] { whole.identifier }

    init() {
        (torn, whole) = (Self.tag(writeFlag: 0x0F), Self.tag(writeFlag: 0x00))
    }

    /// A tag with a message of three bytes.
    private static func tag(writeFlag: UInt8) -> VirtualType3Tag {
        var contents = FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, 6])
        // WriteF, Ln and the checksum of the attributes (NFC Forum T3T 1.0, 6.1), then the message.
        contents.userMemory[9] = writeFlag
        contents.userMemory[13] = 3
        let sum = contents.userMemory[..<14].reduce(0) { $0 + Int($1) }
        contents.userMemory[14] = UInt8(sum >> 8)
        contents.userMemory[15] = UInt8(sum & 0xFF)
        contents.userMemory.replaceSubrange(16..<19, with: [0xD0, 0x00, 0x00])
        return VirtualType3Tag(contents)
    }

    func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        current.answer(request, disturbance: disturbance)
    }

    func losePower() {
        current.losePower()
        isWhole.withLock { $0 = true }
    }
}

/// A reader that waits for tags until its task is cancelled, and counts how often it is interrupted.
private final class InterruptedReader: DiscoveringDriver {
    let name = "interrupted"
    let technologies = Set(Technology.allCases)
    var statistics: LinkStatistics { .zero }
    private let counts = Locked((looks: 0, interruptions: 0))
    private let error: LinkError
    var looks: Int { counts.withLock { $0.looks } }
    var interruptions: Int { counts.withLock { $0.interruptions } }

    /// - Parameter error: what it says when it is cancelled.
    init(_ error: LinkError = LinkError(.cancelled, "It was cut off.")) { self.error = error }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        counts.withLock { $0.looks += 1 }
        while !Task.isCancelled { await Task.yield() }
        throw error
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {}
    func interrupt() { counts.withLock { $0.interruptions += 1 } }
    func release() async {}
}

/// A reader that reports a change during its first look, which lasts until it is cut off and finds nothing. Then it
/// finds a tag.
private final class EarlyReader: ForwardingReader {
    let base: ActivatingReader
    private let state = Locked<(handler: (@Sendable () -> Void)?, hasReported: Bool)>((nil, false))
    var hasReported: Bool { state.withLock { $0.hasReported } }

    init() {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, 6]))
        base = ActivatingReader(field)
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        state.withLock { $0.handler = handler }
        return PresenceObservation { [state] in state.withLock { $0.handler = nil } }
    }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        guard !hasReported else { return try await base.discover(technologies, systemCodes: systemCodes) }
        state.withLock { $0.handler }?()
        state.withLock { $0.hasReported = true }
        while !Task.isCancelled { await Task.yield() }
        return []
    }
}
