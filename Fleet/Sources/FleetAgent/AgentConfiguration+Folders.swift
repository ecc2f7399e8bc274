// SPDX-License-Identifier: Apache-2.0
package import FleetModel
import Glibc

extension AgentConfiguration {
    /// Checks that the configured folders for tags and secrets exist. A running agent uses them once they exist.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting.
    package func checkFolders() throws(ConfigurationError) {
        for (setting, path) in [("tags", tags), ("jobs.secrets_folder", secretsFolder)] {
            guard let path else { continue }
            var status = stat()
            guard unsafe stat(path, &status) == 0 else {
                throw ConfigurationError("\(setting): The folder \(path) does not exist. Create it, or name another.")
            }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw ConfigurationError("\(setting): \(path) is not a folder. Name a folder.")
            }
            guard unsafe access(path, R_OK | X_OK) == 0 else {
                throw ConfigurationError(
                    "\(setting): The folder \(path) can't be read. Check its owner and permissions."
                )
            }
        }
    }
}
