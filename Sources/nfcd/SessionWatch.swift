// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
import UserBus

/// Follows the user's session by logind, over the system's bus.
final class SessionWatch {
    private static let manager = BusConnection.loginManager

    /// The session; nil where nothing tells of one.
    private(set) var session: LoginSession?
    /// Whether the system goes to sleep.
    private(set) var isGoingToSleep = false
    private let own = ProcessInfo.processInfo.environment["XDG_SESSION_ID"]
    private let onChange: () -> Void
    private var bus: BusConnection?
    private var source: (any DispatchSourceRead)?
    private var isDue = false

    init(onChange: @escaping () -> Void) {
        self.onChange = onChange
        connect()
    }

    private func connect() {
        do throws(BusError) {
            let bus = try BusConnection(.system)
            let name = Self.manager.destination
            try bus.listen(to: "sender='\(name)',interface='\(Self.manager.interface)'")
            try bus.listen(
                to:
                    "sender='\(name)',interface='\(Self.manager.properties.interface)',path_namespace='\(Self.manager.path)/session'"
            )
            try bus.listen(to: "sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'")
            self.bus = bus
            source = makeSource(bus)
            look(bus)
            receive()
        } catch {
            // Without a system bus nothing tells of a session; the findings say so.
            bus = nil
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
            // What has changed is asked anew: a signal may be anybody's.
            while let message = try bus.receive() {
                if message.isCall { try message.answer(nil) } else if message.isSignal { isDue = true }
            }
            guard isDue else { return }
            isDue = false
            look(bus)
            // Signals that came while answers were waited for are queued, and nothing else would tell.
            DispatchQueue.main.async { [weak self] in MainActor.assumeIsolated { self?.receive() } }
        } catch {
            source?.cancel()
            self.bus = nil
            session = nil
            onChange()
        }
    }

    private func look(_ bus: BusConnection) {
        let sleeping = try? bus.ask(
            BusCall(Self.manager.properties, "Get", [.string(Self.manager.interface), .string("PreparingForSleep")])
        )
        isGoingToSleep = sleeping?.first?.isTrue ?? false
        session = LoginSession.shown(bus.loginSessions(of: getuid()), own: own)
        onChange()
    }
}
