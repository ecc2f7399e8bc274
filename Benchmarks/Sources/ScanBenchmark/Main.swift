// SPDX-License-Identifier: Apache-2.0
import Foundation
import PlainScans
import ProcessFigures

/// Measures complete scans of an NTAG213 in the virtual field, and the memory and threads that remain.
@main
struct ScanBenchmark {
    static let usage = """
        Usage: scan-benchmark [--json] [--rounds N] [--scans N]
          --json      print one JSON object per line
          --rounds N  measure N times (default 5)
          --scans N   the scans per round (default 20000; 200000 with 5 rounds make a million)

        """

    static func main() async {
        var json = false
        var rounds = 5
        var scans = 20000
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--json": json = true
            case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) } ?? rounds
            case "--scans": scans = arguments.popFirst().flatMap { Int($0) } ?? scans
            default:
                FileHandle.standardError.write(Data(usage.utf8))
                exit(argument == "--help" ? 0 : 2)
            }
        }
        await measure(rounds: max(1, rounds), scans: max(1, scans), json: json)
    }

    static func measure(rounds: Int, scans: Int, json: Bool) async {
        let plain = PlainScans()
        _ = await plain.run(1000)
        for round in 1...rounds {
            let (bytes, microseconds) = await plain.run(scans)
            guard bytes == scans * PlainScans.messageLength else {
                FileHandle.standardError.write(Data("Not every scan read the message.\n".utf8))
                exit(1)
            }
            let rate = Int(1_000_000 / microseconds)
            let memory = ProcessUsage.residentKilobytes
            let threads = ProcessUsage.threads
            if json {
                print(
                    #"{"round":\#(round),"scans":\#(scans),"per_second":\#(rate),"rss_kb":\#(memory),"threads":\#(threads)}"#
                )
            } else {
                print("round \(round): \(scans) scans, \(rate) per second, \(memory) KB resident, \(threads) threads")
            }
        }
    }
}
