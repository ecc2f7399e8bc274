// SPDX-License-Identifier: Apache-2.0
import BusTesting
import CSDBus
import TestThreads
import Testing

@testable import UserBus

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `The service on the bus` {
    private static let name = "org.opencorenfc.Background"
    private static let path = "/org/opencorenfc/Background"
    private static let object = BusCall.Object(name, path, "org.opencorenfc.Background1")
    private let bus: TestBus
    private let service: BusConnection
    private let caller: BusConnection

    init() throws {
        bus = try TestBus()
        service = try BusConnection(.user, address: bus.address)
        try service.take(Self.name)
        caller = try BusConnection(.user, address: bus.address)
    }

    /// Has the service handle a number of calls.
    private func handle(_ answers: BusAnswers, calls: Int = 1) throws {
        var count = 0
        while count < calls {
            guard let message = try service.receive() else {
                service.wait(.milliseconds(5))
                continue
            }
            guard message.isCall else { continue }
            try answers.answer(message)
            count += 1
        }
    }

    /// The text of an answer, or of an error.
    private func text(_ cookie: UInt64) throws -> String? {
        try caller.answers(to: [cookie], within: .seconds(30))[cookie]?.values().first?.text
    }

    private func ask(
        _ answers: BusAnswers,
        _ object: BusCall.Object,
        _ method: String,
        _ values: [BusValue] = []
    ) throws -> String? {
        let cookie = try caller.send(BusCall(object, method, values))
        try handle(answers)
        return try text(cookie)
    }

    @Test func `Introspection leads from the root to the object, which has its methods`() throws {
        let answers = BusAnswers(status: { "" }, open: { $0 })
        func introspection(_ path: String, _ values: [BusValue] = []) throws -> String {
            let object = BusCall.Object(Self.name, path, "org.freedesktop.DBus.Introspectable")
            return try #require(try ask(answers, object, "Introspect", values))
        }
        for (path, child) in [("/", "org"), ("/org", "opencorenfc"), ("/org/opencorenfc", "Background")] {
            #expect(try introspection(path).contains("<node>\n  <node name=\"\(child)\"/>\n</node>"), "\(path)")
        }
        let own = try introspection(Self.path)
        #expect(own.contains("<interface name=\"org.opencorenfc.Background1\">"))
        #expect(own.contains("<method name=\"Status\">") && own.contains("<arg name=\"outcome\""))
        #expect(try introspection("/org/example") == "There is no such object. The service's is \(Self.path).")
        #expect(try introspection("/", [.string("x")]) == "Introspect takes no arguments.")
    }

    @Test func `A call that it has not is refused in words`() throws {
        let answers = BusAnswers(status: { "known" }, open: { $0 })
        try answers.begin()
        func answer(
            _ method: String,
            _ values: [BusValue] = [],
            path: String = Self.path,
            interface: String = Self.object.interface
        ) throws -> String? {
            try ask(answers, BusCall.Object(Self.name, path, interface), method, values)
        }
        let id = "0123456789abcdef0123"
        #expect(try answer("Status") == "known")
        #expect(try answer("Open", [.string(id)]) == id)
        #expect(try answer("Status", [.string("x")]) == "Status takes no arguments.")
        let help = "Open takes the identifier of an entry, as nfc inbox list shows it, and nothing else."
        for values in [[], [.string("x")], [.uint32(1)], [.string(id), .string(id)]] as [[BusValue]] {
            #expect(try answer("Open", values) == help)
        }
        let interface = Self.object.interface
        #expect(try answer("Close") == "\(interface) has the methods Status and Open, and no other.")
        #expect(
            try answer("Status", interface: "org.example.Other")
                == "The object has the interface \(interface), and not that one."
        )
        #expect(try answer("Status", path: "/org") == "There is no such object. The service's is \(Self.path).")
    }

    @Test func `A call may leave out the interface`() throws {
        var count = 0
        let answers = BusAnswers(
            status: {
                count += 1
                return "known"
            },
            open: { $0 }
        )
        var message: OpaquePointer?
        let made = unsafe ocn_bus_message_new_method_call(caller.bus, &message, Self.name, Self.path, nil, "Status")
        defer { _ = unsafe ocn_bus_message_unref(message) }
        let sent = unsafe ocn_bus_send(caller.bus, message, nil)
        #expect(made >= 0 && sent >= 0)
        try handle(answers)
        #expect(count == 1)
    }

    @Test func `A hundred calls to open an entry wait until the inbox is known, and others are answered`() throws {
        var opened: [String] = []
        let answers = BusAnswers(status: { "known" }) { id in
            opened.append(id)
            return "opening \(id)"
        }
        let ids = (0...100).map { "0123456789abcdef0\(String(1000 + $0).dropFirst())" }
        let cookies = try ids.map { try caller.send(BusCall(Self.object, "Open", [.string($0)])) }
        try handle(answers, calls: cookies.count)
        #expect(try text(cookies[100]) == "The service begins.")
        #expect(try ask(answers, Self.object, "Status") == "known")
        #expect(opened == [])
        try answers.begin()
        #expect(opened == Array(ids[..<100]))
        for (cookie, id) in zip(cookies, ids).prefix(100) { #expect(try text(cookie) == "opening \(id)") }
        // Now none waits.
        #expect(try ask(answers, Self.object, "Open", [.string(ids[100])]) == "opening \(ids[100])")
        try answers.begin()
        #expect(opened == ids)
    }
}
