// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Synchronization
import TestThreads
import Testing

@testable import UserBus  // the calls of a connection are internal

/// The state of a screen saver or a compositor, and how often it was asked.
private final class Shared<Value: Sendable>: Sendable {
    fileprivate let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension Shared<Int> {
    /// Counts a call.
    func next() -> Int {
        state.withLock { count in
            count += 1
            return count
        }
    }
}

/// What a watch knows.
private struct Report: Equatable {
    var isOn: Bool?
    var mode: Int?
    var silent: [String]

    init(_ isOn: Bool?, _ mode: Int? = nil, _ silent: [String] = []) {
        (self.isOn, self.mode, self.silent) = (isOn, mode, silent)
    }

    @MainActor init(_ watch: DesktopWatch) {
        self.init(watch.isScreenSaverOn, watch.powerSaveMode, watch.silentSavers)
    }
}

/// A watch with its connection.
@MainActor private final class Desktop {
    let bus: BusConnection
    /// What could be seen of the watch at each change.
    private(set) var reports: [Report] = []
    private(set) var watch: DesktopWatch?

    /// - Parameter isStopped: whether the bus does not answer from now on.
    init(_ bus: TestBus, patience: Duration = .seconds(30), isStopped: Bool = false) throws {
        self.bus = try bus.connection()
        if isStopped { stop(bus) }
        watch = DesktopWatch(self.bus, patience: patience, pause: .milliseconds(5)) { [weak self] in
            guard let self, let watch = self.watch else { return }
            self.reports.append(Report(watch))
        }
    }

    var now: Report? { watch.map { Report($0) } }

    /// Stops the bus. The watch waits for it no longer than the test needs.
    func stop(_ bus: TestBus) {
        self.bus.patience = .milliseconds(20)
        bus.stop()
    }

    /// Lets the bus go on.
    func goOn(_ bus: TestBus) {
        bus.goOn()
        self.bus.patience = .seconds(30)
    }

