// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetTestSupport
import Testing

@Suite("What a connection makes of a broker's answers", .timeLimit(.minutes(1)))
struct BrokerAnswerTests {
    static let accepted: [UInt8] = [0x20, 3, 0, 0, 0]

    /// Subscribes where the connection reports that it was accepted, so that it comes before the broker's next packet.
    private final class Subscriber: @unchecked Sendable {
        // Sendable because the connection is set before its thread begins to use it.
        weak var connection: MQTTConnection?

        func take(_ event: MQTTEvent) {
            if case .connected = event { connection?.subscribe(["a", "b", "c"]) }
        }
    }

    /// The first event of a connection that is meant, where the broker answers it with given bytes.
    private func event(_ answer: [UInt8], _ isMeant: (MQTTEvent) -> Bool) async throws -> MQTTEvent? {
        let broker = try RawBroker(answer)
        let address = BrokerAddress(host: "127.0.0.1", port: broker.port, usesTLS: false)
        var settings = MQTTSettings(address: address, client: "a")
        settings.reconnects = false
        let (stream, input) = AsyncStream.makeStream(of: MQTTEvent.self)
        let subscriber = Subscriber()
        let connection = MQTTConnection(settings) { event in
            subscriber.take(event)
            input.yield(event)
        }
        subscriber.connection = connection
        connection.start()
        for await event in stream where isMeant(event) {
            await connection.stop()
            return event
        }
        return nil
    }

    private func failure(_ answer: [UInt8]) async throws -> MQTTFailure? {
        let event = try await event(answer) { if case .disconnected = $0 { true } else { false } }
        return if case .disconnected(let failure) = event { failure } else { nil }
    }

    @Test(
        "Refused connection: the reason names the settings to check, or the broker's words",
        arguments: [
            (4, "Check [login] and [tls]."), (5, "Check [login] and [tls]."), (0x86, "Check [login] and [tls]."),
            (0x87, "Check [login] and [tls]."), (3, "The broker refuses the connection: "),
            (0x88, "The broker refuses the connection: Server unavailable"),
            (0x89, "The broker refuses the connection: Server busy"),
        ] as [(UInt8, String)]
    )
    func refused(_ code: UInt8, _ words: String) async throws {
        let failure = try await failure([0x20, 3, 0, code, 0])
        #expect(failure?.code == .refused)
        #expect(failure?.reason.contains(words) == true, "\(failure?.reason ?? "")")
    }

    @Test(
        "DISCONNECT with a reason code: the broker's reason is reported, not that the client identifier is taken",
        arguments: [(0x80, "Unspecified error"), (0x8B, "Server shutting down")] as [(UInt8, String)]
    )
    func ended(_ code: UInt8, _ words: String) async throws {
        let failure = try await failure(Self.accepted + [0xE0, 2, code, 0])
        #expect(failure?.code == .lost && failure?.isExplained == true)
        #expect(failure?.reason.contains("The broker says: \(words)") == true, "\(failure?.reason ?? "")")
    }

    @Test("SUBACK that refuses some topics: those topics are named, whatever QoS the others are granted")
    func subscriptions() async throws {
        for code: UInt8 in [0x80, 0x87] {
            let event = try await event(Self.accepted + [0x90, 6, 0, 1, 0, 2, code, 0]) {
                if case .subscribed = $0 { true } else { false }
            }
            guard case .subscribed(let refused) = event else {
                Issue.record("Nothing was subscribed.")
                continue
            }
            #expect(refused == ["b"])
        }
    }

    @Test("Connection: reports whether the broker has kept the session", arguments: [0, 1] as [UInt8])
    func session(_ flags: UInt8) async throws {
        let event = try await event([0x20, 3, flags, 0, 0]) { if case .connected = $0 { true } else { false } }
        guard case .connected(let hasSession) = event else { throw TestProblem("\(String(describing: event))") }
        #expect(hasSession == (flags == 1))
    }
}
