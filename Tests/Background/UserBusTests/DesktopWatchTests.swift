// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Synchronization
import TestThreads
import Testing

@testable import UserBus

/// What a screen saver on a bus answers; nil when it is silent.
private final class SaverState: Sendable {
    private let state: Mutex<Bool?>

    init(_ isOn: Bool?) { state = Mutex(isOn) }

    var isOn: Bool? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// Counts calls.
private final class CallCount: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
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
}

/// A watch with its connection.
@MainActor private final class Desktop {
    private let bus: BusConnection
    /// How often the watch has reported a change.
    var changes: Int { reports.count }
    /// What could be seen of the watch each time.
    private(set) var reports: [Report] = []
    private(set) var watch: DesktopWatch?

    /// - Parameter isStopped: whether the bus does not answer from now on.
    init(_ bus: TestBus, patience: Duration = .seconds(30), isStopped: Bool = false) throws {
        self.bus = try BusConnection(.user, address: bus.address)
        if isStopped { stop(bus) }
        watch = DesktopWatch(self.bus, patience: patience, pause: .milliseconds(5)) { [weak self] in
            guard let self, let watch = self.watch else { return }
            self.reports.append(Report(watch.isScreenSaverOn, watch.powerSaveMode, watch.silentSavers))
        }
    }

    /// Stops the bus. The watch waits for it no longer than the test needs.
    func stop(_ bus: TestBus) {
        self.bus.patience = .milliseconds(300)
        bus.stop()
    }

    /// Lets the bus go on.
    func goOn(_ bus: TestBus) {
        bus.goOn()
        self.bus.patience = .seconds(30)
    }

