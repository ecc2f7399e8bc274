// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetMQTT
import FleetModel
import Foundation

/// `fleet-load`: many nodes with virtual tags in one process, each with its own connection. One spool file stores the
/// events of all nodes.
@main
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-load",
        abstract: "Run many nodes with virtual tags in one process.",
        discussion: """
            Tags arrive and leave at the given rate, on one node after another. At the
            end, the program waits until the broker has acknowledged everything. A killed
            process leaves its spools, and the next run with the same folder continues
            with them.

            Prints a JSON line when all nodes are connected, and one at the end.
            """
    )

    @Option(help: "The broker.")
    var broker: String

    @Option(help: "The folder of the spool. Use a memory file system to simulate the disks of many machines.")
    var state: String

    @Option(help: "The number of nodes.")
    var nodes = 100

    @Option(help: "The number of the first node. It is part of the node's name.")
    var first = 0

    @Option(help: "The number of arrivals and departures per second, for the whole process.")
    var rate = 0

    @Flag(help: "Ignore the rate: change each tag as soon as its last change is in the spool, for maximum load.")
    var unbounded = false

    @Option(help: "How long to generate events, in seconds.")
    var seconds = 10.0

    @Option(help: "The maximum time to wait for the broker at the end, in seconds.")
    var patience = 60.0

    @Option(help: "The maximum number of unacknowledged events per node.")
    var inFlight = 20

    @Flag(help: "Start when a line arrives on standard input, so that several processes start together.")
    var waits = false

    mutating func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        let address = try BrokerAddress(broker, allowsPlain: true)
        let fleet = try await LoadFleet(address, folder: state, numbers: first..<first + nodes, inFlight: inFlight)
        try await fleet.waitUntilConnected(seconds: patience)
        LoadOutput.line(["event": "connected", "nodes": nodes])
        if waits { _ = readLine() }
        // This runs on the agents' thread, so that the thread does not have to be woken for each tag.
        let (rate, seconds, unbounded) = (rate, seconds, unbounded)
        let changes = await LoopActor(.agents).begin { _ in
            unbounded ? await fleet.workUnbounded(seconds: seconds) : await fleet.work(rate: rate, seconds: seconds)
        }.value
        LoadOutput.line(["event": "worked", "changes": changes])
        let waiting = await fleet.finish(seconds: patience)
        LoadOutput.line(["event": "ended", "changes": changes, "waiting": waiting])
    }
}

/// Lines of JSON on standard output.
enum LoadOutput {
    static func line(_ members: [String: Any]) {
        guard var data = try? JSONSerialization.data(withJSONObject: members, options: .sortedKeys) else { return }
        data.append(0x0A)
        FileHandle.standardOutput.write(data)
    }
}
