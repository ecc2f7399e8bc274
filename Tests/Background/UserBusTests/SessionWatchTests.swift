// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Foundation
import Synchronization
import TestThreads
import Testing

@testable import UserBus  // the calls of a connection are internal

/// Something about a logind that changes.
private final class Switch: Sendable {
    private let state: Mutex<Bool>

    init(_ isOn: Bool) { state = Mutex(isOn) }

    var isOn: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct SessionWatchTests {
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    @MainActor private func wait(until isDone: () -> Bool) async throws {
        for _ in 0..<30_000 {
            if isDone() { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(isDone())
    }

    private func login(isGoingToSleep: Bool = false) -> Login {
        Login(sessions: [("2", getuid(), "seat0")], isGoingToSleep: isGoingToSleep)
    }

    /// A logind that answers nonsense while a switch is off.
    private func login(_ health: Switch) -> Login {
        var login = login()
        let properties = login.properties
        login.answer = .made { [health.isOn ? .properties(properties) : .string("x")] }
        return login
    }

    @MainActor private func watch(
        own: String? = nil,
        address: String? = nil,
        patience: Duration = .seconds(5),
        pause: Duration = .milliseconds(5),
        _ onChange: @escaping () -> Void = {}
    ) -> SessionWatch {
        SessionWatch(own: own, address: address ?? bus.address, patience: patience, pause: pause, onChange: onChange)
    }

    @MainActor @Test func `system bus: the session is known at once, lost with the bus, and known when it is back`()
        async throws
    {
        let second = try TestBus()
        let logins = [try login(isGoingToSleep: true).peer(bus), try login().peer(second)]
        // The place of the system bus: now the first one, later the second one.
        let place = second.path + "/place"
        let files = FileManager.default
        try files.createSymbolicLink(atPath: place, withDestinationPath: bus.path + "/bus")
        var changes = 0
        let watch = watch(address: "unix:path=\(place)") { changes += 1 }
        #expect(watch.session?.id == "2" && watch.session?.isActive == true)
        #expect(!watch.isSilent && watch.isGoingToSleep)
        let (asked, known) = (logins[0].calls.count, changes)
        watch.refresh()
        #expect(logins[0].calls.count > asked && changes > known)
        let reported = changes
        bus.end()
        try await wait { watch.session == nil }
        #expect(!watch.isSilent && !watch.isGoingToSleep && changes > reported)
        try files.removeItem(atPath: place)
        try files.createSymbolicLink(atPath: place, withDestinationPath: second.path + "/bus")
        let before = changes
        try await wait { watch.session?.id == "2" }
        #expect(changes > before)
        withExtendedLifetime(logins) {}
    }

    @MainActor @Test func `system bus that does not answer within the patience: counts as silent, and is asked again`()
        async throws
    {
        bus.stop()
        let watch = watch(patience: .milliseconds(300))
        #expect(watch.isSilent && watch.session == nil)
        bus.goOn()
        // A bus without a logind is not silent.
        try await wait { !watch.isSilent }
        let peer = try login().peer(bus)
        try await wait { watch.session?.id == "2" }
        withExtendedLifetime(peer) {}
    }

    @MainActor @Test func `logind ended: no session until the next logind starts`() async throws {
        let peer = try login(isGoingToSleep: true).peer(bus)
        var changes = 0
        let watch = watch { changes += 1 }
        #expect(watch.session?.id == "2" && watch.isGoingToSleep && changes > 0)
        let reported = changes
        peer.stop()
        try await wait { watch.session == nil }
        #expect(!watch.isGoingToSleep && !watch.isSilent && changes > reported)
        let next = try login().peer(bus)
        try await wait { watch.session?.id == "2" }
        withExtendedLifetime(next) {}
    }

    @MainActor @Test
    func `logind that answers nonsense: counts as silent, its last session is kept, and logind is asked again`()
        async throws
    {
        let health = Switch(false)
        let peer = try login(health).peer(bus)
        var changes = 0
        let watch = watch { changes += 1 }
        #expect(watch.isSilent && watch.session == nil)
        health.isOn = true
        try await wait { !watch.isSilent && watch.session?.id == "2" }
        health.isOn = false
        peer.emit(BusConnection.loginManager, "SessionNew", [])
        try await wait { watch.isSilent }
        #expect(watch.session?.id == "2")
        peer.stop()
        // It looks a few times meanwhile, and finds none.
        let known = changes
        try await wait { changes >= known + 3 }
        #expect(watch.isSilent && watch.session?.id == "2")
        let next = try Login(sessions: [("7", getuid(), "seat0")]).peer(bus)
        try await wait { !watch.isSilent }
        #expect(watch.session?.id == "7")
        withExtendedLifetime(next) {}
    }

    @MainActor @Test func `logind that answers nonsense: asked once in each pause, however many signals arrive`()
        async throws
    {
        let peer = try login(Switch(false)).peer(bus)
        let pause = Duration.milliseconds(10)
        let watch = watch(pause: pause)
        func looks() -> Int { peer.methods.count { $0 == "GetAll" } }
        // Nor is it asked when somebody wants to know.
        let asked = looks()
        watch.refresh()
        #expect(looks() == asked)
        for _ in 0..<20 {
            let before = looks()
            peer.emit(BusConnection.loginManager, "SessionNew", [])
            try await wait { looks() > before }
        }
        // A few looks may still be due to the last signals. Between the others there is a pause, however slow all is.
        let (before, start) = (looks(), ContinuousClock.now)
        try await wait { looks() >= before + 10 }
        #expect(ContinuousClock.now - start > pause * 6)
        #expect(watch.isSilent)
    }

    @MainActor @Test func `calls of other programs are refused`() async throws {
        let watch = watch()
        let caller = try bus.connection()
        try caller.take("org.example.Caller")
        let own = try caller.owner(of: "org.example.Caller")
        let names = try caller.ask(BusCall(.daemon, "ListNames")).first?.values?.compactMap(\.text) ?? []
        let name = try #require(names.first { $0.hasPrefix(":") && $0 != own })
        let cookie = try caller.send(BusCall(BusCall.Object(name, "/", "org.example.App"), "Do"))
        var answer: ReceivedMessage?
        try await wait {
            if answer == nil { answer = try? caller.answers(to: [cookie], within: .zero)[cookie] }
            return answer != nil
        }
        #expect(answer?.error(of: "It").code == .noMethod)
        withExtendedLifetime(watch) {}
    }

    // MARK: Changes

    /// A pause in which no test waits: what the watch learns, it learns from signals.
    private static let longPause = Duration.seconds(600)

    @MainActor @Test func `signals: lock, unlock, sleep and wake are noticed`() async throws {
        let (lock, sleep) = (Switch(false), Switch(false))
        var login = login()
        let properties = login.properties
        login.answer = .made { [.properties(properties.merging(["LockedHint": .boolean(lock.isOn)]) { $1 })] }
        login.isFallingAsleep = { sleep.isOn }
        let peer = try login.peer(bus)
        let watch = watch(pause: Self.longPause)
        #expect(watch.session?.isLocked == false && !watch.isGoingToSleep)
        let session = BusCall.Object(
            BusConnection.loginManager.destination,
            "/org/freedesktop/login1/session/_32",
            "org.freedesktop.DBus.Properties"
        )
        let values: [BusValue] = [.string("org.freedesktop.login1.Session"), .properties([:]), .strings([])]
        for isOn in [true, false] {
            lock.isOn = isOn
            peer.emit(session, "PropertiesChanged", values)
            try await wait { watch.session?.isLocked == isOn }
            sleep.isOn = isOn
            peer.emit(BusConnection.loginManager, "PrepareForSleep", [.boolean(isOn)])
            try await wait { watch.isGoingToSleep == isOn }
            #expect(watch.session?.id == "2")
        }
    }

    @MainActor @Test func `several sessions: the process's own one is followed, or else the first`() throws {
        let seats: [(id: String, user: UInt32, seat: String)] = [("2", getuid(), "seat0"), ("5", getuid(), "seat1")]
        let peer = try Login(sessions: seats).peer(bus)
        for (own, id) in [("5", "5"), ("2", "2"), (nil, "2"), ("9", "2")] as [(String?, String)] {
            #expect(watch(own: own, pause: Self.longPause).session?.id == id, "\(own ?? "none")")
        }
        withExtendedLifetime(peer) {}
    }
}
