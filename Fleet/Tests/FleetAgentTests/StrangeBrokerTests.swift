// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetMQTT
import FleetModel
import FleetTestSupport
import Foundation
import Testing

@Suite("A broker with narrow limits", .timeLimit(.minutes(2)))
struct StrangeBrokerTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test(
        "Broker whose CONNACK allows no QoS 1 or only small packets: the log names that limit with each loss",
        arguments: [
            // CONNACK with QoS 0 as the maximum, and with packets of 30 bytes at most.
            ([0x20, 5, 0, 0, 2, 0x24, 0], "QoS 1"), ([0x20, 8, 0, 0, 5, 0x27, 0, 0, 0, 30], "too large"),
        ] as [([UInt8], String)]
    )
    func smallPackets(_ answer: [UInt8], _ words: String) async throws {
        let broker = try RawBroker(answer)
        let address = BrokerAddress(host: "127.0.0.1", port: broker.port, usesTLS: false)
        let lines = LogLines()
        let node = try await TestNode(address, folder: folder.path) { $0.log = lines.log }
        try await waitWhile(lines.count("disconnected ") < 3)
        await node.stop()
        let losses = lines.all("disconnected ")
        #expect(losses.count >= 3)
        #expect(losses.allSatisfy { $0.contains(words) }, "\(losses)")
    }

    @Test("Broker that accepts the connection and then hangs: dropped after two keep-alive intervals")
    func hanging() async throws {
        let broker = try RawBroker([0x20, 3, 0, 0, 0])
        let address = BrokerAddress(host: "127.0.0.1", port: broker.port, usesTLS: false)
        let lines = LogLines()
        let node = try await TestNode(address, folder: folder.path) {
            $0.log = lines.log
        } broker: {
            $0.keepAlive = 5
        }
        try await waitWhile(lines.count("connected ") == 0)
        let connected = ContinuousClock.now
        try await waitWhile(lines.count("disconnected ") == 0)
        #expect(
            lines.all("disconnected ") == ["disconnected The broker does not answer any more. Check whether it hangs."]
        )
        #expect(ContinuousClock.now - connected > .seconds(5))
        await node.stop()
    }
}
