// SPDX-License-Identifier: Apache-2.0
import FleetModel
import Foundation
import LinuxSupport

/// Locates and reads the agent's configuration file.
enum ConfigurationFile {
    private static let usual = "/etc/opencorenfc/agent.toml"

    /// Reads the configuration file.
    ///
    /// - Parameter path: the file given with `--config`; nil for the default file, which may be missing.
    static func agent(_ path: String?) throws(ConfigurationError) -> AgentConfiguration {
        let node = FleetName(slugOf: ProcessInfo.processInfo.hostName)
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try TrustedFile.read(absolute(path ?? usual), limit: 1 << 20)
        } catch {
            guard path != nil || error.code != .missing else { return AgentConfiguration(node: node) }
            throw ConfigurationError(error.reason)
        }
        return try parse(bytes, path ?? usual, node)
    }

    private static func parse(_ bytes: [UInt8], _ path: String, _ node: FleetName) throws(ConfigurationError)
        -> AgentConfiguration
    {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError("\(path) is not in UTF-8.")
        }
        do throws(ConfigurationError) {
            try TOMLTrial.check(bytes)
            return try AgentConfiguration(parsing: text, node: node)
        } catch {
            throw ConfigurationError("\(path): \(error.reason)")
        }
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}

/// Determines the spool's folder.
enum StateFolder {
    /// Returns the configured folder, systemd's state folder, or the user's own.
    static func path(_ configuration: AgentConfiguration) throws(ConfigurationError) -> String {
        let environment = ProcessInfo.processInfo.environment
        let folder =
            configuration.stateFolder ?? environment["STATE_DIRECTORY"].flatMap { $0.isEmpty ? nil : $0 }
            ?? UserFolders(environment: environment).state + "/opencorenfc"
        guard folder.hasPrefix("/") else { throw ConfigurationError("The folder \(folder) must be an absolute path.") }
        return folder
    }

    /// Checks that the folder can be used. If it is missing, checks that it can be created, without creating it.
    static func check(_ folder: String) throws(ConfigurationError) {
        var existing = folder
        do throws(StorageError) {
            _ = try PrivateFolder(folder, creates: false, guests: .mayRead, checksParents: false)
        } catch {
            guard error.code == .missing else { throw ConfigurationError("state_folder: \(error.reason)") }
            while !FileManager.default.fileExists(atPath: existing) {
                existing = (existing as NSString).deletingLastPathComponent
            }
        }
        guard unsafe access(existing, W_OK | X_OK) == 0 else {
            throw ConfigurationError(
                "state_folder: The folder \(existing) can't be written. Check its owner and permissions."
            )
        }
    }
}
