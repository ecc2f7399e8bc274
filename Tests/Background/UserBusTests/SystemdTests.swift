// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Synchronization
import TestThreads
import Testing

@testable import UserBus  // the calls of a connection are internal

/// A systemd on a bus, with one unit whose properties a test sets.
private final class Manager: Sendable {
    static let name = "org.freedesktop.systemd1"
    static let unit = "/org/freedesktop/systemd1/unit/app"

    private final class Unit: Sendable {
        let values: Mutex<[String: BusValue]>
        let job = Mutex<UInt32>(0)

        init(_ values: [String: BusValue]) { self.values = Mutex(values) }
    }

    private let state: Unit
    let peer: Peer

    init(_ bus: TestBus, _ values: [String: BusValue] = [:], refusing: String? = nil) throws {
        let state = Unit(values)
        self.state = state
        peer = try Peer(bus.address, Self.name) { call in
            if let refusing, call.name.hasSuffix(refusing) { return .refusal("Failed", "Refused.") }
            switch call.name {
            case Self.name + ".Manager.StartTransientUnit": return .values([.path("/job/1")])
            case Self.name + ".Manager.GetUnit": return .values([.path(Self.unit), .string("second")])
            case "org.freedesktop.DBus.Properties.Get" where call.path == Self.unit:
                guard call.values.count == 2, let interface = call.values[0].text, let name = call.values[1].text else {
                    return .unknown
                }
                if interface == Self.name + ".Unit", name == "Job" {
                    let job = state.job.withLock { $0 }
                    return .values([.structure([.uint32(job), .path("/")])])
                }
                guard interface == Self.name + (name == "ActiveState" ? ".Unit" : ".Service"),
                    let value = state.values.withLock({ $0[name] })
                else { return .refusal("UnknownProperty", "\(interface) has no \(name).") }
                return .values([value, .string("second")])
            default: return .values([])
            }
        }
    }

