// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
import Glibc
package import LinuxSupport
import UserBus

/// Opens the links of tags in the app for the link, in the browser, or in the desktop's default app.
///
/// Every call blocks, for up to a few times the limit. Make calls on a separate thread. A tag's text never reaches a
/// shell: a URI is one value in a message on the bus, or one argument of a program.
package struct LinkDeliverer: Sendable {
    package struct Receipt: Sendable, Hashable {
        /// The app's identifier, or the name of its desktop entry; nil when the desktop chose the app.
        package var app: String?
        /// Whether the app received the whole message. Otherwise it received only the link.
        package var hasMessage: Bool
    }

    let folders: UserFolders
    let environment: [String: String]
    let limit: Duration
    let settling: Duration
    let compiled = CompiledAssociations()

    package var desktopEntries: DesktopEntries {
        DesktopEntries(folders, desktops: environment["XDG_CURRENT_DESKTOP"] ?? "")
    }

    /// - Parameters:
    ///   - limit: how long an app may take to start, and how long it may then take to answer.
    ///   - settling: how long a program that gets a URI must run to count as successful. A program that exits with
    ///     status 0 counts at once.
    package init(
        environment: [String: String],
        limit: Duration = .seconds(20),
        settling: Duration = .seconds(2)
    ) {
        folders = UserFolders(environment: environment)
        self.environment = environment
        self.limit = limit
        self.settling = settling
    }

    /// Opens a link. If this throws, nothing was opened, except that an app that did not answer may still have received
    /// the link.
    ///
    /// - Parameter activationToken: allows the app to come to the front. A click on a notification provides it.
    package func deliver(_ delivery: Delivery, activationToken: String? = nil) throws(DeliveryError) -> Receipt {
        switch delivery {
        case .app(let app, let payload): return try deliver(payload, to: app, activationToken)
        case .customScheme(let app, let uri):
            try open(uri, with: entry(app.desktopID), activationToken)
            return Receipt(app: app.id, hasMessage: false)
        case .browser(let url):
            return try openWithDesktop(url, scheme: String(url.prefix { $0 != ":" }), activationToken)
        case .system(let scheme, let uri): return try openWithDesktop(uri, for: scheme, activationToken)
        }
    }

    private func deliver(
        _ payload: UserActivityPayload,
        to app: InstalledApp,
        _ token: String?
    ) throws(DeliveryError) -> Receipt {
        let found = try entry(app.desktopID)
        let bus = try bus(isNeeded: found.entry.isBusActivated || found.entry.takesMessages)
        let starts = found.entry.isBusActivated
        func give() throws(DeliveryError) -> Receipt? {
            guard let bus else { return nil }
            let outcome = try onBus { () throws(BusError) in
                try bus.deliver(payload, to: found.name, starts: starts, token: token, limit: limit)
            }
            return outcome == .none ? nil : Receipt(app: app.id, hasMessage: outcome == .message)
        }
        if let receipt = try give() { return receipt }
        guard !starts else {
            let reason = "\(app.name) is running but accepts no links over the bus, contrary to its desktop entry."
            throw DeliveryError(.refused, reason)
        }
        guard found.entry.takesMessages, let bus else {
            try open(payload.webpageURL, with: found, token)
            return Receipt(app: app.id, hasMessage: false)
        }
        let program = try start(found, uri: nil, token)
        try wait(for: found.name, bus, program)
        if let receipt = try give() { return receipt }
        throw DeliveryError(.ended, "\(app.name) was started but accepts no links over the bus.")
    }

    func open(_ uri: String, with found: DesktopEntries.Found, _ token: String?) throws(DeliveryError) {
        if let bus = try bus(isNeeded: found.entry.isBusActivated) {
            let starts = found.entry.isBusActivated
            do throws(BusError) {
                guard try bus.open(uri, in: found.name, starts: starts, token: token, limit: limit) == .none else {
                    return
                }
            } catch  where error.code == .nobody && found.entry.command != nil {
                // A browser's entry may announce D-Bus activation that is missing. Then its command is used.
            } catch {
                throw DeliveryError(error)
            }
        }
        try check(start(found, uri: uri, token), found.entry.name)
    }

    /// Throws if the program fails at once, because it has then not opened anything.
    func check(_ program: StartedProgram, _ name: String) throws(DeliveryError) {
        try Self.check(program(settling), name)
    }

    private static func check(_ status: Int32?, _ name: String) throws(DeliveryError) {
        guard let status, status != 0 else { return }
        let how = status & 0x7F == 0 ? "with status \(status >> 8 & 0xFF)" : "by signal \(status & 0x7F)"
        throw DeliveryError(.ended, "\(name) ended at once, \(how).")
    }

    /// Waits until an app has registered its name on the bus.
    private func wait(for name: String, _ bus: BusConnection, _ program: StartedProgram) throws(DeliveryError) {
        let clock = ContinuousClock()
        let end = clock.now + limit
        while clock.now < end {
            let status = try program(.milliseconds(20))
            // A program that exits with status 0 may have handed its work to another process.
            if try onBus({ () throws(BusError) in try bus.isRunning(name) }) { return }
            try Self.check(status, name)
            // Waiting for a program that has ended returns at once.
            if status != nil { usleep(20_000) }
        }
        throw DeliveryError(.noAnswer, "\(name) was started but did not claim its bus name in time.")
    }

    func onBus<Value>(_ body: () throws(BusError) -> Value) throws(DeliveryError) -> Value {
        do throws(BusError) {
            return try body()
        } catch {
            throw DeliveryError(error)
        }
    }

    func entry(_ name: String) throws(DeliveryError) -> DesktopEntries.Found {
        do throws(AppError) {
            return try desktopEntries.entry(name)
        } catch {
            throw DeliveryError(.notStarted, error.reason)
        }
    }

    func bus(isNeeded: Bool) throws(DeliveryError) -> BusConnection? {
        do throws(BusError) {
            return try BusConnection(.user, address: environment["DBUS_SESSION_BUS_ADDRESS"])
        } catch {
            guard isNeeded else { return nil }
            throw DeliveryError(error)
        }
    }
}

