// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
public import SimulatorModel

/// A running simulator: the page, the socket for programs, the drawer's folder, and the programs it has started.
public final class SimulatorServer: Sendable {
    /// The options of a simulator.
    public struct Options: Sendable {
        /// The port of the page; 0 for any free port.
        public var port: UInt16
        /// The folder of the drawer.
        public var tags: String
        /// A saved file to open at the start; nil for none.
        public var scenario: JSON?
        /// The commands of the apps to start.
        public var apps: [String]
        /// The location where programs find the simulator.
        public var location: SimulatorLocation
        /// The search for installed apps.
        public var installedApps: InstalledAppFiles?
        /// The folder of the page's files; nil for the files in the bundle.
        public var page: String?

        /// Creates options.
        public init(
            port: UInt16 = 0,
            tags: String,
            scenario: JSON? = nil,
            apps: [String] = [],
            location: SimulatorLocation,
            installedApps: InstalledAppFiles? = nil,
            page: String? = nil
        ) {
            self.port = port
            self.tags = tags
            self.scenario = scenario
            self.apps = apps
            self.location = location
            self.installedApps = installedApps
            self.page = page
        }
    }

    /// The simulator.
    public let simulator: Simulator
    /// The page's port and the simulator's process.
    public let address: SimulatorLocation.Address
    private let guardian: PageGuard
    private let options: Options
    private let folder: PrivateFolder
    private let drawer: DrawerFolder
    private let socket: LocalSocket
    private let windows: Windows
    private let page: PageServer
    private let gate: PageGate
    private let processes: AppProcesses
    private let onRemark: @Sendable (String) -> Void
    private let quits: AsyncStream<Void>
    private let quit: AsyncStream<Void>.Continuation

    /// Prepares a simulator to run.
    ///
    /// - Parameters:
    ///   - options: the options.
    ///   - onRemark: called with sentences for the user, on any thread.
    /// - Throws: `StorageError` with `inUse` if a simulator already runs there; ``SimulatorFailure`` if the port is not
    ///   available.
    public init(_ options: Options, onRemark: @escaping @Sendable (String) -> Void) throws {
        self.options = options
        self.onRemark = onRemark
        Self.raiseDescriptorLimit()
        let simulator = Simulator()
        self.simulator = simulator
        folder = try PrivateFolder(options.location.folder)
        socket = try LocalSocket(simulator, in: folder)
        drawer = try DrawerFolder(options.tags, onProblem: onRemark)
        for problem in drawer.load(into: simulator) { onRemark(problem) }
        if let scenario = options.scenario { _ = try simulator.perform(["do": "open", "file": scenario]) }
        drawer.follow(everything: { [weak simulator] in simulator?.allFiles ?? [] }) { [weak simulator] in
            simulator?.setStorageProblem($0)
        }
        let pagePath = options.location.pageSocketPath
        gate = try PageGate(port: options.port, target: pagePath)
        address = SimulatorLocation.Address(port: gate.port, pid: getpid())
        guardian = PageGuard(name: try PageGuard.name(in: folder), port: gate.port)
        windows = Windows(simulator) { [drawer] in drawer.write($0) }
        page = PageServer(
            simulator,
            windows: windows,
            drawer: drawer,
            files: options.page.map(PageFiles.init(folder:)) ?? .bundled,
            path: pagePath,
            guardian: guardian
        )
        processes = AppProcesses(simulator, socketPath: options.location.socketPath)
        (quits, quit) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        simulator.onRequest { [processes, quit] request in
            switch request {
            case .startApp(let id, let command): processes.start(id, command: command)
            case .stopApp(let id): processes.stop(id)
            case .quit: quit.yield()
            }
        }
    }

    /// Runs until ``stop()`` is called, or an action quits the simulator.
    ///
    /// - Parameter onReady: called once the page can be opened.
    public func run(onReady: @escaping @Sendable () -> Void) async throws {
        if let installed = options.installedApps {
            let (router, remarks) = installed.find()
            simulator.install(router)
            for remark in remarks { onRemark(remark) }
        }
        let sending = Task { await windows.run() }
        let serving = Task { try await self.servePages() }
        do {
            try await page.waitUntilListening()
        } catch {
            serving.cancel()
            windows.stop()
            socket.stop()
            throw SimulatorFailure("no-page", "The page can't be served from \(options.location.folder).")
        }
        gate.start(guardian)
        socket.start()
        try folder.replace(SimulatorLocation.addressName, with: address.json.bytes + [0x0A])
        simulator.start()
        for command in options.apps {
            do throws(SimulatorFailure) {
                _ = try simulator.perform(["do": "start_app", "command": .string(command)])
            } catch {
                onRemark(error.message)
            }
        }
        onReady()
        for await _ in quits { break }
        await processes.stopAll()
        socket.stop()
        await simulator.stop()
        try? folder.remove(SimulatorLocation.addressName)
        try? folder.remove(SimulatorLocation.pageName)
        try? folder.remove(SimulatorLocation.socketName)
        await windows.flush()
        windows.stop()
        _ = await sending.value
        drawer.finish()
        await gate.stop()
        serving.cancel()
        await page.stop()
        try? folder.remove(SimulatorLocation.pageSocketName)
    }

    /// Creates an address of the page that works once.
    public func makeAddress() -> String { guardian.makeAddress() }

    /// Writes a file that redirects a browser to the page. Other users can see its path, as they can see the arguments
    /// of programs, but only the user can read its contents.
    ///
    /// - Returns: the file's path.
    public func writePageFile() throws -> String {
        let address = makeAddress()
        let text = """
            <!doctype html>
            <meta charset="utf-8">
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="refresh" content="0; url=\(address)">
            <title>nfc simulator</title>
            <p><a href="\(address)">The simulator</a></p>

            """
        try folder.replace(SimulatorLocation.pageName, with: Array(text.utf8))
        return folder.path + "/" + SimulatorLocation.pageName
    }

    /// Ends ``run(onReady:)``.
    public func stop() { quit.yield() }

    /// Serves pages. If the listening socket fails, for example with too many open files, the simulator tries again.
    private func servePages() async throws {
        while !Task.isCancelled {
            do {
                try await page.run()
            } catch {
                guard !Task.isCancelled else { return }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// Raises the limit of open files, so that a flood of connections can be refused one by one.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
