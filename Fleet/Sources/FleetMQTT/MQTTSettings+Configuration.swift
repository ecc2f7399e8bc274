// SPDX-License-Identifier: Apache-2.0
package import FleetModel

extension MQTTSettings {
    /// Takes the settings of a configuration, and reads the files of secrets.
    ///
    /// - Parameters:
    ///   - configuration: the broker, and how to log in.
    ///   - client: who this is.
    ///   - user: the user where a password is named and no user.
    /// - Throws: ``ConfigurationError`` that says what to do, also for a file of `[tls]` or `[login]` that can't be used.
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
