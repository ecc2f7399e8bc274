// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime
import NFCTestKit
import PCSCDriver
import ReaderEmulation
import TagLink
import VirtualTags

/// Two emulated readers in a pcscd of our own, each with a field in front of it.
struct PCSCSetups {
    private let daemon: PrivatePCSCD
    private let servers: [(server: ReaderServer, setup: ReaderSetup)]

    init(folder: String) throws {
        let configuration = folder + "/conf"
        _ = unsafe mkdir(configuration, 0o755)
        var servers: [(ReaderServer, ReaderSetup)] = []
        let driver = try PCSCInstallation.findDriver()
        for (index, profile) in [ReaderProfile.acr122u, .acr1552u].enumerated() {
            let socket = folder + "/reader\(index).sock"
            let field = VirtualField()
            var lines = try PCSCInstallation(readerName: profile.name, socketPath: socket, driverPath: driver)
                .configuration
            lines.replace("CHANNELID    1", with: "CHANNELID    \(index + 1)")
            guard let file = unsafe fopen(configuration + "/reader\(index)", "w") else { exit(3) }
            unsafe fputs(lines, file)
            unsafe fclose(file)
            let server = try ReaderServer(path: socket, profile: profile, field: field)
            _ = server.start()
            servers.append((server, Self.setup(profile, field)))
        }
        self.servers = servers
        daemon = try PrivatePCSCD(folder: folder, configuration: configuration)
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

    /// Runs each scenario on the reader that looks for its technology.
    ///
    /// - Parameter word: what a scenario's name has to contain.
    /// - Returns: the exit status.
    func run(_ word: String) async throws -> Int32 {
        defer {
            for (server, _) in servers { server.stop() }
            daemon.stop()
        }
        for _ in 0..<1000 where PCSCReader.isContactlessReaderThere == false { usleep(10_000) }
        var status: Int32 = 0
        for scenario in ReaderConformance.scenarios where word.isEmpty || scenario.name.contains(word) {
            let setup = servers[scenario.needs.contains(.technology(.nfcV)) ? 1 : 0].setup
            do {
                let reason = try await scenario.run(in: setup)
                print(reason.map { "limited\t\(scenario)\t\($0)" } ?? "passed\t\(scenario)\t")
            } catch {
                print("failed\t\(scenario)\t\(error)")
                status = 1
            }
            fflush(nil)
        }
        return status
    }
}
