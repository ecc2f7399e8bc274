// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The configuration of an agent.
package struct AgentConfiguration: Sendable {
    /// A reader with a configured name.
    package struct NamedReader: Sendable, Hashable {
        package var name: FleetName
        package var reader: String

        package init(name: FleetName, reader: String) {
            self.name = name
            self.reader = reader
        }
    }

    /// An app that may open the links on tags.
    package struct App: Sendable, Hashable {
        package var id: String
        package var domains: [String]
        /// The paths of the association files, keyed by domain.
        package var associationFiles: [String: String]
    }

    /// Which events to drop when the spool is full.
    package enum FullPolicy: String, Sendable, Hashable, CaseIterable {
        case oldest, newest
    }

    /// The spool's limits.
    package struct SpoolPart: Sendable, Hashable {
        /// The maximum size in megabytes.
        package var limit = 64
        package var policy = FullPolicy.oldest
        /// How many acknowledged events to keep.
        package var keep = 10_000

        package init() {}
    }

    package var node: FleetName
    package var broker = BrokerConfiguration()
    /// The spool's folder; nil for the default.
    package var stateFolder: String?
    /// The readers, named as in `NFC_READER`, or `all`.
    package var readers = ["all"]
    package var namedReaders: [NamedReader] = []
    /// The folder with images for the virtual reader.
    package var tags: String?
    package var removalDelay = Duration.milliseconds(300)
    package var spool = SpoolPart()
    /// The maximum number of messages awaiting acknowledgement.
    package var inFlight = 20
    package var hashKeyFile: String?
    package var acceptsJobs = true
    package var secretsFolder: String?
    package var jobKeys: [String: VerifyingKey] = [:]
    /// Home Assistant's discovery prefix; nil turns discovery off.
    package var discoveryPrefix: String? = "homeassistant"
    package var apps: [App] = []

    /// Creates the default configuration, used if there is no file.
    package init(node: FleetName) { self.node = node }

    /// Parses an agent's configuration file.
    ///
    /// - Parameters:
    ///   - text: the TOML document.
    ///   - node: the node's name if the file does not set one.
    /// - Throws: ``ConfigurationError`` that names the invalid key.
    package init(parsing text: String, node: FleetName) throws(ConfigurationError) {
        var table = try ConfigurationTable(toml: text)
        self.init(node: try table.name("node") ?? node)
        try checkNode()
        try broker.read(&table)
        stateFolder = try table.file("state_folder")
        readers = try table.strings("readers") ?? readers
        tags = try table.string("tags")
        removalDelay = .milliseconds(try table.int("removal_delay_ms", in: 0...60_000) ?? 300)
        namedReaders = try table.tables("reader") { table throws(ConfigurationError) in
            guard let name = try table.name("name"), let reader = try table.string("reader"), name != .bridge else {
                throw ConfigurationError("Each [[reader]] needs a reader and a name; the name can't be bridge.")
            }
            return NamedReader(name: name, reader: reader)
        }
        guard Set(namedReaders.map(\.name)).count == namedReaders.count else {
            throw ConfigurationError("Two [[reader]] tables have the same name. Give each its own.")
        }
        try readParts(&table)
        try table.finish()
    }

    /// Checks that the node does not use the name reserved in topics.
    package func checkNode() throws(ConfigurationError) {
        guard node != .bridge else {
            throw ConfigurationError("The name bridge is reserved. Give the node another name.")
        }
    }

    private mutating func readParts(_ table: inout ConfigurationTable) throws(ConfigurationError) {
        (spool, inFlight) = try table.table("spool") { table throws(ConfigurationError) in
            var spool = SpoolPart()
            guard let policy = FullPolicy(rawValue: try table.string("policy") ?? "oldest") else {
                throw ConfigurationError("spool.policy must be oldest or newest.")
            }
            spool.policy = policy
            spool.limit = try table.int("limit_mb", in: 1...1_000_000) ?? spool.limit
            spool.keep = try table.int("keep", in: 0...10_000_000) ?? spool.keep
            return (spool, try table.int("in_flight", in: 1...1000) ?? 20)
        }
        hashKeyFile = try table.table("uid") { table throws(ConfigurationError) in try table.file("hash_key_file") }
        (acceptsJobs, secretsFolder, jobKeys) = try table.table("jobs") { table throws(ConfigurationError) in
            let keys = try table.tables("key") { table throws(ConfigurationError) in
                guard let name = try table.name("name"), let text = try table.string("public"),
                    let data = Data(base64Encoded: text),
                    let key = VerifyingKey(Array(data))
                else { throw ConfigurationError("Each [[jobs.key]] needs a name, and 32 bytes in base64 as public.") }
                return (name.text, key)
            }
            guard Set(keys.map(\.0)).count == keys.count else {
                throw ConfigurationError("Two [[jobs.key]] have the same name.")
            }
            return (
                try table.bool("accept") ?? true, try table.file("secrets_folder"),
                Dictionary(uniqueKeysWithValues: keys)
            )
        }
        discoveryPrefix = try table.table("home_assistant") { table throws(ConfigurationError) in
            let isOn = try table.bool("discovery") ?? true
            let prefix = try table.string("prefix") ?? "homeassistant"
            guard FleetTopics(root: prefix) != nil else {
                throw ConfigurationError("home_assistant.prefix must be names separated by /.")
            }
            return isOn ? prefix : nil
        }
        apps = try table.tables("app") { table throws(ConfigurationError) in
            guard let id = try table.string("id"), let domains = try table.strings("domains") else {
                throw ConfigurationError("Each [[app]] needs an id and domains.")
            }
            return App(id: id, domains: domains, associationFiles: try table.map("association_files"))
        }
    }
}
