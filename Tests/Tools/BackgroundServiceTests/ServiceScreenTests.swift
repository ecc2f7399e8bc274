// SPDX-License-Identifier: Apache-2.0
import CSDBus
import Foundation
import Synchronization
import TestThreads
import Testing

@testable import UserBus

/// A logind with one session of the user.
private final class Login: Sendable {
    struct State: Sendable {
        var isLocked = false
        var isIdle = false
        var isGoingToSleep = false
    }

    private let shared: Shared
    private let program: AnsweringProgram

    private final class Shared: Sendable {
        let state: Mutex<State>
        init(_ state: State) { self.state = Mutex(state) }
        var now: State { state.withLock { $0 } }
    }

    init(_ address: String, _ state: State) throws {
        let shared = Shared(state)
        self.shared = shared
        program = try AnsweringProgram(address, BusConnection.loginManager.destination) { message, bus in
            switch message.name.split(separator: ".").last {
            case "ListSessions": try Login.list(message, bus)
            case "GetAll":
                let now = shared.now
                try message.answer([
                    .properties([
                        "Class": .string("user"), "Active": .boolean(true), "LockedHint": .boolean(now.isLocked),
                        "IdleHint": .boolean(now.isIdle),
                    ])
                ])
            case "Get": try message.answer([.boolean(shared.now.isGoingToSleep)])
            default: try message.answer(nil)
            }
        }
    }

    private static func list(_ message: ReceivedMessage, _ bus: BusConnection) throws {
        var answer: OpaquePointer?
        _ = unsafe ocn_bus_message_new_method_return(message.message, &answer)
        defer { _ = unsafe ocn_bus_message_unref(answer) }
        var writer = unsafe BusMessageWriter(message: answer)
        writer.array(of: "(susso)") { writer in
            writer.structure("susso") { writer in
                writer.string("2")
                writer.number(getuid())
                writer.string("name")
                writer.string("seat0")
                writer.value(.path("/session/2"))
            }
        }
        unsafe bus.sendAnswer(answer)
    }

    /// Becomes another state, and says that something has changed.
    func become(_ state: State) {
        becomeSilently(state)
        program.emit(BusConnection.loginManager, "PrepareForSleep", [.boolean(true)])
    }

    /// Becomes another state without a word.
    func becomeSilently(_ state: State) { shared.state.withLock { $0 = state } }

    func stop() { program.stop() }
}

