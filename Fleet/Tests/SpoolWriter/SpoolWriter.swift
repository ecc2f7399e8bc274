// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool
import Foundation

/// Stores events until it is killed, and prints the number of each after it was stored. For tests alone.
@main
enum SpoolWriter {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let node = FleetName("writer"), let reader = FleetName("reader") else {
            exit(2)
        }
        let spool = try Spool(folder: CommandLine.arguments[1], node: node)
        while true {
            let event = FleetEvent(
                .tag,
                time: Timestamp.now,
                subject: "04e15a",
                ["filler": .string(String(repeating: "x", count: 200))]
            )
            for stored in try await spool.append([(reader, event)]).events {
                let line = Array("\(stored.sequence)\n".utf8)
                _ = unsafe line.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            }
        }
    }
}
