// SPDX-License-Identifier: Apache-2.0
import FleetModel
import Testing

@Suite("The jobs that wait")
struct JobBoardTests {
    let entrance = FleetName(slugOf: "entrance")
    let exit = FleetName(slugOf: "exit")

    func job(_ id: String, reader: FleetName? = nil, uid: [UInt8]? = nil, deadline: Int64 = 1000) -> Job {
        Job(id: id, node: FleetName(slugOf: "node"), deadline: deadline, reader: reader, uid: uid, work: .lock)
    }

    @Test("Waiting jobs: the first one for the tag's reader and UID is next, until its deadline")
    func order() throws {
        var board = JobBoard()
        try board.add(job("a", reader: exit))
        try board.add(job("b", uid: [9]))
        try board.add(job("c"))
        #expect(board.next(for: [1], at: entrance, now: 0)?.job.id == "c")
        #expect(board.next(for: [9], at: entrance, now: 0)?.job.id == "b")
        #expect(board.next(for: [1], at: exit, now: 0)?.job.id == "a")
        #expect(board.next(for: [1], at: entrance, now: 1000) == nil)
    }

    @Test("Job that has begun: only its tag on its reader gets it")
    func begun() throws {
        var board = JobBoard()
        try board.add(job("a"))
        board.begin("a", with: .init(reader: entrance, uid: [1], serial: nil))
        #expect(board.next(for: [2], at: entrance, now: 0) == nil)
        #expect(board.next(for: [1], at: exit, now: 0) == nil)
        #expect(board.next(for: [1], at: entrance, now: 0)?.job.id == "a")
    }

    @Test("Job that was released after it had begun: waits for any tag again")
    func released() throws {
        var board = JobBoard()
        try board.add(job("a"))
        board.begin("a", with: .init(reader: entrance, uid: [1], serial: nil))
        board.release("a")
        #expect(board.next(for: [2], at: exit, now: 0)?.job.id == "a")
        #expect(board.next(for: [2], at: exit, now: 0)?.beginning == nil)
        let expired = board.sweep(now: 1000)
        #expect(expired.map(\.result) == [.expired])
    }

    @Test("Lost tag of a job: tag-lost after 10 seconds, or at the deadline if that is earlier")
    func lost() throws {
        var board = JobBoard()
        try board.add(job("a", deadline: 100_000))
        try board.add(job("b", deadline: 5000))
        board.begin("a", with: .init(reader: entrance, uid: [1], serial: 7))
        board.begin("b", with: .init(reader: exit, uid: [2], serial: nil))
        board.lose("a", tagState: .written, now: 1000)
        board.lose("b", tagState: .uncertain, now: 1000)
        #expect(board.nextLimit == 5000)
        let none = board.sweep(now: 4999)
        #expect(none.isEmpty)
        let first = board.sweep(now: 5000)
        #expect(first.map(\.job) == ["b"])
        #expect(first.first?.result == .tagLost)
        let second = board.sweep(now: 11_000)
        #expect(second.first?.tagState == .written)
        #expect(second.first?.serial == 7)
        #expect(board.entries.isEmpty)
    }

    @Test("After a restart a job that had begun waits for its tag until its deadline")
    func restarted() {
        let beginning = JobBoard.Beginning(reader: entrance, uid: [1], serial: 3)
        var board = JobBoard([.init(job("a", deadline: 50_000), beginning: beginning)])
        #expect(board.next(for: [1], at: entrance, now: 0)?.beginning == beginning)
        let none = board.sweep(now: 49_999)
        #expect(none.isEmpty)
        let lost = board.sweep(now: 50_000)
        #expect(lost.first?.result == .tagLost)
    }

    @Test("Job board: jobs expire at their deadline; jobs beyond the limit are too-many-jobs")
    func limits() throws {
        var board = JobBoard()
        for number in 0..<JobBoard.maximumCount { try board.add(job("j\(number)")) }
        #expect(throws: JobRefusal(.tooManyJobs, "")) {
            var full = board
            try full.add(job("more"))
        }
        let expired = board.sweep(now: 1000)
        #expect(expired.count == JobBoard.maximumCount)
    }

    @Test("Allow lists: a reader's own list counts before the list for all readers")
    func allowLists() {
        var lists = AllowLists()
        #expect(lists.allows([1], at: entrance) == nil)
        lists.apply(.init(.replace, uids: [[1]]), to: nil)
        #expect(lists.allows([1], at: entrance) == true)
        lists.apply(.init(.add, uids: [[2]]), to: entrance)
        #expect(lists.allows([1], at: entrance) == false)
        #expect(lists.allows([1], at: exit) == true)
        lists.apply(.init(.remove, uids: [[1]]), to: nil)
        #expect(lists.allows([1], at: exit) == false)
        lists.apply(.init(.off), to: nil)
        #expect(lists.allows([1], at: exit) == nil)
        // A new list has nothing of the old one.
        lists.apply(.init(.replace, uids: [[3]]), to: entrance)
        #expect(lists.allows([2], at: entrance) == false && lists.allows([3], at: entrance) == true)
    }
}
