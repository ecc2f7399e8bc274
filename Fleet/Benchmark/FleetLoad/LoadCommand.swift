// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetMQTT
import FleetModel
import Foundation

/// `fleet-load`: many nodes with virtual tags in one process, each with its own connection. One spool file has the events of all.
@main
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-load",
        abstract: "Run many nodes with virtual tags in one process.",
        discussion: """
            A tag comes to a node or leaves it, at the given rate and one node after the
            other. At the end it waits until the broker has everything. A process that is
            killed leaves its spools, and the next one with the same folder goes on.

            Prints a JSON line when all nodes are connected, and one at the end.
            """
    )

    @Option(help: "The broker.")
    var broker: String

    @Option(help: "The folder of the spool. A memory file system stands for the disks of many machines.")
    var state: String

    @Option(help: "The number of nodes.")
    var nodes = 100

    @Option(help: "The number of the first node, which is in its name.")
    var first = 0

    @Option(help: "How many tags come or leave each second, in the whole process.")
    var rate = 0

    @Flag(help: "In place of a rate, each tag comes or leaves when the last change is in the spool: all that goes.")
    var unbounded = false

    @Option(help: "For how long tags come and leave, in seconds.")
    var seconds = 10.0

    @Option(help: "The most seconds to wait for the broker at the end.")
    var patience = 60.0

    @Option(help: "The most events of a node that wait for their acknowledgement.")
    var inFlight = 20

    @Flag(help: "Begin when a line comes from standard input, so that several processes begin together.")
    var waits = false

    mutating func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        let address = try BrokerAddress(broker, allowsPlain: true)
        let fleet = try await LoadFleet(address, folder: state, numbers: first..<first + nodes, inFlight: inFlight)
        try await fleet.waitUntilConnected(seconds: patience)
        LoadOutput.line(["event": "connected", "nodes": nodes])
        if waits { _ = readLine() }
        // On the thread of the agents, so that it does not have to be woken for each tag.
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
