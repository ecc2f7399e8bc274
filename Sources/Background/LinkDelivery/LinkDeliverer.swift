// SPDX-License-Identifier: Apache-2.0
public import BackgroundStorage
public import BackgroundTagReading
import LinkFetching
import PrivateStorage
import UserBus

/// Opens what tags have: in the app that it is for, in the browser, or in what the desktop has for it.
///
/// Everything here waits, for up to some times the limit: call it on a thread of its own. Nothing of a tag reaches a shell of ours; a
/// URI is one value of a message on the bus, or one argument of a program.
public struct LinkDeliverer: Sendable {
    /// Where something was opened.
    public struct Receipt: Sendable, Hashable {
        /// The app's identifier, or the name of the desktop entry; nil when the desktop chose.
        public var app: String?
        /// Whether the app has the whole message, and not the link alone.
        public var hasMessage: Bool
    }

    let folders: UserFolders
    let environment: [String: String]
    let limit: Duration
    let settling: Duration
    let compiled = CompiledAssociations()

    /// The desktop entries.
    public var desktopEntries: DesktopEntries {
        DesktopEntries(folders, desktops: environment["XDG_CURRENT_DESKTOP"] ?? "")
    }

    /// Creates a deliverer.
    ///
    /// - Parameters:
    ///   - environment: the variables of the process.
    ///   - limit: how long an app may take to start, and then to answer.
    ///   - settling: how long a program that is given a URI has to run to count as one that opened it; ending well counts
    ///     at once.
    public init(
        environment: [String: String],
        limit: Duration = .seconds(20),
        settling: Duration = .seconds(2)
    ) {
        folders = UserFolders(environment: environment)
        self.environment = environment
        self.limit = limit
        self.settling = settling
    }

    /// Opens something.
    ///
    /// - Parameters:
    ///   - delivery: what, and in what.
    ///   - activationToken: lets the app come to the front, where the notification's click gave one.
    /// - Throws: ``DeliveryError``; then nothing was opened, but an app that did not answer may have what it was given.
    public func deliver(_ delivery: Delivery, activationToken: String? = nil) throws(DeliveryError) -> Receipt {
        switch delivery {
        case .app(let app, let payload): try deliver(payload, to: app, activationToken)
        case .customScheme(let app, let uri): try open(uri, in: app, activationToken)
        case .browser(let url): try openWithDesktop(url, scheme: LinkScheme.scheme(of: url), activationToken)
        case .system(let scheme, let uri): try openWithDesktop(uri, for: scheme, activationToken)
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
        func give() throws(DeliveryError) -> UserBus.Outcome {
            guard let bus else { return .none }
            do throws(BusError) {
                return try bus.deliver(payload, to: found.name, starts: starts, token: token, limit: limit)
            } catch {
                throw DeliveryError(error)
            }
        }
        switch try give() {
        case .message: return Receipt(app: app.id, hasMessage: true)
        case .link: return Receipt(app: app.id, hasMessage: false)
        case .none: break
        }
        guard !starts else {
            throw DeliveryError(
                .refused,
                "\(app.name) runs and takes no links over the bus, although its entry says so."
            )
        }
        guard found.entry.takesMessages, let bus else {
            try open(payload.webpageURL, with: found, token)
            return Receipt(app: app.id, hasMessage: false)
        }
        let program = try start(found, uri: nil, token)
        try wait(for: found.name, bus, program)
        switch try give() {
        case .message: return Receipt(app: app.id, hasMessage: true)
        case .link: return Receipt(app: app.id, hasMessage: false)
        case .none: throw DeliveryError(.ended, "\(app.name) was started, and then takes no links over the bus.")
        }
    }

    private func open(_ uri: String, in app: InstalledApp, _ token: String?) throws(DeliveryError) -> Receipt {
        try open(uri, with: entry(app.desktopID), token)
        return Receipt(app: app.id, hasMessage: false)
    }

    /// Opens a URI in the app of a desktop entry.
    func open(_ uri: String, with found: DesktopEntries.Found, _ token: String?) throws(DeliveryError) {
        if let bus = try bus(isNeeded: found.entry.isBusActivated) {
            let starts = found.entry.isBusActivated
            do throws(BusError) {
                guard try bus.open(uri, in: found.name, starts: starts, token: token, limit: limit) == .none else {
                    return
                }
            } catch  where error.code == .nobody && found.entry.command != nil {
                // The entry of a browser may promise more than is installed; its command is there for that.
            } catch {
                throw DeliveryError(error)
            }
        }
        let program = try start(found, uri: uri, token)
        try check(program, found.entry.name)
    }

    /// A program that fails at once opened nothing.
    func check(_ program: any StartedProgram, _ name: String) throws(DeliveryError) {
        guard let status = try program.wait(settling), status != 0 else { return }
        throw DeliveryError(.ended, "\(name) ended at once, \(ProgramStart.text(status)).")
    }

    /// Waits until an app has its name on the bus.
    private func wait(for name: String, _ bus: UserBus, _ program: any StartedProgram) throws(DeliveryError) {
        let clock = ContinuousClock()
        let end = clock.now + limit
        while clock.now < end {
            let status = try program.wait(.milliseconds(20))
            do throws(BusError) {
                // A program that ends well may have left the rest to another process.
                if try bus.isRunning(name) { return }
            } catch {
                throw DeliveryError(error)
            }
            if let status, status != 0 {
                throw DeliveryError(.ended, "\(name) ended at once, \(ProgramStart.text(status)).")
            }
        }
        throw DeliveryError(.noAnswer, "\(name) was started, and does not have its name on the bus in time.")
    }

    func entry(_ name: String) throws(DeliveryError) -> DesktopEntries.Found {
        do throws(DesktopEntries.Problem) {
            return try desktopEntries.entry(name)
        } catch {
            throw DeliveryError(.notStarted, error.reason)
        }
    }

    /// The user's bus; nil when there is none and it can be done without.
    func bus(isNeeded: Bool) throws(DeliveryError) -> UserBus? {
        do throws(BusError) {
            return try UserBus(address: environment["DBUS_SESSION_BUS_ADDRESS"])
        } catch {
            guard isNeeded else { return nil }
            throw DeliveryError(error)
        }
    }
}
