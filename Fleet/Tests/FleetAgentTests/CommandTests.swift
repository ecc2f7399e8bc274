// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetModel
import FleetTestSupport
import Foundation
import Testing

@Suite(
    "Commands and what a broker or a node refuses",
    .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing)),
    .timeLimit(.minutes(2))
)
struct CommandTests {
    let folder: TestFolder
    let fleet = TestProgram.built("nfc-fleet")

    init() throws { folder = try TestFolder() }

    /// Runs a command with JSON. Returns its status and its last line.
    private func run(_ words: [String]) async throws -> (status: Int32, line: JSONValue) {
        let result = try await TestProgram.run(fleet, words + ["--json"])
        let lines = result.output.split(separator: "\n").compactMap { try? JSONValue(parsing: Array($0.utf8)) }
        return (result.status, try #require(lines.last, "\(result.output)"))
    }

    @Test(
        "Command that the access list keeps from publishing: ends with not-allowed, without waiting for its deadline",
        arguments: [
            ["replay", "kiosk-7", "entrance", "1", "2"], ["lock", "kiosk-7"], ["lock", "kiosk-7", "--no-wait"],
            ["write", "kiosk-7", "https://example.com", "--no-wait"], ["cancel", "kiosk-7", "j1"],
        ]
    )
    func accessList(_ words: [String]) async throws {
        let acl = try folder.write("acl", "topic read #\ntopic write opencorenfc/+/bridge/state\n")
        let broker = try await TestBroker(["acl_file \(acl)"], folder: folder)
        let client = TestClient()
        try await client.connect(broker)
        await client.publish("opencorenfc/kiosk-7/bridge/state", Array("online".utf8), isRetained: true)
        try await client.wait("the state") { $0.last("opencorenfc/kiosk-7/bridge/state") != nil }
        await client.stop()
        let began = ContinuousClock.now
        let (status, line) = try await run(words + ["--broker", broker.url])
        #expect(status == 1)
        #expect(line["error"] == "not-allowed")
        let words = "let clients without a user publish on opencorenfc/kiosk-7/bridge/"
        #expect(line["message"]?.text?.contains(words) == true, "\(line.line)")
        #expect(ContinuousClock.now - began < .seconds(45))
    }

    @Test("Job with a wrong signature or an unknown key: refused by the node, and the command prints the code")
    func signatures() async throws {
        let broker = try await TestBroker()
        let key = SigningKey()
        let node = try await TestNode(broker.address, folder: folder.path + "/state") {
            $0.keys = JobKeys(["ops": key.publicKey])
        }
        let client = TestClient()
        try await client.connect(broker, to: ["opencorenfc/kiosk-7/bridge/state"])
        try await client.wait("the agent") { $0.last("opencorenfc/kiosk-7/bridge/state") == "online" }
        let other = Data(SigningKey().seed).base64EncodedString()
        let file = try folder.write("other.key", other + "\n")
        for (name, code) in [("ops", "bad-signature"), ("else", "unknown-key")] {
            let lines = ["broker = \"\(broker.url)\"", "[sign]", "key = \"\(name)\"", "private_file = \"\(file)\""]
            let configuration = try folder.write("fleet.toml", lines.joined(separator: "\n") + "\n")
            let words = ["write", "kiosk-7", "https://example.com", "--deadline", "5", "--config", configuration]
            let (status, line) = try await run(words)
            #expect(status == 1)
            #expect(line["data"]?["outcome"] == "refused")
            #expect(line["data"]?["code"]?.text == code)
            #expect(line["data"]?["kind"] == "write")
            let text = try await TestProgram.run(fleet, words).output
            #expect(text.contains(code), "\(text)")
        }
        let (status, line) = try await run(["lock", "kiosk-7", "--broker", broker.url])
        #expect(status == 1)
        #expect(line["data"]?["code"] == "unsigned")
        await node.stop()
        await client.stop()
    }

    @Test("Node that takes no jobs: the command ends with not-accepted")
    func notAccepted() async throws {
        let broker = try await TestBroker()
        let node = try await TestNode(broker.address, folder: folder.path + "/state") { $0.acceptsJobs = false }
        let client = TestClient()
        try await client.connect(broker, to: ["opencorenfc/kiosk-7/bridge/state"])
        try await client.wait("the agent") { $0.last("opencorenfc/kiosk-7/bridge/state") == "online" }
        let (status, line) = try await run(["lock", "kiosk-7", "--deadline", "5", "--broker", broker.url])
        #expect(status == 1)
        #expect(line["data"]?["code"] == "not-accepted")
        await node.stop()
        await client.stop()
    }

    @Test("Replay of an unknown reader: the command prints the node's answer, and its status is 1")
    func unknownReader() async throws {
        let broker = try await TestBroker()
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        let client = TestClient()
        try await client.connect(broker, to: ["opencorenfc/kiosk-7/entrance/availability"])
        try await client.wait("the reader") { $0.last("opencorenfc/kiosk-7/entrance/availability") == "online" }
        for (reader, code) in [("nowhere", 1), ("entrance", 0)] as [(String, Int32)] {
            let (status, line) = try await run(["replay", "kiosk-7", reader, "1", "2", "--broker", broker.url])
            #expect(status == code)
            #expect(line["error"]?.text == (code == 0 ? nil : "replay-refused"))
            if code == 1 { #expect(line["message"]?.text?.contains("has no reader nowhere") == true) }
        }
        await node.stop()
        await client.stop()
    }

    @Test("fleet forget: removes a node that is offline, and refuses one that is online")
    func forgets() async throws {
        let broker = try await TestBroker()
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        let client = TestClient()
        try await client.connect(broker, to: ["opencorenfc/kiosk-7/entrance/availability"])
        try await client.wait("the reader") { $0.last("opencorenfc/kiosk-7/entrance/availability") == "online" }
        let forget = ["forget", "kiosk-7", "--broker", broker.url]
        #expect(try await run(forget).line["error"] == "node-online")
        await node.stop()
        #expect(try await run(forget).status == 0)
        #expect(try await TestProgram.run(fleet, ["nodes", "--broker", broker.url, "--json"]).output.isEmpty)
        #expect(try await run(forget).line["error"] == "unknown-node")
        await client.stop()
    }

    @Test("Command with an invalid node, reader or UID: status 2, and a message with the allowed characters")
    func names() async throws {
        for words in [
            ["watch", "a/+"], ["lock", "a b"], ["replay", "a", "#", "1", "2"], ["lock", "a", "--uid", "x"],
        ] {
            let result = try await TestProgram.run(fleet, words)
            #expect(result.status == 2)
            #expect(
                result.output.contains("ASCII letters") || result.output.contains("hexadecimal"),
                "\(result.output)"
            )
        }
    }
}
