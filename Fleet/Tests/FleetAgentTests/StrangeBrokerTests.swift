// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetModel
import FleetTestSupport
import Foundation
import Testing

@Suite("A broker that sends what libmosquitto can't take", .timeLimit(.minutes(2)))
struct StrangeBrokerTests {
    let folder: TestFolder
    let agent = TestProgram.built("nfc-agent")
    let fleet = TestProgram.built("nfc-fleet")

    init() throws { folder = try TestFolder() }

    static let accepted: [UInt8] = [0x20, 3, 0, 0, 0]
    /// CONNACK and PUBLISH with an unknown property, and a packet of 256 MiB.
    static let answers: [[UInt8]] = [
        [0x20, 5, 0, 0, 2, 0x41, 0xFF], accepted + [0x30, 5, 0, 1, 0x61, 1, 0x41, 0x78, 0x78],
        accepted + [0x30, 0xFF, 0xFF, 0xFF, 0x7F, 0],
    ]

    @Test("A command says what the broker sends, and ends with 3", arguments: answers)
    func command(_ answer: [UInt8]) async throws {
        let broker = try RawBroker(answer)
        let result = try await TestProgram.run(fleet, ["nodes", "--broker", broker.url, "--json"])
        #expect(result.status == 3, "\(result.output)")
        let line = try JSONValue(parsing: Array(result.output.utf8))
        #expect(line["error"] == "connection-lost")
        #expect(line["message"]?.text?.contains("The broker sends") == true)
    }

    @Test("A command does so over TLS too", .enabled(if: TestProgram.find("openssl") != nil, "There is no openssl."))
    func encrypted() async throws {
        // The answer waits in a pipe whose other end stays open. The shell becomes openssl, which ends with the test.
        let script = """
            set -e; cd "$1"
            openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -days 2 -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost,IP:127.0.0.1
            mkfifo answer; exec 3<>answer; printf '\\040\\005\\000\\000\\002\\101\\377' >&3
            exec openssl s_server -accept "$0" -cert ca.pem -key key.pem -quiet <&3
            """
        // The port is free a moment before.
        let port = try LocalListener().port
        let server = try TestProgram("/bin/sh", ["-c", script, "\(port)", folder.path])
        let settings = "broker = \"mqtts://localhost:\(port)\"\n[tls]\nca = \"\(folder.path)/ca.pem\"\n"
        try folder.write("fleet.toml", settings)
        var result = (status: Int32(0), output: "")
        for _ in 0..<200 where server.isRunning {
            let words = ["nodes", "--config", folder.path + "/fleet.toml", "--json"]
            result = try await TestProgram.run(fleet, words)
            let isEarly = ["can't be reached", "ca.pem"].contains { result.output.contains($0) }
            if !isEarly { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(result.status == 3, "\(result.output)")
        #expect(result.output.contains("0x41"), "\(result.output)")
        server.kill()
    }

    @Test("An agent says so, tries again, and does not suppose that its name is taken", arguments: answers)
    func agent(_ answer: [UInt8]) async throws {
        let broker = try RawBroker(answer)
        let log = folder.path + "/agent.log"
        let words = ["--node", "a", "--broker", broker.url, "--reader", "virtual", "--tags", folder.path, "--json"]
        let program = try TestProgram(agent, words + ["--state", folder.path + "/state"], output: log)
        try await waitWhile(broker.count < 4 && program.isRunning)
        #expect(program.isRunning)
        #expect(await program.terminate() == 0)
        let text = try String(contentsOfFile: log, encoding: .utf8)
        #expect(text.contains("The broker sends"))
        #expect(!text.contains("Perhaps another client"))
    }

    @Test(
        "An agent whose broker takes no such message says so, and does not suppose that its name is taken",
        arguments: [
            // CONNACK with QoS 0 as the maximum, and with packets of 30 bytes at most.
            ([0x20, 5, 0, 0, 2, 0x24, 0], "QoS 1"), ([0x20, 8, 0, 0, 5, 0x27, 0, 0, 0, 30], "of this size"),
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
}
