// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetMQTT
import FleetModel
import FleetSpool
import FleetTestSupport
import Foundation
import NDEF
import Testing

@Suite("Files of secrets, and the settings that come from a file")
struct SecretFileTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test(
        "Line of a secret file: its line ends are left out, its spaces are kept",
        arguments: ["", "\n", "\r\n", "\n\n"]
    )
    func line(_ end: String) throws {
        let file = try folder.write("secret", "right " + end)
        #expect(try SecretFile.readLine(file) == Array("right ".utf8))
    }

    @Test(
        "Secret file that does not have exactly one line: refused",
        arguments: ["", "\n", "\r\n", "a\nb\n", "a\0b\n"]
    )
    func noLine(_ text: String) throws {
        let file = try folder.write("secret", text)
        #expect(throws: ConfigurationError("\(file) must have exactly one line.")) { try SecretFile.readLine(file) }
    }

    @Test("Secret file: refused if others can read or write it, or if it has more than 4096 bytes")
    func permissions() throws {
        for mode in [0o610, 0o601, 0o602, 0o640] {
            let file = try folder.write("secret", "a", mode: mode)
            #expect(throws: ConfigurationError("Other users can read \(file). Run: chmod 600 \(file)")) {
                try SecretFile.read(file)
            }
        }
        #expect(try SecretFile.read(try folder.write("secret", String(repeating: "a", count: 4096))).count == 4096)
        let long = try folder.write("secret", String(repeating: "a", count: 4097))
        #expect(throws: ConfigurationError.self) { try SecretFile.read(long) }
    }

    @Test("Secret file in a folder that others can write: refused with the folder's name, for any mode and owner")
    func openFolder() throws {
        let open = folder.path + "/open"
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
        let reason = { (file: String, folder: String) in
            "Other users can replace \(file), because they can write in the folder \(folder). Choose another folder."
        }
        for mode in [0o600, 0o644] {
            let file = try folder.write("open/secret", "a", mode: mode)
            #expect(throws: ConfigurationError(reason(file, open))) { try SecretFile.read(file) }
        }
        guard geteuid() == 0 else { return }
        // The folder of another user.
        #expect(unsafe chown(open, 65534, 65534) == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: open)
        let file = open + "/secret"
        #expect(unsafe chown(file, 65534, 65534) == 0)
        #expect(throws: ConfigurationError(reason(file, open))) { try SecretFile.read(file) }
    }

    @Test("Secret file: a missing one and one that can't be reached have different reasons")
    func unreachable() throws {
        let missing = folder.path + "/missing"
        #expect(throws: ConfigurationError("The file \(missing) does not exist.")) { try SecretFile.read(missing) }
        // Links that lead to each other, for root may go into every folder.
        let link = folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
        let reason = "\(link) can't be read. Check the owner and permissions of the file and its folders."
        #expect(throws: ConfigurationError(reason)) { try SecretFile.read(link) }
    }

    @Test("Tag secret: its file has a password and optionally an acknowledgement; any other file is no-secret")
    func secrets() throws {
        try folder.write("posters", "a1b2c3d4 e5f6\n")
        try folder.write("doors", "01020304\n")
        try folder.write("open", "01020304\n", mode: 0o644)
        try folder.write("long", "01020304 0506 0708\n")
        let secrets = SecretsFolder(folder.path)
        #expect(
            try secrets.secret(FleetName(slugOf: "posters"))
                == .bytes(password: [0xA1, 0xB2, 0xC3, 0xD4], acknowledgement: [0xE5, 0xF6])
        )
        #expect(
            try secrets.secret(FleetName(slugOf: "doors"))
                == .bytes(password: [1, 2, 3, 4], acknowledgement: [0, 0])
        )
        for name in ["open", "long", "missing"] {
            #expect(throws: JobRefusal(.noSecret, "")) { try secrets.secret(FleetName(slugOf: name)) }
        }
    }

    @Test("MQTT user: the configured one, also without a password; no user by default")
    func user() throws {
        var configuration = BrokerConfiguration()
        configuration.broker = "mqtt://localhost"
        #expect(try MQTTSettings(configuration, client: "a", user: "kiosk-7").user == nil)
        configuration.user = "door"
        let settings = try MQTTSettings(configuration, client: "a", user: "kiosk-7")
        #expect(settings.user == "door" && settings.password == nil && settings.client == "a")
    }

    @Test("Agent settings: each setting of the configuration is used")
    func agent() throws {
        let text = """
            topic_root = "museum/nfc"
            removal_delay_ms = 0
            [spool]
            limit_mb = 3
            policy = "newest"
            keep = 7
            in_flight = 1000
            [jobs]
            accept = false
            [home_assistant]
            discovery = false
            """
        let configuration = try AgentConfiguration(parsing: text, node: FleetName(slugOf: "n1"))
        let settings = try AgentSettings(configuration, log: .silent)
        #expect(settings.topics.root == "museum/nfc")
        #expect(settings.removalDelay == .zero && settings.inFlight == 1000)
        #expect(!settings.acceptsJobs && !settings.keys.areNeeded && !settings.naming.isHashed)
        #expect(settings.discoveryPrefix == nil && settings.links == nil)
        let spool = SpoolSettings(settings.spool)
        #expect(spool.limit == 3 * 1_048_576 && spool.policy == .newest && spool.keep == 7)
    }

    @Test("UIDs are hashed with the key of a file, which has 16 bytes at least")
    func hashKey() throws {
        var configuration = AgentConfiguration(node: FleetName(slugOf: "n1"))
        configuration.hashKeyFile = try folder.write("key", "0123456789abcdef")
        #expect(try AgentSettings(configuration, log: .silent).naming.isHashed)
        let short = try folder.write("short", "0123456789abcde")
        configuration.hashKeyFile = short
        #expect(throws: ConfigurationError("\(short) must have at least 16 bytes.")) {
            try AgentSettings(configuration, log: .silent)
        }
    }

    @Test("Domains of an app: each has to be an associated domain with applinks:")
    func domains() throws {
        var configuration = AgentConfiguration(node: FleetName(slugOf: "n1"))
        func take(_ domains: String) throws {
            let text = "[[app]]\nid = \"app\"\ndomains = [\(domains)]\n"
            configuration = try AgentConfiguration(parsing: text, node: configuration.node)
            let hasVerdict = try AgentSettings(configuration, log: .silent).links != nil
            #expect(hasVerdict)
        }
        try take("\"applinks:example.com\"")
        #expect(throws: ConfigurationError.self) { try take("\"applinks:example.com\", \"example.com\"") }
    }

    @Test("Domain of an association file: any case is valid; a wildcard, single label or repetition is refused")
    func associationFiles() throws {
        let details = #"{"appIDs":["TEAM.app"],"components":[{"/":"/a/*"}]}"#
        let file = try folder.write("aasa.json", #"{"applinks":{"details":[\#(details)]}}"#)
        func verdict(_ names: [String]) throws -> JSONValue? {
            let files = names.map { "\"\($0)\" = \"\(file)\"" }.joined(separator: ", ")
            let text =
                "[[app]]\nid = \"TEAM.app\"\ndomains = [\"applinks:example.com\"]\nassociation_files = { \(files) }\n"
            let configuration = try AgentConfiguration(parsing: text, node: FleetName(slugOf: "n1"))
            let message = try NDEFMessage([.uri("https://example.com/a/1")]).encoded()
            return try AgentSettings(configuration, log: .silent).links?.json(message)
        }
        for name in ["example.com", "Example.COM", "example.com."] {
            #expect(try verdict([name])?["app"] == "TEAM.app", "\(name)")
        }
        for names in [["*.example.com"], ["example"], ["example.com", "Example.com"]] {
            #expect(throws: ConfigurationError.self, "\(names)") { try verdict(names) }
        }
    }
}
