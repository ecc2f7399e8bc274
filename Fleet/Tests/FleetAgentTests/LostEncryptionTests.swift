// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetTestSupport
import Foundation
import Testing

@Suite(
    "A broker with encryption that is away",
    .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing)),
    .timeLimit(.minutes(2))
)
struct LostEncryptionTests {
    let folder: TestFolder
    let agent = TestProgram.built("nfc-agent")
    let fleet = TestProgram.built("nfc-fleet")

    init() throws { folder = try TestFolder() }

    /// Makes a certificate for a broker.
    private func makeCertificate() async throws {
        let words = [
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder.path + "/key.pem", "-out",
            folder.path + "/ca.pem", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
        ]
        let result = try await TestProgram.run("/usr/bin/env", ["openssl"] + words)
        guard result.status == 0 else { throw TestProblem(result.output) }
    }

    /// Starts a broker with a certificate that the tests trust.
    private func broker() async throws -> TestBroker {
        try await makeCertificate()
        return try await TestBroker(
            ["certfile \(folder.path)/ca.pem", "keyfile \(folder.path)/key.pem"],
            folder: folder
        )
    }

    private func settings(_ port: Int) -> MQTTSettings {
        let address = BrokerAddress(host: "127.0.0.1", port: port, usesTLS: true)
        var settings = MQTTSettings(address: address, client: "a")
        settings.authorities = folder.path + "/ca.pem"
        return settings
    }

    /// The configuration of a program.
    private func file(_ port: Int, _ more: String = "") throws -> String {
        try folder.write(
            "programs.toml",
            "broker = \"mqtts://127.0.0.1:\(port)\"\n\(more)[tls]\nca = \"\(folder.path)/ca.pem\"\n"
        )
    }

    @Test("TLS connection: made when the broker starts, again after the broker was killed, and stoppable while away")
    func comesBack() async throws {
        let broker = try await broker()
        broker.kill()
        let (stream, input) = AsyncStream.makeStream(of: MQTTEvent.self)
        let connection = MQTTConnection(settings(broker.port)) { input.yield($0) }
        var events = stream.makeAsyncIterator()
        connection.start()
        for _ in 0..<2 {
            #expect(failure(await events.next())?.code == .unreachable)
            try await broker.start()
            var next = await events.next()
            while let failed = failure(next) {
                #expect(failed.code == .unreachable)
                next = await events.next()
            }
            guard case .connected = next else { throw TestProblem("\(String(describing: next))") }
            broker.kill()
            #expect(failure(await events.next())?.code == .lost)
        }
        #expect(failure(await events.next())?.code == .unreachable)
        let began = ContinuousClock.now
        await connection.stop()
        #expect(ContinuousClock.now - began < .seconds(30))
    }

    @Test("Connection whose queue is blocked: stop() still returns")
    func held() async throws {
        let loop = EventLoop("held")
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        loop.async { end.wait() }
        let connection = MQTTConnection(settings(9), loop: loop) { _ in }
        connection.start()
        let began = ContinuousClock.now
        await connection.stop()
        #expect(ContinuousClock.now - began < .seconds(60))
    }

    private func failure(_ event: MQTTEvent?) -> MQTTFailure? {
        if case .disconnected(let failure) = event { failure } else { nil }
    }

    @Test("fleet command: status 3 if the broker's port is closed, or if the broker has no encryption")
    func command() async throws {
        try await makeCertificate()
        let listener = try LocalListener(isOpen: false)
        let began = ContinuousClock.now
        let words = ["nodes", "--json", "--config", try file(listener.port)]
        let closed = try await TestProgram.run(fleet, words)
        #expect(closed.status == 3)
        #expect(try JSONValue(parsing: Array(closed.output.utf8))["error"] == "broker-unreachable")
        let plain = try await TestBroker()
        #expect(try await TestProgram.run(fleet, words + ["--broker", "mqtts://127.0.0.1:\(plain.port)"]).status == 3)
        #expect(ContinuousClock.now - began < .seconds(60))
    }

    @Test(
        "Agent whose broker is away or silent: uses less than 1.5 s of processor time in 4 s, and ends by SIGTERM",
        arguments: [true, false]
    )
    func agentEnds(_ isSilent: Bool) async throws {
        try await makeCertificate()
        let listener = try LocalListener(isOpen: isSilent)
        let config = try file(listener.port, "node = \"kiosk-7\"\nreaders = [\"virtual\"]\n")
        let tags = folder.path + "/tags"
        try FileManager.default.createDirectory(atPath: tags, withIntermediateDirectories: false)
        let program = try TestProgram(
            agent,
            ["--config", config, "--tags", tags, "--state", folder.path + "/state"],
            output: folder.path + "/agent.log"
        )
        try await Task.sleep(for: .seconds(4))
        #expect(program.isRunning)
        #expect(try program.processorSeconds < 1.5)
        #expect(await program.terminate() == 0)
    }
}