    /// Changes properties, and reports that.
    func set(_ values: [String: BusValue], job: UInt32 = 0) {
        state.job.withLock { $0 = job }
        state.values.withLock { $0.merge(values) { _, new in new } }
        let object = BusCall.Object(Self.name, Self.unit, "org.freedesktop.DBus.Properties")
        peer.emit(object, "PropertiesChanged", [.string(Self.name + ".Unit"), .properties([:]), .strings([])])
    }
}

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct SystemdTests {
    private static let limit = Duration.seconds(60)
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    private func start(_ words: [String] = ["sh"], environment: [String: String] = [:]) throws -> StartedUnit? {
        let program = UnitProgram("/bin/sh", words, app: "org.a-b", folder: "/home", environment: environment)
        return try StartedUnit(program, bus: try BusConnection(.user, address: bus.address), limit: Self.limit)
    }

    private static func ended(_ code: Int32, _ status: Int32, _ result: String = "exit-code") -> [String: BusValue] {
        [
            "ActiveState": .string("failed"), "Result": .string(result), "ExecMainStatus": .int32(status),
            "ExecMainCode": .int32(code),
        ]
    }

    @Test func `start: calls Subscribe, StartTransientUnit and GetUnit with the program and properties of the unit`()
        throws
    {
        let manager = try Manager(bus, ["ActiveState": .string("active")])
        let environment = ["B": "2", "A": "1", "1C": "x", "D": "\u{1B}", "E F": "x"]
        _ = try #require(try start(["sh", "-c", "echo $HOME"], environment: environment))
        #expect(Array(manager.peer.methods.prefix(3)) == ["Subscribe", "StartTransientUnit", "GetUnit"])
        let call = manager.peer.calls[1]
        #expect(call.path == "/org/freedesktop/systemd1" && call.values.count == 4)
        let name = try #require(call.values[0].text)
        #expect(name.hasPrefix(#"app-nfc-org.a\x2db-"#) && name.hasSuffix(".service"))
        #expect(call.values[1] == .string("fail") && call.values[3] == .list([]))
        func texts(_ texts: [String]) -> BusValue { .list(texts.map(BusValue.string)) }
        let program: BusValue = .list([.string("/bin/sh"), texts(["sh", "-c", "echo $$HOME"]), .boolean(false)])
        let expected: [(String, BusValue)] = [
            ("Description", .string("org.a-b, opened by a tag")), ("Type", .string("exec")),
            ("KillMode", .string("process")), ("CollectMode", .string("inactive-or-failed")),
            ("AddRef", .boolean(true)), ("StandardOutput", .string("null")), ("StandardError", .string("null")),
            ("WorkingDirectory", .string("/home")), ("Environment", texts(["A=1", "B=2"])),
            ("ExecStart", .list([program])),
        ]
        #expect(call.values[2] == .list(expected.map { .list([.string($0.0), $0.1]) }))
        #expect(manager.peer.calls[2].values == [.string(name)])
    }

    @Test func `start: nil without systemd, refused if systemd refuses the unit, but not if it refuses Subscribe`()
        throws
    {
        #expect(try start() == nil)
        for method in ["StartTransientUnit", "GetUnit", "Subscribe"] {
            let manager = try Manager(bus, ["ActiveState": .string("active")], refusing: method)
            if method == "Subscribe" {
                #expect(try start() != nil)
            } else {
                expect(.refused, method) { try start() }
            }
            #expect(manager.peer.methods.contains(method))
        }
    }

    @Test func `state: follows from ActiveState, ExecMainCode and ExecMainStatus (systemd.exec, Exit Status)`() throws {
        let rows: [(Int32, Int32, StartedUnit.State)] = [
            (1, 0, .exited(0)), (1, 3, .exited(3)), (1, 199, .exited(199)), (1, 200, .notStarted("status 200")),
            (1, 243, .notStarted("status 243")), (1, 244, .exited(244)), (2, 9, .killed(9)), (3, 11, .killed(11)),
            (0, 0, .notStarted("resources")), (4, 1, .notStarted("resources")),
        ]
        let manager = try Manager(bus, Self.ended(1, 0, "resources"))
        let unit = try #require(try start())
        for (code, status, state) in rows {
            manager.set(Self.ended(code, status, "resources"))
            #expect(try unit.wait(Self.limit) == state && unit.waitForStart(Self.limit) == state, "\(code) \(status)")
            manager.set(["ActiveState": .string("inactive")])
            #expect(try unit.wait(.zero) == state, "\(code) \(status)")
        }
        for active in ["active", "activating", "deactivating", "reloading"] {
            manager.set(["ActiveState": .string(active)])
            #expect(try unit.wait(.zero) == .running, "\(active)")
        }
        // Values of other types.
        manager.set(Self.ended(1, 3).merging(["ExecMainStatus": .string("x")]) { $1 })
        #expect(try unit.wait(.zero) == .exited(0))
        manager.set(Self.ended(0, 0).merging(["Result": .byte(1)]) { $1 })
        #expect(try unit.wait(.zero) == .notStarted(""))
    }

    @Test func `wait: for the start of the unit, and then for its end, with fewer than 20 calls to systemd`() throws {
        let manager = try Manager(bus, ["ActiveState": .string("inactive")])
        manager.set([:], job: 7)
        let unit = try #require(try start())
        expect(.noAnswer) { try unit.waitForStart(.zero) }
        manager.set(["ActiveState": .string("activating")])
        expect(.noAnswer) { try unit.waitForStart(.zero) }
        manager.set(["ActiveState": .string("active")])
        #expect(try unit.waitForStart(Self.limit) == .running)
        let count = manager.peer.calls.count
        #expect(try unit.wait(.milliseconds(50)) == .running)
        manager.set([:], job: 7)
        expect(.noAnswer) { try unit.waitForStart(.milliseconds(50)) }
        // At the beginning and at the end of each wait, and for the signal. Without a pause they would be hundreds.
        #expect(manager.peer.calls.count - count < 20)
        manager.set(Self.ended(1, 5))
        #expect(try unit.wait(Self.limit) == .exited(5))
    }

    @Test func `wait for the start of a unit: ends when the unit signals a change`() async throws {
        let manager = try Manager(bus, ["ActiveState": .string("inactive")])
        manager.set([:], job: 7)
        let unit = try #require(try start())
        let count = manager.peer.calls.count
        let change = Task.detached {
            while manager.peer.calls.count == count { try await Task.sleep(for: .milliseconds(1)) }
            manager.set(Self.ended(2, 15))
        }
        #expect(try unit.waitForStart(Self.limit) == .killed(15))
        try await change.value
    }
}

struct UnitProgramTests {
    private func program(app: String = "org.example.App", _ environment: [String: String] = [:]) -> UnitProgram {
        UnitProgram("/bin/sh", ["sh"], app: app, folder: "/", environment: environment)
    }

    @Test func `environment: variables that systemd would refuse are left out`() {
        let taken = ["XDG_RUNTIME_DIR": "/run", "_": "x", "a1": "", "T": "a\tb", "N": "a\nb", "U": "ü ~"]
        let names = ["0A": "x", "1A": "x", "9A": "x", "A-B": "x", "": "x"]
        let others = names.merging(["E": "a\u{1B}", "D": "a\u{7F}", "Z": "\u{0}", "R": "a\rb"]) { $1 }
        #expect(program(taken.merging(others) { $1 }).environment == taken)
    }

    @Test func `name of the unit: escaped, and the first 57 characters of the app's name at most`() {
        let rows = [
            ("a_B.9-ü@", #"a_B.9\x2d\xc3\xbc\x40"#),
            (String(repeating: "a", count: 56) + "bc", String(repeating: "a", count: 56) + "b"),
            (String(repeating: "-", count: 60), String(repeating: #"\x2d"#, count: 57)),
        ]
        for (app, escaped) in rows {
            let unit = program(app: app).unit
            #expect(unit.hasPrefix("app-nfc-\(escaped)-") && unit.hasSuffix(".service") && unit.utf8.count <= 255)
        }
    }
}
