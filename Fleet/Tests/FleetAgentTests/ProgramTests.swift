// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetTestSupport
import Foundation
import Testing

@Suite("The programs", .timeLimit(.minutes(3)))
struct ProgramTests {
    let folder: TestFolder
    let agent = TestProgram.built("nfc-agent")
    let fleet = TestProgram.built("nfc-fleet")

    init() throws { folder = try TestFolder() }

    @Test("Agent: --check passes a valid configuration; each wrong option or setting ends with 2 and its name")
    func check() async throws {
        let good = try folder.write(
            "good.toml",
            "node = \"a\"\nbroker = \"mqtt://localhost\"\nreaders = [\"virtual\"]\n"
        )
        #expect(try await TestProgram.run(agent, ["--config", good, "--check"]).status == 0)
        let wrong = try folder.write("wrong.toml", "nod = \"a\"\n")
        let result = try await TestProgram.run(agent, ["--config", wrong, "--check", "--json"])
        #expect(result.status == 2)
        let line = try JSONValue(parsing: Array(result.output.utf8))
        #expect(line["error"] == "bad-configuration")
        #expect(line["message"]?.text?.contains("nod") == true)
        #expect(try await TestProgram.run(agent, ["--config", good, "--broker", "mqtt://example.com"]).status == 2)
        #expect(try await TestProgram.run(agent, ["--config", good, "--reader", "toaster", "--check"]).status == 2)
        #expect(try await TestProgram.run(agent, ["--config", folder.path + "/none", "--check"]).status == 2)
        #expect(try await TestProgram.run(agent, ["--nonsense"]).status == 2)
        let usage = try await TestProgram.run(agent, ["--nonsense", "--json"])
        #expect(usage.status == 2)
        #expect(try JSONValue(parsing: Array(usage.output.utf8))["error"] == "usage")
        #expect(try await TestProgram.run(agent, ["--config", good, "--node", "bridge", "--check"]).status == 2)
        #expect(try await TestProgram.run(agent, ["--version"]).status == 0)
        #expect(try await TestProgram.run(agent, ["--config", good, "--state", "state", "--check"]).status == 2)
        let state = folder.path + "/a/state"
        #expect(try await TestProgram.run(agent, ["--config", good, "--state", state, "--check"]).status == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/a"))
        let open = try folder.write("open.toml", "node = \"a\"\n", mode: 0o666)
        #expect(try await TestProgram.run(agent, ["--config", open, "--check"]).status == 2)
    }

    @Test(
        "Configuration that the TOML parser can't handle: agent and fleet end with status 2, without a crash",
        arguments: [
            "[{a]", "[a" + String(repeating: ".a", count: 100_000) + "]",
            "a = " + String(repeating: "[", count: 200_000), "a" + String(repeating: ".a", count: 100_000) + " = 1",
            "a = " + String(repeating: "{a=", count: 100_000),
        ]
    )
    func hostile(_ text: String) async throws {
        let path = try folder.write("hostile.toml", text + "\n")
        for (program, words) in [(agent, ["--check"]), (fleet, ["config"])] {
            let first = program == fleet ? words : []
            let result = try await TestProgram.run(program, first + ["--config", path] + (first.isEmpty ? words : []))
            #expect(result.status == 2, "\(result.output.prefix(300))")
        }
    }

    /// Configurations that can't be used, and what is said about each. `FOLDER` is the test's folder.
    static let unusable: [(text: String, words: String)] = [
        ("[tls]\nca = \"FOLDER/none\"", "tls.ca: The file FOLDER/none"),
        ("[tls]\nca = \"FOLDER/text\"", "tls.ca: FOLDER/text contains no PEM certificate"),
        (
            "[tls]\ncertificate = \"FOLDER/none\"\nkey = \"FOLDER/a.key\"",
            "tls.certificate: The file FOLDER/none"
        ),
        ("[tls]\ncertificate = \"FOLDER/text\"\nkey = \"FOLDER/a.key\"", "tls.certificate: FOLDER/text contains no"),
        ("[tls]\ncertificate = \"FOLDER/a.pem\"\nkey = \"FOLDER/text\"", "tls.key: FOLDER/text contains no PEM key"),
        ("[tls]\ncertificate = \"FOLDER/a.pem\"\nkey = \"FOLDER/b.key\"", "tls.certificate and tls.key do not match"),
        ("[jobs]\nsecrets_folder = \"FOLDER/none\"", "jobs.secrets_folder: The folder FOLDER/none"),
        ("[jobs]\nsecrets_folder = \"FOLDER/text\"", "jobs.secrets_folder: FOLDER/text is not a folder."),
        ("tags = \"FOLDER/none\"", "tags: The folder FOLDER/none"),
        ("readers = []", "No reader is configured."),
        ("state_folder = \"FOLDER/text\"", "state_folder: The folder FOLDER/text can't be opened"),
        ("state_folder = \"FOLDER/text/state\"", "state_folder: The folder FOLDER/text/state can't be opened"),
        ("state_folder = \"FOLDER/open\"", "state_folder: The folder FOLDER/open can be written by other users."),
    ]

