// SPDX-License-Identifier: Apache-2.0
import BusTesting
import TestThreads
import Testing

@testable import UserBus

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `A connection of a program` {
    private static let name = "org.example.App"
    private static let object = BusCall.Object(name, "/org/example/App", "org.example.App")
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    private func connection() throws -> BusConnection { try BusConnection(.user, address: bus.address) }

    private func expect(_ code: BusError.Code, _ reason: String? = nil, _ body: () throws -> Void) {
        let error = #expect(throws: BusError.self) { try body() }
        #expect(error?.code == code)
        if let reason { #expect(error?.reason == reason) }
    }

    @Test(arguments: [false, true], [false, true])
    func `takes a name from another one only if both want that`(yields: Bool, replaces: Bool) throws {
        let (first, second) = (try connection(), try connection())
        try first.take(Self.name, yields: yields)
        #expect(try second.isThere(Self.name))
        if yields && replaces {
            try second.take(Self.name, replaces: true)
            var names: [String] = []
            while names.last != "org.freedesktop.DBus.NameLost" {
                guard let message = try first.receive() else { continue }
                #expect(message.isSignal && message.sender == "org.freedesktop.DBus")
                names.append(message.name)
            }
        } else {
            expect(.nameTaken, "The name \(Self.name) can't be had: another program has it.") {
                try second.take(Self.name, replaces: replaces)
            }
            // It does not wait for the name either.
            let owner = try second.ask(BusCall(.daemon, "GetNameOwner", [.string(Self.name)])).first?.text
            #expect(
                try first.ask(BusCall(.daemon, "ListQueuedOwners", [.string(Self.name)])) == [
                    .list([.string(try #require(owner))])
                ]
            )
        }
    }

    @Test func `gets the signals that it listens to, with their values, and no others`() throws {
        let peer = try Peer(bus.address, Self.name)
        let listener = try connection()
        try listener.listen(to: "sender='\(Self.name)',member='Wanted'")
        peer.emit(Self.object, "Other", [.string("no")])
        peer.emit(Self.object, "Wanted", [.string("yes"), .uint32(1)])
        var signals: [ReceivedMessage] = []
        while signals.isEmpty {
            if let message = try listener.receive(), message.isSignal, message.sender == peer.owner {
                signals.append(message)
            }
        }
        #expect(signals.map(\.name) == ["org.example.App.Wanted"] && signals.map(\.path) == ["/org/example/App"])
        #expect(signals[0].values() == [.string("yes"), .uint32(1)] && signals[0].answersTo == nil)
        expect(.refused) { try listener.listen(to: "no rule") }
    }

    @Test(
        arguments: [
            (.refusal("UnknownMethod", "No"), .noMethod, "org.example.App says: No."),
            (.unknown, .noMethod, "org.example.App says: There is no such method."),
            (.refusal("Failed", "Why?"), .refused, "org.example.App says: Why?"),
            (.refusal("TimedOut", "Late."), .noAnswer, "org.example.App does not answer: Late."),
        ] as [(Peer.Answer, BusError.Code, String)]
    )
    func `gets an error in the words of the program`(answer: Peer.Answer, code: BusError.Code, reason: String) throws {
        let peer = try Peer(bus.address, Self.name) { _ in answer }
        let connection = try connection()
        expect(code, reason) { _ = try connection.ask(BusCall(Self.object, "Do")) }
        #expect(peer.methods == ["Do"])
    }

    @Test func `says of a program that is not there, does not answer or ends, which it is`() throws {
        let connection = try connection()
        #expect(try !connection.isThere(Self.name))
        expect(.nobody) { _ = try connection.ask(BusCall(Self.object, "Do")) }
        expect(.nobody) { _ = try connection.send(BusCall(Self.object, "Do")) }
        let peer = try Peer(bus.address, Self.name) { $0.name.hasSuffix("End") ? .end : .silence }
        #expect(try connection.isThere(Self.name))
        expect(.noAnswer, "org.example.App does not answer: the time is over.") {
            _ = try connection.ask(BusCall(Self.object, "Do"), within: 0)
        }
        expect(.noAnswer) { _ = try connection.ask(BusCall(Self.object, "End"), within: 60) }
        #expect(peer.methods == ["Do", "End"] && !connection.isSilent)
    }

    @Test func `gets the answers to many calls by their numbers, and keeps what else comes meanwhile`() throws {
        let peer = try Peer(bus.address, Self.name) { call in
            call.values == [.uint32(1)] ? .silence : .values(call.values)
        }
        let connection = try connection()
        try connection.take("org.example.Caller")
        let cookies = try (0..<4).map { try connection.send(BusCall(Self.object, "Echo", [.uint32($0)])) }
        #expect(Set(cookies).count == 4)
        // A call for this connection, before the answers are waited for.
        let other = try self.connection()
        let own = BusCall.Object("org.example.Caller", "/", "org.example.Caller")
        _ = try other.send(BusCall(own, "Ring"))
        let answered = Set([cookies[0], cookies[2], cookies[3]])
        let answers = try connection.answers(to: answered, within: .seconds(60))
        #expect(
            answers.mapValues { $0.values() } == [
                cookies[0]: [.uint32(0)], cookies[2]: [.uint32(2)], cookies[3]: [.uint32(3)],
            ]
        )
        #expect(try connection.answers(to: [cookies[1]], within: .zero).isEmpty)
        var call: ReceivedMessage?
        while call == nil { call = try connection.receive().flatMap { $0.isCall ? $0 : nil } }
        #expect(call?.name == "org.example.Caller.Ring" && call?.answersTo == nil)
        #expect(peer.calls.count == 4)
    }

    @Test func `gives an answer that comes too late to nobody who has asked since then`() throws {
        let (program, caller) = (try connection(), try connection())
        try program.take(Self.name)
        func call() throws -> ReceivedMessage {
            while true {
                if let message = try program.receive(), message.isCall { return message }
                program.wait(.milliseconds(5))
            }
        }
        expect(.noAnswer) { _ = try caller.ask(BusCall(Self.object, "First"), within: 0) }
        let first = try call()
        let cookie = try caller.send(BusCall(Self.object, "Second"))
        let second = try call()
        #expect(first.name == "org.example.App.First" && second.name == "org.example.App.Second")
        try first.answer([.string("late")])
        try second.answer([.string("in time")])
        let answers = try caller.answers(to: [cookie], within: .seconds(60))
        #expect(answers.mapValues { $0.values() } == [cookie: [.string("in time")]])
        // It shows that the program answers again, and is no answer to the second call.
        var rest: [ReceivedMessage] = []
        while let message = try caller.receive() { if !message.isSignal { rest.append(message) } }
        #expect(rest.map { $0.values() } == [[.string("late")]])
        #expect(rest.first?.answersTo != cookie)
    }

    @Test func `ends when its bus does, and there is none then`() throws {
        let connection = try connection()
        bus.end()
        expect(.noBus) { while true { _ = try connection.receive() } }
        expect(.noBus) { _ = try self.connection() }
        let error = #expect(throws: BusError.self) { try self.connection() }
        #expect(error?.reason.hasPrefix("There is no bus of the user: ") == true)
        #expect(error?.reason.hasSuffix(" Log in to a desktop, or run the program in: dbus-run-session") == true)
        let system = #expect(throws: BusError.self) { try BusConnection(.system, address: bus.address) }
        #expect(system?.reason.hasPrefix("There is no system bus: ") == true)
        #expect(system?.reason.contains("Log in") == false)
    }

    @Test func `names a bus that does not answer, and goes on with it`() throws {
        for which in [BusConnection.Bus.user, .system] {
            let connection = try BusConnection(which, address: bus.address)
            connection.patience = .milliseconds(300)
            bus.stop()
            let name = which == .user ? "session" : "system"
            let unit = which == .user ? "--user status dbus" : "status dbus"
            let reason = "The \(name) bus does not answer. See what keeps it: systemctl \(unit)"
            expect(.silentBus, reason) { _ = try connection.isThere(Self.name) }
            #expect(connection.isSilent)
            expect(.silentBus, reason) { try connection.emit(Self.object, "Changed", []) }
            expect(.silentBus, reason) { _ = try connection.send(BusCall(BusCall.Object(":1.999", "/", "a.b"), "Do")) }
            bus.goOn()
            connection.patience = .seconds(30)
            while connection.isSilent { _ = try connection.receive() }
            #expect(try !connection.isThere(Self.name))
        }
    }

    @Test func `gives up a bus that does not admit it, after five seconds`() throws {
        bus.stop()
        defer { bus.goOn() }
        let (before, start) = (ProcessorTime.ofThread(), ContinuousClock.now)
        expect(.silentBus, "The session bus does not answer. See what keeps it: systemctl --user status dbus") {
            _ = try connection()
        }
        #expect(ContinuousClock.now - start >= .seconds(5))
        #expect(ProcessorTime.ofThread() - before < .seconds(1))
    }

    @Test func `waits until the bus has taken a message that is too large to be sent at once`() throws {
        let peer = try Peer(bus.address, Self.name) { _ in .values([]) }
        let connection = try connection()
        let bytes = BusValue.bytes([UInt8](repeating: 7, count: 4 << 20))
        let cookie = try connection.send(BusCall(Self.object, "Do", [bytes]))
        #expect(!connection.isSilent)
        #expect(try connection.answers(to: [cookie], within: .seconds(60))[cookie]?.isError == false)
        withExtendedLifetime(peer) {}
    }

    @Test func `answers calls, and nothing else`() throws {
        let peer = try Peer(bus.address, Self.name) { _ in .values([]) }
        let connection = try connection()
        try connection.listen(to: "sender='\(Self.name)'")
        peer.emit(Self.object, "Changed", [])
        let cookie = try connection.send(BusCall(Self.object, "Do"))
        let answer = try #require(try connection.answers(to: [cookie], within: .seconds(60))[cookie])
        var signal: ReceivedMessage?
        while signal == nil { signal = try connection.receive().flatMap { $0.sender == peer.owner ? $0 : nil } }
        for message in [answer, signal] {
            for values in [nil, [], [.string("x")]] as [[BusValue]?] {
                let error = #expect(throws: BusError.self) { try message?.answer(values) }
                #expect(error?.reason.hasPrefix("The answer can't be made: ") == true)
            }
        }
    }

    @Test func `can't be answered over when it is closed`() throws {
        var peer: BusConnection? = try connection()
        try peer?.take(Self.name)
        let caller = try connection()
        _ = try caller.send(BusCall(Self.object, "Do", [.string("x")]))
        var message: ReceivedMessage?
        while message?.isCall != true { message = try peer?.receive() }
        #expect(message?.arguments("u") == nil && message?.arguments("s") == [.string("x")])
        peer = nil
        expect(.noBus, "The connection to the bus is closed.") { try message?.answer([]) }
        expect(.noBus, "The connection to the bus is closed.") { try message?.answer(nil) }
    }
}
