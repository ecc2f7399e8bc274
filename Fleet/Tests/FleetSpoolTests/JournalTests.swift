// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool
import FleetTestSupport
import Foundation
import Testing

@Suite("The journal of jobs", .timeLimit(.minutes(5)))
struct JournalTests {
    let folder: TestFolder
    let node = FleetName(slugOf: "node")
    let entrance = FleetName(slugOf: "entrance")
    let exit = FleetName(slugOf: "exit")

    init() throws { folder = try TestFolder() }

    func open(_ settings: SpoolSettings = SpoolSettings()) throws -> Spool {
        try Spool(folder: folder.path + "/state", node: node, settings: settings)
    }

    func job(_ id: String, _ work: Job.Work = .lock) -> Job {
        Job(id: id, node: node, deadline: Timestamp.now + 60_000, work: work)
    }

    @Test("A password is in no file of the spool once its job has ended")
    func wiped() async throws {
        let spool = try open()
        let secret = TagSecret.bytes(password: [0xDE, 0xAD, 0xBE, 0xEF], acknowledgement: [0, 0])
        let hasPassword = {
            for suffix in ["", "-wal"] {
                let path = folder.path + "/state/spool.sqlite" + suffix
                let data = FileManager.default.contents(atPath: path) ?? Data()
                if data.range(of: Data("deadbeef".utf8)) != nil { return true }
            }
            return false
        }
        for number in 0..<100 { _ = try await spool.accept(job("a\(number)", .protect(secret))) }
        #expect(hasPassword())
        for number in 0..<100 {
            let outcome = JobOutcome(.expired, job: "a\(number)", kind: "protect")
            _ = try await spool.end(outcome, outcome.event(TagNaming(), time: Timestamp.now))
        }
        #expect(!hasPassword())
    }