    /// Makes two certificates with their keys, and a file of text.
    private func makeFiles() async throws {
        let script = """
            cd "$0" && for name in a b; do
              openssl req -x509 -newkey rsa:2048 -nodes -keyout $name.key -out $name.pem -days 2 -subj /CN=$name || exit 1
            done && chmod 600 *.key
            """
        let result = try await TestProgram.run("/bin/sh", ["-c", script, folder.path])
        guard result.status == 0 else { throw TestProblem(result.output) }
        try folder.write("text", "nothing\n")
        try FileManager.default.createDirectory(atPath: folder.path + "/open", withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path + "/open")
    }

    @Test("Agent --check: a file or reader that can't be used is named with its setting")
    func unusableFiles() async throws {
        try await makeFiles()
        for (text, words) in Self.unusable {
            let text = text.replacing("FOLDER", with: folder.path)
            let file = try folder.write("agent.toml", "broker = \"mqtts://localhost\"\n\(text)\n")
            let result = try await TestProgram.run(agent, ["--config", file, "--check"])
            #expect(result.status == 2, "\(text)")
            #expect(result.output.contains(words.replacing("FOLDER", with: folder.path)), "\(result.output)")
        }
        let good = "tags = 'FOLDER'\n[tls]\nca = 'FOLDER/b.pem'\ncertificate = 'FOLDER/a.pem'\nkey = 'FOLDER/a.key'\n"
        let file = try folder.write("agent.toml", good.replacing("FOLDER", with: folder.path))
        let result = try await TestProgram.run(agent, ["--config", file, "--check"])
        #expect(result.status == 0, "\(result.output)")
        // The broker that holds without a setting.
        #expect(result.output.contains("The broker is mqtts://localhost:8883."))
    }

    @Test("Missing file of an authority: agent and commands end with 2 at the start")
    func missingAuthorities() async throws {
        let missing = folder.path + "/none"
        let file = try folder.write("a.toml", "broker = \"mqtts://localhost\"\n[tls]\nca = \"\(missing)\"\n")
        let runs = [
            (agent, ["--config", file, "--state", folder.path + "/state"]), (fleet, ["nodes", "--config", file]),
            (fleet, ["config", "--config", file]),
        ]
        for (program, words) in runs {
            let result = try await TestProgram.run("/usr/bin/timeout", ["20", program] + words)
            #expect(result.status == 2, "\(words)")
            #expect(result.output.contains("tls.ca: The file \(missing)"), "\(result.output)")
        }
    }

    @Test("fleet config: ends with 2 if a key or password file is missing or readable by others")
    func fleetSecrets() async throws {
        let key = folder.path + "/ops.key"
        #expect(try await TestProgram.run(fleet, ["key", key, "--name", "ops"]).status == 0)
        func status(_ text: String) async throws -> Int32 {
            let file = try folder.write("fleet.toml", text)
            return try await TestProgram.run(fleet, ["config", "--config", file]).status
        }
        let signing = "[sign]\nkey = \"ops\"\nprivate_file = \"\(key)\"\n"
        #expect(try await status(signing) == 0)
        let missing = folder.path + "/none"
        #expect(try await status("[sign]\nkey = \"ops\"\nprivate_file = \"\(missing)\"\n") == 2)
        #expect(try await status("[login]\npassword_file = \"\(missing)\"\n") == 2)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        #expect(try await status(signing) == 2)
    }

