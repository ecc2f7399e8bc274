// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetModel
import FleetSpool
import FleetTestSupport
import Foundation
import Testing
import VirtualTags

private let canRun = hasBroker && TestProgram.find("python3") != nil

@Suite(
    "A spool that can't be written for a while",
    .enabled(if: canRun, "It takes mosquitto and python3."),
    .timeLimit(.minutes(3))
)
struct SpoolFailureTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Locks the spool's database until it is ended.
    private func lock(_ attempt: Int) async throws -> TestProgram {
        let script = """
            import sqlite3, sys, time
            database = sqlite3.connect(sys.argv[1])
            database.execute("BEGIN IMMEDIATE")
            print("locked", flush=True)
            time.sleep(600)
            """
        let output = "\(folder.path)/lock-\(attempt)"
        let python = try #require(TestProgram.find("python3"))
        let program = try TestProgram(python, ["-c", script, folder.path + "/state/spool.sqlite"], output: output)
        for _ in 0..<6000 where program.isRunning {
            if try String(contentsOfFile: output, encoding: .utf8).contains("locked") { return program }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw TestProblem("The database was not locked.")
    }

    @Test("Acknowledgements during a locked spool: the events leave the spool afterwards")
    func acknowledgements() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let lines = LogLines()
        let node = try await TestNode(broker.address, folder: folder.path + "/state") { $0.log = lines.log }
        try await client.wait("the reader") { $0.last("opencorenfc/kiosk-7/entrance/availability") == "online" }
        // The lock has to come before acknowledgements are stored, two seconds after the first of them.
        var attempt = 0
        while attempt < 10, lines.count("spool Acknowledgements were not stored.") == 0 {
            attempt += 1
            let tag = TestTags.ntag213(UInt8(attempt))
            node.field.bring(tag)
            try await client.wait(for: .tag, count: attempt)
            let program = try await lock(attempt)
            // Known without the database: it says which events are late after a connection.
            #expect(await node.spool.lastNumber() == Int64(2 * attempt - 1))
            try await waitWhile(lines.count("spool Acknowledgements were not stored.") == 0)
            program.kill()
            node.field.remove(tag)
            try await client.wait(for: .removed, count: attempt)
        }
        #expect(lines.count("spool Acknowledgements were not stored.") == 1)
        try await waitWhile(await node.spool.waitingCount() > 0)
        #expect(try await node.spool.waitingCount() == 0)
        #expect(await client.events.compactMap { $0["data"]?["sequence"]?.int } == Array(1...2 * attempt))
        await node.stop()
        await client.stop()
    }
}
