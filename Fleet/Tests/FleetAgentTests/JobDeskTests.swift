// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool
import FleetTestSupport
import Testing

@testable import FleetAgent  // what a job does at a tag is internal

@Suite("The desk of jobs", .timeLimit(.minutes(1)))
struct JobDeskTests {
    let folder: TestFolder
    let spool: Spool
    let entrance = FleetName(slugOf: "entrance")
    let exit = FleetName(slugOf: "exit")

    init() throws {
        folder = try TestFolder()
        spool = try Spool(folder: folder.path + "/state", node: FleetName(slugOf: "n1"))
    }

    /// A desk, as it is after a start.
    private func desk() async throws -> JobDesk {
        let desk = JobDesk(JobDesk.Parts(spool: spool)) { _ in }
        try await desk.begin()
        await desk.note(readers: [entrance, exit])
        return desk
    }

    private func job(_ id: String, _ work: Job.Work, reader: FleetName? = nil, milliseconds: Int64 = 60_000) -> Job {
        Job(id: id, node: spool.node, deadline: Timestamp.now + milliseconds, reader: reader, work: work)
    }

    private func outcomes() async throws -> [JSONValue] {
        try await spool.waiting(after: 0, limit: 1000).compactMap { try JSONValue(parsing: $0.payload)["data"] }
    }

    @Test("Cancelled job: no tag gets it, and it can't be cancelled again")
    func cancelled() async throws {
        let desk = try await desk()
        await desk.take(job("a", .lock).json.bytes)
        await desk.take(job("b", .cancel(job: "a")).json.bytes)
        let codes = try await outcomes().map { $0["code"]?.text }
        #expect(codes == ["cancelled", nil])
        let order = await desk.order(for: [1], at: entrance)
        #expect(order?.job.id == nil)
        // It does not wait any more.
        await desk.take(job("c", .cancel(job: "a")).json.bytes)
        #expect(try await outcomes().last?["code"] == "bad-job")
        await desk.close()
    }

    @Test("Change of an allow list after its deadline: expired, and the list stays")
    func expired() async throws {
        let desk = try await desk()
        await desk.take(job("a", .allow(.init(.replace, uids: [[1]])), milliseconds: -1000).json.bytes)
        #expect(try await outcomes().compactMap { $0["outcome"]?.text } == ["expired"])
        #expect(await desk.allows([1], at: entrance) == nil)
        #expect(try await spool.allowLists() == AllowLists([:]))
    }

    @Test("Allow list of one reader: replaced by the next one, kept over a restart, and no other reader's")
    func allowLists() async throws {
        let desk = try await desk()
        await desk.take(job("a", .allow(.init(.replace, uids: [[9]])), reader: entrance).json.bytes)
        await desk.take(job("b", .allow(.init(.replace, uids: [[1]])), reader: entrance).json.bytes)
        for desk in [desk, try await self.desk()] {
            #expect(await desk.allows([1], at: entrance) == true)
            #expect(await desk.allows([9], at: entrance) == false)
            #expect(await desk.allows([1], at: exit) == nil)
        }
    }

    @Test("Jobs of an earlier run: each is done as soon as its reader is known")
    func interrupted() async throws {
        for (id, uid) in [("a", 1), ("b", 2)] as [(String, UInt8)] {
            let job = job(id, .allow(.init(.replace, uids: [[uid]])), reader: uid == 1 ? entrance : exit)
            #expect(try await spool.accept(job) == .new)
        }
        let desk = JobDesk(JobDesk.Parts(spool: spool)) { _ in }
        try await desk.begin()
        await desk.note(readers: [entrance])
        #expect(try await outcomes().compactMap { $0["job"]?.text } == ["a"])
        #expect(await desk.allows([2], at: exit) == nil)
        await desk.note(readers: [entrance, exit])
        #expect(try await outcomes().compactMap { $0["outcome"]?.text } == ["done", "done"])
        #expect(await desk.allows([2], at: exit) == true)
        await desk.close()
    }

    @Test("Job of an earlier run whose reader never appears: expires")
    func interruptedAndExpired() async throws {
        let job = job("a", .allow(.init(.replace, uids: [[1]])), reader: exit, milliseconds: -1)
        #expect(try await spool.accept(job) == .new)
        let desk = JobDesk(JobDesk.Parts(spool: spool)) { _ in }
        try await desk.begin()
        await desk.note(readers: [entrance])
        #expect(try await outcomes().compactMap { $0["outcome"]?.text } == ["expired"])
        await desk.close()
    }

