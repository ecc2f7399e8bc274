// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime
import NFCTestKit
import PCSCDriver
import PCSCTesting
import ReaderEmulation
import TagLink
import VirtualTags

/// Two emulated readers in a pcscd of our own, each with a field in front of it.
struct PCSCSetups {
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
        return ReaderSetup(
            name: ".pcsc, \(name)",
            field: field
        ) {
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