    @Test("Agent with all readers and no pcscd: the log says once that pcscd is not running")
    func withoutService() async throws {
        let words = [
            "PCSCLITE_CSOCK_NAME=\(folder.path)/none", agent, "--node", "a", "--broker", "mqtt://127.0.0.1:9",
            "--state",
            folder.path + "/state",
        ]
        let log = folder.path + "/log"
        let program = try TestProgram("/usr/bin/env", words, output: log)
        func lines() -> [Substring] {
            ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n")
                .filter { $0.contains("No PC/SC reader is available yet.") }
        }
        try await waitWhile(lines().isEmpty && program.isRunning)
        try await Task.sleep(for: .milliseconds(500))
        #expect(lines().count == 1)
        #expect(lines().first?.contains("pcscd is not running. Start it with") == true, "\(lines())")
        #expect(await program.terminate() == 0)
    }

    static let usages: [(words: [String], status: Int32)] = [
        (["watch", "a/b"], 2),
        (["write", "kiosk"], 2),
        (["write", "kiosk", "x", "--text", "y"], 2),
        (["write", "kiosk", "not a url"], 2),
        (["write", "kiosk", "https://example.com/{foo}"], 2),
        (["write", "kiosk", "https://example.com/{uid"], 2),
        (["write", "kiosk", "--text", "Room {nod}", "--json"], 2),
        (["write", "kiosk", "--text", "Room", "--language", "en_US"], 2),
        (["write", "kiosk", "https://example.com", "--language", "de", "--broker", "mqtt://127.0.0.1:9"], 2),
        (["write", "kiosk", "https://example.com/{uid}", "--broker", "mqtt://127.0.0.1:9"], 3),
        (["nodes", "--nonsense"], 2),
        (["protect", "kiosk"], 2),
        (["allow", "kiosk"], 2),
        (["allow", "kiosk", "--mode", "add"], 2),
        (["allow", "kiosk", "04689571fa5c64", "--mode", "off"], 2),
        (["allow", "kiosk", "04689571fa5c64", "--clear"], 2),
        (["allow", "kiosk", "--clear", "--mode", "off"], 2),
        (["allow", "kiosk", "--clear", "--broker", "mqtt://127.0.0.1:9"], 3),
        (["allow", "kiosk", "--mode", "off", "--broker", "mqtt://127.0.0.1:9"], 3),
        (["demo", "--port", "0"], 2),
        (["allow", "kiosk", "--json"], 2),
        (["nodes", "--nonsense", "--json"], 2),
        (["lock", "kiosk", "--deadline", "0"], 2),
        (["nodes", "--broker", "mqtt://example.com"], 2),
        (["nodes", "--broker", "mqtt://127.0.0.1:9"], 3),
        (["lock", "kiosk", "--broker", "mqtt://127.0.0.1:9", "--json"], 3),
        (["watch", "--broker", "mqtt://127.0.0.1:9"], 3),
        (["replay", "a", "b", "3", "2"], 2),
        (["--help"], 0),
        (["watch", "--help"], 0),
    ]

    @Test("Commands: 2 for wrong usage, 3 without a broker", arguments: usages)
    func statuses(_ words: [String], _ status: Int32) async throws {
        let result = try await TestProgram.run(fleet, words)
        #expect(result.status == status, "\(result.output)")
        if words.contains("--json") {
            let error: JSONValue = status == 3 ? "broker-unreachable" : "usage"
            #expect(try JSONValue(parsing: Array(result.output.utf8))["error"] == error)
        }
    }

