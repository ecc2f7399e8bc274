// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import Foundation
import NFCSessions
import NFCTestKit
import PCSCDriver
import PCSCTesting
import PN532Driver
import ReaderEmulation
import TagLink
import TagTrace
import TestThreads
import Testing
import VirtualTags

/// One suite of scenarios, on every reader that there is a driver for. On each of them one after the other: they live by
/// real time, and on a busy machine all at once would outlast a session's own limits.
@Suite(.timeLimit(.minutes(5))) struct ConformanceTests {
    typealias Scenario = ReaderConformance.Scenario

    @Test(.serialized, arguments: ReaderConformance.scenarios)
    func `conformance suite on a PN532: passed, but for NFC-V`(scenario: Scenario) async throws {
        let path = "/tmp/ocn-\(UUID().uuidString.prefix(8))"
        let field = VirtualField()
        let server = try PN532Server(path: path, field: field)
        let serving = server.start()
        let reader = try PN532Reader(path, limits: .patient)
        let lacks: [ReaderCapability: String] = [.technology(.nfcV): "The chip does not support ISO/IEC 15693."]
        let setup = ReaderSetup(name: ".pn532", field: field, lacks: lacks) {
            NFCEnvironment(reader: .discovering(reader))
        }
        let result: Result<String?, any Error>
        do { result = .success(try await scenario.run(in: setup)) } catch { result = .failure(error) }
        server.stop()
        await serving.value
        #expect(try result.get() == (scenario.needs.contains(.technology(.nfcV)) ? lacks.values.first : nil))
    }

    /// A few, because the pauses between looks at the chip's status take their time.
    private static let onBuses = ReaderConformance.scenarios.filter { $0.name.contains("is written") }

    @Test(.serialized, arguments: onBuses, [ChipLineKind.i2c, .spi])
    func `conformance suite on a PN532 on I2C or SPI: passed`(scenario: Scenario, kind: ChipLineKind) async throws {
        let field = VirtualField()
        let (events, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let bus = BusModel(kind) { continuation.yield($0) }
        // The emulated chip, whose frames the bus carries.
        let serving = Task {
            var device = PN532SerialDevice(field: field)
            for await frame in events { await device.receive(frame, send: bus.offer) }
            await device.powerOff()
        }
        let path = kind == .i2c ? "/dev/i2c-1" : "/dev/spidev0.0"
        let reader = try PN532Reader(path, limits: .patient) { _, _ in bus }
        let setup = ReaderSetup(name: ".pn532", field: field, lacks: [.technology(.nfcV): ""]) {
            NFCEnvironment(reader: .discovering(reader))
        }
        let result: Result<String?, any Error>
        do { result = .success(try await scenario.run(in: setup)) } catch { result = .failure(error) }
        continuation.finish()
        await serving.value
        #expect(try result.get() == (scenario.needs.contains(.technology(.nfcV)) ? "" : nil))
    }

    /// All of one type, and of the others what writes, reads and sends commands: each takes its time twice.
    private static let recorded = ReaderConformance.scenarios.filter {
        $0.name.hasPrefix("Type 2") || $0.name.contains("is written") || $0.name.contains(": takes ")
    }

    @Test(.serialized, arguments: recorded)
    func `conformance suite, recorded and replayed: passed, and the replay uses every recorded exchange`(
        scenario: Scenario
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
        #expect(replay.departure == nil && replay.remainingExchangeCount == 0)
    }

    @Test(.ownThreads, .enabled(if: PrivateReaders.canStart, "There is no pcscd that can load the driver."))
    func `conformance suite on readers of pcscd: passed`() async throws {
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

/// Two emulated readers in a pcscd of our own, each with a field in front of it.
private struct PCSCSetups {
    private let readers: PrivateReaders
    private let setups: [ReaderSetup]
    private let results: String

    /// The file of the results, in the folder of the readers.
    static func results(in folder: String) -> String { folder + "/results" }

    init(folder: String) throws {
        readers = try PrivateReaders([.acr122u, .acr1552u], folder: folder)
        setups = readers.readers.map { Self.setup($0.profile, $0.field) }
        results = Self.results(in: folder)
    }

    private static func setup(_ profile: ReaderProfile, _ field: VirtualField) -> ReaderSetup {
        let name = profile.name
        return ReaderSetup(name: ".pcsc, \(name)", field: field) {
            do throws(LinkError) {
                return NFCEnvironment(reader: .discovering(try PCSCReader.find(.named(name))))
            } catch {
                return NFCEnvironment(reader: .none(reason: error.reason))
            }
        }
    }

    /// Runs each scenario on the reader for its technology, and writes one line per scenario: `passed`, `limited` or
    /// `failed`, the scenario, and the reason. A test that names a reader must get that one.
    func run() async throws {
        defer { readers.stop() }
        _ = FileManager.default.createFile(atPath: results, contents: nil)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: results))
        // One at a time, so that a process that crashes leaves those before.
        func write(_ line: String) throws { try file.write(contentsOf: Data((line + "\n").utf8)) }
        for name in [ReaderProfile.acr122u, .acr1552u].map(\.name) {
            let found = try await withField(reader: .pcsc(name)) { $0.environment.driver?.name ?? "none" }
            if !found.contains(name) { try write("failed\tA test asks for \(name)\t\(found)") }
        }
        for scenario in ReaderConformance.scenarios {
            let setup = setups[scenario.needs.contains(.technology(.nfcV)) ? 1 : 0]
            do {
                let reason = try await scenario.run(in: setup)
                try write(reason.map { "limited\t\(scenario)\t\($0)" } ?? "passed\t\(scenario)\t")
            } catch {
                try write("failed\t\(scenario)\t\(error)")
            }
        }
    }
}
