// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool
import FleetTestSupport
import Testing

@Suite("Odd acknowledgements and requests, and what is dropped", .timeLimit(.minutes(5)))
struct SpoolCornerTests {
    let folder: TestFolder
    let entrance = FleetName(slugOf: "entrance")
    let exit = FleetName(slugOf: "exit")

    init() throws { folder = try TestFolder() }

    func open(_ settings: SpoolSettings = SpoolSettings()) throws -> Spool {
        try Spool(folder: folder.path + "/state", node: FleetName(slugOf: "node"), settings: settings)
    }

    func event(_ size: Int = 10) -> FleetEvent {
        FleetEvent(.tag, time: 0, ["filler": .string(String(repeating: "x", count: size))])
    }

    @Test("Acknowledgement that is repeated, or of an event that was never stored: changes nothing")
    func oddAcknowledgements() async throws {
        let spool = try open()
        let stored = try await spool.append((0..<4).map { _ in (entrance, event()) }).events
        try await spool.acknowledge(stored.prefix(3).map(\.place))
        var future = stored[0].place
        future.sequence = 6
        var stranger = stored[3].place
        stranger.reader = exit
        try await spool.acknowledge([stored[0].place])
        try await spool.acknowledge([stored[2].place])
        try await spool.acknowledge([future, stranger])
        #expect(try await spool.positions().map(\.sequence) == [3])
        #expect(try await spool.waitingCount() == 1)
        _ = try await spool.append([(entrance, event()), (entrance, event())])
        #expect(try await spool.waiting(after: 0, limit: 10).map(\.sequence) == [4, 5, 6])
        #expect(try await spool.waitingCount() == 3)
    }

    @Test("Query of events: in order and up to the limit, of all readers or of one")
    func limits() async throws {
        let spool = try open()
        let stored = try await spool.append([
            (entrance, event()), (entrance, event()), (exit, event()), (entrance, event()), (exit, event()),
        ]).events
        #expect(try await spool.waiting(after: 0, limit: 3) == Array(stored.prefix(3)))
        #expect(try await spool.waiting(after: 2, limit: 2) == Array(stored[2...3]))
        let asked = try await spool.events(of: entrance, in: 1...3, limit: 2)
        #expect(asked == Array(stored.prefix(2)))
        #expect(try await spool.events(of: FleetName(slugOf: "nowhere"), in: 1...3, limit: 2).isEmpty)
    }

    @Test("Report of dropped events: their first and last number, and their count")
    func report() async throws {
        var settings = SpoolSettings()
        settings.limit = 20_000
        let spool = try open(settings)
        var stored = StoredEvents()
        while stored.shortage == nil { stored = try await spool.append([(entrance, event(500))]) }
        #expect(stored.shortage == .limit)
        #expect(stored.events.count == 2)
        let report = try JSONValue(parsing: try #require(stored.events.first).payload)["data"]
        let first = try #require(try await spool.waiting(after: 0, limit: 1000).first).sequence
        #expect(report?["first"] == 1)
        #expect(report?["last"]?.int == Int(first) - 1)
        #expect(report?["count"]?.int == Int(first) - 1)
        #expect(first > 2)
    }

    @Test("Shortage of a full spool: ends when an eighth of the space is free or acknowledged")
    func end() async throws {
        var settings = SpoolSettings()
        settings.limit = 50_000
        let spool = try open(settings)
        for _ in 0..<200 { _ = try await spool.append([(entrance, event(500))]) }
        // Without an earlier shortage, there is space for one more event.
        #expect(try await spool.announceDropped(time: 0).shortage == nil)
        #expect(try await spool.announceDropped(time: 0, after: .limit).shortage == .limit)
        let waiting = try await spool.waiting(after: 0, limit: 1000)
        try await spool.acknowledge(waiting.prefix(waiting.count / 10).map(\.place))
        #expect(try await spool.announceDropped(time: 0, after: .limit).shortage == .limit)
        try await spool.acknowledge(waiting.prefix(waiting.count / 6).map(\.place))
        #expect(try await spool.announceDropped(time: 0, after: .limit).shortage == nil)
    }

    @Test("Events stored with a report of dropped ones: hasLast is true only if the new event was stored too")
    func lastWithoutRoom() async throws {
        var settings = SpoolSettings()
        (settings.limit, settings.policy, settings.keep) = (20_000, .newest, 0)
        let spool = try open(settings)
        var stored = StoredEvents()
        while stored.shortage == nil { stored = try await spool.append([(entrance, event(500))]) }
        #expect(stored.events.isEmpty && !stored.hasLast)
        // There is room for the report and for one more event, which takes all of it.
        let first = try await spool.waiting(after: 0, limit: 2)
        try await spool.acknowledge(first.map(\.place))
        stored = try await spool.append([(entrance, event(5000)), (entrance, event())])
        #expect(stored.events.count == 2 && stored.shortage == .limit && !stored.hasLast)
        try await spool.acknowledge(try await spool.waiting(after: 0, limit: 1000).map(\.place))
        stored = try await spool.append([(entrance, event())])
        #expect(stored.events.count == 2 && stored.hasLast)
    }

    @Test("Event acknowledged before it was dropped: not counted as waiting")
    func droppedEarly() async throws {
        var settings = SpoolSettings()
        settings.limit = 20_000
        let spool = try open(settings)
        let stored = try await spool.append((0..<10).map { _ in (entrance, event(500)) }).events
        try await spool.acknowledge([stored[1].place])
        #expect(try await spool.waitingCount() == 9)
        var shortage: SpoolShortage?
        while shortage == nil { shortage = try await spool.append([(entrance, event(500))]).shortage }
        let waiting = try await spool.waiting(after: 0, limit: 1000)
        #expect(waiting.first?.sequence ?? 0 > 2)
        #expect(try await spool.waitingCount() == waiting.count)
    }
}
