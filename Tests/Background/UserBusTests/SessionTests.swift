// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Glibc
import TestThreads
import Testing

@testable import UserBus

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `What the system says of the user's screen` {
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    private func sessions() throws(BusError) -> [LoginSession]? {
        try BusConnection(.system, address: bus.address).loginSessions(of: 1000)
    }

    @Test func `are the user's sessions, with their properties`() throws {
        let peer = try Login().peer(bus)
        let expected = [("2", true), ("c1", false)].map { id, hasSeat in
            LoginSession(id: id, sessionClass: "user", hasSeat: hasSeat, isActive: true, isLocked: false, isIdle: true)
        }
        #expect(try sessions() == expected)
        #expect(peer.calls.filter { $0.name.hasSuffix("GetAll") }.map(\.path) == ["/session/2", "/session/c1"])
        #expect(peer.calls.first?.path == "/org/freedesktop/login1")
    }

    @Test func `are sessions with nothing but their names, if logind says no more`() throws {
        let peer = try Login(properties: ["LockedHint": .boolean(true)]).peer(bus)
        #expect(
            try sessions()?.first
                == LoginSession(
                    id: "2",
                    sessionClass: "",
                    hasSeat: true,
                    isActive: false,
                    isLocked: true,
                    isIdle: false
                )
        )
        withExtendedLifetime(peer) {}
    }

    @Test func `are not locked sessions, unless logind says so`() throws {
        let peer = try Login(properties: ["Active": .boolean(true)]).peer(bus)
        let session = try #require(try sessions()?.first)
        #expect(session.isActive && !session.isLocked && !session.isIdle)
        withExtendedLifetime(peer) {}
    }

    @Test func `are the first 64 sessions, where there are more`() throws {
        let peer = try Login(sessions: (0..<66).map { (id: "\($0)", user: 1000, seat: "") }).peer(bus)
        #expect(try sessions()?.map(\.id) == (0..<64).map { "\($0)" })
        withExtendedLifetime(peer) {}
    }

    @Test func `are no sessions that are listed in another way than they should be`() throws {
        let peer = try Peer(bus.address, "org.freedesktop.login1") { _ in
            .written { writer in
                writer.array(of: "(su)") { writer in
                    writer.structure("su") { writer in
                        writer.string("2")
                        writer.number(1000)
                    }
                }
            }
        }
        #expect(try sessions() == [])
        #expect(peer.methods == ["ListSessions"])
    }

    @Test func `fails when a session does not answer, even if it has ended since then`() throws {
        let peer = try Login(answer: .refusal("NoReply", "Late."), forgets: true).peer(bus)
        #expect(#expect(throws: BusError.self) { try sessions() }?.code == .noAnswer)
        withExtendedLifetime(peer) {}
    }

    @Test func `is nothing without logind, and no sessions of somebody else`() throws {
        #expect(try sessions() == nil)
        let peer = try Login(sessions: [("3", 7, "seat0")]).peer(bus)
        #expect(try sessions() == [])
        withExtendedLifetime(peer) {}
    }

    @Test(arguments: [.refusal("UnknownObject", "Gone."), .values([]), .values([.string("x")])] as [Peer.Answer])
    func `leaves out a session that has just ended, and fails for one that is still there`(answer: Peer.Answer) throws {
        do {
            let peer = try Login(answer: answer, forgets: true).peer(bus)
            #expect(try sessions() == [])
            withExtendedLifetime(peer) {}
        }
        let peer = try Login(answer: answer).peer(bus)
        let error = #expect(throws: BusError.self) { try sessions() }
        if case .refusal = answer {
            #expect(error?.code == .noMethod && error?.reason == "org.freedesktop.login1 says: Gone.")
        } else {
            #expect(error?.code == .badMessage)
            #expect(error?.reason == "org.freedesktop.login1 answers with other values than it should.")
        }
        withExtendedLifetime(peer) {}
    }

    @Test(.ownThreads) func `is reported as unknown when logind fails, and as nothing without a system bus`()
        async throws
    {
        let peer = try Login().peer(bus)
        let broken = try TestBus()
        let failing = try Peer(broken.address, "org.freedesktop.login1") { _ in .refusal("Failed", "No.") }
        let empty = try TestBus()
        await #expect(processExitsWith: .success) {
            [
                good = bus.address as String, bad = broken.address as String, empty = empty.address as String,
                path = bus.path as String
            ] in
            func report(_ address: String) -> LoginReport {
                _ = unsafe setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1)
                return LoginReport.ask(of: 1000, own: "2")
            }
            let session = LoginSession(
                id: "2",
                sessionClass: "user",
                hasSeat: true,
                isActive: true,
                isLocked: false,
                isIdle: true
            )
            #expect(report(good) == LoginReport(session: session, isSilent: false))
            #expect(report(bad) == LoginReport(session: nil, isSilent: true))
            #expect(report(empty) == LoginReport() && !LoginReport().isSilent)
            #expect(report("unix:path=\(path)/nothing") == LoginReport(session: nil, isSilent: false))
        }
        withExtendedLifetime((peer, failing)) {}
    }

    @Test(.ownThreads) func `is that of the process's own session, where the user has several`() async throws {
        let seats: [(id: String, user: UInt32, seat: String)] = [("2", 1000, "seat0"), ("5", 1000, "seat1")]
        let peer = try Login(sessions: seats).peer(bus)
        await #expect(processExitsWith: .success) { [address = bus.address as String] in
            _ = unsafe setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1)
            for (own, id) in [("5", "5"), ("2", "2"), (nil, "2")] as [(String?, String)] {
                #expect(LoginReport.ask(of: 1000, own: own).session?.id == id)
            }
        }
        withExtendedLifetime(peer) {}
    }

    @Test func `has every desktop's screen saver`() {
        #expect(
            ScreenSaver.all.map(\.object.destination)
                == ["gnome", "freedesktop", "xfce", "mate", "cinnamon"].map {
                    "org.\($0).ScreenSaver"
                }
        )
        for saver in ScreenSaver.all {
            #expect(saver.object.path == "/" + saver.object.destination.replacing(".", with: "/"))
            #expect(saver.object.interface == saver.object.destination)
            #expect(saver.activityQuestion.method == "GetActive" && saver.prompt.method == "SimulateUserActivity")
        }
    }

    @Test(arguments: ScreenSaver.all.map(\.object.destination), [true, false])
    func `is whether a screen saver covers the screen`(name: String, isOn: Bool) throws {
        let peer = try Peer(bus.address, name) { _ in .values([.boolean(isOn), .boolean(!isOn)]) }
        let savers = try BusConnection(.user, address: bus.address).screenSavers()
        #expect(savers.isOn == isOn && savers.silent.isEmpty)
        #expect(peer.calls.map(\.name) == [name + ".GetActive"])
        #expect(peer.calls.map(\.path) == ["/" + name.replacing(".", with: "/")])
    }

    @Test func `is that of the one screen saver that covers it, and names those that do not answer`() throws {
        let connection = try BusConnection(.user, address: bus.address)
        #expect(try connection.screenSavers() == (nil, []))
        let silent = try Peer(bus.address, "org.xfce.ScreenSaver", "org.gnome.ScreenSaver") { _ in .silence }
        // Both have two seconds together.
        let start = ContinuousClock.now
        #expect(try connection.screenSavers() == (nil, ["org.gnome.ScreenSaver", "org.xfce.ScreenSaver"]))
        #expect(ContinuousClock.now - start >= .seconds(2))
        let off = try Peer(bus.address, "org.mate.ScreenSaver") { _ in .values([.boolean(false)]) }
        let broken = try Peer(bus.address, "org.cinnamon.ScreenSaver") { _ in .refusal("Failed", "No.") }
        silent.stop()
        #expect(try connection.screenSavers() == (false, []))
        let on = try Peer(bus.address, "org.freedesktop.ScreenSaver") { _ in .values([.boolean(true)]) }
        #expect(try connection.screenSavers() == (true, []))
        withExtendedLifetime((off, on, broken)) {}
    }

    @Test(.ownThreads) func `is locked, unlocked or unknown`() async throws {
        let (user, silentUser, locked) = (try TestBus(), try TestBus(), try TestBus())
        let login = try Login().peer(bus)
        let lockedLogin = try Login(
            sessions: [("2", geteuid(), "seat0")],
            properties: ["Class": .string("user"), "Active": .boolean(true), "LockedHint": .boolean(true)]
        ).peer(locked)
        let covering = try Peer(user.address, "org.gnome.ScreenSaver") { _ in .values([.boolean(true)]) }
        let silent = try Peer(silentUser.address, "org.gnome.ScreenSaver") { _ in .silence }
        let failing = try TestBus()
        let failingLogin = try Peer(failing.address, "org.freedesktop.login1") { _ in .refusal("Failed", "No.") }
        await #expect(processExitsWith: .success) {
            [
                login = bus.address as String, locked = locked.address as String, failing = failing.address as String,
                covered = user.address as String, silent = silentUser.address as String, path = bus.path as String
            ] in
            func ask(_ system: String, _ user: String) -> ScreenLock {
                _ = unsafe setenv("DBUS_SYSTEM_BUS_ADDRESS", system, 1)
                _ = unsafe setenv("DBUS_SESSION_BUS_ADDRESS", user, 1)
                return ScreenLock.ask()
            }
            let none = "unix:path=\(path)/nothing"
            #expect(ask(none, none) == .unlocked && ask(login, none) == .unlocked && ask(none, login) == .unlocked)
            #expect(ask(locked, none) == .locked && ask(locked, silent) == .locked)
            #expect(ask(none, covered) == .locked && ask(failing, covered) == .locked)
            #expect(ask(failing, none) == .unknown(reason: "logind does not answer whether it is locked."))
            #expect(ask(failing, login) == .unknown(reason: "logind does not answer whether it is locked."))
            #expect(
                ask(none, silent) == .unknown(reason: "org.gnome.ScreenSaver does not answer whether it is locked.")
            )
            #expect(
                ask(failing, silent)
                    == .unknown(reason: "logind, org.gnome.ScreenSaver does not answer whether it is locked.")
            )
        }
        withExtendedLifetime((login, lockedLogin, covering, silent, failingLogin)) {}
    }
}
