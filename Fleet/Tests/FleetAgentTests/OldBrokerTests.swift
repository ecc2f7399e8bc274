// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FleetMQTT
import FleetModel
import FleetTestSupport
import Foundation
import Testing

@Suite("A broker that knows MQTT 3.1.1 alone", .timeLimit(.minutes(1)))
struct OldBrokerTests {
    @Test("Broker without MQTT 5: connected with MQTT 3.1.1, without a failure event in between")
    func fallback() async throws {
        let broker = try OldBroker()
        let settings = MQTTSettings(
            address: BrokerAddress(host: "127.0.0.1", port: broker.port, usesTLS: false),
            client: "a"
        )
        let (stream, input) = AsyncStream.makeStream(of: MQTTEvent.self)
        let connection = MQTTConnection(settings) { input.yield($0) }
        connection.start()
        for await event in stream {
            guard case .connected = event else {
                Issue.record("\(event)")
                break
            }
            break
        }
        #expect(broker.levels == [5, 4])
        await connection.stop()
    }

    @Test("Client identifier that is taken: reported as taken, and tried again after at least a second")
    func taken() async throws {
        let broker = try OldBroker(takesName: true)
        let address = BrokerAddress(host: "127.0.0.1", port: broker.port, usesTLS: false)
        let (stream, input) = AsyncStream.makeStream(of: MQTTEvent.self)
        let connection = MQTTConnection(MQTTSettings(address: address, client: "a")) { input.yield($0) }
        let began = ContinuousClock.now
        connection.start()
        var failures = 0
        for await event in stream {
            guard case .disconnected(let failure) = event else { continue }
            #expect(failure.code == .taken)
            failures += 1
            if failures == 2 { break }
        }
        // It waits for one second at least; after another loss for half a second at most.
        #expect(ContinuousClock.now - began >= .seconds(1))
        await connection.stop()
    }

    @Test("Waits between connections: grow to 30 s, or 60 s if the identifier is taken; short again after a success")
    func backoff() {
        var backoff = Backoff()
        let waits = (0..<12).map { _ in backoff.next(chance: 1) }
        #expect(waits.first == .milliseconds(500))
        #expect(waits.last == Backoff.longest)
        #expect(waits == waits.sorted())
        #expect(backoff.next(chance: 0) == Backoff.longest / 2)
        backoff.reset()
        #expect(backoff.next(chance: 1) == .milliseconds(500))
        var taken = Backoff(first: .seconds(2), longest: Backoff.longestWhenTaken)
        #expect((0..<7).map { _ in taken.next(chance: 1) } == [2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    }
}

/// Answers CONNECT as a broker of MQTT 3.1.1 does.
final class OldBroker: @unchecked Sendable {
    // Sendable because the list has a lock.
    private let listener: LocalListener
    private let takesName: Bool
    private let lock = NSLock()
    private var seen: [UInt8] = []

    var port: Int { listener.port }
    var levels: [UInt8] { lock.withLock { seen } }

    /// - Parameter takesName: whether it takes MQTT 5, and then says at once that another client has the name.
    init(takesName: Bool = false) throws {
        self.takesName = takesName
        listener = try LocalListener()
        Thread.detachNewThread { [self] in serve() }
    }

    private func serve() {
        while true {
            let client = accept(listener.descriptor, nil, nil)
            guard client >= 0 else { return }
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = unsafe read(client, &bytes, bytes.count)
            // CONNECT: two bytes of header, the name of the protocol with its length, and its level.
            guard count > 8 else {
                close(client)
                continue
            }
            lock.withLock { seen.append(bytes[8]) }
            let isOld: [UInt8] = [0x20, 0x02, 0x00, bytes[8] == 4 ? 0x00 : 0x01]
            let answer = takesName ? [0x20, 0x03, 0x00, 0x00, 0x00, 0xE0, 0x02, 0x8E, 0x00] : isOld
            _ = unsafe answer.withUnsafeBytes { unsafe write(client, $0.baseAddress, $0.count) }
            if bytes[8] != 4 { close(client) }
        }
    }
}
