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

    /// Brings tags and takes them away.
    ///
    /// - Returns: how many times.
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
            // What is due by now, in steps, so that the clock's own pauses do not count.
            let due = Int(Double(rate) * elapsed)
            while changes < due {
                nodes[changes % nodes.count].change()
                changes += 1
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return finishChanges()
    }

    /// Brings tags and takes them away as fast as the agents notice it.
    ///
    /// - Returns: how many times.
    func workUnbounded(seconds: Double) async -> Int {
        for node in nodes { node.followLooks() }
        try? await Task.sleep(for: .seconds(seconds))
        return finishChanges()
    }

    /// Ends the changes of all nodes.
    ///
    /// - Returns: how many there were.
    private func finishChanges() -> Int {
        for node in nodes { node.finishChanges() }
        return nodes.reduce(0) { $0 + $1.changeCount }
    }

    /// Waits until the broker has acknowledged everything, and ends the agents.
    ///
    /// - Returns: how many events still wait.
    func finish(seconds: Double) async -> Int {
        let end = ContinuousClock.now + .seconds(seconds)
        // Tags that have just changed have to be noticed.
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

/// Why the load could not be made.
struct LoadFailure: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