    /// Gives the watch what arrives until something holds.
    func wait(until isDone: (DesktopWatch) -> Bool) async throws {
        let watch = try #require(watch)
        for _ in 0..<30_000 {
            if isDone(watch) { break }
            while let message = try bus.receive() { watch.take(message) }
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(isDone(watch))
    }

    /// Waits until the watch knows something.
    func wait(for report: Report) async throws { try await wait { Report($0) == report } }
}

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct DesktopWatchTests {
    private static let object = ScreenSaver.all[0].object
    private static let name = object.destination
    private static let compositor = "org.gnome.Mutter.DisplayConfig"
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    /// A screen saver, which is silent while its state is nil.
    private func saver(_ state: Shared<Bool?>) throws -> Peer {
        try Peer(bus.address, Self.name) { call in
            switch call.name {
            case "org.gnome.ScreenSaver.GetActive":
                state.value.map { Peer.Answer.values([.boolean($0), .boolean(!$0)]) } ?? .silence
            case "org.gnome.ScreenSaver.SimulateUserActivity": .values([])
            default: .unknown
            }
        }
    }

    private func changed(_ saver: Peer) { saver.emit(Self.object, "ActiveChanged", [.boolean(true)]) }

    @MainActor @Test func `start: screen saver and compositor are asked at once`() throws {
        let saver = try saver(Shared(true))
        let compositor = try Peer(bus.address, Self.compositor) { call in
            guard call.values == [.string(Self.compositor), .string("PowerSaveMode")] else { return .unknown }
            return .values([.int32(3), .int32(0)])
        }
        #expect(try Desktop(bus).now == Report(true, 3))
        #expect(saver.methods == ["GetActive"] && compositor.methods == ["Get"])
    }

    @MainActor @Test func `screen saver: asked when it starts and when it changes, forgotten when it ends`()
        async throws
    {
        let desktop = try Desktop(bus)
        #expect(desktop.now == Report(nil))
        #expect(desktop.watch?.promptToUnlock() == [])
        let state = Shared<Bool?>(true)
        let saver = try saver(state)
        try await desktop.wait(for: Report(true))
        #expect(desktop.watch?.promptToUnlock() == [Self.name])
        try await desktop.wait { _ in saver.methods.contains("SimulateUserActivity") }
        // It is asked, whatever its signal says.
        state.value = false
        changed(saver)
        try await desktop.wait(for: Report(false))
        saver.stop()
        try await desktop.wait(for: Report(nil))
        #expect(desktop.reports == [Report(true), Report(false), Report(nil)])
    }

    @MainActor @Test func `two screen savers: the screen is covered while one covers it`() async throws {
        let saver = try saver(Shared(false))
        let state = Shared(false)
        let object = ScreenSaver.all[1].object
        let other = try Peer(bus.address, object.destination) { _ in .values([.boolean(state.value)]) }
        let desktop = try Desktop(bus)
        #expect(desktop.now == Report(false))
        state.value = true
        other.emit(object, "ActiveChanged", [.boolean(true)])
        try await desktop.wait(for: Report(true))
        saver.emit(Self.object, "ActiveChanged", [.boolean(false)])
        try await desktop.wait { _ in desktop.reports.count == 2 }
        other.stop()
        try await desktop.wait(for: Report(false))
        #expect(desktop.reports == [Report(true), Report(true), Report(false)])
    }

    @MainActor @Test func `compositor: asked for the power mode again only after its own signal about that`()
        async throws
    {
        let count = Shared(0)
        let compositor = try Peer(bus.address, Self.compositor) { _ in
            .values([.int32(Int32(count.next()))])
        }
        let desktop = try Desktop(bus)
        #expect(desktop.now == Report(nil, 1))
        let properties = BusCall.Object("", "/org/gnome/Mutter/DisplayConfig", "org.freedesktop.DBus.Properties")
        let other = try Peer(bus.address, "org.example.Other")
        for (peer, name) in [
            (other, Self.compositor), (compositor, "org.example.Other"), (compositor, Self.compositor),
        ] {
            peer.emit(properties, "PropertiesChanged", [.string(name), .properties([:]), .strings([])])
        }
        try await desktop.wait(for: Report(nil, 2))
        #expect(compositor.methods == ["Get", "Get"])
        compositor.stop()
        try await desktop.wait(for: Report(nil))
        #expect(desktop.reports == [Report(nil, 2), Report(nil)])
    }

    @MainActor @Test func `three changes before the first is answered: the screen saver is asked only once more`()
        async throws
    {
        let count = Shared(0)
        let saver = try Peer(bus.address, Self.name) { _ in
            .values([.boolean(count.next() == 3)])
        }
        let desktop = try Desktop(bus)
        // All are there before the watch asks for the first one.
        for _ in 0..<3 { changed(saver) }
        try desktop.bus.settle()
        try await desktop.wait(for: Report(true))
        // The saver handles what it gets beside its own signals.
        for _ in 0..<2 { saver.emit(Self.object, "Other", []) }
        #expect(saver.methods.count == 3)
    }

    @MainActor @Test func `silent screen saver: named until it answers, or another takes its name`() async throws {
        let state = Shared<Bool?>(nil)
        let saver = try saver(state)
        let desktop = try Desktop(bus, patience: .milliseconds(100))
        #expect(desktop.now == Report(nil, nil, [Self.name]))
        saver.stop()
        // The bus reports in order: when the watch knows this one, it knows of the end of the first.
        let other = try Peer(bus.address, ScreenSaver.all[1].object.destination) { _ in .values([.boolean(true)]) }
        try await desktop.wait(for: Report(true, nil, [Self.name]))
        other.stop()
        state.value = false
        let next = try self.saver(state)
        try await desktop.wait(for: Report(false))
        // One that answered before is named too, and its last answer counts.
        state.value = nil
        changed(next)
        try await desktop.wait(for: Report(false, nil, [Self.name]))
        #expect(desktop.reports.last == Report(false, nil, [Self.name]))
    }

    @MainActor @Test func `silent bus: a changed screen saver counts as silent, and is asked again later`() async throws
    {
        let state = Shared<Bool?>(false)
        let saver = try saver(state)
        let desktop = try Desktop(bus)
        state.value = true
        changed(saver)
        try desktop.bus.settle()
        desktop.stop(bus)
        try await desktop.wait(for: Report(false, nil, [Self.name]))
        desktop.goOn(bus)
        try await desktop.wait(for: Report(true))
    }

    @MainActor @Test func `silent bus at the start: all screen savers count as silent until it answers`() async throws {
        let state = Shared<Bool?>(false)
        let saver = try saver(state)
        let desktop = try Desktop(bus, isStopped: true)
        let all = ScreenSaver.all.map(\.object.destination).sorted()
        #expect(desktop.now == Report(nil, nil, all))
        // It tries all five and the compositor again and again.
        try await desktop.wait { _ in desktop.reports.count >= 18 }
        #expect(desktop.now == Report(nil, nil, all))
        desktop.goOn(bus)
        try await desktop.wait(for: Report(false))
        state.value = true
        changed(saver)
        try await desktop.wait(for: Report(true))
    }
}
