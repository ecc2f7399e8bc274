// SPDX-License-Identifier: Apache-2.0
package import FleetModel

extension MQTTSettings {
    /// Creates the settings from a configuration, and reads the secret files.
    ///
    /// - Parameters:
    ///   - configuration: the broker and the login.
    ///   - client: the client ID.
    ///   - user: the user name, if the configuration has a password but no user.
    /// - Throws: ``ConfigurationError`` that says what to do, for example if a file of `[tls]` is unusable.
    package init(
        _ configuration: BrokerConfiguration,
        client: String,
        user: String?
    ) throws(ConfigurationError) {
        try configuration.checkFiles()
        self.init(address: try configuration.address(), client: client)
        authorities = configuration.authorities
        certificate = configuration.certificate
        key = configuration.key
        if let key { _ = try SecretFile.read(key, limit: 1 << 20) }
        if let file = configuration.passwordFile {
            password = try SecretFile.readLine(file)
            self.user = configuration.user ?? user
        } else {
            self.user = configuration.user
        }
    }
}
