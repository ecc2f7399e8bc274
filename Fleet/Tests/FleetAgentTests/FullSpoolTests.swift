// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetMQTT
import FleetModel
import FleetSpool
import FleetTestSupport
import NDEF
import Testing
import VirtualTags

@Suite("A full spool", .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing)), .timeLimit(.minutes(2)))
struct FullSpoolTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("Full spool with policy newest: the dropped events are reported when the broker is back, without another tag")
    func announced() async throws {
        let broker = try await TestBroker()
        broker.kill()
        let lines = LogLines()
        var spool = SpoolSettings()
        (spool.limit, spool.policy) = (10_000, .newest)
        let node = try await TestNode(broker.address, folder: folder.path + "/state", spool: spool) {
            $0.log = lines.log
        }
        func settle(_ count: Int) async throws {
            try await waitWhile(
                try await node.spool.waitingCount() < count && lines.count("events-dropped") == 0,
                for: .seconds(30)
            )
            // Once it is full, nothing shows that another event was dropped.
            if lines.count("events-dropped") > 0 { try await Task.sleep(for: .milliseconds(300)) }
        }
        for number in 1...20 {
            let tag = TestTags.ntag213(UInt8(number))
            let seen = lines.count("events-dropped")
            node.field.bring(tag)
            try await settle(2 * number - 1)
            node.field.remove(tag)
            try await settle(2 * number)
            if seen > 0 { break }
        }
        let full = "The spool is full, so events are dropped. Reconnect the broker, or raise limit_mb."
        #expect(lines.all("events-dropped") == ["events-dropped \(full)"])
        #expect(lines.count("spool-room") == 0)
        let waiting = try await node.spool.waitingCount()
        try await broker.start()
        let client = TestClient()
        try await client.connect(broker)
        let report = try #require(try await client.wait(for: .error).first)["data"]
        #expect(report?["code"] == "events-dropped")
        #expect(report?["first"]?.int == waiting + 1)
        try await client.wait("the last position") {
            $0.last("opencorenfc/kiosk-7/entrance/position")?
                .contains("\"sequence\":\(report?["sequence"]?.int ?? 0),") == true
        }
        // No position went over the numbers that nobody had got, before their loss was said.
        let positions = await client.all.filter { $0.topic.hasSuffix("entrance/position") }
            .compactMap { try? JSONValue(parsing: $0.payload)["sequence"]?.int }
        #expect(positions.allSatisfy { $0 <= waiting || $0 == report?["sequence"]?.int }, "\(positions)")
        #expect(lines.count("spool-room The spool has room again.") == 1)
        await node.stop()
        await client.stop()
    }
}
