// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
import Dispatch
import Foundation
import Glibc
import LinuxSupport
import UserBus

/// Starts programs by their desktop entries (Desktop Entry Specification 1.5, 7).
extension LinkDeliverer {
    /// Starts the app of an entry. `uri` replaces `%u`; nil starts the app without a URI.
    func start(_ found: DesktopEntries.Found, uri: String?, _ token: String?) throws(DeliveryError)
        -> StartedProgram
    {
        let (path, command) = try command(of: found, isGivenURI: uri != nil)
        var environment = environment
        environment["XDG_ACTIVATION_TOKEN"] = token
        environment["DESKTOP_STARTUP_ID"] = token
        return try launch(
            path,
            command.arguments(uri: uri, entry: found.entry, path: found.path),
            app: found.name,
            folder: found.entry.folder,
            environment: environment
        )
    }

    /// Starts a program. If the user's systemd is on the bus, systemd starts the program. Then the program does not
    /// inherit the sandbox and limits of the calling service, and continues after that service ends. Otherwise the
    /// program becomes a child of this process.
    ///
    /// - Parameters:
    ///   - words: the program's arguments, starting with its name.
    ///   - app: the name of the app's desktop entry, or the name of the program.
    ///   - folder: the program's working directory; nil for the user's home folder.
    func launch(
        _ path: String,
        _ words: [String],
        app: String,
        folder: String?,
        environment: [String: String]
    ) throws(DeliveryError) -> StartedProgram {
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 }
        let place = folder ?? home ?? "/"
        // Check the folder first: the error from starting the program would say that the program is missing.
        guard unsafe access(place, X_OK) == 0 else {
            let reason = unsafe String(cString: strerror(errno))
            let name = folder == nil ? "the home folder \(place), from HOME" : "its folder \(place)"
            throw DeliveryError(.notStarted, "\(app) can't be started in \(name): \(reason).")
        }
        let environment = Self.environmentOfApps(environment)
        if let bus = try bus(isNeeded: false) {
            let program = UnitProgram(path, words, app: app, folder: place, environment: environment)
            if let unit = try start(program, bus) { return unit }
        }
        let child = try ChildProgram(path, words, folder: place, environment: environment)
        return { limit throws(DeliveryError) in child.wait(limit) }
    }

    /// Removes variables that the system sets only for a service.
    static func environmentOfApps(_ variables: [String: String]) -> [String: String] {
        variables.filter { name, _ in !variablesOfServices.contains(name) }
    }

    private static let variablesOfServices: Set<String> = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "INVOCATION_ID",
        "JOURNAL_STREAM", "MANAGERPID", "SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
        "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE",
    ]

    /// Makes the user's systemd start a program, and waits until the program runs; nil when there is no systemd.
    /// Nothing else may use the connection meanwhile.
    private func start(_ program: UnitProgram, _ bus: BusConnection) throws(DeliveryError) -> StartedProgram? {
        let unit: StartedUnit?
        let state: StartedUnit.State?
        do throws(BusError) {
            unit = try StartedUnit(program, bus: bus, limit: limit)
            state = try unit?.waitForStart(limit)
        } catch {
            throw DeliveryError(.notStarted, "\(program.path) can't be started: \(error.reason)")
        }
        func status(_ state: StartedUnit.State) throws(DeliveryError) -> Int32? {
            switch state {
            case .running: return nil
            case .exited(let status): return status << 8
            case .killed(let signal): return signal
            case .notStarted(let reason):
                throw DeliveryError(.notStarted, "\(program.path) can't be started: systemd reports \(reason).")
            }
        }
        guard let unit, let state else { return nil }
        if case .notStarted = state { _ = try status(state) }
        return { limit throws(DeliveryError) in
            try status(onBus { () throws(BusError) in try unit.wait(limit) })
        }
    }

    func command(
        of found: DesktopEntries.Found,
        isGivenURI: Bool
    ) throws(DeliveryError) -> (path: String, command: StartCommand) {
        let entry = found.entry
        func problem(_ reason: String, _ code: DeliveryError.Code = .notStarted) -> DeliveryError {
            DeliveryError(code, "\(entry.name) can't be started: \(reason) (\(found.path))")
        }
        guard let text = entry.command else { throw problem("its desktop entry has no Exec.") }
        guard !entry.needsTerminal else { throw problem("it needs a terminal, which is not available.") }
        if let needed = entry.neededProgram, program(needed) == nil { throw problem("\(needed) does not exist.") }
        let command: StartCommand
        do throws(AppError) {
            command = try StartCommand(parsing: text)
        } catch {
            throw problem(error.reason, error.isAmbiguous ? .takesNoLink : .notStarted)
        }
        guard !isGivenURI || command.takesURI else {
            throw problem(
                "Exec has no %u for a link, and Implements does not name \(DeliveryInterface.name).",
                .takesNoLink
            )
        }
        guard let path = program(command.program) else { throw problem("\(command.program) does not exist.") }
        return (path, command)
    }

    /// How an app receives its links.
    package enum Way: String, Sendable, Hashable {
        /// The bus starts the app. The app receives the link, and the message too if it has the interface.
        case bus
        /// The app's command starts it. Then the app receives the link and the message over the bus.
        case command
        /// The app's command starts it with only the link.
        case link
    }

    /// Returns how an app that is not running would receive its links. Throws when the installed app can't be started.
    package func way(to app: InstalledApp) throws(DeliveryError) -> Way {
        let found = try entry(app.desktopID)
        if found.entry.isBusActivated { return .bus }
        _ = try command(of: found, isGivenURI: !found.entry.takesMessages)
        return found.entry.takesMessages ? .command : .link
    }

    func program(_ name: String) -> String? {
        guard !name.hasPrefix("/") else { return ProgramPath.isProgram(name) ? name : nil }
        guard !name.isEmpty, !name.contains("/") else { return nil }
        return ProgramPath.find(name, in: environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")
    }
}

/// Waits for the end of a program that was started without a shell and without variables meant for services. Returns
/// its status as from `waitpid`; nil when it is still running.
typealias StartedProgram = (_ limit: Duration) throws(DeliveryError) -> Int32?

final class ChildProgram: Sendable {
    let process: pid_t
    private let end: End

    private final class End: @unchecked Sendable {
        // Sendable because the status is written once, before the signal, and only read after the signal.
        private let signal = DispatchSemaphore(value: 0)
        private var status: Int32?

        func note(_ status: Int32) {
            self.status = status
            signal.signal()
        }

        func wait(_ limit: Duration) -> Int32? {
            let limit = DispatchTimeInterval.nanoseconds(Int(limit / .nanoseconds(1)))
            guard signal.wait(timeout: .now() + limit) == .success else { return nil }
            // Signals again for the next call of this function.
            signal.signal()
            return status
        }
    }

    init(_ path: String, _ arguments: [String], folder: String, environment: [String: String]) throws(DeliveryError) {
        var launch = ProgramLaunch(path, arguments)
        launch.environment = environment
        launch.folder = folder
        // The program is independent of this process's terminal. Its output may contain text from a tag, which must not
        // appear in a log.
        launch.separation = .session
        let process: pid_t
        do throws(ProgramLaunch.Failure) {
            process = try launch.start()
        } catch {
            throw DeliveryError(.notStarted, "\(path) can't be started: \(error.reason).")
        }
        self.process = process
        let end = End()
        self.end = end
        let thread = Thread { [process] in
            var status: Int32 = 0
            while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
            end.note(status)
        }
        thread.stackSize = 64 << 10
        thread.start()
    }

    func wait(_ limit: Duration) -> Int32? { end.wait(limit) }
}
