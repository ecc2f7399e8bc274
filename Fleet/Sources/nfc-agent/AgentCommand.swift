// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dispatch
import FleetAgent
import FleetMQTT
import FleetModel
import FleetSpool
import Foundation

/// `nfc-agent`.
@main
struct AgentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-agent",
        abstract: "Publish the tags of this machine's readers to an MQTT broker.",
        discussion: """
            The configuration file is /etc/opencorenfc/agent.toml, unless --config names
            another. Options override it. The agent runs until SIGTERM or Ctrl-C. While
            the broker or a reader is missing, it waits, and loses no events.

            Examples:
              nfc-agent --broker mqtts://broker.example
              nfc-agent --config agent.toml --check
              nfc-agent --broker mqtt://localhost --reader virtual --tags tags

            Exit status: 0 when it was stopped, 1 when its folder or a file can't be
            used, 2 for wrong usage or configuration.
            """,
        version: "nfc-agent \(AgentVersion.program)"
    )

    @Option(help: ArgumentHelp("The configuration.", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The broker: mqtts://HOST[:PORT], or mqtt:// without encryption; mqtts://localhost by default.",
            valueName: "url"
        )
    )
    var broker: String?

    @Option(help: ArgumentHelp("The node's name.", valueName: "name"))
    var node: String?

    @Option(help: ArgumentHelp("A reader, named as in NFC_READER, or all; may be repeated.", valueName: "name"))
    var reader: [String] = []

    @Option(help: ArgumentHelp("The folder with tag images for the virtual reader.", valueName: "folder"))
    var tags: String?

    @Option(help: ArgumentHelp("The folder of the spool.", valueName: "folder"))
    var state: String?

    @Flag(help: "Allow mqtt:// to another machine, without encryption.")
    var allowPlain = false

    @Flag(help: "Check the configuration and its files, and exit.")
    var check = false

    @Flag(help: "Log JSON lines to standard output.")
    var json = false

    /// Runs the program. Exits with status 2 if the command line is invalid.
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        TOMLTrial.runIfChild()
        do {
            var command = try parseAsRoot()
            if var command = command as? AgentCommand { try await command.run() } else { try command.run() }
        } catch {
            let code = exitCode(for: error)
            let text = fullMessage(for: error)
            let isFailure = code != .success
            if code == .validationFailure, CommandLine.arguments.contains("--json") {
                AgentOutput(json: true).fail("usage", message(for: error))
                Foundation.exit(2)
            }
            if !text.isEmpty { (isFailure ? FileHandle.standardError : .standardOutput).write(Data("\(text)\n".utf8)) }
            Foundation.exit(code == .validationFailure ? 2 : code.rawValue)
        }
    }

    mutating func run() async throws {
        let log = AgentOutput(json: json)
        do {
            let configuration = try configured()
            let settings = try AgentSettings(configuration, log: log.log)
            let broker = try MQTTSettings.agent(configuration)
            if let problem = ReaderRoster.problem(configuration) { throw ConfigurationError(problem) }
            let folder = try StateFolder.path(configuration)
            guard !check else {
                try configuration.checkFolders()
                try StateFolder.check(folder)
                return log.log("valid", "The configuration is valid. The broker is \(broker.address).")
            }
            let signals = StopSignals([SIGTERM, SIGINT])
            let spool = try Spool(
                folder: folder,
                node: configuration.node,
                settings: SpoolSettings(configuration.spool)
            )
            let agent = Agent(settings, broker: broker, spool: spool)
            let roster = ReaderRoster(agent, configuration, log: log.log)
            try await agent.start { await roster.start() }
            log.log("started", "The agent of node \(configuration.node) is running, with broker \(broker.address).")
            await signals.wait()
            // A hanging reader or disk must not delay system shutdown. Stored events are safe.
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1900)) {
                log.log("ended", "The agent stops without waiting any longer.")
                _exit(0)
            }
            await roster.stop()
            await agent.stop()
            log.log("ended", "The agent stops.")
        } catch let error as ConfigurationError {
            log.fail("bad-configuration", error.reason)
            throw ExitCode(2)
        } catch let error as SpoolError {
            log.fail(error.code.description, error.reason)
            throw ExitCode(1)
        }
    }

    /// Returns the file's configuration with the options applied.
    private func configured() throws(ConfigurationError) -> AgentConfiguration {
        var configuration = try ConfigurationFile.agent(config)
        if let node {
            guard let name = FleetName(node) else {
                throw ConfigurationError("A node's name has 1 to 64 letters, digits, - and _.")
            }
            configuration.node = name
            try configuration.checkNode()
        }
        if let broker { configuration.broker.broker = broker }
        if allowPlain { configuration.broker.allowsPlain = true }
        if !reader.isEmpty { (configuration.readers, configuration.namedReaders) = (reader, []) }
        if let tags { configuration.tags = tags }
        if let state { configuration.stateFolder = state }
        return configuration
    }
}
