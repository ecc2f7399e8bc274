// SPDX-License-Identifier: Apache-2.0
import NFCTestKit
import TestThreads
import Testing

/// Where the functions of the system can't be replaced: time is real, and one line says so.
@Suite(.timeLimit(.minutes(5))) struct PlainTimeTests {
    @Test func `time functions of this system's libraries: can be replaced by those of the field's clock`() {
        #expect(ReplacedFunctions.probe() == nil)
    }

    @Test(.ownThreads)
    func `time functions that can't be replaced: fields use real time, and one line on standard error says why`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await ReplacedFunctions.$probe.withValue({ "the system's libraries have no dispatch_time" }) {
                for _ in 0..<2 {
                    let link = try await withField(linkTag) { field in
                        let start = (ContinuousClock.now, field.now)
                        try await Task.sleep(for: .milliseconds(30))
                        let took = (start.0.duration(to: .now), field.now - start.1)
                        guard took.0 >= .milliseconds(30), took.1 >= .milliseconds(30) else { fatalError("\(took)") }
                        return try await LinkReader.run(field)
                    }
                    guard link == oldLink else { fatalError("\(link)") }
                }
                let report = try await explore(.replay("loss@9"), near: linkTag) { _ = try await LinkClient.run($0) }
                guard report.runs == 2 else { fatalError("\(report)") }
            }
        }
        let lines = try said(result).split(separator: "\n").filter { $0.contains("real time") }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("NFCTestKit: fields use real time, because") == true)
        #expect(lines.first?.contains("can't be replaced: the system's libraries have no dispatch_time. ") == true)
    }
}
