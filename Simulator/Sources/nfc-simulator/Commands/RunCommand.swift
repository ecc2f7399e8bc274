// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import LinuxSupport
import SimulatorModel
import SimulatorServer

/// Runs the simulator until it is interrupted.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "run", abstract: "Run the simulator (the default)")

    @Option(help: "The port of the page on 127.0.0.1. Default: a different free port at each start.")
    var port: UInt16 = 0

    @Option(help: "The folder of the drawer. Created if it does not exist.", completion: .directory)
    var tags: String?

    @Option(
        help: """
            A saved file to open, whose apps are started. Without --tags, the drawer is temporary, and your own drawer \
            stays unchanged.
            """,
        completion: .file()
    )
    var scenario: String?

    @Option(help: "A program to start as an app, with its arguments. May be repeated.")
    var app: [String] = []

    @Flag(help: "Don't open the browser.")
    var noBrowser = false

    @Flag(help: "Print only JSON lines to standard output.")
    var json = false

    @Option(help: ArgumentHelp("The folder with the page's files.", visibility: .private))
    var page: String?

    func validate() throws {
        guard tags != "" else {
            throw ValidationError("--tags needs the path of a folder. For the current folder: --tags .")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        let environment = ProcessInfo.processInfo.environment
        let location = SimulatorLocation.ofUser(environment: environment)
        if let running = location.running() { return try report(running, location) }
        let folders = UserFolders(environment: environment)
        let file = try scenario.map(readScenario)
        let temporary = scenario == nil ? nil : NSTemporaryDirectory() + "nfc-scenario-\(UUID().uuidString)"
        defer { if let temporary { try? FileManager.default.removeItem(atPath: temporary) } }
        let drawer = tags.map(Self.absolute) ?? temporary ?? folders.data + "/opencorenfc/simulator"
        let server: SimulatorServer
        do {
            let options = SimulatorServer.Options(
                port: port,
                tags: drawer,
                scenario: file,
                apps: (file?["apps"]?.array ?? []).compactMap(\.string) + app,
                location: location,
                installedApps: InstalledAppFiles(dataFolders: folders.allData, ownFolder: drawer),
                page: page.map(Self.absolute)
            )
            server = try SimulatorServer(options) { Output.note($0) }
        } catch let error as StorageError {
            throw Output.failure("storage", error.reason, json: json)
        } catch let error as SimulatorFailure {
            throw Output.failure(error.code, error.message, json: json)
        }
        let signals = Interrupts { server.stop() }
        defer { signals.end() }
        let (address, json, opensBrowser) = (server.address, json, !noBrowser)
        do {
            try await server.run {
                let url = server.makeAddress()
                if json {
                    Output.line([
                        "event": "ready", "url": .string(url), "port": .int(Int(address.port)),
                        "socket": .string(location.socketPath), "pid": .int(Int(address.pid)), "tags": .string(drawer),
                    ])
                } else {
                    Output.text("The simulator is running at \(url)")
                    Output.text("This address works once, in your browser. For a new address: nfc simulator")
                    Output.text("Programs connect to it with NFC_READER=simulator. Ctrl-C ends it.")
                }
                if opensBrowser, Browser.isAvailable, let file = try? server.writePageFile() { Browser.open(file) }
            }
        } catch let error as SimulatorFailure {
            throw Output.failure(error.code, error.message, json: json)
        }
        if json { Output.line(["event": "ended"]) }
    }

    private func readScenario(_ path: String) throws -> JSON {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Output.failure("no-such-file", "The scenario \(path) can't be read.", json: json)
        }
        guard let file = try? JSON(parsing: Array(data)) else {
            throw Output.failure("unknown-file", "The scenario \(path) is not a simulator file.", json: json)
        }
        return file
    }

    /// Reports that a simulator is already running, with an address that works once.
    private func report(_ running: SimulatorLocation.Address, _ location: SimulatorLocation) throws {
        let url: String
        do throws(SimulatorFailure) {
            url = try ActionClient(location).perform(["do": "address"])["url"]?.string ?? ""
        } catch {
            throw Output.failure(error.code, error.message, json: json)
        }
        let text = """
            A simulator is already running, at \(url) Open this address in a browser, or end the simulator with: \
            nfc simulator quit
            """
        if json {
            Output.line([
                "ok": false, "error": "already-running", "url": .string(url), "pid": .int(Int(running.pid)),
                "message": .string(text),
            ])
        } else {
            Output.text(text)
        }
        throw ExitCode(1)
    }

    private static func absolute(_ path: String) -> String {
        let full = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        return URL(fileURLWithPath: full).standardizedFileURL.path
    }
}
