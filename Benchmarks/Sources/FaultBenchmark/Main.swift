// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import PlainScans

/// Measures how long it takes to explore the faults of a flow that reads, changes and writes an NTAG215.
@main
struct FaultBenchmark {
    static let usage = """
        Usage: fault-benchmark [--json] [--rounds N] [--runs N]
          --json      print one JSON object per line
          --rounds N  measure N times (default 5)
          --runs N    the runs with faults per round (default 1000)

        """

    static func main() async throws {
        var json = false
        var rounds = 5
        var runs = 1000
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--json": json = true
            case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) } ?? rounds
            case "--runs": runs = arguments.popFirst().flatMap { Int($0) } ?? runs
            default:
                FileHandle.standardError.write(Data(usage.utf8))
                exit(argument == "--help" ? 0 : 2)
            }
        }
        // As in a test: not on the main actor.
        let (last, count) = (max(1, rounds), max(1, runs))
        let asJSON = json
        try await Task.detached { try await measure(rounds: last, runs: count, json: asJSON) }.value
    }

    static func measure(rounds: Int, runs: Int, json: Bool) async throws {
        let scans = PlainScans()
        for round in 1...rounds {
            // Measure before and after, because the speed of the machine varies.
            let before = await scans.run(2000).microseconds
            let start = ContinuousClock.now
            let report = try await explore(
                .noise(runs: runs, faults: 1),
                near: .product("NTAG215", holding: .text("1")),
                seed: UInt64(round),
                reader: .virtual
            ) { field in
                _ = try await field.completion("count") { Counter().count($0) }.get()
            }
            let microseconds = start.duration(to: .now) / .microseconds(1) / Double(report.runs)
            let after = await scans.run(2000).microseconds
            let scan = (before + after) / 2
            let line =
                json
                ? #"{"round":\#(round),"runs":\#(report.runs),"exchanges":\#(report.exchanges),"us":\#(Int(microseconds)),"#
                    + #""scan_us":\#(Int(scan)),"ratio":\#(tenths(microseconds / scan))}"#
                : """
                round \(round): \(report.runs) runs of \(report.exchanges) exchanges, \(Int(microseconds)) us a run, \
                \(tenths(microseconds / scan)) times a plain scan of \(Int(scan)) us
                """
            print(line)
        }
    }

    static func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}

/// Reads the number on a tag, and writes the next one.
final class Counter: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because all of it is used only on the session's queue after the start.
    private var session: NFCNDEFReaderSession?
    private var itself: Counter?
    private var completion: (@Sendable (Result<Int, any Error>) -> Void)?

    func count(_ completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
        self.completion = completion
        itself = self
        let session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
        self.session = session
        session.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first else { return }
        session.connect(to: tag) { [self] error in
            if let error { return fail(error) }
            tag.readNDEF { [self] message, error in
                let text = message?.records.first?.wellKnownTypeTextPayload().0
                guard let number = text.flatMap({ Int($0) }) else { return fail(error ?? CocoaError(.formatting)) }
                let payload = NFCNDEFPayload.wellKnownTypeTextPayload(
                    string: String(number + 1),
                    locale: Locale(identifier: "en")
                )
                tag.writeNDEF(NFCNDEFMessage(records: [payload].compactMap(\.self))) { [self] error in
                    if let error { return fail(error) }
                    session.invalidate()
                    finish(.success(number + 1))
                }
            }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
        itself = nil
    }

    private func fail(_ error: any Error) {
        session?.invalidate(errorMessage: "Hold the card still, and try again.")
        finish(.failure(error))
    }

    private func finish(_ result: Result<Int, any Error>) {
        completion?(result)
        completion = nil
    }
}
