// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
package import FleetModel

/// Passwords stored in files on the node, so that they are never sent over the network.
package struct SecretsFolder: Sendable {
    private let path: String?

    /// - Parameter path: the folder; nil if none is configured.
    package init(_ path: String?) { self.path = path }

    /// Reads a secret.
    ///
    /// - Throws: ``JobRefusal`` with `noSecret` if there is no valid secret with this name.
    package func secret(_ name: FleetName) throws(JobRefusal) -> TagSecret {
        guard let path else {
            throw JobRefusal(.noSecret, "This node has no secrets. Set jobs.secrets_folder in its configuration.")
        }
        do throws(ConfigurationError) {
            let bytes = try SecretFile.read("\(path)/\(name)")
            guard let secret = TagSecret(file: String(decoding: bytes, as: UTF8.self)) else {
                throw ConfigurationError(
                    "The secret \(name) must be 4 bytes, plus 2 for the acknowledgement, in hexadecimal digits."
                )
            }
            return secret
        } catch {
            throw JobRefusal(.noSecret, error.reason)
        }
    }
}