    @Test("Job sent twice: accepted once, also after the spool was reopened, and its outcome is kept")
    func once() async throws {
        var spool = try open()
        #expect(try await spool.accept(job("a")) == .new)
        #expect(try await spool.accept(job("a")) == .waiting)
        // Without room a known job is still known, and a new one is not stored.
        #expect(try await spool.accept(job("a"), hasRoom: false) == .waiting)
        for _ in 0..<2 { #expect(try await spool.accept(job("full"), hasRoom: false) == .refused) }
        _ = consume spool
        spool = try open()
        #expect(try await spool.accept(job("a")) == .waiting)
        let outcome = JobOutcome(.done, job: "a", kind: "lock")
        let event = outcome.event(TagNaming(), time: Timestamp.now)
        #expect(try await spool.end(outcome, event) != nil)
        #expect(try await spool.end(outcome, event) == nil)
        guard case .ended(let members) = try await spool.accept(job("a")) else {
            Issue.record("It has not ended.")
            return
        }
        #expect(members["outcome"] == "done")
        #expect(try await spool.openJobs().isEmpty)
        // One outcome, one event.
        #expect(try await spool.waiting(after: 0, limit: 10).map(\.reader) == [.bridge])
    }

    @Test("A job that has ended is remembered for a day after its deadline, so that a late copy has no effect")
    func memory() async throws {
        let spool = try open()
        let now = Timestamp.now
        func end(_ id: String, deadline: Int64) async throws -> Job {
            let job = Job(id: id, node: node, deadline: deadline, work: .lock)
            #expect(try await spool.accept(job) == .new)
            let outcome = JobOutcome(.done, job: id)
            _ = try await spool.end(outcome, outcome.event(TagNaming(), time: now))
            return job
        }
        let old = try await end("old", deadline: now - 86_400_001)
        let recent = try await end("recent", deadline: now - 86_400_000)
        _ = try await end("last", deadline: now)
        guard case .ended = try await spool.accept(recent) else {
            Issue.record("The job of the last day is forgotten.")
            return
        }
        // Its copy is refused or expired by its deadline.
        #expect(try await spool.accept(old) == .new)
    }

    @Test("Full journal: refuses jobs except cancel jobs until a job has ended, also after the spool was reopened")
    func full() async throws {
        var settings = SpoolSettings()
        settings.limit = 1 << 20
        var spool = try open(settings)
        let large = Job.Work.write(.bytes([UInt8](repeating: 0, count: 450_000)), locks: false)
        for id in ["a", "b", "c"] { #expect(try await spool.accept(job(id, large)) == .new) }
        for _ in 0..<2 {
            #expect(try await spool.accept(job("d", large)) == .refused)
            _ = consume spool
            spool = try open(settings)
        }
        #expect(try await spool.accept(job("e", .cancel(job: "a"))) == .new)
        let outcome = JobOutcome(.expired, job: "a")
        _ = try await spool.end(outcome, outcome.event(TagNaming(), time: Timestamp.now))
        #expect(try await spool.accept(job("d", large)) == .new)
    }

    @Test(
        "Journal full of ended jobs: those past their deadline are forgotten for a new one",
        arguments: [-1000, 60_000] as [Int64]
    )
    func forgotten(_ rest: Int64) async throws {
        var settings = SpoolSettings()
        settings.limit = 1 << 20
        let spool = try open(settings)
        for id in ["a", "b", "c", "d"] {
            let job = Job(id: id, node: node, deadline: Timestamp.now + rest, work: .lock)
            #expect(try await spool.accept(job) == .new)
            var outcome = JobOutcome(.refused, job: id)
            outcome.message = String(repeating: "x", count: 900_000)
            _ = try await spool.end(outcome, outcome.event(TagNaming(), time: Timestamp.now))
        }
        #expect(try await spool.accept(job("e")) == (rest < 0 ? .new : .refused))
    }

    @Test("Job that has begun: its tag, reader and serial number are kept, and no serial number is given twice")
    func beginnings() async throws {
        var spool = try open()
        let write = Job.Work.write(.link("https://example.com/{serial}"), locks: false)
        for id in ["a", "b", "c"] { _ = try await spool.accept(job(id, write)) }
        #expect(try await spool.begin("a", at: entrance, with: [1, 2], takingSerial: true) == 1)
        #expect(try await spool.begin("b", at: entrance, with: [3], takingSerial: false) == nil)
        try await spool.note(.written, of: "a")
        _ = consume spool
        spool = try open()
        let jobs = try await spool.openJobs()
        #expect(jobs.map(\.job.id) == ["a", "b", "c"])
        #expect(jobs[0].beginning == .init(reader: entrance, uid: [1, 2], serial: 1, tagState: .written))
        #expect(jobs[1].beginning == .init(reader: entrance, uid: [3], serial: nil))
        #expect(jobs[2].beginning == nil)
        #expect(try await spool.begin("c", at: entrance, with: [4], takingSerial: true) == 2)
    }

    @Test("Allow list: changes when the allow job ends, once; replace, add, remove and off affect the given reader")
    func allowLists() async throws {
        let spool = try open()
        func change(_ id: String, _ change: Job.AllowChange, _ reader: FleetName?) async throws {
            _ = try await spool.accept(job(id, .allow(change)))
            let outcome = JobOutcome(.done, job: id)
            _ = try await spool.end(
                outcome,
                outcome.event(TagNaming(), time: Timestamp.now),
                applying: (change, reader)
            )
        }
        try await change("a", .init(.replace, uids: [[1], [2]]), nil)
        try await change("b", .init(.add, uids: [[3]]), entrance)
        try await change("c", .init(.remove, uids: [[2]]), nil)
        #expect(try await spool.allowLists() == AllowLists([nil: [[1]], entrance: [[3]]]))
        // A job that has ended changes nothing any more.
        try await change("a", .init(.replace, uids: [[9]]), nil)
        #expect(try await spool.allowLists().allows([9], at: exit) == false)
        try await change("d", .init(.off), entrance)
        #expect(try await spool.allowLists() == AllowLists([nil: [[1]]]))
        // A new list has nothing of the old one, and one that is empty allows no tag.
        try await change("e", .init(.replace, uids: [[7], [8]]), nil)
        try await change("f", .init(.remove, uids: [[7]]), exit)
        #expect(try await spool.allowLists() == AllowLists([nil: [[7], [8]], exit: []]))
    }
}
