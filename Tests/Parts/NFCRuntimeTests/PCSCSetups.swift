// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime
import NFCTestKit
import PCSCDriver
import PrivateStorage
import ReaderEmulation
import TagLink
import VirtualTags

/// Two emulated readers in a pcscd of our own, each with a field in front of it.
struct PCSCSetups {
    private let daemon: PrivatePCSCD
    private let servers: [(server: ReaderServer, setup: ReaderSetup)]

    init(folder: String) throws {
        let configuration = folder + "/conf"
        try FileManager.default.createDirectory(atPath: configuration, withIntermediateDirectories: true)
        var servers: [(ReaderServer, ReaderSetup)] = []
        let driver = try PCSCInstallation.findDriver()
        let sockets = try PrivateFolder(folder)
        for (index, profile) in [ReaderProfile.acr122u, .acr1552u].enumerated() {
            let socket = folder + "/reader\(index).sock"
            let field = VirtualField()
            var lines = try PCSCInstallation(readerName: profile.name, socketPath: socket, driverPath: driver)
                .configuration
            lines.replace("CHANNELID    1", with: "CHANNELID    \(index + 1)")
            try lines.write(toFile: configuration + "/reader\(index)", atomically: true, encoding: .utf8)
            let server = try ReaderServer("reader\(index).sock", in: sockets, profile: profile, field: field)
            _ = server.start()
            servers.append((server, Self.setup(profile, field)))
        }
        self.servers = servers
        daemon = try PrivatePCSCD(folder: sockets, configuration: configuration)
        unsafe setenv("PCSCLITE_CSOCK_NAME", daemon.socketPath, 1)
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

    /// Runs each scenario on the reader for its technology, and prints one line per scenario: `passed`, `limited` or
    /// `failed`, the scenario, and the reason. A test that names a reader must get that one.
    func run() async throws {
        defer {
            for (server, _) in servers { server.stop() }
            daemon.stop()
        }
        for _ in 0..<1000 where (try? PCSCReader.findContactless()) == nil { usleep(10_000) }
        for name in [ReaderProfile.acr122u, .acr1552u].map(\.name) {
            let found = try await withField(reader: .pcsc(name)) { $0.environment.driver?.name ?? "none" }
            if !found.contains(name) { print("failed\tA test asks for \(name)\t\(found)") }
        }
        for scenario in ReaderConformance.scenarios {
            let setup = servers[scenario.needs.contains(.technology(.nfcV)) ? 1 : 0].setup
            do {
                let reason = try await scenario.run(in: setup)
                print(reason.map { "limited\t\(scenario)\t\($0)" } ?? "passed\t\(scenario)\t")
            } catch {
                print("failed\t\(scenario)\t\(error)")
            }
            fflush(nil)
        }
    }
}