    /// Waits until all that the bus had before has arrived.
    func settle() throws { _ = try bus.ask(BusCall(.daemon, "GetId")) }

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
}

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `A watch of the desktop` {
    private static let saver = ScreenSaver.all[0].object
    private static let compositor = "org.gnome.Mutter.DisplayConfig"
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    private func saver(_ state: SaverState) throws -> Peer {
        try Peer(bus.address, Self.saver.destination) { call in
            switch call.name {
            case "org.gnome.ScreenSaver.GetActive":
                state.isOn.map { Peer.Answer.values([.boolean($0), .boolean(!$0)]) } ?? .silence
            case "org.gnome.ScreenSaver.SimulateUserActivity": .values([])
            default: .unknown
            }
        }
    }

    @MainActor @Test func `knows at once what the screen saver and the compositor say that run before it`() throws {
        let saver = try saver(SaverState(true))
        let compositor = try Peer(bus.address, Self.compositor) { call in
            guard call.values == [.string(Self.compositor), .string("PowerSaveMode")] else { return .unknown }
            return .values([.int32(3), .int32(0)])
        }
        let watch = try #require(try Desktop(bus).watch)
        #expect(watch.isScreenSaverOn == true && watch.powerSaveMode == 3 && watch.silentSavers == [])
        #expect(saver.methods == ["GetActive"] && compositor.methods == ["Get"])
    }

    @MainActor @Test func `knows nothing where there are none, and what one says that comes later, until it ends`()
        async throws
    {
        let desktop = try Desktop(bus)
        let watch = try #require(desktop.watch)
        #expect(watch.isScreenSaverOn == nil && watch.powerSaveMode == nil && watch.silentSavers == [])
        let saver = try saver(SaverState(true))
        try await desktop.wait { $0.isScreenSaverOn == true }
        #expect(desktop.changes == 1)
        saver.stop()
        try await desktop.wait { $0.isScreenSaverOn == nil }
        #expect(desktop.reports == [Report(true), Report(nil)])
    }

    @MainActor @Test func `takes the screen for covered while one of several screen savers covers it`() async throws {
        let saver = try saver(SaverState(false))
        let state = SaverState(false)
        let object = ScreenSaver.all[1].object
        let other = try Peer(bus.address, object.destination) { _ in .values([.boolean(state.isOn ?? false)]) }
        let desktop = try Desktop(bus)
        #expect(desktop.watch?.isScreenSaverOn == false)
        state.isOn = true
        other.emit(object, "ActiveChanged", [.boolean(true)])
        try await desktop.wait { $0.isScreenSaverOn == true }
        // What one says is not what another one has said.
        saver.emit(Self.saver, "ActiveChanged", [.boolean(false)])
        try await desktop.wait { _ in desktop.changes == 2 }
        #expect(desktop.watch?.isScreenSaverOn == true)
        other.stop()
        try await desktop.wait { $0.isScreenSaverOn == false }
        #expect(desktop.reports == [Report(true), Report(true), Report(false)])
        saver.stop()
        try await desktop.wait { $0.isScreenSaverOn == nil }
    }

    @MainActor @Test func `asks what has changed, whatever the signal says`() async throws {
        let state = SaverState(false)
        let saver = try saver(state)
        let desktop = try Desktop(bus)
        #expect(desktop.watch?.isScreenSaverOn == false)
        state.isOn = true
        saver.emit(Self.saver, "ActiveChanged", [.boolean(false)])
        try await desktop.wait { $0.isScreenSaverOn == true }
        #expect(desktop.changes == 1 && saver.methods == ["GetActive", "GetActive"])
    }

    @MainActor @Test func `asks the compositor again when it reports another mode, and no other program`() async throws
    {
        let count = CallCount()
        let compositor = try Peer(bus.address, Self.compositor) { _ in .values([.int32(Int32(count.next()))]) }
        let desktop = try Desktop(bus)
        #expect(desktop.watch?.powerSaveMode == 1)
        let properties = BusCall.Object("", "/org/gnome/Mutter/DisplayConfig", "org.freedesktop.DBus.Properties")
        let values: [BusValue] = [.properties([:]), .strings([])]
        let other = try Peer(bus.address, "org.example.Other")
        other.emit(properties, "PropertiesChanged", [.string(Self.compositor)] + values)
        compositor.emit(properties, "PropertiesChanged", [.string("org.example.Other")] + values)
        compositor.emit(properties, "PropertiesChanged", [.string(Self.compositor)] + values)
        try await desktop.wait { $0.powerSaveMode == 2 }
        #expect(desktop.reports == [Report(nil, 2)] && compositor.methods == ["Get", "Get"])
        compositor.stop()
        try await desktop.wait { $0.powerSaveMode == nil }
        #expect(desktop.reports == [Report(nil, 2), Report(nil)])
    }

    @MainActor @Test func `asks the next screen saver when one gives its name away without an answer`() async throws {
        let old = try BusConnection(.user, address: bus.address)
        try old.take(Self.saver.destination)
        let desktop = try Desktop(bus, patience: .milliseconds(100))
        #expect(desktop.watch?.silentSavers == [Self.saver.destination])
        try old.emit(Self.saver, "ActiveChanged", [.boolean(true)])
        _ = try old.ask(BusCall(.daemon, "ReleaseName", [.string(Self.saver.destination)]))
        let next = try saver(SaverState(true))
        try await desktop.wait { $0.isScreenSaverOn == true && $0.silentSavers == [] }
        #expect(next.methods == ["GetActive"])
        withExtendedLifetime(old) {}
    }

    @MainActor @Test func `takes a screen saver for silent that it can't ask, and asks it later`() async throws {
        let state = SaverState(false)
        let saver = try saver(state)
        let desktop = try Desktop(bus)
        let watch = try #require(desktop.watch)
        state.isOn = true
        saver.emit(Self.saver, "ActiveChanged", [.boolean(true)])
        try desktop.settle()
        desktop.stop(bus)
        try await desktop.wait { $0.silentSavers == [Self.saver.destination] }
        #expect(desktop.reports.first == Report(false, nil, [Self.saver.destination]))
        #expect(watch.isScreenSaverOn == false)
        desktop.goOn(bus)
        try await desktop.wait { $0.silentSavers == [] && $0.isScreenSaverOn == true }
        #expect(desktop.reports.last == Report(true))
    }

    @MainActor @Test func `asks once more when something changes before the answer`() async throws {
        let count = CallCount()
        let saver = try Peer(bus.address, Self.saver.destination) { _ in .values([.boolean(count.next() == 3)]) }
        let desktop = try Desktop(bus)
        #expect(desktop.watch?.isScreenSaverOn == false)
        // All are there before the watch asks for the first one.
        for _ in 0..<3 { saver.emit(Self.saver, "ActiveChanged", [.boolean(true)]) }
        try desktop.settle()
        try await desktop.wait { $0.isScreenSaverOn == true }
        // The saver handles what it gets beside its own signals.
        for _ in 0..<2 { saver.emit(Self.saver, "Other", []) }
        #expect(saver.methods.count == 3)
    }

    @MainActor @Test func `names the screen savers that do not answer in time, until they do`() async throws {
        let state = SaverState(nil)
        let saver = try saver(state)
        let desktop = try Desktop(bus, patience: .milliseconds(100))
        let watch = try #require(desktop.watch)
        #expect(watch.isScreenSaverOn == nil && watch.silentSavers == [Self.saver.destination])
        saver.stop()
        state.isOn = false
        let next = try self.saver(state)
        try await desktop.wait { $0.isScreenSaverOn == false && $0.silentSavers == [] }
        // One that answered before is named too, and that is reported.
        let changes = desktop.changes
        state.isOn = nil
        next.emit(Self.saver, "ActiveChanged", [.boolean(true)])
        try await desktop.wait { $0.silentSavers == [Self.saver.destination] }
        #expect(desktop.changes == changes + 1 && watch.isScreenSaverOn == false)
        #expect(desktop.reports.last == Report(false, nil, [Self.saver.destination]))
    }

    @MainActor @Test func `names one that has ended without an answer`() async throws {
        let saver = try saver(SaverState(nil))
        let desktop = try Desktop(bus, patience: .milliseconds(100))
        saver.stop()
        // The bus reports in order: when the watch knows this one, it knows of the other's end.
        let other = try Peer(bus.address, ScreenSaver.all[1].object.destination) { _ in .values([.boolean(true)]) }
        try await desktop.wait { $0.isScreenSaverOn == true }
        #expect(desktop.watch?.silentSavers == [Self.saver.destination])
        withExtendedLifetime(other) {}
    }

    @MainActor @Test func `takes the screen for locked while the bus does not answer, and asks when it does again`()
        async throws
    {
        let state = SaverState(false)
        let saver = try saver(state)
        let desktop = try Desktop(bus, isStopped: true)
        let watch = try #require(desktop.watch)
        #expect(watch.silentSavers == ScreenSaver.all.map(\.object.destination).sorted())
        // It tries all six again and again.
        try await desktop.wait { _ in desktop.changes >= 18 }
        #expect(watch.silentSavers.count == 5)
        desktop.goOn(bus)
        // Four of them are not there.
        try await desktop.wait { $0.silentSavers == [] && $0.isScreenSaverOn == false }
        #expect(desktop.changes > 0)
        // From now on it learns of changes.
        state.isOn = true
        saver.emit(Self.saver, "ActiveChanged", [.boolean(true)])
        try await desktop.wait { $0.isScreenSaverOn == true }
    }

    @MainActor @Test func `has the running screen savers ask for the password, and no others`() async throws {
        let desktop = try Desktop(bus)
        #expect(desktop.watch?.promptToUnlock() == [])
        let saver = try saver(SaverState(true))
        #expect(desktop.watch?.promptToUnlock() == [Self.saver.destination])
        try await desktop.wait { _ in saver.methods.contains("SimulateUserActivity") }
    }
}
