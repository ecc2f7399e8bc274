// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
import Dispatch
import Foundation
import Glibc
import LinuxSupport
import UserBus

/// Starting programs by their desktop entries (Desktop Entry Specification 1.5, 7).
extension LinkDeliverer {
    /// Starts the app of an entry, with a URI for `%u`, or without one.
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

    /// Starts a program. If the user's systemd is on the bus, it starts the program: then it does not inherit the
    /// sandbox and limits of the calling service, and continues when that service ends. Otherwise the program is
    /// started as a child.
    ///
    /// - Parameters:
    ///   - words: its arguments, starting with its name.
    ///   - app: the name of its desktop entry, or its own name.
    ///   - folder: its working directory; nil for the user's home folder.
    func launch(
        _ path: String,
        _ words: [String],
        app: String,
        folder: String?,
        environment: [String: String]
    ) throws(DeliveryError) -> StartedProgram {
        let folder = folder ?? environment["HOME"] ?? "/"
        let environment = Self.environmentOfApps(environment)
        if let bus = try bus(isNeeded: false) {
            let program = UnitProgram(path, words, app: app, folder: folder, environment: environment)
            if let unit = try start(program, bus) { return unit }
        }
        let child = try ChildProgram(path, words, folder: folder, environment: environment)
        return { limit throws(DeliveryError) in child.wait(limit) }
    }

    /// Removes the variables that the system sets for a service only.
    static func environmentOfApps(_ variables: [String: String]) -> [String: String] {
        variables.filter { name, _ in !variablesOfServices.contains(name) }
    }

    private static let variablesOfServices: Set<String> = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "INVOCATION_ID",
        "JOURNAL_STREAM", "MANAGERPID", "SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
        "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE",
    ]

    /// Lets the user's systemd start a program, and waits until it runs; nil when there is no systemd. Nothing else may
    /// use the connection.
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
        func no(_ reason: String, _ code: DeliveryError.Code = .notStarted) -> DeliveryError {
            DeliveryError(code, "\(entry.name) can't be started: \(reason) (\(found.path))")
        }
        guard let text = entry.command else { throw no("its desktop entry has no Exec.") }
        guard !entry.needsTerminal else { throw no("it needs a terminal, and there is none to start it in.") }
        if let needed = entry.neededProgram, program(needed) == nil { throw no("there is no \(needed).") }
        let command: StartCommand
        do throws(AppError) {
            command = try StartCommand(parsing: text)
        } catch {
            throw no(error.reason, error.isAmbiguous ? .takesNoLink : .notStarted)
        }
        guard !isGivenURI || command.takesURI else {
            throw no(
                "Exec has no %u for a link, and Implements does not name \(DeliveryInterface.name).",
                .takesNoLink
            )
        }
        guard let path = program(command.program) else { throw no("there is no program \(command.program).") }
        return (path, command)
    }

    /// How an app receives its links.
    package enum Way: String, Sendable, Hashable {
        /// The bus starts it. It receives the link with the message if it has the interface.
        case bus
        /// Its command starts it. Then it receives the link with the message over the bus.
        case command
        /// Its command starts it, with only the link.
        case link
    }

    /// Returns how an app that is not running would receive its links. Throws when it can't be started as it is
    /// installed.
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

/// A program that was started without a shell, without the variables that are meant for services. The function waits for
/// it to end, and returns its status from `waitpid`; nil when it still runs.
typealias StartedProgram = (_ limit: Duration) throws(DeliveryError) -> Int32?

/// A program that is a child of this process.
final class ChildProgram: Sendable {
    let process: pid_t
    private let end: End

    private final class End: @unchecked Sendable {
        // Sendable because the status is written once, before the signal, and only read after it.
        private let signal = DispatchSemaphore(value: 0)
        private var status: Int32?

        func note(_ status: Int32) {
            self.status = status
            signal.signal()
        }

        func wait(_ limit: Duration) -> Int32? {
            let limit = DispatchTimeInterval.nanoseconds(Int(limit / .nanoseconds(1)))
            guard signal.wait(timeout: .now() + limit) == .success else { return nil }
            // For the next call of this function.
            signal.signal()
            return status
        }
    }

    init(_ path: String, _ arguments: [String], folder: String, environment: [String: String]) throws(DeliveryError) {
        var launch = ProgramLaunch(path, arguments)
        launch.environment = environment
        launch.folder = folder
        // The program is independent of this process's terminal. Its output may contain text of a tag, which must not
        // get into a log.
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
