// SPDX-License-Identifier: Apache-2.0
import BusTesting
import CSDBus
import TestThreads
import Testing

@testable import UserBus  // the calls of a connection are internal

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct BusAnswersTests {
    private static let name = "org.opencorenfc.Background"
    private static let path = "/org/opencorenfc/Background"
    private static let interface = "org.opencorenfc.Background1"
    private static let object = BusCall.Object(name, path, interface)
    private static let id = "0123456789abcdef0123"
    private let bus: TestBus
    private let service: BusConnection
    private let caller: BusConnection

    init() throws {
        bus = try TestBus()
        service = try bus.connection()
        try service.take(Self.name)
        caller = try bus.connection()
    }

    /// Has the service handle a number of calls.
    private func handle(_ answers: BusAnswers, calls: Int = 1) throws {
        for _ in 0..<calls { try answers.answer(try service.next { $0.isCall }) }
    }

    private func ask(_ answers: BusAnswers, _ call: BusCall) throws -> ReceivedMessage {
        let cookie = try caller.send(call)
        try handle(answers)
        return try caller.answer(to: cookie)
    }

    @Test func `introspection leads from the root to the object with its methods`() throws {
        let answers = BusAnswers(status: { "" }, open: { $0 })
        func introspection(_ path: String, _ values: [BusValue] = []) throws -> ReceivedMessage {
            let object = BusCall.Object(Self.name, path, "org.freedesktop.DBus.Introspectable")
            return try ask(answers, BusCall(object, "Introspect", values))
        }
        for (path, child) in [("/", "org"), ("/org", "opencorenfc"), ("/org/opencorenfc", "Background")] {
            let text = try introspection(path).values().first?.text
            #expect(text?.contains("<node>\n  <node name=\"\(child)\"/>\n</node>") == true, "\(path)")
        }
        let own = try introspection(Self.path).values().first?.text
        for part in ["<interface name=\"\(Self.interface)\">", "<method name=\"Status\">", "<arg name=\"outcome\""] {
            #expect(own?.contains(part) == true, "\(part)")
        }
        #expect(try introspection("/org/example").error(of: "It").code == .noMethod)
        #expect(try introspection("/", [.string("x")]).error(of: "It").code == .refused)
    }

    @Test func `calls: methods of the interface are answered, all others are refused`() throws {
        let answers = BusAnswers(status: { "known" }, open: { $0 })
        try answers.begin()
        let id = BusValue.string(Self.id)
        #expect(try ask(answers, BusCall(Self.object, "Status")).values() == [.string("known")])
        #expect(try ask(answers, BusCall(Self.object, "Open", [id])).values() == [id])
        let other = BusCall.Object(Self.name, Self.path, "org.example.Other")
        let parent = BusCall.Object(Self.name, "/org", Self.interface)
        let rows: [(BusCall, BusError.Code)] = [
            (BusCall(Self.object, "Status", [.string("x")]), .refused), (BusCall(Self.object, "Open"), .refused),
            (BusCall(Self.object, "Open", [.string("x")]), .refused),
            (BusCall(Self.object, "Open", [.uint32(1)]), .refused),
            (BusCall(Self.object, "Open", [id, id]), .refused), (BusCall(Self.object, "Close"), .noMethod),
            (BusCall(other, "Status"), .noMethod), (BusCall(parent, "Status"), .noMethod),
        ]
        for (call, code) in rows { #expect(try ask(answers, call).error(of: "It").code == code, "\(call)") }
    }

    @Test func `calls: the interface may be left out (D-Bus Specification 0.38, Message Types)`() throws {
        var count = 0
        let status = {
            count += 1
            return "known"
        }
        var message: OpaquePointer?
        let made = unsafe ocn_bus_message_new_method_call(caller.bus, &message, Self.name, Self.path, nil, "Status")
        defer { _ = unsafe ocn_bus_message_unref(message) }
        let sent = unsafe ocn_bus_send(caller.bus, message, nil)
        #expect(made >= 0 && sent >= 0)
        try handle(BusAnswers(status: status, open: { $0 }))
        #expect(count == 1)
    }

    @Test func `opening before the inbox is known: 100 calls wait, one more is refused, Status is answered`() throws {
        var opened: [String] = []
        let answers = BusAnswers(status: { "known" }) { id in
            opened.append(id)
            return "opening \(id)"
        }
        let ids = (0...100).map { "0123456789abcdef0\(String(1000 + $0).dropFirst())" }
        let cookies = try ids.map { try caller.send(BusCall(Self.object, "Open", [.string($0)])) }
        try handle(answers, calls: cookies.count)
        #expect(try caller.answer(to: cookies[100]).isError)
        #expect(try ask(answers, BusCall(Self.object, "Status")).values() == [.string("known")])
        #expect(opened == [])
        try answers.begin()
        #expect(opened == Array(ids[..<100]))
        let texts = try cookies.prefix(100).map { try caller.answer(to: $0).values().first?.text }
        #expect(texts == ids.prefix(100).map { "opening \($0)" })
        let last = try ask(answers, BusCall(Self.object, "Open", [.string(ids[100])]))
        #expect(last.values() == [.string("opening \(ids[100])")])
        try answers.begin()
        #expect(opened == ids)
    }
}
