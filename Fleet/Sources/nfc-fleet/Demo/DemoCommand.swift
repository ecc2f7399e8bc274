// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetMQTT
import FleetModel
import Synchronization

/// `nfc fleet demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Start a broker, an agent and virtual tags on this machine, and print events.",
        discussion: """
            Everything runs on 127.0.0.1, with its files in a separate folder that is
            removed at the end. Other commands can use the broker meanwhile, with the
            file that the demonstration names: nfc fleet watch --config FILE

            Examples:
              nfc fleet demo
              nfc fleet demo --once --json
              nfc fleet demo --port 1883

            Exit status: 0 when every event arrived, 1 when one did not, 3 without
            mosquitto, 130 when cancelled.
            """
    )

    @Option(help: "The broker's port. Default: any free port.")
    var port: UInt16?

    @Flag(help: "Show everything once, and exit.")
    var once = false

    @Flag(help: "Print JSON lines.")
    var json = false

    func validate() throws {
        if port == 0 { throw ValidationError("--port must be 1 to 65535. Without it, any free port is used.") }
    }

    func run() async throws {
        // From here on, a signal does not end the program until everything is cleaned up.
        let signals = StopSignals.ofCommand()
        let sandbox = try DemoSandbox(port: port)
        defer { sandbox.close() }
        // Only this task prints, so the clean-up can't run at the same time as other uses.
        nonisolated(unsafe) let started = sandbox
        Output.cleanUp.withLock { $0 = { unsafe started.close() } }
        defer { Output.cleanUp.withLock { $0 = {} } }
        Output.note("The broker is \(sandbox.broker). Other commands reach it with --config \(sandbox.configuration).")
        Output.note("Ctrl-C ends the demonstration.")
        try await Self.waitForBroker(sandbox, signals)
        var options = try FleetOptions.parse(["--config", sandbox.configuration])
        options.json = json
        let session = try FleetSession(options, signals: signals)
        var runner = DemoRunner(sandbox: sandbox, session: session, json: json, isOnce: once)
        _ = try await session.run { try runner.take($0) }
    }

    /// Waits up to a few seconds until the broker is listening.
    private static func waitForBroker(_ sandbox: DemoSandbox, _ signals: StopSignals) async throws {
        for _ in 0..<100 {
            if signals.isRaised { throw FleetFailure.cancelled }
            try sandbox.check()
            if DemoSandbox.isListening(sandbox.port) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw FleetFailure(.noBroker, "no-broker", "The broker does not listen at \(sandbox.broker).")
    }
}
