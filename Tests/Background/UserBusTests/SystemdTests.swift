// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Synchronization
import TestThreads
import Testing

@testable import UserBus

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
                    return .written {
                        $0.structure("uo") {
                            $0.number(job); $0.value(.path("/"))
                        }
                    }
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
struct `A program that systemd starts` {
    private static let limit = Duration.seconds(60)
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    private func unit(_ words: [String] = ["sh"], environment: [String: String] = [:]) throws -> StartedUnit? {
        let program = UnitProgram("/bin/sh", words, app: "org.a-b", folder: "/home", environment: environment)
        return try StartedUnit(program, bus: try UserBus(address: bus.address), limit: Self.limit)
    }

    private static func ended(_ code: Int32, _ status: Int32, _ result: String = "exit-code") -> [String: BusValue] {
        [
            "ActiveState": .string("failed"), "Result": .string(result), "ExecMainStatus": .int32(status),
            "ExecMainCode": .int32(code),
        ]
    }

    @Test func `has the properties that it is to have`() throws {
        let manager = try Manager(bus, ["ActiveState": .string("active")])
        let environment = ["B": "2", "A": "1", "1C": "x", "D": "\u{1B}", "E F": "x"]
        let unit = try unit(["sh", "-c", "echo $HOME"], environment: environment)
        #expect(unit != nil)
        #expect(Array(manager.peer.methods.prefix(3)) == ["Subscribe", "StartTransientUnit", "GetUnit"])
        let call = try #require(manager.peer.calls.first { $0.name.hasSuffix("StartTransientUnit") })
        #expect(call.path == "/org/freedesktop/systemd1" && call.values.count == 4)
        let name = try #require(call.values[0].text)
        #expect(name.hasPrefix(#"app-nfc-org.a\x2db-"#) && name.hasSuffix(".service"))
        #expect(call.values[1] == .string("fail") && call.values[3] == .list([]))
        let texts = { (texts: [String]) in BusValue.list(texts.map(BusValue.string)) }
        let expected: [(String, BusValue)] = [
            ("Description", .string("org.a-b, opened by a tag")), ("Type", .string("exec")),
            ("KillMode", .string("process")), ("CollectMode", .string("inactive-or-failed")),
            ("AddRef", .boolean(true)),
            ("StandardOutput", .string("null")), ("StandardError", .string("null")),
            ("WorkingDirectory", .string("/home")), ("Environment", texts(["A=1", "B=2"])),
            (
                "ExecStart",
                .list([.list([.string("/bin/sh"), texts(["sh", "-c", "echo $$HOME"]), .boolean(false)])])
            ),
        ]
        #expect(call.values[2] == .list(expected.map { .list([.string($0.0), $0.1]) }))
        let get = try #require(manager.peer.calls.first { $0.name.hasSuffix("GetUnit") })
        #expect(get.values == [.string(name)])
    }

    @Test func `is not started without a systemd, or when systemd refuses it`() throws {
        #expect(try unit() == nil)
        for method in ["StartTransientUnit", "GetUnit"] {
            let manager = try Manager(bus, refusing: method)
            let error = #expect(throws: BusError.self) { _ = try unit() }
            #expect(error?.code == .refused && error?.reason.hasSuffix(" says: Refused.") == true)
            if method == "StartTransientUnit" {
                #expect(error?.reason == "systemd says: Refused.")
                #expect(manager.peer.methods == ["Subscribe", "StartTransientUnit"])
            }
        }
        // A second subscription is no problem.
        let manager = try Manager(bus, ["ActiveState": .string("active")], refusing: "Subscribe")
        #expect(try unit() != nil)
        withExtendedLifetime(manager) {}
    }

    @Test(
        arguments: [
            (1, 0, .exited(0)), (1, 3, .exited(3)), (1, 199, .exited(199)), (1, 200, .notStarted("status 200")),
            (1, 243, .notStarted("status 243")), (1, 244, .exited(244)), (2, 9, .killed(9)), (3, 11, .killed(11)),
            (0, 0, .notStarted("resources")), (4, 1, .notStarted("resources")),
        ] as [(Int32, Int32, StartedUnit.State)]
    )
    func `has the state that its properties have`(code: Int32, status: Int32, state: StartedUnit.State) throws {
        let manager = try Manager(bus, Self.ended(code, status, "resources"))
        let unit = try #require(try unit())
        #expect(try unit.wait(Self.limit) == state)
        #expect(try unit.waitForStart(Self.limit) == state)
        manager.set(["ActiveState": .string("inactive")])
        #expect(try unit.wait(.zero) == state)
        for active in ["active", "activating", "deactivating", "reloading"] {
            manager.set(["ActiveState": .string(active)])
            #expect(try unit.wait(.zero) == .running, "\(active)")
        }
    }