extension LinkDeliverer {
    /// Creates a router from the installed apps, the fetched association files, the user's choices, and the desktop's
    /// default apps. This deliverer compiles each association file only once.
    package func router(allowsCustomSchemes: Bool = false) throws(StorageError) -> LinkRouter {
        let apps = InstalledApps(folders).apps
        let openers = openers
        return LinkRouter(
            apps: apps,
            associations: try LinkCache(of: folders).matchers(of: apps.flatMap(\.linkedDomains), compiled: compiled),
            allowsCustomSchemes: allowsCustomSchemes,
            choices: LinkChoices(of: folders),
            unopenedSchemes: openers.unopenedSchemes,
            schemesWithoutBrowser: openers.schemesWithoutBrowser,
            browserNames: openers.browserNames
        )
    }
}

package struct DeliveryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure. The raw value is its name for programs.
    package enum Code: String, Sendable, Hashable {
        case noBus = "no-bus"
        case notStarted = "not-started"
        /// The command in the app's desktop entry has no placeholder for a link, or several.
        case takesNoLink = "takes-no-link"
        case ended = "app-ended"
        case noAnswer = "no-answer"
        case refused = "app-refused"
        case foreign = "foreign-app"
        case noHandler = "no-handler"
    }

    package let code: Code
    /// Sentences for people that explain what happened and what to do next.
    package let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    init(_ error: BusError) {
        let code: Code =
            switch error.code {
            case .libraryMissing, .noBus: .noBus
            case .nobody: .notStarted
            case .noAnswer, .silentBus: .noAnswer
            case .foreign: .foreign
            default: .refused
            }
        self.init(code, error.reason)
    }

    package var description: String { reason }
}
