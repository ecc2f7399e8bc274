// SPDX-License-Identifier: Apache-2.0

/// The configuration of the `nfc-fleet` command.
package struct FleetConfiguration: Sendable, Hashable {
    package var broker = BrokerConfiguration()
    /// The name of the key that signs jobs, and the path of the private key file.
    package var signingKey: String?
    package var signingFile: String?

    package init() {}

    /// Parses a configuration file.
    ///
    /// - Throws: ``ConfigurationError`` that names the invalid key.
    package init(parsing text: String) throws(ConfigurationError) {
        var table = try ConfigurationTable(toml: text)
        try broker.read(&table)
        (signingKey, signingFile) = try table.table("sign") { table throws(ConfigurationError) in
            (try table.name("key")?.text, try table.file("private_file"))
        }
        guard (signingKey == nil) == (signingFile == nil) else {
            throw ConfigurationError("sign.key needs sign.private_file, and the other way round. Name both.")
        }
        try table.finish()
    }
}
