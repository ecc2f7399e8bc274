// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetSpool
import FleetTestSupport
import Testing

@testable import FleetAgent  // the limit of a log is internal

@Suite("The log of what strangers send", .timeLimit(.minutes(1)))
struct LimitedLogTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func desk(_ lines: LogLines) throws -> JobDesk {
        let spool = try Spool(folder: folder.path + "/state", node: FleetName(slugOf: "n1"))
        return JobDesk(JobDesk.Parts(spool: spool, log: lines.log)) { _ in }
    }

    @Test("2000 messages that are not jobs: ten lines in the log, and one with the number left out")
    func nonsense() async throws {
        let lines = LogLines()
        let desk = try desk(lines)
        for _ in 0..<2000 { await desk.take(Array("x".utf8)) }
        #expect(lines.count("") == 10)
        await desk.close()
        // The report about the 1990 messages is one of them.
        #expect(lines.all("left-out") == ["left-out 1991 lines about jobs were left out of the log."])
        #expect(lines.count("") == 11)
        // What was said is not said again.
        await desk.close()
        #expect(lines.count("") == 11)
    }

    @Test("A waiting job that is sent 500 times: ten lines in the log, and one with the number left out")
    func copies() async throws {
        let lines = LogLines()
        let desk = try desk(lines)
        let job = Job(id: "j1", node: FleetName(slugOf: "n1"), deadline: Timestamp.now + 60_000, work: .lock)
        for _ in 0..<500 { await desk.take(job.json.bytes) }
        #expect(lines.count("job-again") == 10)
        #expect(lines.count("job The job j1") == 1)
        await desk.close()
        #expect(lines.count("left-out 489 lines") == 1)
    }

    @Test("Limited log: each span in which lines were left out ends with a line that has their number")
    func goesOn() async throws {
        let lines = LogLines()
        let loop = EventLoop("test")
        let log = LimitedLog(lines.log, about: "copies", loop: loop, span: .milliseconds(30))
        func report(_ count: Int) { loop.async { for _ in 0..<count { log("copy", "A copy came.") } } }
        func waitForLeftOut(_ count: Int) async throws {
            try await waitWhile(lines.count("left-out") < count)
        }
        report(13)
        try await waitForLeftOut(1)
        report(2)
        try await waitForLeftOut(2)
        #expect(
            lines.all("left-out") == [
                "left-out 3 lines about copies were left out of the log.",
                "left-out 2 lines about copies were left out of the log.",
            ]
        )
        loop.close()
    }

    @Test("Ten messages that are not jobs: all are logged, and nothing is left out")
    func few() async throws {
        let lines = LogLines()
        let desk = try desk(lines)
        for _ in 0..<10 { await desk.take(Array("x".utf8)) }
        await desk.close()
        #expect(lines.count("job-refused") == 10)
        #expect(lines.count("left-out") == 0)
    }
}
