// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
package import FleetMQTT
package import FleetModel
package import FleetSpool
import Foundation
import LinuxSupport
import UniversalLinks

extension AgentSettings {
    /// Creates the settings from a configuration, and reads the files it names.
    ///
    /// - Throws: ``ConfigurationError`` with a reason that says what to fix.
    package init(_ configuration: AgentConfiguration, log: AgentLog) throws(ConfigurationError) {
        self.init()
        topics = configuration.broker.topics
        removalDelay = configuration.removalDelay
        inFlight = configuration.inFlight
        acceptsJobs = configuration.acceptsJobs
        keys = JobKeys(configuration.jobKeys)
        secrets = SecretsFolder(configuration.secretsFolder)
        discoveryPrefix = configuration.discoveryPrefix
        if configuration.readers.contains("all") { readerGrace = .seconds(30) }
        spool = configuration.spool
        self.log = log
        if let file = configuration.hashKeyFile {
            guard let naming = TagNaming(hashKey: try SecretFile.read(file)) else {
                throw ConfigurationError("\(file) must have at least 16 bytes.")
            }
            self.naming = naming
        }
        if !configuration.apps.isEmpty { links = try LinkVerdict(configuration.apps) }
    }
}

extension LinkVerdict {
    fileprivate init(_ apps: [AgentConfiguration.App]) throws(ConfigurationError) {
        var router = LinkRouter()
        for app in apps {
            let domains = app.domains.compactMap(AssociatedDomain.init)
            guard domains.count == app.domains.count else {
                throw ConfigurationError(
                    "The domains of the app \(app.id) must be entries such as applinks:example.com."
                )
            }
            router.apps.append(InstalledApp(id: app.id, name: app.id, desktopID: app.id, associatedDomains: domains))
            var named: Set<String> = []
            for (name, path) in app.associationFiles {
                // Normalized, so that it matches the domains in the app's entries.
                guard let domain = try? HostName.domain(name), named.insert(domain).inserted else {
                    throw ConfigurationError(
                        """
                        The association files of the app \(app.id) need domains such as example.com, each only once, \
                        not \(name).
                        """
                    )
                }
                do {
                    let bytes = try TrustedFile.read(path, limit: AssociationFile.maximumSize)
                    router.associations[domain] = LinkMatcher(try AssociationFile(parsing: Data(bytes)))
                } catch {
                    throw ConfigurationError("The association file \(path) can't be used: \(error)")
                }
            }
        }
        self.init(router)
    }
}

extension SpoolSettings {
    /// Creates the settings from a configuration.
    package init(_ part: AgentConfiguration.SpoolPart) {
        self.init()
        limit = part.limit << 20
        policy = part.policy
        keep = part.keep
    }
}

extension MQTTSettings {
    /// How an agent connects. The MQTT client ID contains the node's name.
    package static func agent(_ configuration: AgentConfiguration) throws(ConfigurationError) -> MQTTSettings {
        try MQTTSettings(
            configuration.broker,
            client: "opencorenfc-\(configuration.node)",
            user: configuration.node.text
        )
    }
}
