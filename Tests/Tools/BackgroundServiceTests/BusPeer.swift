// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `bus_peer.py`, which ends with this.
final class BusPeer {
    private let process = Process()
    /// The first line that it printed.
    let firstLine: String

    init(_ socket: String, _ user: UInt32, _ mode: String, _ name: String) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("bus_peer.py")
        process.arguments = ["python3", script.path, socket, "\(user)", mode, name]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        firstLine = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
