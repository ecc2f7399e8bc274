// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool
import FleetTestSupport
import Foundation
import Testing

@Suite("The spool", .timeLimit(.minutes(5)))
struct SpoolTests {
    let folder: TestFolder
    let node = FleetName(slugOf: "node")
    let entrance = FleetName(slugOf: "entrance")
    let exit = FleetName(slugOf: "exit")

    init() throws { folder = try TestFolder() }

    func open(_ settings: SpoolSettings = SpoolSettings()) throws -> Spool {
        try Spool(folder: folder.path + "/state", node: node, settings: settings)
    }

    func event(_ size: Int = 10) -> FleetEvent {
        FleetEvent(.tag, time: 0, ["filler": .string(String(repeating: "x", count: size))])
    }

    @Test("Events of each reader are numbered from 1 without a gap, also after it was opened again")
    func numbers() async throws {
        var stream = ""
        for round in 0..<3 {
            let spool = try open()
            if round > 0 { #expect(spool.stream == stream) }
            stream = spool.stream
            for _ in 0..<5 { _ = try await spool.append([(entrance, event()), (exit, event())]) }
        }
        let spool = try open()
        let events = try await spool.waiting(after: 0, limit: 100)
        #expect(events.filter { $0.reader == entrance }.map(\.sequence) == Array(1...15))
        #expect(events.filter { $0.reader == exit }.map(\.sequence) == Array(1...15))
        #expect(events.map(\.number) == events.map(\.number).sorted())
        let ids = try events.map { try JSONValue(parsing: $0.payload)["id"]?.text }
        #expect(Set(ids).count == 30)
        #expect(ids.first == "\(stream).entrance.1")
    }

    @Test("Reopened spool: previous is the node's last event, whichever reader that was of")
    func lastOfReaders() async throws {
        var last: Int64 = 0
        for readers in [[entrance, exit], [entrance], [exit], [exit, entrance]] {
            let stored = try await open().append(readers.map { ($0, event()) })
            #expect(stored.previous == last)
            last = try #require(stored.events.last?.number)
        }
    }

    @Test("Spool database: write-ahead log, synced at every commit")
    func durability() async throws {
        let (journal, synchronous) = try await open().durability()
        #expect(journal == "wal")
        #expect(synchronous == 2)
    }

    @Test(
        "Files of the spool: mode 0600, also existing ones; a new folder has 0700, and an existing one keeps its mode"
    )
    func permissions() async throws {
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        let made = folder.path + "/a/b"
        _ = try Spool(folder: made, node: node)
        #expect(try mode(made) == 0o700)
        let state = folder.path + "/state"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: state)
        // A file of an earlier run.
        try folder.write("state/spool.sqlite", "", mode: 0o644)
        let spool = try open()
        _ = try await spool.append([(entrance, event())])
        for name in ["spool.sqlite", "spool.sqlite-wal", "spool.sqlite-shm"] {
            #expect(try mode("\(state)/\(name)") == 0o600, "\(name)")
        }
        #expect(try mode(state) == 0o755)
    }

