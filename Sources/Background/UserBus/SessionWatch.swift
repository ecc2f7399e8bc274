// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
import Dispatch
import Glibc
import LinuxSupport

/// Tracks the user's session with logind, over the system bus.
@MainActor package final class SessionWatch {
    private static let manager = BusConnection.loginManager

    package private(set) var session: LoginSession?
    /// Whether logind or the system bus exists but does not answer. If logind ends without an answer, this remains true
    /// until its next instance answers.
    package private(set) var isSilent = false
    package private(set) var isGoingToSleep = false
    private let own: String?
    private let address: String?
    private let patience: Duration
    private let pause: Duration
    private let onChange: () -> Void
    private var bus: BusConnection?
    private var source: (any DispatchSourceRead)?
    private var isDue = false
    private var isCheckPlanned = false

    /// Starts tracking. When this returns, the current state is known.
    ///
    /// - Parameters:
    ///   - own: the session of this process; nil if it is not in a session.
    ///   - patience: how long the bus itself may take to answer.
    ///   - pause: how long to wait before asking a silent service again, because asking blocks.
    package init(
        own: String?,
        address: String? = nil,
        patience: Duration = .seconds(5),
        pause: Duration = .seconds(10),
        onChange: @escaping () -> Void
    ) {
        self.own = own
        self.address = address
        self.patience = patience
        self.pause = pause
        self.onChange = onChange
        connect()
    }

    private func connect() {
        do throws(BusError) {
            let bus = try BusConnection(.system, address: address, patience: patience)
            let name = Self.manager.destination
            let properties = Self.manager.properties.interface
            for rule in [
                "sender='\(name)',interface='\(Self.manager.interface)'",
                "sender='\(name)',interface='\(properties)',path_namespace='\(Self.manager.path)/session'",
                "sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'",
            ] { try bus.listen(to: rule) }
            self.bus = bus
            isSilent = false
            source = makeSource(bus)
            isDue = true
            receive()
        } catch {
            // Without a system bus, the session is unknown, as reported in the findings. An earlier bus will return.
            bus = nil
            isSilent = error.code == .silentBus
            if isSilent || source != nil { checkLater() }
        }
    }

    private func makeSource(_ bus: BusConnection) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: bus.descriptor, queue: .main)
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.receive() } }
        // The connection closes its descriptor. Until then the source must have ended: a later source of a descriptor with
        // the same number would never fire.
        source.setCancelHandler { withExtendedLifetime(bus) {} }
        source.activate()
        return source
    }

    private func receive() {
        guard let bus else { return }
        do throws(BusError) {
            // Asks for the new state, because any program may send such a signal.
            while let message = try bus.receive() {
                // A late answer shows that a silent service answers again.
                if message.isCall { try message.answer(nil) } else { isDue = true }
            }
            guard isDue else { return }
            // Signals that arrive during the wait for answers are queued and don't make the descriptor readable.
            DispatchQueue.main.async { [weak self] in MainActor.assumeIsolated { self?.receive() } }
            isDue = false
            look(bus)
        } catch {
            source?.cancel()
            self.bus = nil
            checkLater()
            session = nil
            isGoingToSleep = false
            onChange()
        }
    }

    /// Asks logind now, so that opening a link does not depend only on logind's last signal.
    package func refresh() {
        if let bus, !isSilent { look(bus) }
    }

    private func look(_ bus: BusConnection) {
        do throws(BusError) {
            if let sessions = try bus.loginSessions(of: getuid()) {
                isSilent = false
                session = LoginSession.shown(sessions, own: own)
                let sleeping = try? bus.ask(BusCall(property: "PreparingForSleep", of: Self.manager))
                isGoingToSleep = sleeping?.first?.isTrue ?? false
            } else if !isSilent {
                session = nil
                isGoingToSleep = false
            }
        } catch {
            isSilent = true
        }
        if isSilent { checkLater() }
        onChange()
    }

    /// Checks again later, even without a signal or a late answer.
    private func checkLater() {
        guard !isCheckPlanned else { return }
        isCheckPlanned = true
        runOnMain(after: pause) { [weak self] in
            guard let self else { return }
            self.isCheckPlanned = false
            guard self.bus != nil else { return self.connect() }
            if self.isSilent {
                self.isDue = true
                self.receive()
            }
        }
    }
}

extension BusConnection {
    package static let loginManager = BusCall.Object(
        "org.freedesktop.login1",
        "/org/freedesktop/login1",
        "org.freedesktop.login1.Manager"
    )
    private static let maximumSessions = 64

    /// Asks logind over the system bus for a user's sessions; nil when there is no logind. If this throws, the sessions
    /// are unknown. The error `silentBus` means that the bus itself does not answer.
    package func loginSessions(of user: UInt32) throws(BusError) -> [LoginSession]? {
        guard let list = try listSessions() else { return nil }
        var sessions: [LoginSession] = []
        for entry in list.prefix(Self.maximumSessions) {
            // The values are the session's name, the user ID, the user's name, the seat and the object.
            guard let values = entry.values, values.count == 5, values[1].integer == Int64(user),
                let id = values[0].text, let path = values[4].text
            else { continue }
            do throws(BusError) {
                sessions.append(try loginSession(id, path, hasSeat: values[3].text?.isEmpty == false))
            } catch {
                // The session may have ended meanwhile, and is then no longer listed.
                guard error.code != .noAnswer, let now = try listSessions() else { throw error }
                if now.contains(where: { $0.values?.first?.text == id }) { throw error }
            }
        }
        return sessions
    }

    private func listSessions() throws(BusError) -> [BusValue]? {
        do throws(BusError) {
            guard let list = try ask(BusCall(Self.loginManager, "ListSessions")).first?.values else {
                throw .badAnswer(of: Self.loginManager)
            }
            return list
        } catch {
            // If logind can't be started, it does not exist.
            guard try hasOwner(Self.loginManager.destination) else { return nil }
            throw error
        }
    }

    private func loginSession(_ id: String, _ path: String, hasSeat: Bool) throws(BusError) -> LoginSession {
        let object = BusCall.Object(Self.loginManager.destination, path, "org.freedesktop.login1.Session")
        let values = try ask(BusCall(object.properties, "GetAll", [.string(object.interface)]))
        guard let members = values.first?.members else { throw .badAnswer(of: object) }
        return LoginSession(
            id: id,
            sessionClass: members["Class"]?.text ?? "",
            hasSeat: hasSeat,
            isActive: members["Active"]?.isTrue ?? false,
            isLocked: members["LockedHint"]?.isTrue ?? false,
            isIdle: members["IdleHint"]?.isTrue ?? false
        )
    }
}

/// logind's answer about a user's session, from a single query over the system bus.
package struct LoginReport: Sendable, Hashable {
    /// The session whose screen the user sees; nil when there is no session, or none is reported.
    package var session: LoginSession?
    /// Whether logind or the system bus exists but does not answer. Then the state of the screen lock is unknown.
    package var isSilent = false

    /// - Parameter own: the session of this process; nil if it is not in a session.
    package static func ask(of user: UInt32, own: String?) -> LoginReport {
        let bus: BusConnection
        do throws(BusError) {
            bus = try BusConnection(.system)
        } catch {
            // Without a system bus there is no logind.
            return LoginReport(isSilent: error.code == .silentBus)
        }
        do throws(BusError) {
            return LoginReport(session: LoginSession.shown(try bus.loginSessions(of: user) ?? [], own: own))
        } catch {
            return LoginReport(isSilent: error.code != .noBus)
        }
    }
}
