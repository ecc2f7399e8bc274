// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetMQTT
import FleetModel
import Foundation
import LinuxSupport

/// The options of all commands that connect to the broker.
struct FleetOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The broker: mqtts://HOST[:PORT], or mqtt:// without encryption.", valueName: "url"))
    var broker: String?

    @Option(help: ArgumentHelp("The configuration.", valueName: "file"))
    var config: String?

    @Flag(help: "Allow mqtt:// to another machine, without encryption.")
    var allowPlain = false

    @Flag(help: "Print JSON lines.")
    var json = false

    /// The path of the default configuration file.
    static var usualPath: String {
        UserFolders(environment: ProcessInfo.processInfo.environment).config + "/nfc/fleet.toml"
    }

    /// Returns the configuration file's settings, with the options applied.
    func configuration() throws(FleetFailure) -> FleetConfiguration {
        do throws(ConfigurationError) {
            var configuration = try file()
            if let broker { configuration.broker.broker = broker }
            if allowPlain { configuration.broker.allowsPlain = true }
            _ = try configuration.broker.address()
            return configuration
        } catch {
            throw FleetFailure(error)
        }
    }

    private func file() throws(ConfigurationError) -> FleetConfiguration {
        let path = config ?? Self.usualPath
        let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try TrustedFile.read(absolute, limit: 1 << 20)
        } catch {
            guard config != nil || error.code != .missing else { return FleetConfiguration() }
            throw ConfigurationError(error.reason)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError("\(path) is not in UTF-8.")
        }
        do throws(ConfigurationError) {
            try TOMLTrial.check(bytes)
            return try FleetConfiguration(parsing: text)
        } catch {
            throw ConfigurationError("\(path): \(error.reason)")
        }
    }
}

extension FleetConfiguration {
    /// Returns the connection settings for a command.
    func settings(reconnects: Bool) throws(FleetFailure) -> MQTTSettings {
        do throws(ConfigurationError) {
            let client = "nfc-fleet-\(Hex.text((0..<6).map { _ in UInt8.random(in: 0...0xFF) }))"
            var settings = try MQTTSettings(broker, client: client, user: NSUserName())
            settings.reconnects = reconnects
            return settings
        } catch {
            throw FleetFailure(error)
        }
    }

    /// Returns the signer for jobs; nil if no key is configured.
    func signer() throws(FleetFailure) -> JobSigner? {
        guard let signingKey, let signingFile else { return nil }
        do throws(ConfigurationError) {
            let text = String(decoding: try SecretFile.readLine(signingFile), as: UTF8.self)
            guard let data = Data(base64Encoded: text),
                let key = SigningKey(seed: Array(data))
            else {
                throw ConfigurationError(
                    "\(signingFile) contains no key. To create one: nfc fleet key FILE --name NAME"
                )
            }
            return JobSigner(name: signingKey, key: key)
        } catch {
            throw FleetFailure(error)
        }
    }
}
