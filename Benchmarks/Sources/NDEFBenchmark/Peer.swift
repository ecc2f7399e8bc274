// SPDX-License-Identifier: Apache-2.0
import Foundation

/// ndeflib, measured by a script on the same messages.
struct Peer {
    /// The Python to run, which has ndeflib.
    var python: String

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    func measure(_ messages: [[UInt8]], rounds: Int) throws -> [Measurement] {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "ndeflib_peer.py")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [python, script.path, "\(rounds)"]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let lines = messages.map { $0.map { String(format: "%02x", $0) }.joined() }.joined(separator: "\n")
        try input.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
        try input.fileHandleForWriting.close()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "The peer failed. Does \(python) have ndeflib? Try: pip install ndeflib")
        }
        let rates = try JSONDecoder().decode([String: Double].self, from: data)
        return rates.map { Measurement(name: $0.key, title: $0.key, best: $0.value, median: $0.value) }
    }
}
