// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetTestSupport
import Testing

@testable import FleetSpool  // the ledger and transactions are internal

@Suite("What the spool knows of its events", .timeLimit(.minutes(5)))
struct SpoolLedgerTests {
    @Test(
        "Combined reason for dropped events: a full disk wins over a full spool, and any reason over none",
        arguments: [
            (nil, .limit, .limit), (.limit, nil, .limit), (.limit, .disk, .disk), (.disk, .limit, .disk),
            (.disk, nil, .disk), (nil, nil, nil),
        ] as [(SpoolShortage?, SpoolShortage?, SpoolShortage?)]
    )
    func shortage(_ earlier: SpoolShortage?, _ later: SpoolShortage?, _ both: SpoolShortage?) {
        var dropped = SpoolLedger.Dropped(count: 2, first: 5, last: 6, shortage: earlier)
        dropped.add(.init(count: 3, first: 4, last: 9, shortage: later))
        #expect(dropped.shortage == both)
        #expect(dropped.count == 5 && dropped.first == 4 && dropped.last == 9)
    }

    private struct Refusal: Error {}

    @Test("Failed transaction: numbers, readers and counts are as before it")
    func rollBack() async throws {
        let folder = try TestFolder()
        let (entrance, exit) = (FleetName(slugOf: "entrance"), FleetName(slugOf: "exit"))
        let event = FleetEvent(.tag, time: 0, ["filler": "x"])
        let spool = try Spool(folder: folder.path + "/state", node: FleetName(slugOf: "node"))
        let first = try await spool.append([(entrance, event)])
        let (number, node) = (spool.number, spool.node)
        for _ in 0..<2 {
            await #expect(throws: SpoolError(.unusable, "")) {
                try await spool.transact { core, db -> Int in
                    _ = try core.append(db, number, node, [(exit, event), (entrance, event)])
                    try core.acknowledge(db, number, first.events.map(\.place))
                    throw Refusal()
                }
            }
        }
        #expect(try await spool.positions().map(\.reader) == [entrance])
        #expect(try await spool.positions().map(\.sequence) == [0])
        #expect(try await spool.waiting(after: 0, limit: 10) == first.events)
        #expect(try await spool.waitingCount() == 1)
        #expect(await spool.lastNumber() == 1)
        let second = try await spool.append([(exit, event), (entrance, event)])
        #expect(second.previous == 1)
        #expect(second.events.map(\.number) == [2, 3] && second.events.map(\.sequence) == [1, 2])
        #expect(try await spool.positions().map(\.reader) == [entrance, exit])
        #expect(try await spool.waiting(after: 0, limit: 10) == first.events + second.events)
    }

    @Test("Batch with failing transactions: each of the others is done exactly once")
    func others() async throws {
        let folder = try TestFolder()
        let entrance = FleetName(slugOf: "entrance")
        let event = FleetEvent(.tag, time: 0)
        let spool = try Spool(folder: folder.path + "/state", node: FleetName(slugOf: "node"))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                group.addTask {
                    if number.isMultiple(of: 3) {
                        _ = try? await spool.transact { _, _ -> Int in throw Refusal() }
                    } else {
                        _ = try? await spool.append([(entrance, event)])
                    }
                }
            }
        }
        #expect(try await spool.waiting(after: 0, limit: 100).map(\.sequence) == Array(1...20))
        #expect(await spool.lastNumber() == 20)
    }
}
