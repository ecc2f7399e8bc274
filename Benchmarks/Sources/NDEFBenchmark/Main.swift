// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Measures the NDEF codec, and also ndeflib if a Python with it is given.
@main
struct NDEFBenchmark {
    static let usage = """
        Usage: ndef-benchmark [--json] [--rounds N] [--messages N] [--peer PYTHON]
          --json         print one JSON object per line
          --rounds N     measure N times and take the best (default 15)
          --messages N   the number of messages (default 1000)
          --peer PYTHON  also measure ndeflib, with a Python that has it, such as .venv/bin/python

        """

    static func main() throws {
        var json = false
        var rounds = 15
        var count = 1000
        var peer: String?
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--json": json = true
            case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) } ?? rounds
            case "--messages": count = arguments.popFirst().flatMap { Int($0) } ?? count
            case "--peer": peer = arguments.popFirst()
            default:
                FileHandle.standardError.write(Data(usage.utf8))
                exit(argument == "--help" ? 0 : 2)
            }
        }
        let messages = try Corpus.make(count: max(1, count))
        let ours = try Codec(messages: messages, rounds: max(1, rounds)).measure()
        let theirs = try peer.map { try Peer(python: $0).measure(messages, rounds: max(1, min(rounds, 5))) } ?? []
        let bytes = messages.reduce(0) { $0 + $1.count }
        let report = Report(ours: ours, theirs: theirs, messageCount: messages.count, bytes: bytes)
        print(json ? report.json : report.table, terminator: "")
    }
}
