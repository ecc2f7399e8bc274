// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
public import SimulatorModel

/// A running simulator: the page, the socket for programs, the drawer's folder and the programs that were started.
public final class SimulatorServer: Sendable {
    /// What a simulator is started with.
    public struct Options: Sendable {
        /// The port of the page; 0 for any free one.
        public var port: UInt16
        /// The folder of the drawer.
        public var tags: String
        /// The commands of apps to start.
        public var apps: [String]
        /// Where programs find the simulator.
        public var place: SimulatorPlace
        /// Where installed apps are found.
        public var installedApps: InstalledAppFiles?
        /// The folder of the page; nil for the one that comes with the program.
        public var page: String?

        /// Creates options.
        public init(
            port: UInt16 = 0,
            tags: String,
            apps: [String] = [],
            place: SimulatorPlace,
            installedApps: InstalledAppFiles? = nil,
            page: String? = nil
        ) {
            self.port = port
            self.tags = tags
            self.apps = apps
            self.place = place
            self.installedApps = installedApps
            self.page = page
        }
    }

    /// The simulator.
    public let simulator: Simulator
    /// The port of its page, and its process.
    public let address: SimulatorPlace.Address
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

    /// Prepares a simulator.
    ///
    /// - Parameters:
    ///   - options: what it is started with.
    ///   - onRemark: gets sentences for the person who started it, on any thread.
    /// - Throws: `StorageError`, with code `inUse` when a simulator runs there already; ``SimulatorFailure`` when the port can't
    ///   be had.
    public init(_ options: Options, onRemark: @escaping @Sendable (String) -> Void) throws {
        self.options = options
        self.onRemark = onRemark
        Self.raiseDescriptorLimit()
        let simulator = Simulator()
        self.simulator = simulator
        folder = try PrivateFolder(options.place.folder)
        socket = try LocalSocket(simulator, in: folder)
        drawer = try DrawerFolder(options.tags, onProblem: onRemark)
        for problem in drawer.load(into: simulator) { onRemark(problem) }
        drawer.follow(everything: { [weak simulator] in simulator?.allFiles ?? [] }) { [weak simulator] in
            simulator?.setStorageProblem($0)
        }
        let pagePath = options.place.pageSocketPath
        // Another port each time: where an earlier one was, another user may have listened meanwhile, and left a service worker.
        gate = try PageGate(port: options.port, target: pagePath)
        address = SimulatorPlace.Address(port: gate.port, pid: getpid())
        guardian = PageGuard(port: gate.port)
        windows = Windows(simulator) { [drawer] in drawer.write($0) }
        page = PageServer(
            simulator,
            windows: windows,
            drawer: drawer,
            files: options.page.map(PageFiles.init(folder:)) ?? .bundled,
            path: pagePath,
            guardian: guardian
        )
        processes = AppProcesses(simulator, socketPath: options.place.socketPath)
        (quits, quit) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        simulator.onRequest { [processes, quit] request in
            switch request {
            case .startApp(let id, let command): processes.start(id, command: command)
            case .stopApp(let id): processes.stop(id)
            case .quit: quit.yield()
            }
        }
    }

    /// Runs until ``stop()`` is called, or someone asks the simulator to quit.
    ///
    /// - Parameter onReady: called when the page can be opened.
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
            throw SimulatorFailure("no-page", "The page can't be served from \(options.place.folder).")
        }
        gate.start(guardian)
        socket.start()
        try folder.replace(SimulatorPlace.addressName, with: address.json.bytes + [0x0A])
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
        try? folder.remove(SimulatorPlace.addressName)
        try? folder.remove(SimulatorPlace.pageName)
        try? folder.remove(SimulatorPlace.socketName)
        await windows.flush()
        windows.stop()
        _ = await sending.value
        drawer.finish()
        await gate.stop()
        serving.cancel()
        await page.stop()
        try? folder.remove(SimulatorPlace.pageSocketName)
    }

    /// Makes an address of the page, which works once.
    public func makeAddress() -> String { guardian.makeAddress() }

    /// Writes a file that leads a browser to the page. Its path may be seen by everybody, as the arguments of programs are; its
    /// contents only by the user.
    ///
    /// - Returns: its path.
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
        try folder.replace(SimulatorPlace.pageName, with: Array(text.utf8))
        return folder.path + "/" + SimulatorPlace.pageName
    }

    /// Ends the run.
    public func stop() { quit.yield() }

    /// Serves pages. A failure of the listening socket, such as too many open files, does not end the simulator.
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

    /// Lets the process have as many open files as the system allows, so that a flood of connections can be refused one by one.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
