// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
import Glibc
import LinuxSupport
import UserBus

/// Starting programs by their desktop entries (Desktop Entry Specification 1.5, 7).
extension LinkDeliverer {
    /// Starts the app of an entry.
    ///
    /// - Parameter uri: the URI for `%u`; nil starts the app without one.
    func start(_ found: DesktopEntries.Found, uri: String?, _ token: String?) throws(DeliveryError)
        -> any StartedProgram
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

    /// Starts a program.
    ///
    /// If the user's systemd is on the bus, it starts the program. Then the program does not inherit the sandbox and
    /// limits of the calling service, and continues when that service ends. Otherwise the program is started as a
    /// child.
    ///
    /// - Parameters:
    ///   - path: the program's absolute path.
    ///   - words: its arguments, starting with its name.
    ///   - app: the name of its desktop entry, or its own name.
    ///   - folder: its working directory; nil for the user's home folder.
    ///   - environment: its variables.
    func launch(
        _ path: String,
        _ words: [String],
        app: String,
        folder: String?,
        environment: [String: String]
    ) throws(DeliveryError) -> any StartedProgram {
        let folder = folder ?? environment["HOME"] ?? "/"
        let environment = ProgramStart.environment(environment)
        if let bus = try bus(isNeeded: false) {
            let program = UnitProgram(path, words, app: app, folder: folder, environment: environment)
            if let unit = try SystemdProgram(program, bus, limit: limit) { return unit }
        }
        return try ChildProgram(path, words, folder: folder, environment: environment)
    }

    /// Returns how to start an entry: its program's path and its command.
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
        do throws(StartCommand.Problem) {
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

    /// Returns how an app that is not running would receive its links.
    ///
    /// - Throws: ``DeliveryError`` when the app can't be started as it is installed.
    package func way(to app: InstalledApp) throws(DeliveryError) -> Way {
        let found = try entry(app.desktopID)
        if found.entry.isBusActivated { return .bus }
        _ = try command(of: found, isGivenURI: !found.entry.takesMessages)
        return found.entry.takesMessages ? .command : .link
    }

    /// Returns the path of a program. A bare name is looked up in the folders of `PATH`.
    func program(_ name: String) -> String? {
        guard !name.hasPrefix("/") else { return ProgramPath.isProgram(name) ? name : nil }
        guard !name.isEmpty, !name.contains("/") else { return nil }
        return ProgramPath.find(name, in: environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")
    }
}
