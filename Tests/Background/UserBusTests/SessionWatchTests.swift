// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Foundation
import Synchronization
import TestThreads
import Testing

@testable import UserBus

/// Whether a logind answers as it should.
private final class Health: Sendable {
    private let health = Mutex(false)

    var isWell: Bool {
        get { health.withLock { $0 } }
        set { health.withLock { $0 = newValue } }
    }
}

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `A watch of the user's session` {
    private let first: TestBus
    private let second: TestBus

    init() throws { (first, second) = (try TestBus(), try TestBus()) }

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

    @MainActor @Test func `knows the session at once, and looks for a system bus that has ended until it is back`()
        async throws
    {
        let logins = [try login(isGoingToSleep: true).peer(first), try login().peer(second)]
        // The place of the system bus: now the first one, later the second one.
        let place = second.path + "/place"
        let files = FileManager.default
        try files.createSymbolicLink(atPath: place, withDestinationPath: first.path + "/bus")
        var changes = 0
        let watch = SessionWatch(own: nil, address: "unix:path=\(place)", pause: .milliseconds(5)) { changes += 1 }
        #expect(watch.session?.id == "2" && watch.session?.isActive == true && !watch.isSilent)
        #expect(watch.isGoingToSleep)
        let (asked, known) = (logins[0].calls.count, changes)
        watch.refresh()
        #expect(logins[0].calls.count > asked && changes > known)
        let reported = changes
        first.end()
        try await wait { watch.session == nil }
        #expect(!watch.isSilent && !watch.isGoingToSleep && changes > reported)
        // It looks several times meanwhile, and finds no bus.
        try await Task.sleep(for: .milliseconds(100))
        try files.removeItem(atPath: place)
        let before = changes
        try files.createSymbolicLink(atPath: place, withDestinationPath: second.path + "/bus")
        try await wait { watch.session?.id == "2" }
        #expect(changes > before)
        withExtendedLifetime(logins) {}
    }

    @MainActor @Test func `asks a logind that answers nonsense again, without a signal`() async throws {
        let health = Health()
        var broken = login()
        let properties = broken.properties
        broken.answer = .written { writer in
            writer.value(health.isWell ? .properties(properties) : .string("x"))
        }
        let peer = try broken.peer(first)
        let watch = SessionWatch(own: nil, address: first.address, pause: .milliseconds(5)) {}
        #expect(watch.isSilent && watch.session == nil)
        // It is not asked more often when somebody wants to know.
        let asked = peer.calls.count
        watch.refresh()
        #expect(peer.calls.count == asked)
        health.isWell = true
        try await wait { !watch.isSilent && watch.session?.id == "2" }
        withExtendedLifetime(peer) {}
    }

    @MainActor @Test func `knows no session when logind has ended, and then what the next one says`() async throws {
        let peer = try login(isGoingToSleep: true).peer(first)
        var changes = 0
        let watch = SessionWatch(own: nil, address: first.address, pause: .milliseconds(5)) { changes += 1 }
        #expect(watch.session?.id == "2" && watch.isGoingToSleep && changes > 0)
        let reported = changes
        peer.stop()
        try await wait { watch.session == nil }
        #expect(!watch.isGoingToSleep && !watch.isSilent && changes > reported)
        let next = try login().peer(first)
        try await wait { watch.session?.id == "2" }
        #expect(!watch.isGoingToSleep)
        withExtendedLifetime(next) {}
    }

    @MainActor @Test func `tries again when the system bus did not admit it in time`() async throws {
        first.stop()
        let patience = Duration.milliseconds(300)
        let watch = SessionWatch(own: nil, address: first.address, patience: patience, pause: .milliseconds(5)) {}
        #expect(watch.isSilent && watch.session == nil)
        first.goOn()
        // A bus without a logind is not silent.
        try await wait { !watch.isSilent }
        let peer = try login().peer(first)
        try await wait { watch.session?.id == "2" }
        withExtendedLifetime(peer) {}
    }

    @MainActor @Test func `tells other programs that it has no methods`() async throws {
        let watch = SessionWatch(own: nil, address: first.address, pause: .milliseconds(5)) {}
        let caller = try BusConnection(.user, address: first.address)
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

    @MainActor @Test func `asks a logind that answers nonsense once in each pause, however many signals came`()
        async throws
    {
        var broken = login()
        broken.answer = .values([.string("x")])
        let peer = try broken.peer(first)
        let pause = Duration.milliseconds(30)
        let watch = SessionWatch(own: nil, address: first.address, pause: pause) {}
        func looks() -> Int { peer.methods.count { $0 == "GetAll" } }
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

    // MARK: Changes

    /// A pause in which no test waits: what the watch learns, it learns from signals.
    private static let longPause = Duration.seconds(600)

    @MainActor @Test func `learns from the session's signal that the screen is locked and unlocked`() async throws {
        let lock = Health()
        var login = login()
        let properties = login.properties
        login.answer = .written { writer in
            writer.value(.properties(properties.merging(["LockedHint": .boolean(lock.isWell)]) { $1 }))
        }
        let peer = try login.peer(first)
        let watch = SessionWatch(own: nil, address: first.address, pause: Self.longPause) {}
        #expect(watch.session?.isLocked == false)
        let session = BusCall.Object(
            BusConnection.loginManager.destination,
            "/org/freedesktop/login1/session/_32",
            "org.freedesktop.DBus.Properties"
        )
        for isLocked in [true, false] {
            lock.isWell = isLocked
            let values: [BusValue] = [.string("org.freedesktop.login1.Session"), .properties([:]), .strings([])]
            peer.emit(session, "PropertiesChanged", values)
            try await wait { watch.session?.isLocked == isLocked }
        }
        withExtendedLifetime(peer) {}
    }

    @MainActor @Test func `learns that the system goes to sleep and wakes`() async throws {
        let sleep = Health()
        var login = login()
        login.isFallingAsleep = { sleep.isWell }
        let peer = try login.peer(first)
        let watch = SessionWatch(own: nil, address: first.address, pause: Self.longPause) {}
        #expect(!watch.isGoingToSleep)
        for isAsleep in [true, false] {
            sleep.isWell = isAsleep
            peer.emit(BusConnection.loginManager, "PrepareForSleep", [.boolean(isAsleep)])
            try await wait { watch.isGoingToSleep == isAsleep }
            #expect(watch.session?.id == "2")
        }
        withExtendedLifetime(peer) {}
    }

    @MainActor @Test func `follows the process's own session, where the user has several`() throws {
        let seats: [(id: String, user: UInt32, seat: String)] = [("2", getuid(), "seat0"), ("5", getuid(), "seat1")]
        let peer = try Login(sessions: seats).peer(first)
        for (own, id) in [("5", "5"), ("2", "2"), (nil, "2"), ("9", "2")] as [(String?, String)] {
            let watch = SessionWatch(own: own, address: first.address, pause: Self.longPause) {}
            #expect(watch.session?.id == id, "\(own ?? "none")")
        }
        withExtendedLifetime(peer) {}
    }

    @MainActor @Test func `keeps the last session while logind does not answer, also when it ends like that`()
        async throws
    {
        let health = Health()
        health.isWell = true
        var login = login()
        let properties = login.properties
        login.answer = .written { writer in
            writer.value(health.isWell ? .properties(properties) : .string("x"))
        }
        let peer = try login.peer(first)
        var changes = 0
        let watch = SessionWatch(own: nil, address: first.address, pause: .milliseconds(5)) { changes += 1 }
        #expect(watch.session?.id == "2" && !watch.isSilent)
        health.isWell = false
        peer.emit(BusConnection.loginManager, "SessionNew", [])
        try await wait { watch.isSilent }
        #expect(watch.session?.id == "2")
        peer.stop()
        // It looks a few times meanwhile, and finds none.
        let known = changes
        try await wait { changes >= known + 3 }
        #expect(watch.isSilent && watch.session?.id == "2")
        let next = try Login(sessions: [("7", getuid(), "seat0")]).peer(first)
        try await wait { !watch.isSilent }
        #expect(watch.session?.id == "7")
        withExtendedLifetime(next) {}
    }
}