/// The service and what reports the lock, the session and the display.
@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct `The screen of the service` {
    private let machine: ScratchFolder
    private let system: Bus

    init() throws {
        machine = try ScratchFolder()
        system = try Bus(machine.path(""))
        let folder = machine.path("root/proc/sys/kernel/random")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("boot-1\nmore\n".utf8).write(to: URL(fileURLWithPath: folder + "/boot_id"))
    }

    private var environment: [String: String] {
        [
            "NFC_READER": "virtual", "NFC_SYSTEM_ROOT": machine.path("root"),
            "DBUS_SYSTEM_BUS_ADDRESS": system.address,
        ]
    }

    @Test func `It follows the session that logind reports`() throws {
        let login = try Login(system.address, .init(isLocked: true))
        let service = try RunningNfcd(environment: environment)
        #expect(service.prints(#""obstacles":"never-unlocked""#), "\(service.log)")
        #expect(service.log.contains("The screen is locked."))
        login.become(.init())
        #expect(service.prints("The screen is unlocked."), "\(service.log)")
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let memory = service.user.scratch.path("state/nfc/background/unlocked")
        #expect(try String(contentsOfFile: memory, encoding: .utf8).contains("boot-1"))
        login.become(.init(isLocked: true))
        #expect(service.prints("The screen is locked.", times: 2), "\(service.log)")
        login.become(.init(isIdle: true))
        #expect(service.prints("The screen is unlocked.", times: 2), "\(service.log)")
        #expect(service.prints(#""obstacles":"display-off""#), "\(service.log)")
        login.become(.init())
        #expect(service.prints(#""event":"reading""#, times: 2), "\(service.log)")
        login.become(.init(isGoingToSleep: true))
        #expect(service.prints(#""obstacles":"display-off""#, times: 2), "\(service.log)")
        #expect(service.end() == 0)
        login.stop()
    }

    @Test func `It asks logind before it opens a link, for a lock of which it was not told`() throws {
        let login = try Login(system.address, .init())
        let service = try RunningNfcd(environment: environment) { _ = try $0.add("https://b.example/1") }
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let entry = try #require(try service.user.nfc.run("inbox", "list", "--json").objects().first)
        let id = try #require(entry["id"] as? String)
        login.becomeSilently(.init(isLocked: true))
        let address = service.user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"]
        let call = BusCall(RunningNfcd.object, "Open", [.string(id)])
        #expect(try BusConnection(.user, address: address).ask(call, within: 30) == [.string("opening")])
        #expect(service.prints("The screen is locked."), "\(service.log)")
        #expect(service.prints(#""event":"waits""#), "\(service.log)")
        #expect(service.end() == 0)
        #expect(!service.log.contains("delivered"))
        login.stop()
    }

    @Test func `It remembers that the screen was unlocked since the system started`() throws {
        let login = try Login(system.address, .init(isLocked: true))
        let service = try RunningNfcd(environment: environment) {
            try $0.write("state/nfc/background/unlocked", "boot-1", mode: 0o600)
        }
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        #expect(service.log.contains("The screen is locked.") && !service.log.contains("never-unlocked"))
        #expect(service.end() == 0)
        login.stop()
    }

    @Test func `It opens at its start what was wanted while the screen was locked`() throws {
        let service = try RunningNfcd(environment: environment) { user in
            try user.opener()
            let id = try user.add("https://b.example/1")
            try user.write("state/nfc/background/marks", "\(id) wanted boot-1\n", mode: 0o600)
        }
        #expect(service.prints(#""event":"delivered""#), "\(service.log)")
        #expect(service.user.opened.last == "https://b.example/1")
        #expect(service.end() == 0)
    }

    @Test func `It takes the screen for locked while logind does not answer`() throws {
        let login = try BusPeer(machine.path("bus"), geteuid(), "silent", "org.freedesktop.login1")
        #expect(login.firstLine == "ready")
        let service = try RunningNfcd(environment: environment)
        #expect(service.prints("The screen counts as locked: logind does not answer."), "\(service.log)")
        #expect(service.prints(#""obstacles":"never-unlocked""#), "\(service.log)")
        let status = try #require(try service.user.nfc.run("background", "status", "--json").objects().first)
        #expect(status["silent_login"] as? Bool == true && status["locked"] as? Bool == true)
        #expect(service.end() == 0)
        withExtendedLifetime(login) {}
    }

    @Test func `It takes the screen for locked while a screen saver does not answer`() throws {
        let peer = Mutex<AnsweringProgram?>(nil)
        let service = try RunningNfcd { user in
            let address = try #require(user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"])
            let saver = try AnsweringProgram(address, "org.gnome.ScreenSaver") { _, _ in }
            peer.withLock { $0 = saver }
        }
        let reason = "The screen counts as locked: org.gnome.ScreenSaver does not answer."
        #expect(service.prints(reason), "\(service.log)")
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let status = try #require(try service.user.nfc.run("background", "status", "--json").objects().first)
        #expect(status["silent_savers"] as? [String] == ["org.gnome.ScreenSaver"])
        #expect(status["locked"] as? Bool == true && status["silent_login"] as? Bool == false)
        #expect(service.end() == 0)
        peer.withLock { $0 }?.stop()
    }

    @Test func `It knows by the compositor whether the display is on`() throws {
        let display = "org.gnome.Mutter.DisplayConfig"
        let object = BusCall.Object(display, "/org/gnome/Mutter/DisplayConfig", display)
        let mode = Mode()
        let peer = Mutex<AnsweringProgram?>(nil)
        let service = try RunningNfcd(environment: environment) { user in
            let address = try #require(user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"])
            let compositor = try AnsweringProgram(address, display) { message, _ in
                try message.answer([.int32(mode.isOn ? 0 : 3)])
            }
            peer.withLock { $0 = compositor }
        }
        #expect(service.prints(#""obstacles":"display-off""#), "\(service.log)")
        mode.turnOn()
        let compositor = try #require(peer.withLock { $0 })
        compositor.emit(object.properties, "PropertiesChanged", [.string(display), .properties([:]), .strings([])])
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        #expect(service.end() == 0)
        compositor.stop()
    }

    /// Whether the compositor's display is on.
    private final class Mode: Sendable {
        private let state = Mutex(false)
        var isOn: Bool { state.withLock { $0 } }
        func turnOn() { state.withLock { $0 = true } }
    }
}