    @Test(
        "Change of an allow list that can't be stored: waits, and takes effect when the spool can be written",
        .enabled(if: TestProgram.find("python3") != nil, "It takes python3.")
    )
    func unstored() async throws {
        let python = try #require(TestProgram.find("python3"))
        func change(_ sql: String) async throws {
            let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])"
            let run = try await TestProgram.run(python, ["-c", script, folder.path + "/state/spool.sqlite", sql])
            #expect(run.status == 0, "\(run.output)")
        }
        let desk = try await desk()
        try await change("CREATE TRIGGER t BEFORE INSERT ON allowed BEGIN SELECT RAISE(ABORT, 'no'); END;")
        let bytes = job("a", .allow(.init(.replace, uids: [[1]]))).json.bytes
        // It waits, so it is not done twice.
        for _ in 0..<2 { await desk.take(bytes) }
        #expect(try await outcomes().isEmpty)
        #expect(await desk.allows([1], at: entrance) == nil)
        try await change("DROP TRIGGER t;")
        await desk.note(readers: [entrance, exit])
        #expect(try await outcomes().compactMap { $0["outcome"]?.text } == ["done"])
        #expect(await desk.allows([1], at: entrance) == true)
        #expect(try await spool.openJobs().isEmpty)
        await desk.close()
    }

    @Test("Closed job desk: a tag gets no job, and the job waits for the next start")
    func closed() async throws {
        let desk = try await desk()
        await desk.take(job("a", .lock).json.bytes)
        await desk.take(job("b", .lock).json.bytes)
        let begun = await desk.order(for: [1], at: entrance)
        #expect(begun?.job.id == "a")
        await desk.close()
        let second = await desk.order(for: [2], at: exit)
        #expect(second?.job.id == nil)
        #expect(try await spool.openJobs().map(\.job.id) == ["a", "b"])
        let tags = try await spool.openJobs().map { $0.beginning?.uid }
        #expect(tags == [[1], nil])
    }

    @Test("Job that has begun: resumed only by its tag on its reader, and not while it is running")
    func resumed() async throws {
        var desk = try await desk()
        await desk.take(job("a", .write(.link("https://example.com/{serial}"), locks: false)).json.bytes)
        let first = await desk.order(for: [1], at: entrance)
        #expect(first?.isResumed == false && first?.beginning.serial == 1)
        let meanwhile = await desk.resume([1], at: entrance)
        #expect(meanwhile?.job.id == nil)
        await desk.close()
        // After a restart it waits for its tag.
        desk = try await self.desk()
        for (uid, reader) in [([2], entrance), ([1], exit)] as [([UInt8], FleetName)] {
            let other = await desk.resume(uid, at: reader)
            #expect(other?.job.id == nil)
            let order = await desk.order(for: uid, at: reader)
            #expect(order?.job.id == nil)
        }
        let back = await desk.resume([1], at: entrance)
        #expect(back?.isResumed == true && back?.beginning.serial == 1)
        let twice = await desk.resume([1], at: entrance)
        #expect(twice?.job.id == nil)
        await desk.close()
    }

    @Test("Large jobs beyond the journal's space: refused as too-many-jobs; cancelling a waiting job still works")
    func large() async throws {
        var settings = SpoolSettings()
        settings.limit = 1 << 20
        let small = try Spool(folder: folder.path + "/small", node: spool.node, settings: settings)
        let desk = JobDesk(JobDesk.Parts(spool: small)) { _ in }
        try await desk.begin()
        let work = Job.Work.write(.text(String(repeating: "x", count: 900_000), language: "en"), locks: false)
        for number in 1...5 { await desk.take(job("j\(number)", work).json.bytes) }
        await desk.take(job("c", .cancel(job: "j1")).json.bytes)
        let outcomes = try await small.waiting(after: 0, limit: 10).compactMap {
            try JSONValue(parsing: $0.payload)["data"]
        }
        #expect(outcomes.map { $0["job"] } == ["j4", "j5", "j1", "c"])
        #expect(outcomes.map { $0["code"]?.text } == ["too-many-jobs", "too-many-jobs", "cancelled", nil])
        await desk.close()
    }

    @Test("Bad or dropped job messages beyond the outcome limit: one last outcome has their number")
    func dropped() async throws {
        let desk = try await desk()
        for _ in 0..<15 { await desk.take(Array("x".utf8)) }
        for _ in 0..<100 { await desk.noteDropped(7) }
        await desk.close()
        let outcomes = try await outcomes()
        #expect(outcomes.count == 11)
        #expect(outcomes.last?["code"] == "too-many-jobs" && outcomes.last?["count"] == 705)
    }

    @Test("Outcome of a job that is sent again and again: repeated at most 100 times a minute")
    func repetitions() async throws {
        let desk = try await desk()
        let bytes = job("a", .allow(.init(.off))).json.bytes
        for _ in 0..<104 { await desk.take(bytes) }
        let outcomes = try await outcomes()
        #expect(outcomes.count == 101)
        #expect(outcomes.compactMap { $0["repeated"]?.bool } == [false] + Array(repeating: true, count: 100))
    }
}

@Suite("Limits per minute for unknown senders")
struct MinuteLimitTests {
    @Test("Limit per minute: counts anew a minute after the first event, or when the clock is set back")
    func minute() {
        var limit = MinuteLimit(2)
        let times: [Int64] = [0, 1000, 1000, 59_999, 60_000, 60_500, 61_000]
        let answers = times.map { limit.allows(now: $0) }
        #expect(answers == [true, true, false, false, true, false, true])
        let earlier = [limit.allows(now: 5000), limit.allows(now: 5001), limit.allows(now: 5002)]
        #expect(earlier == [true, true, false])
    }
}
