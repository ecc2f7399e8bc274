// SPDX-License-Identifier: Apache-2.0
import FleetModel
import Foundation
import Testing

@Suite("Configuration")
struct ConfigurationTests {
    let node = FleetName(slugOf: "host")

    @Test("Example configuration of the documentation: valid, and its settings are read")
    func example() throws {
        let text = try Self.example()
        let configuration = try AgentConfiguration(parsing: text, node: node)
        #expect(configuration.node.text == "kiosk-7")
        #expect(try configuration.broker.address() == BrokerAddress(host: "broker.example", port: 8883, usesTLS: true))
        #expect(configuration.namedReaders.map(\.reader) == ["pcsc:ACS ACR122U PICC Interface 00 00"])
        #expect(configuration.stateFolder == "/var/lib/opencorenfc")
        #expect(configuration.readers == ["all"] && configuration.tags == "/srv/tags")
        #expect(configuration.removalDelay == .milliseconds(300))
        #expect(configuration.broker.authorities == "/etc/opencorenfc/ca.pem")
        #expect(configuration.broker.certificate == "/etc/opencorenfc/kiosk-7.pem")
        #expect(configuration.broker.key == "/etc/opencorenfc/kiosk-7.key")
        #expect(configuration.broker.user == "kiosk-7")
        #expect(configuration.broker.passwordFile == "/etc/opencorenfc/password")
        #expect(configuration.spool.limit == 64 && configuration.spool.policy == .oldest)
        #expect(configuration.spool.keep == 10_000 && configuration.inFlight == 20)
        #expect(configuration.hashKeyFile == "/etc/opencorenfc/uid.key")
        #expect(configuration.acceptsJobs && configuration.secretsFolder == "/etc/opencorenfc/secrets")
        #expect(configuration.jobKeys.keys.sorted() == ["ops"])
        #expect(configuration.apps.map(\.id) == ["TEAM.com.example.App"])
        #expect(configuration.apps.first?.domains == ["applinks:example.com"])
        #expect(configuration.apps.first?.associationFiles == ["example.com": "/etc/opencorenfc/example.com.json"])
        #expect(configuration.discoveryPrefix == "homeassistant")
    }

    /// The TOML of README.md, with a key in the place of its description.
    private static func example() throws -> String {
        let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../README.md")
        let parts = try String(contentsOf: readme, encoding: .utf8).components(separatedBy: "```")
        let toml = try #require(parts.first { $0.hasPrefix("toml\n") }).dropFirst(5)
        return String(toml).replacing("base64 of 32 bytes", with: "ZL+b0cLHXKYSmZqMyGmKx7LlrHZBIeOkcmNGnHPgTDg=")
    }

    @Test("An empty file is a valid configuration, with TLS")
    func empty() throws {
        let configuration = try AgentConfiguration(parsing: "", node: node)
        #expect(configuration.node == node)
        #expect(try configuration.broker.address().usesTLS)
        #expect(configuration.readers == ["all"])
    }

    @Test(
        "Wrong setting: the error names it",
        arguments: [
            ("brokr = \"x\"", "brokr"), ("[tls]\ncapath = \"/x\"", "tls.capath"),
            ("[spool]\nlimit_mb = 0", "spool.limit_mb"),
            ("[spool]\npolicy = \"random\"", "spool.policy"), ("node = \"a/b\"", "node"),
            ("node = \"\"", "node must be a string of 1 to 64 ASCII letters"), ("node = 5", "1 to 64 ASCII letters"),
            ("[[reader]]\nname = \"\"\nreader = \"x\"", "1 to 64 ASCII letters"), ("tags = \"\"", "not empty"),
            ("node = \"bridge\"", "reserved"), ("broker = 5", "broker"),
            ("[tls]\ncertificate = \"/x\"", "tls.key"), ("[tls]\nca = \"relative\"", "tls.ca"),
            ("[[reader]]\nname = \"a\"", "[[reader]]"),
            ("[[reader]]\nname = \"bridge\"\nreader = \"x\"", "bridge"), ("readers = \"all\"", "readers"),
            ("[[jobs.key]]\nname = \"a\"\npublic = \"AA==\"", "jobs.key"), ("a = ", "Line 1"),
            ("topic_root = \"#\"", "topic_root"), ("[spool]\nin_flight = 0", "spool.in_flight"),
            ("removal_delay_ms = 60001", "removal_delay_ms"), ("[home_assistant]\nprefix = \"a/+\"", "prefix"),
            ("[[app]]\nid = \"a\"\ndomains = []\nassociation_files = { a = 5 }", "association_files"),
            (String(repeating: "[[reader]]\nname = \"a\"\nreader = \"x\"\n", count: 2), "the same name"),
        ]
    )
    func wrong(_ text: String, _ word: String) {
        let error = #expect(throws: ConfigurationError.self) { try AgentConfiguration(parsing: text, node: node) }
        #expect(error?.reason.contains(word) == true, "\(error?.reason ?? "")")
    }