    @Test("Spool folder that others can write, or a symbolic link as the spool's file: refused")
    func strangers() throws {
        let state = folder.path + "/state"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        for mode in [0o777, 0o770, 0o1777] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: state)
            #expect(throws: SpoolError(.unusable, "")) { try open() }
            let after = try FileManager.default.attributesOfItem(atPath: state)[.posixPermissions] as? Int
            #expect(after == mode)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: state)
        let target = try folder.write("target", "")
        try FileManager.default.createSymbolicLink(atPath: state + "/spool.sqlite", withDestinationPath: target)
        #expect(throws: SpoolError(.unusable, "")) { try open() }
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)).isEmpty)
    }

    @Test("Spool that another agent uses: refused")
    func exclusive() async throws {
        let spool = try open()
        #expect(throws: SpoolError(.inUse, "")) { try open() }
        _ = try await spool.append([(entrance, event())])
    }

    @Test("Stored event: waits until acknowledged; the last acknowledged events are kept for replay")
    func acknowledgement() async throws {
        var settings = SpoolSettings()
        settings.keep = 4
        let spool = try open(settings)
        let stored = try await spool.append((0..<10).map { _ in (entrance, event()) }).events
        try await spool.acknowledge(stored.prefix(8).map(\.place))
        #expect(try await spool.waiting(after: 0, limit: 100).map(\.sequence) == [9, 10])
        #expect(try await spool.waitingCount() == 2)
        let kept = try await spool.events(of: entrance, in: 1...100, limit: 100)
        #expect(kept.map(\.sequence) == [7, 8, 9, 10])
        #expect(kept.last == stored.last)
        let position = try await spool.positions().first
        #expect(position?.reader == entrance && position?.sequence == 8 && position?.first == 7)
        try await spool.acknowledge(stored.suffix(2).map(\.place))
        #expect(try await spool.positions().first?.sequence == 10)
    }

    @Test("Full spool with policy oldest: the oldest events are dropped, and an event names them")
    func oldest() async throws {
        var settings = SpoolSettings()
        settings.limit = 100_000
        let spool = try open(settings)
        for _ in 0..<400 { _ = try await spool.append([(entrance, event(500))]) }
        let events = try await spool.waiting(after: 0, limit: 1000)
        let size = events.map(\.payload.count).reduce(0, +)
        #expect(size <= 110_000)
        let reports = try events.map { try JSONValue(parsing: $0.payload) }.filter {
            $0["type"]?.text == EventKind.error.type
        }
        let report = try #require(reports.last?["data"])
        #expect(report["code"] == "events-dropped")
        #expect(report["policy"] == "oldest")
        // Early reports were dropped too. The later ones include what those reported.
        let counts = reports.compactMap { $0["data"]?["count"]?.int }
        #expect(counts.reduce(0, +) == Int(events.first?.sequence ?? 0) - 1)
        #expect(reports.compactMap { $0["data"]?["first"]?.int }.min() == 1)
        // What is there begins after the last number that was reported.
        let last = try #require(report["last"]?.int)
        #expect(events.first?.sequence == Int64(last) + 1)
        #expect(events.map(\.sequence) == Array((events.first?.sequence ?? 0)...(events.last?.sequence ?? 0)))
    }

    @Test("Full spool with policy newest: new events are dropped, and an event names them once there is room")
    func newest() async throws {
        var settings = SpoolSettings()
        settings.limit = 50_000
        settings.policy = .newest
        settings.keep = 0
        let spool = try open(settings)
        for _ in 0..<200 { _ = try await spool.append([(entrance, event(500))]) }
        let full = try await spool.waiting(after: 0, limit: 1000)
        #expect(full.first?.sequence == 1)
        try await spool.acknowledge(full.map(\.place))
        // There is room again, so nothing says that there is none.
        #expect(try await spool.append([(entrance, event())]).shortage == nil)
        let events = try await spool.waiting(after: 0, limit: 10)
        let report = try JSONValue(parsing: try #require(events.first).payload)["data"]
        #expect(report?["code"] == "events-dropped")
        #expect(report?["first"]?.int == full.count + 1)
        #expect(report?["last"] == 200)
        #expect(report?["count"]?.int == 200 - full.count)
        #expect(events.map(\.sequence) == [201, 202])
    }

    @Test("Report of dropped events: stored when acknowledgements make room; no position passes the gap before")
    func reportWithoutNextEvent() async throws {
        var settings = SpoolSettings()
        settings.limit = 50_000
        settings.policy = .newest
        let spool = try open(settings)
        for _ in 0..<100 { _ = try await spool.append([(entrance, event(500))]) }
        let full = try await spool.waiting(after: 0, limit: 1000)
        #expect(full.count < 100)
        #expect(try await spool.announceDropped(time: 0).shortage == .limit)
        #expect(try await spool.positions().map(\.sequence) == [0])
        #expect(try await spool.acknowledge(full.map(\.place)))
        #expect(try await spool.positions().map(\.sequence) == [Int64(full.count)])
        let reports = try await spool.announceDropped(time: 0)
        #expect(reports.shortage == nil && reports.previous == full.last?.number)
        #expect(reports.events.map(\.sequence) == [101])
        let report = try JSONValue(parsing: try #require(reports.events.first).payload)["data"]
        #expect(report?["count"]?.int == 100 - full.count)
        #expect(report?["first"]?.int == full.count + 1)
        #expect(report?["last"] == 100)
        #expect(report?["message"]?.text?.contains("limit_mb") == true)
        #expect(try await spool.announceDropped(time: 0) == StoredEvents(previous: reports.events[0].number))
        // Until the report is acknowledged too, nobody has to know of the gap.
        #expect(try await spool.positions().map(\.sequence) == [Int64(full.count)])
        #expect(try await !spool.acknowledge(reports.events.map(\.place)))
        #expect(try await spool.positions().map(\.sequence) == [101])
    }

    @Test("Dropped events: reported after the spool was reopened")
    func reportAfterRestart() async throws {
        var settings = SpoolSettings()
        settings.limit = 20_000
        settings.policy = .newest
        do {
            let spool = try open(settings)
            for _ in 0..<50 { _ = try await spool.append([(entrance, event(500))]) }
            #expect(try await spool.announceDropped(time: 0).shortage == .limit)
        }
        settings.limit = 100_000
        let spool = try open(settings)
        let reports = try await spool.announceDropped(time: 0).events
        #expect(reports.map(\.sequence) == [51])
        let report = try JSONValue(parsing: try #require(reports.first).payload)["data"]
        #expect(report?["last"] == 50)
        // Why there was no room is not known any more.
        let message = try #require(report?["message"]?.text)
        #expect(message.contains("limit_mb") && message.contains("disk space"))
    }

    @Test("Full spool: acknowledged events are dropped first")
    func acknowledgedFirst() async throws {
        var settings = SpoolSettings()
        settings.limit = 50_000
        let spool = try open(settings)
        let old = try await spool.append((0..<40).map { _ in (entrance, event(500)) }).events
        try await spool.acknowledge(old.map(\.place))
        let waiting = try await spool.append((0..<25).map { _ in (exit, event(500)) }).events
        for _ in 0..<25 { _ = try await spool.append([(exit, event(500))]) }
        let events = try await spool.waiting(after: 0, limit: 1000)
        #expect(events.count == 50)
        #expect(events.first == waiting.first)
    }
}
