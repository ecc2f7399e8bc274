// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool
import Foundation

/// The nodes of one process.
final class LoadFleet: Sendable {
    private let nodes: [LoadNode]

    init(_ address: BrokerAddress, folder: String, numbers: Range<Int>, inFlight: Int) async throws {
        var nodes: [LoadNode] = []
        nodes.reserveCapacity(numbers.count)
        var settings = SpoolSettings()
        settings.limit *= numbers.count
        let file = try SpoolFile(folder: "\(folder)/nodes-\(numbers.lowerBound)", settings: settings)
        for number in numbers { nodes.append(try await LoadNode(number, address, file: file, inFlight: inFlight)) }
        self.nodes = nodes
    }

    /// Waits until every node is connected.
    func waitUntilConnected(seconds: Double) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        for node in nodes {
            while !node.isConnected {
                guard ContinuousClock.now < end else { throw LoadFailure("The nodes can't connect to the broker.") }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Adds and removes tags at a rate.
    ///
    /// - Returns: the number of changes.
    func work(rate: Int, seconds: Double) async -> Int {
        guard rate > 0 else {
            try? await Task.sleep(for: .seconds(seconds))
            return 0
        }
        let start = ContinuousClock.now
        var changes = 0
        while true {
            let elapsed = (ContinuousClock.now - start) / .seconds(1)
            guard elapsed < seconds else { break }
            // All changes that are due by now, so that a late wake-up does not lower the rate.
            let due = Int(Double(rate) * elapsed)
            while changes < due {
                nodes[changes % nodes.count].change()
                changes += 1
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return finishChanges()
    }

    /// Adds and removes tags as fast as the agents notice it.
    ///
    /// - Returns: the number of changes.
    func workUnbounded(seconds: Double) async -> Int {
        for node in nodes { node.followPolls() }
        try? await Task.sleep(for: .seconds(seconds))
        return finishChanges()
    }

    /// Ends the changes of all nodes.
    ///
    /// - Returns: the number of changes.
    private func finishChanges() -> Int {
        for node in nodes { node.finishChanges() }
        return nodes.reduce(0) { $0 + $1.changeCount }
    }

    /// Waits until the broker has acknowledged everything, or the time is over. Then stops the agents.
    ///
    /// - Returns: the number of events that are still unacknowledged.
    func finish(seconds: Double) async -> Int {
        let end = ContinuousClock.now + .seconds(seconds)
        // Gives the readers time to notice the last changes.
        try? await Task.sleep(for: .seconds(1))
        var waiting = 0
        for node in nodes {
            var left = await node.waiting
            while left > 0, ContinuousClock.now < end {
                try? await Task.sleep(for: .milliseconds(50))
                left = await node.waiting
            }
            waiting += left
        }
        await withTaskGroup(of: Void.self) { group in
            for node in nodes { group.addTask { await node.stop() } }
        }
        return waiting
    }
}

/// Why the load could not be generated.
struct LoadFailure: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