    @Test("Broker without encryption: valid only on this machine, or if allowed by a setting")
    func plain() throws {
        #expect(
            try BrokerAddress("broker", allowsPlain: false) == BrokerAddress(host: "broker", port: 8883, usesTLS: true)
        )
        #expect(try BrokerAddress("mqtt://127.0.0.1", allowsPlain: false).port == 1883)
        #expect(
            try BrokerAddress("mqtt://[::1]:1884/", allowsPlain: false)
                == BrokerAddress(host: "::1", port: 1884, usesTLS: false)
        )
        #expect(try BrokerAddress("mqtt://broker", allowsPlain: true).usesTLS == false)
        let refused = [
            "mqtt://broker", "mqtt://127.0.0.1.evil.example", "mqtt://127.evil", "http://broker", "mqtts://",
            "mqtts://a:0",
            "mqtts://user:secret@broker", "mqtts://a:99999", "mqtts://a b", "mqtts://[::1]x",
        ]
        for text in refused {
            #expect(throws: ConfigurationError.self, "\(text)") { try BrokerAddress(text, allowsPlain: false) }
        }
    }

    @Test("Broker address with a path, or with an IPv6 address without brackets: the reason says so")
    func addressReasons() throws {
        func reason(_ text: String) -> String {
            do throws(ConfigurationError) {
                return try BrokerAddress(text, allowsPlain: true).description
            } catch {
                return error.reason
            }
        }
        for text in ["mqtts://[::1]:8883/path", "mqtts://[::1]/path", "mqtts://broker:8883/path", "broker/path"] {
            #expect(reason(text).contains("without a path"), "\(text): \(reason(text))")
        }
        for text in ["mqtts://::1", "mqtts://fe80::1:8883", "mqtts://[::1"] {
            #expect(reason(text).contains("in brackets"), "\(text): \(reason(text))")
        }
    }

    @Test("A broker's port is 1 to 65535, and its host has 253 bytes at most")
    func addressLimits() throws {
        for port in [1, 65_535] { #expect(try BrokerAddress("a:\(port)", allowsPlain: false).port == port) }
        let longest = String(repeating: "a", count: 253)
        #expect(try BrokerAddress(longest, allowsPlain: false).host == longest)
        for text in ["a:65536", "a:-1", "a:", "\(longest)a"] {
            #expect(throws: ConfigurationError.self, "\(text)") { try BrokerAddress(text, allowsPlain: false) }
        }
    }

    @Test("JSON: the same after writing and parsing; received JSON is printed on one line, other text as not-json")
    func json() throws {
        let value: JSONValue = ["a": [1, true, .null, .number(1.5)], "b": ["c": "\u{7F}\"\\/ü"]]
        #expect(try JSONValue(parsing: value.bytes) == value)
        #expect(ReceivedJSON.line(Array("{\"a\":\n1}".utf8)) == "{\"a\": 1}")
        #expect(ReceivedJSON.line(Array("x".utf8)).contains("not-json"))
        let read = try JSONValue(parsing: [0xEF, 0xBB, 0xBF] + Array(#"{"b":2e0,"a":0.5,"b":3}"#.utf8))
        #expect(read == ["a": .number(0.5), "b": 2])
    }

    @Test("JSON: refused beyond a limit of nesting, or of size")
    func limits() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        _ = try JSONValue(parsing: nested(JSONValue.maximumDepth))
        #expect(throws: JSONFailure.self) { try JSONValue(parsing: nested(JSONValue.maximumDepth + 1)) }
        func quoted(_ size: Int) -> [UInt8] { [0x22] + [UInt8](repeating: 0x61, count: size - 2) + [0x22] }
        _ = try JSONValue(parsing: quoted(JSONValue.maximumSize))
        #expect(throws: JSONFailure.self) { try JSONValue(parsing: quoted(JSONValue.maximumSize + 1)) }
    }

    @Test("Malformed JSON is refused", arguments: ["", "01", "[1,]", "{} {}", "1e999", "\"\\ud800\"", "nul"])
    func malformed(_ text: String) {
        #expect(throws: JSONFailure.self) { try JSONValue(parsing: Array(text.utf8)) }
    }
}
