// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
import Dispatch
import Glibc
import LinuxSupport

/// Follows the user's session with logind, over the system bus.
@MainActor package final class SessionWatch {
    private static let manager = BusConnection.loginManager

    /// The session; nil if it is not known.
    package private(set) var session: LoginSession?
    /// Whether logind or the system bus exists but does not answer. If logind ends without an answer, this stays true
    /// until its next instance answers.
    package private(set) var isSilent = false
    /// Whether the system is about to sleep.
    package private(set) var isGoingToSleep = false
    private let own: String?
    private let address: String?
    private let patience: Duration
    private let pause: Duration
    private let onChange: () -> Void
    private var bus: BusConnection?
    private var source: (any DispatchSourceRead)?
    private var isDue = false
    private var isToLookAgain = false

    /// Starts to follow it. When this returns, the current state is known.
    ///
    /// - Parameters:
    ///   - own: the session of this process; nil if it is not in a session.
    ///   - address: the address of the system bus; nil for the one of this process.
    ///   - patience: how long the bus itself may take to answer.
    ///   - pause: how long a service that does not answer is left alone, because a question waits for its answer.
    ///   - onChange: called when the state may have changed.
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
            // Without a system bus, the session is not known; the findings report that. One that was there comes back.
            bus = nil
            isSilent = error.code == .silentBus
            if isSilent || source != nil { lookLater() }
        }
    }

    private func makeSource(_ bus: BusConnection) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: bus.descriptor, queue: .main)
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.receive() } }
        source.activate()
        return source
    }

    private func receive() {
        guard let bus else { return }
        do throws(BusError) {
            // Asks again for what has changed, because any program may send such a signal.
            while let message = try bus.receive() {
                // A late answer: a service that was silent answers again.
                if message.isCall { try message.answer(nil) } else { isDue = true }
            }
            guard isDue else { return }
            // Signals that arrive during the wait for answers are queued, and no event would report them.
            DispatchQueue.main.async { [weak self] in MainActor.assumeIsolated { self?.receive() } }
            isDue = false
            look(bus)
        } catch {
            source?.cancel()
            self.bus = nil
            lookLater()
            session = nil
            isGoingToSleep = false
            onChange()
        }
    }

    /// Asks logind now, so that opening a link does not depend only on its last signal.
    package func refresh() {
        if let bus, !isSilent { look(bus) }
    }

    private func look(_ bus: BusConnection) {
        do throws(BusError) {
            if let sessions = try bus.loginSessions(of: getuid()) {
                isSilent = false
                session = LoginSession.shown(sessions, own: own)
                let sleeping = try? bus.ask(
                    BusCall(
                        Self.manager.properties,
                        "Get",
                        [.string(Self.manager.interface), .string("PreparingForSleep")]
                    )
                )
                isGoingToSleep = sleeping?.first?.isTrue ?? false
            } else if !isSilent {
                session = nil
                isGoingToSleep = false
            }
        } catch {
            isSilent = true
        }
        if isSilent { lookLater() }
        onChange()
    }

    /// Checks again after a while, even without a signal or a late answer.
    private func lookLater() {
        guard !isToLookAgain else { return }
        isToLookAgain = true
        runOnMain(after: pause) { [weak self] in
            guard let self else { return }
            self.isToLookAgain = false
            guard let bus = self.bus else { return self.connect() }
            if self.isSilent { self.look(bus) }
        }
    }
}
