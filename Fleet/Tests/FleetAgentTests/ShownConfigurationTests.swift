// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetTestSupport
import Testing

@Suite("What the programs say about their configuration", .timeLimit(.minutes(3)))
struct ShownConfigurationTests {
    let folder: TestFolder
    let agent = TestProgram.built("nfc-agent")
    let fleet = TestProgram.built("nfc-fleet")

    init() throws { folder = try TestFolder() }

    @Test("Help texts: describe mqtt:// as without encryption")
    func plainHelp() async throws {
        let help = try await TestProgram.run(fleet, ["--help"]).output
        #expect(help.contains("mqtt://") && help.contains("--allow-plain"), "\(help)")
        for (program, words) in [(agent, ["--help"]), (fleet, ["nodes", "--help"])] {
            let options = try await TestProgram.run(program, words).output
            // The lines may be broken anywhere.
            let text = options.split { $0.isWhitespace }.joined(separator: " ")
            #expect(text.contains("mqtts://HOST[:PORT], or mqtt:// without encryption"), "\(options)")
        }
    }

    @Test("fleet config: shows every setting, unset ones as none or null")
    func unset() async throws {
        let file = try folder.write("fleet.toml", "broker = \"mqtt://localhost\"\n[login]\nuser = \"ops\"\n")
        let text = try await TestProgram.run(fleet, ["config", "--config", file]).output
        let shown: [(name: String, value: String)] = [
            ("file", file), ("broker", "mqtt://localhost:1883"), ("topic_root", "opencorenfc"), ("user", "ops"),
            ("password_file", "none"), ("ca", "none"), ("certificate", "none"), ("sign", "none"),
        ]
        #expect(text == shown.map { "\($0.name): \($0.value)\n" }.joined())
        let json = try await TestProgram.run(fleet, ["config", "--config", file, "--json"]).output
        let object = try JSONValue(parsing: Array(json.utf8))
        #expect(object.objectMembers?.count == shown.count, "\(json)")
        for (name, value) in shown {
            #expect(object[name] == (value == "none" ? JSONValue.null : .string(value)), "\(name): \(json)")
        }
    }
}
