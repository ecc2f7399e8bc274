// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool
import FleetTestSupport
import Testing

@Suite("A spool of several nodes", .timeLimit(.minutes(5)))
struct SharedSpoolTests {
    let folder: TestFolder
    let nodes = (0..<20).map { FleetName(slugOf: "node-\($0)") }
    let entrance = FleetName(slugOf: "entrance")

    init() throws { folder = try TestFolder() }

    func open(_ settings: SpoolSettings = SpoolSettings()) throws -> [Spool] {
        let file = try SpoolFile(folder: folder.path + "/state", settings: settings)
        return try nodes.map { try Spool(file, node: $0) }
    }

    func event(_ size: Int = 10) -> FleetEvent {
        FleetEvent(.tag, time: 0, ["filler": .string(String(repeating: "x", count: size))])
    }

    @Test("Numbers of events: from 1 for each node and reader, with several nodes at once and after reopening")
    func numbers() async throws {
        for _ in 0..<2 {
            let spools = try open()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for spool in spools {
                    group.addTask {
                        for _ in 0..<25 { _ = try await spool.append([(entrance, event()), (.bridge, event())]) }
                    }
                }
                try await group.waitForAll()
            }
        }
        for spool in try open() {
            let events = try await spool.waiting(after: 0, limit: 1000)
            #expect(events.filter { $0.reader == entrance }.map(\.sequence) == Array(1...50))
            #expect(events.filter { $0.reader == .bridge }.map(\.sequence) == Array(1...50))
            #expect(events.map(\.number) == events.map(\.number).sorted())
            let sources = try Set(events.compactMap { try JSONValue(parsing: $0.payload)["source"]?.text })
            #expect(sources == ["/opencorenfc/\(spool.node)/entrance", "/opencorenfc/\(spool.node)/bridge"])
        }
    }

    @Test("Stored events: previous is the number of the same node's last event, not another node's")
    func previous() async throws {
        let spools = try open()
        let first = try await spools[0].append([(entrance, event()), (.bridge, event())])
        _ = try await spools[1].append([(entrance, event())])
        let second = try await spools[0].append([(entrance, event())])
        #expect(first.previous == 0)
        #expect(second.previous == first.events.last?.number)
        // The other node's event is between them.
        #expect(second.events.first?.number == second.previous + 2)
    }

    @Test("Acknowledgements: count for one node only, in any order, and remain when the spool is reopened")
    func acknowledgements() async throws {
        var spools = try open()
        let stored = try await spools[0].append((0..<6).map { _ in (entrance, event()) }).events
        _ = try await spools[1].append((0..<3).map { _ in (entrance, event()) })
        try await spools[0].acknowledge([stored[3].place, stored[1].place])
        #expect(try await spools[0].waiting(after: 0, limit: 10).map(\.sequence) == [1, 3, 5, 6])
        #expect(try await spools[0].waiting(after: 0, limit: 2).map(\.sequence) == [1, 3])
        #expect(try await spools[0].waitingCount() == 4)
        #expect(try await spools[0].positions().first?.sequence == 0)
        try await spools[0].acknowledge([stored[0].place, stored[0].place])
        #expect(try await spools[0].positions().first?.sequence == 2)
        try await spools[0].acknowledge([stored[2].place])
        #expect(try await spools[0].positions().first?.sequence == 4)
        #expect(try await spools[1].waitingCount() == 3)
        spools = []
        spools = try open()
        #expect(try await spools[0].waiting(after: 0, limit: 10).map(\.sequence) == [5, 6])
        #expect(try await spools[1].waitingCount() == 3)
    }

    @Test("Numbers of events: continue after all events were acknowledged and removed")
    func removed() async throws {
        var settings = SpoolSettings()
        settings.keep = 0
        for round in 0..<3 {
            let spools = try open(settings)
            let stored = try await spools[3].append([(entrance, event()), (entrance, event())]).events
            #expect(stored.map(\.sequence) == [Int64(3 * round + 1), Int64(3 * round + 2)])
            try await spools[3].acknowledge(stored.map(\.place))
            #expect(try await spools[3].events(of: entrance, in: 1...100, limit: 100).isEmpty)
            let next = try await spools[3].append([(entrance, event())], acknowledging: []).events
            #expect(next[0].number > stored[1].number)
            try await spools[3].acknowledge(next.map(\.place))
            _ = try await spools[3].append([])
            // The third number of this round was given too.
            #expect(try await spools[3].positions().first?.sequence == Int64(3 * round + 3))
        }
    }

    @Test("Full spool of several nodes: each node reports its own lost events")
    func full() async throws {
        var settings = SpoolSettings()
        settings.limit = 60_000
        let spools = try open(settings)
        for _ in 0..<100 {
            for spool in spools.prefix(2) { _ = try await spool.append([(entrance, event(500))]) }
        }
        for spool in spools.prefix(2) {
            let events = try await spool.waiting(after: 0, limit: 1000)
            let reports = try events.map { try JSONValue(parsing: $0.payload) }.filter {
                $0["type"]?.text == EventKind.error.type
            }
            let last = try #require(reports.last?["data"]?["last"]?.int)
            #expect(reports.last?["data"]?["node"]?.text == spool.node.text)
            #expect(events.first?.sequence == Int64(last) + 1)
            #expect(events.map(\.sequence) == Array((events.first?.sequence ?? 0)...(events.last?.sequence ?? 0)))
        }
    }

    @Test("Shared spool: each node has its own jobs, serial numbers and allow lists")
    func jobs() async throws {
        let spools = try open()
        for spool in spools.prefix(2) {
            let job = Job(
                id: "same",
                node: spool.node,
                deadline: Timestamp.now + 60_000,
                work: .write(.link("https://example.com/{serial}"), locks: false)
            )
            #expect(try await spool.accept(job) == .new)
            #expect(try await spool.begin("same", at: entrance, with: [1], takingSerial: true) == 1)
        }
        let outcome = JobOutcome(.done, job: "same")
        let event = outcome.event(TagNaming(), time: Timestamp.now)
        let change = Job.AllowChange(.replace, uids: [[1]])
        #expect(try await spools[0].end(outcome, event, applying: (change, nil)) != nil)
        #expect(try await spools[0].openJobs().isEmpty)
        #expect(try await spools[1].openJobs().count == 1)
        #expect(try await spools[0].allowLists() == AllowLists([nil: [[1]]]))
        #expect(try await spools[1].allowLists() == AllowLists([:]))
    }
}