    @Test(
        "Job for a node that never connected: not sent, and the command says so at once",
        .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing))
    )
    func nobody() async throws {
        let broker = try await TestBroker()
        let began = ContinuousClock.now
        let words = ["write", "nobody", "https://example.com", "--deadline", "600", "--broker", broker.url, "--json"]
        let result = try await TestProgram.run(fleet, words)
        #expect(result.status == 1)
        #expect(try JSONValue(parsing: Array(result.output.utf8))["error"] == "unknown-node", "\(result.output)")
        #expect(ContinuousClock.now - began < .seconds(45))
    }

    @Test(
        "Command that sends a job to an offline node: ends after the deadline with node-offline",
        .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing))
    )
    func offline() async throws {
        let broker = try await TestBroker()
        let node = try await TestNode(broker.address, folder: folder.path + "/state", name: "away")
        let client = TestClient()
        try await client.connect(broker, to: ["opencorenfc/away/bridge/state"])
        try await client.wait("the agent") { $0.last("opencorenfc/away/bridge/state") == "online" }
        await node.stop()
        try await client.wait("its end") { $0.last("opencorenfc/away/bridge/state") == "offline" }
        let began = ContinuousClock.now
        let words = ["write", "away", "https://example.com", "--deadline", "1", "--broker", broker.url, "--json"]
        let result = try await TestProgram.run(fleet, words)
        #expect(result.status == 1)
        let lines = result.output.split(separator: "\n").compactMap { try? JSONValue(parsing: Array($0.utf8)) }
        #expect(lines.contains { $0["error"] == "node-offline" }, "\(result.output)")
        #expect(ContinuousClock.now - began < .seconds(45))
        await client.stop()
    }

    @Test(
        "fleet watch: shows an event under the node of its topic, whatever node its content names",
        .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing))
    )
    func foreignEvent() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let output = folder.path + "/watch.txt"
        let words = ["watch", "--count", "1", "--timeout", "20", "--broker", broker.url]
        let watch = try TestProgram(fleet, words, output: output)
        let event: JSONValue = [
            "type": .string(EventKind.tag.type), "data": ["node": "elsewhere", "reader": "door", "uid": "04"],
        ]
        // The first come before it has subscribed.
        for _ in 0..<200 where watch.isRunning {
            await client.publish("opencorenfc/kiosk-7/entrance/event", event)
            try await Task.sleep(for: .milliseconds(50))
        }
        let text = try String(contentsOfFile: output, encoding: .utf8)
        #expect(text.contains("kiosk-7/entrance"))
        #expect(!text.contains("elsewhere"))
        await client.stop()
    }

    @Test("fleet key: writes the private key once with mode 0600, and prints the public key alone")
    func keys() async throws {
        let file = folder.path + "/ops.key"
        let result = try await TestProgram.run(fleet, ["key", file, "--name", "ops", "--json"])
        #expect(result.status == 0)
        let shared = try #require(try JSONValue(parsing: Array(result.output.utf8))["public"]?.text)
        #expect(Data(base64Encoded: shared)?.count == 32)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try await TestProgram.run(fleet, ["key", file, "--name", "ops"]).status == 1)
        #expect(!result.output.contains(try String(contentsOfFile: file, encoding: .utf8).prefix(20)))
    }

    @Test(
        "fleet demo --once: prints tag, removed, tag, outcome and removed events, and ends with 0",
        .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing))
    )
    func demonstration() async throws {
        let result = try await TestProgram.run(fleet, ["demo", "--once", "--json"])
        #expect(result.status == 0, "\(result.output)")
        let events = result.output.split(separator: "\n").compactMap { try? JSONValue(parsing: Array($0.utf8)) }
        let kinds = events.compactMap { $0["type"]?.text.flatMap(EventKind.init(type:)) }
        #expect(kinds == [.tag, .removed, .tag, .outcome, .removed])
        #expect(events[3]["data"]?["outcome"] == "done")
        let place = result.output.components(separatedBy: "mqtt://127.0.0.1:")
        #expect(place.count == 2)
    }

    @Test(
        "fleet demo: closed to other users, its agent without blocked signals, and nothing left after a signal",
        .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing)),
        arguments: [SIGTERM, SIGHUP, SIGINT, SIGKILL]
    )
    func interrupted(_ signal: Int32) async throws {
        let output = folder.path + "/demo.txt"
        let demo = try TestProgram(fleet, ["demo"], output: output)
        func children() throws -> [String] {
            let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(demo.identifier)/task")
            return tasks.sorted().flatMap { task in
                let path = "/proc/\(demo.identifier)/task/\(task)/children"
                return ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: " ").map(
                    String.init
                )
            }.filter { child in
                // The others are the shells that stop these programs if the demo is killed.
                let name = try? String(contentsOfFile: "/proc/\(child)/comm", encoding: .utf8)
                return name == "mosquitto\n" || name == "nfc-agent\n"
            }
        }
        for _ in 0..<3000 where demo.isRunning {
            if try String(contentsOfFile: output, encoding: .utf8).contains("A poster is held near") { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        let programs = try children()
        #expect(programs.count == 2)
        // The second is the agent. mosquitto blocks signals itself while it waits.
        let status = try String(contentsOfFile: "/proc/\(try #require(programs.last))/status", encoding: .utf8)
        #expect(status.contains("SigBlk:\t0000000000000000"), "\(status)")
        let words = try String(contentsOfFile: "/proc/\(try #require(programs.last))/cmdline", encoding: .utf8)
        let place = try #require(words.split(separator: "\0").first { $0.hasPrefix("/tmp/nfc-fleet-") })
        let made = (String(place) as NSString).deletingLastPathComponent
        let broker = try #require(
            try String(contentsOfFile: output, encoding: .utf8).firstMatch(of: /mqtt:[0-9.:\/]*[0-9]/)
        )
        // Another user of this machine, who can't read the demo's files.
        #expect(try await TestProgram.run(fleet, ["nodes", "--broker", String(broker.output)]).status == 3)
        #expect(try await TestProgram.run(fleet, ["nodes", "--config", "\(made)/fleet.toml"]).status == 0)
        kill(demo.identifier, signal)
        try await waitWhile(demo.isRunning)
        #expect(!demo.isRunning)
        if signal == SIGKILL { try await waitWhile(FileManager.default.fileExists(atPath: made)) }
        for program in programs {
            let state = try? String(contentsOfFile: "/proc/\(program)/stat", encoding: .utf8)
            // Nobody may have waited for the children of a killed program.
            #expect(state == nil || signal == SIGKILL && state?.contains(") Z ") == true, "\(state ?? "")")
        }
        #expect(!FileManager.default.fileExists(atPath: made))
    }

    @Test(
        "fleet watch that gets SIGHUP: ends, or goes on if it was started with SIGHUP ignored",
        .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing)),
        arguments: [true, false]
    )
    func closedTerminal(_ isIgnored: Bool) async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let output = folder.path + "/watch.txt"
        let trap = isIgnored ? "trap '' HUP; " : ""
        let command = "\(trap)exec \(fleet) watch --json --broker \(broker.url)"
        let program = try TestProgram("/bin/sh", ["-c", command], output: output)
        func hasPrinted(_ mark: String) async throws -> Bool {
            let event: JSONValue = ["type": .string(EventKind.tag.type), "data": ["mark": .string(mark)]]
            for _ in 0..<500 where program.isRunning {
                await client.publish("opencorenfc/kiosk-7/door/event", event)
                try await Task.sleep(for: .milliseconds(20))
                if try String(contentsOfFile: output, encoding: .utf8).contains(mark) { return true }
            }
            return false
        }
        #expect(try await hasPrinted("first"))
        kill(program.identifier, SIGHUP)
        if !isIgnored { try await waitWhile(program.isRunning) }
        #expect(try await hasPrinted("second") == isIgnored)
        // It may print once more while it ends.
        #expect(try await hasPrinted("third") == isIgnored)
        #expect(await program.terminate() == 130)
        await client.stop()
    }

    @Test(
        "An agent that is killed again and again loses nothing and numbers nothing twice",
        .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing))
    )
    func killed() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker, to: ["opencorenfc/#"])
        let tags = folder.path + "/tags"
        try FileManager.default.createDirectory(atPath: tags, withIntermediateDirectories: false)
        let image = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Tests/Tools/CommandLineTests/Images/poster-ntag215.nfc")
        let arguments = [
            "--node", "kiosk-7", "--broker", broker.url, "--reader", "virtual", "--tags", tags, "--state",
            folder.path + "/state",
        ]
        for round in 1...6 {
            let program = try TestProgram(agent, arguments, output: folder.path + "/agent.log")
            try FileManager.default.copyItem(at: image, to: URL(fileURLWithPath: tags + "/a.nfc"))
            // Each start finds the tag again, and each end by force forgets that it lay there.
            try await client.wait("tag \(round)") { client in
                Set(client.events.filter { $0["type"]?.text == EventKind.tag.type }.compactMap { $0["id"]?.text }).count
                    >= round
            }
            program.kill()
            try FileManager.default.removeItem(atPath: tags + "/a.nfc")
        }
        // The broker publishes the will of the one that was killed.
        try await client.wait("the will") { $0.last("opencorenfc/kiosk-7/bridge/state") == "offline" }
        let last = try TestProgram(agent, arguments, output: folder.path + "/agent.log")
        try await client.wait("the agent") { $0.last("opencorenfc/kiosk-7/bridge/state") == "online" }
        #expect(await last.terminate() == 0)
        var numbers: [Int: String] = [:]
        for event in await client.events {
            guard let number = event["data"]?["sequence"]?.int, let time = event["time"]?.text else { continue }
            // The same number is the same event.
            if let known = numbers.updateValue(time, forKey: number) { #expect(known == time) }
        }
        #expect(numbers.keys.sorted() == Array(1...numbers.count))
        await client.stop()
    }
}
