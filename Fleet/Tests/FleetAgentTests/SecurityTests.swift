// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetSpool
import FleetTestSupport
import Foundation
import Testing
import VirtualTags

@Suite(
    "Security of the connection",
    .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing)),
    .timeLimit(.minutes(3))
)
struct SecurityTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Makes an authority, and certificates of the broker and of a client.
    private func makeCertificates(host: String) async throws {
        let script = """
            set -e; cd "\(folder.path)"
            openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority
            for name in "$0" kiosk-7; do
              openssl req -newkey rsa:2048 -nodes -keyout $name.key -out $name.csr -subj /CN=$name
              printf 'subjectAltName=DNS:%s,IP:127.0.0.1' $name > ext
              test "$name" = kiosk-7 || test "$name" = localhost || printf 'subjectAltName=DNS:%s' $name > ext
              openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out $name.pem -days 2 -extfile ext
            done
            chmod 600 *.key
            """
        let result = try await TestProgram.run("/bin/sh", ["-c", script, host])
        guard result.status == 0 else { throw TestProblem(result.output) }
    }

    private func broker(_ host: String) async throws -> TestBroker {
        try await TestBroker(
            [
                "cafile \(folder.path)/ca.pem", "certfile \(folder.path)/\(host).pem",
                "keyfile \(folder.path)/\(host).key",
                "require_certificate true", "use_identity_as_username true", "acl_file \(folder.path)/acl",
            ],
            allowsAnonymous: false,
            folder: folder
        )
    }

    private func settings(_ broker: TestBroker, host: String = "localhost") -> MQTTSettings {
        var settings = MQTTSettings(
            address: BrokerAddress(host: host, port: broker.port, usesTLS: true),
            client: "opencorenfc-kiosk-7"
        )
        settings.authorities = folder.path + "/ca.pem"
        settings.certificate = folder.path + "/kiosk-7.pem"
        settings.key = folder.path + "/kiosk-7.key"
        return settings
    }

    /// The example of the package, for the user of the certificate.
    private func writeACL() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../mosquitto/acl.conf"
        )
        try folder.write("acl", try String(contentsOf: path, encoding: .utf8))
    }

    @Test("Node with a client certificate of a private authority: publishes under its own name")
    func certificates() async throws {
        try await makeCertificates(host: "localhost")
        try writeACL()
        let broker = try await broker("localhost")
        let client = TestClient()
        try await client.connect(settings(broker), to: ["opencorenfc/kiosk-7/bridge/job"])
        // A bigger message than one record of TLS, and many at once, so that the encryption reads ahead.
        let node = try await TestNode(broker.address, folder: folder.path + "/state") { _ in
        } broker: {
            $0 = settings(broker)
            $0.client = "second"
        }
        for number in 1...5 { node.field.bring(TestTags.ntag213(UInt8(number))) }
        try await waitWhile(await node.spool.positions().first?.sequence ?? 0 < 5)
        let stored = try await node.spool.positions().first?.sequence
        #expect(stored ?? 0 >= 5)
        await node.stop()
        await client.stop()
    }

    @Test(
        "A broker whose certificate is of another host, or of another authority, is not trusted",
        arguments: [true, false]
    )
    func untrusted(_ isOtherHost: Bool) async throws {
        try await makeCertificates(host: isOtherHost ? "elsewhere" : "localhost")
        try writeACL()
        let broker = try await broker(isOtherHost ? "elsewhere" : "localhost")
        var settings = settings(broker)
        // The system's authorities do not know the test's.
        if !isOtherHost { settings.authorities = nil }
        // A busy machine may have checked the certificate before it is observed. Then the next attempt names the cause.
        var reasons: [String] = []
        for _ in 0..<5 where reasons.last.map({ $0.hasPrefix("The TLS connection") }) ?? true {
            let failure = try await failure(settings)
            #expect(failure?.code == .untrusted)
            reasons.append(failure?.reason ?? "")
        }
        #expect(reasons.last?.contains(isOtherHost ? "is not valid for " : "authority") == true, "\(reasons)")
    }

    @Test("Failed connection: the reason names what is missing: mqtts://, mqtt:// or a client certificate")
    func wrongPort() async throws {
        try await makeCertificates(host: "localhost")
        try writeACL()
        let encrypted = try await broker("localhost")
        var settings = settings(encrypted)
        settings.certificate = nil
        settings.key = nil
        let anonymous = try await failure(settings)
        #expect(anonymous?.reason.contains("client certificate") == true, "\(anonymous?.reason ?? "")")
        settings.address = encrypted.address
        let plain = try await failure(settings)
        #expect(plain?.reason.contains("mqtts://") == true, "\(plain?.reason ?? "")")
        encrypted.kill()
        let open = try await TestBroker(folder: try TestFolder())
        settings.address = BrokerAddress(host: "localhost", port: open.port, usesTLS: true)
        let tooSecret = try await failure(settings)
        #expect(tooSecret?.reason.contains("(mqtt://)") == true, "\(tooSecret?.reason ?? "")")
        for failure in [anonymous, plain, tooSecret] { #expect(failure?.reason.contains("running") == false) }
        open.kill()
        settings.address = open.address
        #expect(try await failure(settings)?.reason.contains("Is the broker running?") == true)
    }

    @Test(
        "MQTT password: a wrong one is refused by the broker; a password file that others can read or write is an error"
    )
    func password() async throws {
        guard let tool = TestProgram.find("mosquitto_passwd") else {
            throw TestProblem("There is no mosquitto_passwd.")
        }
        let file = folder.path + "/passwords"
        #expect(try await TestProgram.run(tool, ["-c", "-b", file, "kiosk-7", "right"]).status == 0)
        let broker = try await TestBroker(["password_file \(file)"], allowsAnonymous: false, folder: folder)
        var configuration = BrokerConfiguration()
        configuration.broker = broker.url
        configuration.passwordFile = try folder.write("secret", "wrong\n")
        let wrong = try MQTTSettings(configuration, client: "a", user: "kiosk-7")
        #expect(try await failure(wrong)?.code == .refused)
        configuration.passwordFile = try folder.write("secret", "right\n")
        let client = TestClient()
        try await client.connect(try MQTTSettings(configuration, client: "a", user: "kiosk-7"))
        await client.stop()
        // The user that is named counts before the one that is the default.
        #expect(try await TestProgram.run(tool, ["-b", file, "door", "other"]).status == 0)
        configuration.passwordFile = try folder.write("secret", "other\n")
        configuration.user = "door"
        broker.kill()
        try await broker.start()
        #expect(try await failure(MQTTSettings(configuration, client: "a", user: "kiosk-7")) == nil)
        for mode in [0o644, 0o640, 0o604, 0o620] {
            configuration.passwordFile = try folder.write("open", "other\n", mode: mode)
            #expect(throws: ConfigurationError.self) { try MQTTSettings(configuration, client: "a", user: "kiosk-7") }
        }
    }

    @Test("Event that the access list forbids: not acknowledged, and stays in the spool")
    func foreignName() async throws {
        try await makeCertificates(host: "localhost")
        try writeACL()
        let broker = try await broker("localhost")
        // The certificate is that of kiosk-7.
        let node = try await TestNode(broker.address, folder: folder.path + "/state", name: "kiosk-8") { _ in
        } broker: {
            $0 = settings(broker)
            $0.client = "opencorenfc-kiosk-8"
        }
        node.field.bring(TestTags.ntag213(1))
        try await waitWhile(await node.spool.waitingCount() == 0)
        try await Task.sleep(for: .milliseconds(500))
        #expect(try await node.spool.waitingCount() == 1)
        await node.stop()
        #expect(try await node.spool.positions().first?.sequence == 0)
    }

    /// The first failure of a connection.
    private func failure(_ settings: MQTTSettings) async throws -> MQTTFailure? {
        var settings = settings
        settings.reconnects = false
        let (stream, input) = AsyncStream.makeStream(of: MQTTEvent.self)
        let connection = MQTTConnection(settings) { input.yield($0) }
        connection.start()
        for await event in stream {
            switch event {
            case .connected:
                await connection.stop()
                return nil
            case .disconnected(let failure): return failure
            default: break
            }
        }
        return nil
    }
}
