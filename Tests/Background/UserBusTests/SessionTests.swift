// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Glibc
import TestThreads
import Testing

@testable import UserBus  // the calls of a connection are internal

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct SessionTests {
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    private func sessions() throws(BusError) -> [LoginSession]? {
        try BusConnection(.system, address: bus.address).loginSessions(of: 1000)
    }

    fileprivate static func session(_ id: String, hasSeat: Bool = true) -> LoginSession {
        LoginSession(id: id, sessionClass: "user", hasSeat: hasSeat, isActive: true, isLocked: false, isIdle: true)
    }

    // MARK: logind

    @Test func `logind sessions: those of the user with their properties, nil without logind`() throws {
        #expect(try sessions() == nil)
        let peer = try Login().peer(bus)
        #expect(try sessions() == [Self.session("2"), Self.session("c1", hasSeat: false)])
        #expect(peer.calls.filter { $0.name.hasSuffix("GetAll") }.map(\.path) == ["/session/2", "/session/c1"])
        #expect(peer.calls.first?.path == "/org/freedesktop/login1")
    }

    @Test func `logind sessions: missing properties are false, at most 64 are read, a list of another type is empty`()
        throws
    {
        let rows: [(Login, [LoginSession])] = [
            (Login(sessions: [("3", 7, "seat0")]), []),
            (
                Login(properties: ["LockedHint": .boolean(true)]),
                [("2", true), ("c1", false)].map { id, hasSeat in
                    LoginSession(
                        id: id,
                        sessionClass: "",
                        hasSeat: hasSeat,
                        isActive: false,
                        isLocked: true,
                        isIdle: false
                    )
                }
            ),
            (
                Login(sessions: (0..<66).map { (id: "\($0)", user: 1000, seat: "seat0") }),
                (0..<64).map { Self.session("\($0)") }
            ),
        ]
        for (login, expected) in rows {
            let peer = try login.peer(bus)
            #expect(try sessions() == expected)
            peer.stop()
        }
        let peer = try Peer(bus.address, "org.freedesktop.login1") { _ in
            .values([.array(of: "(su)", [.structure([.string("2"), .uint32(1000)])])])
        }
        #expect(try sessions() == [])
        #expect(peer.methods == ["ListSessions"])
    }

    @Test func `logind sessions: one that ended meanwhile is left out, one that does not answer is an error`() throws {
        let rows: [(Peer.Answer, BusError.Code)] = [
            (.refusal("UnknownObject", "Gone."), .noMethod), (.values([]), .badMessage),
            (.values([.string("x")]), .badMessage), (.refusal("NoReply", "Late."), .noAnswer),
        ]
        for (answer, code) in rows {
            let ended = try Login(answer: answer, forgets: true).peer(bus)
            if code == .noAnswer {
                expect(code) { try sessions() }
            } else {
                #expect(try sessions() == [], "\(answer)")
            }
            ended.stop()
            let peer = try Login(answer: answer).peer(bus)
            expect(code, "\(answer)") { try sessions() }
            peer.stop()
        }
    }

    @Test func `login report: own session first, silent if logind fails, empty without logind or a bus`() async throws {
        let seats: [(id: String, user: UInt32, seat: String)] = [("2", 1000, "seat0"), ("5", 1000, "seat1")]
        let peer = try Login(sessions: seats).peer(bus)
        let broken = try TestBus()
        let failing = try Peer(broken.address, "org.freedesktop.login1") { _ in .refusal("Failed", "No.") }
        let empty = try TestBus()
        await #expect(processExitsWith: .success) {
            [
                good = bus.address as String, bad = broken.address as String, empty = empty.address as String,
                path = bus.path as String
            ] in
            let rows: [(String, String?, LoginReport)] = [
                (good, "5", LoginReport(session: SessionTests.session("5"), isSilent: false)),
                (good, "2", LoginReport(session: SessionTests.session("2"), isSilent: false)),
                (good, nil, LoginReport(session: SessionTests.session("2"), isSilent: false)),
                (bad, "2", LoginReport(session: nil, isSilent: true)), (empty, "2", LoginReport()),
                ("unix:path=\(path)/nothing", "2", LoginReport(session: nil, isSilent: false)),
            ]
            for (address, own, report) in rows {
                _ = unsafe setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1)
                #expect(LoginReport.ask(of: 1000, own: own) == report)
            }
        }
        withExtendedLifetime((peer, failing)) {}
    }

    // MARK: Screen savers

    @Test(arguments: [
        "org.gnome.ScreenSaver", "org.freedesktop.ScreenSaver", "org.xfce.ScreenSaver", "org.mate.ScreenSaver",
        "org.cinnamon.ScreenSaver",
    ]) func `screen saver of each desktop is asked whether it covers the screen`(name: String) throws {
        for isOn in [true, false] {
            let peer = try Peer(bus.address, name) { _ in .values([.boolean(isOn), .boolean(!isOn)]) }
            let savers = try bus.connection().screenSavers()
            #expect(savers.isOn == isOn && savers.silent.isEmpty)
            let path = "/" + name.replacing(".", with: "/")
            #expect(peer.calls == [.init(name: name + ".GetActive", path: path, values: [])])
            peer.stop()
        }
    }

    @Test func `several screen savers: the screen is covered if one of them covers it, and silent ones are named`()
        throws
    {
        let connection = try bus.connection()
        #expect(try connection.screenSavers() == (nil, []))
        let off = try Peer(bus.address, "org.mate.ScreenSaver") { _ in .values([.boolean(false)]) }
        let broken = try Peer(bus.address, "org.cinnamon.ScreenSaver") { _ in .refusal("Failed", "No.") }
        #expect(try connection.screenSavers() == (false, []))
        let on = try Peer(bus.address, "org.freedesktop.ScreenSaver") { _ in .values([.boolean(true)]) }
        #expect(try connection.screenSavers() == (true, []))
        let silent = try Peer(bus.address, "org.xfce.ScreenSaver", "org.gnome.ScreenSaver") { _ in .silence }
        // They have two seconds together.
        #expect(try connection.screenSavers() == (true, ["org.gnome.ScreenSaver", "org.xfce.ScreenSaver"]))
        withExtendedLifetime((off, on, broken, silent)) {}
    }

    @Test func `screen lock: locked if logind or a screen saver says so, unknown if one of them is silent`()
        async throws
    {
        let (user, locked, failing) = (try TestBus(), try TestBus(), try TestBus())
        let login = try Login().peer(bus)
        let lockedLogin = try Login(
            sessions: [("2", geteuid(), "seat0")],
            properties: ["Class": .string("user"), "Active": .boolean(true), "LockedHint": .boolean(true)]
        ).peer(locked)
        let covering = try Peer(user.address, "org.gnome.ScreenSaver") { _ in .values([.boolean(true)]) }
        let silent = try Peer(failing.address, "org.gnome.ScreenSaver") { _ in .silence }
        let failingLogin = try Peer(failing.address, "org.freedesktop.login1") { _ in .refusal("Failed", "No.") }
        await #expect(processExitsWith: .success) {
            [
                login = bus.address as String, locked = locked.address as String, failing = failing.address as String,
                covered = user.address as String, path = bus.path as String
            ] in
            let none = "unix:path=\(path)/nothing"
            // A system bus, a user's bus, and the state; nil is unknown.
            let rows: [(String, String, ScreenLock?)] = [
                (none, none, .unlocked), (login, none, .unlocked), (none, login, .unlocked), (locked, none, .locked),
                (none, covered, .locked), (failing, covered, .locked), (failing, none, nil), (failing, failing, nil),
            ]
            for (row, (system, user, expected)) in rows.enumerated() {
                _ = unsafe setenv("DBUS_SYSTEM_BUS_ADDRESS", system, 1)
                _ = unsafe setenv("DBUS_SESSION_BUS_ADDRESS", user, 1)
                let lock = ScreenLock.ask()
                if case .unknown(let reason) = lock {
                    #expect(expected == nil && reason.contains("logind"), "\(row)")
                    #expect(reason.contains("org.gnome.ScreenSaver") == (user == failing), "\(row)")
                } else {
                    #expect(lock == expected, "\(row)")
                }
            }
        }
        withExtendedLifetime((login, lockedLogin, covering, silent, failingLogin)) {}
    }
}
