// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime
import NFCTestKit
import PCSCTesting
import PN532Driver
import ReaderEmulation
import TagTrace
import TestThreads
import Testing
import VirtualTags

/// One suite of scenarios, on every reader that there is a driver for. On each of them one after the other: they live by real
/// time, and on a busy machine all at once would outlast a session's own limits.
@Suite(.timeLimit(.minutes(5))) struct `The conformance suite` {
    @Test(.serialized, arguments: ReaderConformance.scenarios) func `is passed in the virtual field`(
        scenario: ReaderConformance.Scenario
    ) async throws {
        #expect(try await scenario.run(in: .virtual) == nil)
    }

    @Test(.serialized, arguments: ReaderConformance.scenarios) func `is passed on a PN532`(
        scenario: ReaderConformance.Scenario
    ) async throws {
        let path = "/tmp/ocn-\(UUID().uuidString.prefix(8))"
        let field = VirtualField()
        let server = try PN532Server(path: path, field: field)
        let serving = server.start()
        let reader = try PN532Reader(path, limits: .patient)
        let setup = ReaderSetup(
            name: ".pn532",
            field: field,
            lacks: [.technology(.nfcV): "The chip does not speak ISO/IEC 15693."]
        ) {
            NFCEnvironment(reader: .discovering(reader))
        }
        let result: Result<String?, any Error>
        do {
            result = .success(try await scenario.run(in: setup))
        } catch {
            result = .failure(error)
        }
        server.stop()
        await serving.value
        #expect(try result.get() == (scenario.needs.contains(.technology(.nfcV)) ? setup.lacks.values.first : nil))
    }

    @Test(.serialized, arguments: ReaderConformance.scenarios) func `is passed by a recording of the virtual field`(
        scenario: ReaderConformance.Scenario
    ) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ocn-\(UUID().uuidString).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let field = VirtualField()
        let recorded = try Recorder(path: path).recording(.field(field))
        try await scenario.run(in: ReaderSetup(name: "recorded", field: field) { NFCEnvironment(reader: recorded) })
        let replay = RecordingReplay(try Recording(path: path))
        // Tags come and go as in the recording. What a scenario does to this field has no effect.
        let setup = ReaderSetup(name: ".replay", field: VirtualField()) { NFCEnvironment(reader: replay.reader) }
        await #expect(throws: Never.self, "\(scenario)") { try await scenario.run(in: setup) }
        #expect(replay.departure == nil)
        #expect(replay.remainingExchangeCount == 0)
    }

    @Test(.ownThreads, .enabled(if: PrivateReaders.canStart, "There is no pcscd that can load the driver."))
    func `is passed on a reader of pcscd`() async throws {
        // A UNIX socket's path is short.
        let folder = "/tmp/ocn-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // The results come in a file: reading the process's output would hold a thread that other tests need.
        await #expect(processExitsWith: .success) {
            // Another process, because its environment selects the pcscd. In Swift 6.2 it can't capture values of this
            // process, and finds the folder by this process's identifier.
            try await PCSCSetups(folder: "/tmp/ocn-\(getppid())").run()
        }
        let results = try String(contentsOfFile: PCSCSetups.results(in: folder), encoding: .utf8)
        let lines = results.split(separator: "\n")
        for line in lines where line.hasPrefix("failed") { Issue.record("\(line)") }
        #expect(lines.count == ReaderConformance.scenarios.count, "the last one is \(lines.last ?? "")")
    }
}