    @Test func `has a state even where systemd says less than it should`() throws {
        let manager = try Manager(bus, Self.ended(1, 3).merging(["ExecMainStatus": .string("x")]) { $1 })
        let unit = try #require(try unit())
        #expect(try unit.wait(.zero) == .exited(0))
        manager.set(Self.ended(0, 0).merging(["Result": .byte(1)]) { $1 })
        #expect(try unit.wait(.zero) == .notStarted(""))
    }

    @Test func `is waited for until it has started, and then until it ends`() throws {
        let manager = try Manager(bus, ["ActiveState": .string("inactive")])
        manager.set([:], job: 7)
        let unit = try #require(try unit())
        let error = #expect(throws: BusError.self) { try unit.waitForStart(.zero) }
        #expect(error?.code == .noAnswer && error?.reason == "systemd does not start it in time.")
        manager.set(["ActiveState": .string("activating")])
        #expect(#expect(throws: BusError.self) { try unit.waitForStart(.zero) }?.code == .noAnswer)
        manager.set(["ActiveState": .string("active")])
        #expect(try unit.waitForStart(Self.limit) == .running)
        #expect(try unit.wait(.milliseconds(1)) == .running)
        manager.set(Self.ended(1, 5))
        #expect(try unit.wait(Self.limit) == .exited(5))
    }

    @Test func `is asked for its state only when something may have changed`() throws {
        let manager = try Manager(bus, ["ActiveState": .string("active")])
        let unit = try #require(try unit())
        let count = manager.peer.calls.count
        #expect(try unit.wait(.milliseconds(200)) == .running)
        manager.set([:], job: 7)
        #expect(throws: BusError.self) { try unit.waitForStart(.milliseconds(200)) }
        // At the beginning and at the end of each wait, and for the signal. Without a pause they would be hundreds.
        #expect(manager.peer.calls.count - count < 20)
    }

    @Test func `wakes its waiter by its signals`() async throws {
        let manager = try Manager(bus, ["ActiveState": .string("inactive")])
        manager.set([:], job: 7)
        let unit = try #require(try unit())
        let count = manager.peer.calls.count
        let change = Task.detached {
            while manager.peer.calls.count == count { try await Task.sleep(for: .milliseconds(1)) }
            manager.set(Self.ended(2, 15))
        }
        #expect(try unit.waitForStart(Self.limit) == .killed(15))
        try await change.value
    }
}

@Suite struct `The description of a program for systemd` {
    private func program(app: String = "org.example.App", _ environment: [String: String] = [:]) -> UnitProgram {
        UnitProgram("/bin/sh", ["sh"], app: app, folder: "/", environment: environment)
    }

    @Test func `has the variables that systemd takes, and no others, for which it would refuse the program`() {
        let taken = ["XDG_RUNTIME_DIR": "/run", "_": "x", "a1": "", "T": "a\tb", "N": "a\nb", "U": "ü ~"]
        let names = ["0A": "x", "1A": "x", "9A": "x", "A-B": "x", "": "x"]
        let others = names.merging(["E": "a\u{1B}", "D": "a\u{7F}", "Z": "\u{0}", "R": "a\rb"]) { $1 }
        #expect(program(taken.merging(others) { $1 }).environment == taken)
    }

    @Test func `has a name that is not longer than systemd takes, with every sign but a few as an escape`() {
        let unit = program(app: String(repeating: "a", count: 200)).unit
        #expect(unit.hasPrefix("app-nfc-" + String(repeating: "a", count: 57) + "-"))
        // Of a long name the beginning.
        let long = program(app: String(repeating: "a", count: 56) + String(repeating: "b", count: 56)).unit
        #expect(long.hasPrefix("app-nfc-" + String(repeating: "a", count: 56) + "b-"))
        let escaped = program(app: String(repeating: "-", count: 60)).unit
        #expect(escaped.utf8.count <= 255 && escaped.hasSuffix(".service"))
        #expect(escaped.hasPrefix("app-nfc-" + String(repeating: #"\x2d"#, count: 57) + "-"))
        #expect(program(app: "a_B.9-ü@").unit.hasPrefix(#"app-nfc-a_B.9\x2d\xc3\xbc\x40-"#))
    }
}
