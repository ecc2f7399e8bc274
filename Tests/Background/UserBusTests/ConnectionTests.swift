// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Foundation
import Glibc
import TestThreads
import Testing

@testable import UserBus  // the calls of a connection are internal

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct ConnectionTests {
    private static let name = "org.example.App"
    private static let object = BusCall.Object(name, "/org/example/App", "org.example.App")
    private static let gone = BusCall.Object(":1.999", "/", "org.example.App")
    /// More than a connection of root keeps for a bus that takes nothing.
    private static let huge = BusValue.bytes([UInt8](repeating: 7, count: 24 << 20))
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    /// A connection that gets the signals of an interface, and has got nothing yet.
    private func subscriber(_ interface: String = "org.example.App") throws -> BusConnection {
        let listener = try bus.connection()
        try listener.listen(to: "interface='\(interface)'")
        _ = try listener.received()
        return listener
    }

    // MARK: Names

    @Test(arguments: [false, true], [false, true])
    func `a name is replaced only if its owner yields and the new owner replaces`(yields: Bool, replaces: Bool) throws {
        let (first, second) = (try bus.connection(), try bus.connection())
        try first.take(Self.name, yields: yields)
        #expect(try second.hasOwner(Self.name))
        if yields && replaces {
            try second.take(Self.name, replaces: true)
            let lost = try first.next { $0.name == "org.freedesktop.DBus.NameLost" }
            #expect(lost.isSignal && lost.sender == "org.freedesktop.DBus")
        } else {
            expect(.nameTaken) { try second.take(Self.name, replaces: replaces) }
            #expect(try first.ask(BusCall(.daemon, "ListQueuedOwners", [.string(Self.name)])).first?.values?.count == 1)
        }
    }

    @Test func `owner changes: reports of the bus count, the same signal from a program does not`() throws {
        let listener = try bus.connection()
        try listener.listen(to: "member='NameOwnerChanged'")
        let liar = try Peer(bus.address, "org.example.Liar")
        let lie: [BusValue] = [.string("org.example.Other"), .string(""), .string(liar.owner)]
        liar.emit(BusCall.Object("", "/org/freedesktop/DBus", "org.freedesktop.DBus"), "NameOwnerChanged", lie)
        let app = try Peer(bus.address, Self.name)
        app.stop()
        try listener.settle()
        let changes = try listener.received().compactMap { OwnerChange($0) }.filter { $0.name.hasPrefix("org.") }
        let expected = [("org.example.Liar", "", liar.owner), (Self.name, "", app.owner), (Self.name, app.owner, "")]
        #expect(changes.map { [$0.name, $0.old, $0.new] } == expected.map { [$0.0, $0.1, $0.2] })
    }

    // MARK: Calls, answers and signals

    @Test func `signals: a listener gets those of its rule with their values, and no others`() throws {
        let peer = try Peer(bus.address, Self.name)
        let listener = try bus.connection()
        try listener.listen(to: "sender='\(Self.name)',member='Wanted'")
        peer.emit(Self.object, "Other", [.string("no")])
        peer.emit(Self.object, "Wanted", [.string("yes"), .uint32(1)])
        let signal = try listener.next { $0.sender == peer.owner }
        #expect(signal.name == "org.example.App.Wanted" && signal.path == "/org/example/App" && signal.isSignal)
        #expect(signal.values() == [.string("yes"), .uint32(1)] && signal.answersTo == nil)
        expect(.refused) { try listener.listen(to: "no rule") }
    }

    @Test func `calls: a missing, refusing, ended or silent program is nobody, noMethod, refused or noAnswer`() throws {
        let connection = try bus.connection()
        #expect(try !connection.hasOwner(Self.name))
        expect(.nobody) { try connection.ask(BusCall(Self.object, "Do")) }
        expect(.nobody) { try connection.send(BusCall(Self.object, "Do")) }
        let rows: [(Peer.Answer, BusError.Code)] = [
            (.unknown, .noMethod), (.refusal("UnknownMethod", "No"), .noMethod), (.refusal("Failed", "Why?"), .refused),
            (.refusal("TimedOut", "Late."), .noAnswer), (.end, .noAnswer),
        ]
        for (answer, code) in rows {
            let peer = try Peer(bus.address, Self.name) { _ in answer }
            expect(code, "\(answer)") { try connection.ask(BusCall(Self.object, "Do"), within: .seconds(60)) }
            #expect(peer.methods == ["Do"] && !connection.isSilent)
        }
        let peer = try Peer(bus.address, Self.name) { _ in .silence }
        expect(.noAnswer) { try connection.ask(BusCall(Self.object, "Do"), within: .seconds(0)) }
        #expect(try connection.hasOwner(Self.name))
        withExtendedLifetime(peer) {}
    }

    @Test func `answers: found by the number of their call in any order, and other messages are kept`() throws {
        let peer = try Peer(bus.address, Self.name) { $0.values == [.uint32(1)] ? .silence : .values($0.values) }
        let (connection, other) = (try bus.connection(), try bus.connection())
        try connection.take("org.example.Caller")
        let cookies = try (0..<5).map { try connection.send(BusCall(Self.object, "Echo", [.uint32($0)])) }
        #expect(Set(cookies).count == 5)
        _ = try other.send(BusCall(BusCall.Object("org.example.Caller", "/", "org.example.Caller"), "Ring"))
        // The answers arrive in the order of the calls. The wait for the last one keeps the others.
        for number in [3, 2] {
            #expect(try connection.answer(to: cookies[number]).values() == [.uint32(UInt32(number))])
        }
        let both = try connection.answers(to: [cookies[0], cookies[4]], within: .seconds(60))
        #expect(both.mapValues { $0.values() } == [cookies[0]: [.uint32(0)], cookies[4]: [.uint32(4)]])
        #expect(try connection.answers(to: [cookies[1]], within: .zero).isEmpty)
        let call = try connection.next { $0.isCall }
        #expect(call.name == "org.example.Caller.Ring" && call.answersTo == nil)
        #expect(peer.calls.count == 5)
    }

    @Test func `answers: a late one does not answer the next call`() throws {
        let (program, caller) = (try bus.connection(), try bus.connection())
        try program.take(Self.name)
        expect(.noAnswer) { try caller.ask(BusCall(Self.object, "First"), within: .seconds(0)) }
        let first = try program.next { $0.isCall }
        let cookie = try caller.send(BusCall(Self.object, "Second"))
        let second = try program.next { $0.isCall }
        try first.answer([.string("late")])
        try second.answer([.string("in time")])
        #expect(try caller.answer(to: cookie).values() == [.string("in time")])
        let rest = try caller.received().filter { !$0.isSignal }
        #expect(rest.map { $0.values() } == [[.string("late")]] && rest.first?.answersTo != cookie)
    }

    @Test func `messages during a call: 4096 are kept in their order, the next is dropped`() throws {
        let (sender, listener) = (try bus.connection(), try subscriber())
        for number in UInt32(0)...4096 { try sender.emit(Self.object, "Changed", [.uint32(number)]) }
        try sender.settle()
        for _ in 0..<2 { try listener.settle() }
        // No wait while one is kept.
        listener.wait(.seconds(600))
        let numbers = try listener.received().map { $0.values().first?.integer ?? -1 }
        #expect(numbers == (0..<4096).map { Int64($0) })
    }

    @Test func `large messages: more than a socket takes at once is sent whole`() throws {
        let large = BusValue.bytes([UInt8](repeating: 7, count: 4 << 20))
        let (sender, listener) = (try bus.connection(), try subscriber())
        try listener.take(Self.name)
        try sender.emit(Self.object, "Large", [large])
        #expect(!sender.isSilent)
        #expect(try listener.next { $0.name == "org.example.App.Large" }.values() == [large])
        let cookie = try sender.send(BusCall(Self.object, "Do", [large]))
        let call = try listener.next { $0.isCall }
        #expect(call.values() == [large])
        try call.answer([large])
        #expect(try sender.answer(to: cookie).values() == [large])
    }

    @Test func `answering: a signal or an answer can't be answered, nor a call after the connection closed`() throws {
        var program: BusConnection? = try bus.connection()
        try program?.take(Self.name)
        let caller = try subscriber()
        let cookie = try caller.send(BusCall(Self.object, "Do", [.string("x")]))
        let call = try #require(try program?.next { $0.isCall })
        #expect(call.arguments("u") == nil && call.arguments("s") == [.string("x")])
        try program?.emit(Self.object, "Changed", [])
        try call.answer([])
        let answer = try caller.answer(to: cookie)
        let signal = try caller.next { $0.isSignal && $0.name.hasSuffix("Changed") }
        for message in [answer, signal] {
            for values in [nil, [], [.string("x")]] as [[BusValue]?] {
                #expect(throws: BusError.self) { try message.answer(values) }
            }
        }
        program = nil
        expect(.noBus) { try call.answer([]) }
        expect(.noBus) { try call.answer(nil) }
    }

    @Test func `calls and signals with invalid paths or values are refused`() throws {
        let connection = try bus.connection()
        let wrong = BusCall.Object(":1.999", "no path", "org.example.App")
        expect(.refused) { try connection.send(BusCall(wrong, "Do")) }
        expect(.refused) { try connection.emit(wrong, "Changed", []) }
        expect(.refused) { try connection.send(BusCall(Self.gone, "Do", [.list([])])) }
        let answer = try connection.answer(to: try connection.send(BusCall(Self.gone, "Do")))
        #expect(answer.error(of: "It").code == .nobody)
    }

    // MARK: The bus itself

    @Test func `bus ended: every call reports noBus, and no new connection is made`() throws {
        let connection = try bus.connection()
        bus.end()
        expect(.noBus) { while true { _ = try connection.receive() } }
        expect(.noBus) { try connection.send(BusCall(Self.gone, "Do")) }
        expect(.noBus) { try connection.emit(Self.object, "Changed", []) }
        // Only the user's bus can be started by logging in.
        for (which, isUser) in [(BusConnection.Bus.user, true), (.system, false)] {
            let error = #expect(throws: BusError.self) { try BusConnection(which, address: bus.address) }
            #expect(error?.code == .noBus && error?.reason.contains("dbus-run-session") == isUser)
        }
        // An empty address is none, and nothing refused a connection.
        let unnamed = #expect(throws: BusError.self) { try BusConnection(.user, address: "") }
        #expect(unnamed?.code == .noBus && unnamed?.reason.contains("no address") == true)
        let address = "unix:path=/" + String(repeating: "a", count: 200)
        expect(.refused) { try BusConnection(.user, address: address) }
    }

    @Test func `silent bus: each call fails at once with silentBus until the bus answers again`() throws {
        for which in [BusConnection.Bus.user, .system] {
            let connection = try BusConnection(which, address: bus.address, patience: .milliseconds(50))
            bus.stop()
            expect(.silentBus) { try connection.hasOwner(Self.name) }
            #expect(connection.isSilent)
            expect(.silentBus) { try connection.emit(Self.object, "Changed", []) }
            expect(.silentBus) { try connection.send(BusCall(Self.gone, "Do")) }
            expect(.silentBus) { try bus.connection(patience: .milliseconds(50)) }
            bus.goOn()
            connection.patience = .seconds(30)
            while connection.isSilent { _ = try connection.receive() }
            #expect(try !connection.hasOwner(Self.name))
        }
    }

    @Test(arguments: [false, true])
    func `silent bus: a large signal arrives later, even if the sender closes`(isClosed: Bool) throws {
        let receiver = try subscriber("org.example.Large")
        var sender: BusConnection? = try subscriber()
        sender?.patience = .milliseconds(100)
        bus.stop()
        try sender?.emit(BusCall.Object("", "/", "org.example.Large"), "Large", [Self.huge])
        #expect(sender?.isSilent == true)
        expect(.silentBus) { _ = try sender?.send(BusCall(Self.gone, "Do")) }
        bus.goOn()
        sender?.patience = .seconds(30)
        let open = try #require(sender)
        if isClosed {
            while open.isSilent { _ = try open.receive() }
        } else {
            // The bus owes no answer to a signal. It is asked again when it has taken all.
            waitWhile((try? open.hasOwner(Self.name)) == nil)
            #expect(!open.isSilent)
        }
        sender = nil
        #expect(try receiver.next { _ in true }.name == "org.example.Large.Large")
    }

    @Test func `memory of messages is released after they were sent, received, answered and refused`() async throws {
        await #expect(processExitsWith: .success) { [address = bus.address as String] in
            func pages() throws -> Int {
                let sizes = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
                return try #require(Int(sizes[5]))
            }
            let caller = try BusConnection(.user, address: address)
            let service = try BusConnection(.user, address: address)
            try service.take("org.example.App")
            let object = BusCall.Object(try caller.owner(of: "org.example.App"), "/", "org.example.App")
            let bytes = BusValue.bytes([UInt8](repeating: 7, count: 1 << 20))
            let text = String(repeating: "x", count: 1 << 20)
            func use(_ rounds: Int) throws {
                for number in 0..<rounds {
                    let cookie = try caller.send(BusCall(object, "Do", [bytes]))
                    let call = try service.next { $0.isCall }
                    if number % 2 == 0 {
                        try call.answer([bytes])
                    } else {
                        try call.refuse("Failed", text)
                    }
                    _ = try caller.answer(to: cookie)
                    try caller.emit(object, "Changed", [bytes])
                }
            }
            try use(8)
            let before = try pages()
            try use(64)
            // 32 leaked messages of one MiB would be 8192 pages. The stack of a thread that begins meanwhile has 2000.
            #expect(try pages() < before + 6000)
        }
    }
}

struct BusErrorTests {
    @Test func `errno of a failed bus call: mapped to noBus, nameTaken, noAnswer, silentBus or refused`() {
        let rows: [(BusError.Code, [CInt])] = [
            (.noBus, [ENOENT, ECONNREFUSED, ECONNRESET, ENOTCONN, EPIPE, ENOMEDIUM]), (.nameTaken, [EEXIST, EALREADY]),
            (.noAnswer, [ETIMEDOUT]), (.silentBus, [EAGAIN]), (.refused, [EINVAL, EPERM]),
        ]
        for (code, numbers) in rows {
            for number in numbers { #expect(BusError(number: -number, "It fails").code == code, "\(number)") }
        }
    }

    @Test func `error name of a bus reply: mapped to nobody, noMethod, noAnswer or refused, the reason is a sentence`()
    {
        let rows: [(BusError.Code, [String])] = [
            (.nobody, ["ServiceUnknown", "NameHasNoOwner"]),
            (.noMethod, ["UnknownMethod", "UnknownInterface", "UnknownObject"]),
            (.noAnswer, ["NoReply", "Timeout", "TimedOut"]), (.refused, ["AccessDenied"]),
        ]
        for (code, names) in rows {
            for name in names {
                let error = BusError(answer: "org.freedesktop.DBus.Error." + name, "No", of: "It")
                #expect(error.code == code && error.reason.hasSuffix(": No."), "\(name)")
            }
        }
        for text in ["No.", "No!", "No?"] { #expect(BusError(answer: "x", text, of: "It").reason.hasSuffix(text)) }
    }

    @Test func `libsystemd: a missing library and a missing function are reported`() throws {
        try LibSystemd.check(missing: nil)
        for name in ["", "sd_bus_wait"] { expect(.libraryMissing) { try LibSystemd.check(missing: name) } }
    }

    @Test func `bus timeout: at least one microsecond; deadline: nothing is left after it`() {
        let limits: [Duration] = [
            .seconds(2), .microseconds(3), .nanoseconds(1999), .nanoseconds(1), .zero, .seconds(-1),
        ]
        #expect(limits.map(BusConnection.microseconds) == [2_000_000, 3, 1, 1, 1, 1])
        #expect(Deadline(after: .zero).left == nil && Deadline(after: .seconds(-1)).left == nil)
        let left = Deadline(after: .seconds(60)).left ?? .zero
        #expect(left > .zero && left <= .seconds(60))
    }
}

/// Whose answer to a call counts: that of the called connection, and errors of the bus.
struct ReplyLedgerTests {
    /// A script: `7>4` calls `:1.4` with the number 7, `7<4` is its answer, `7!4` its error, `bus` the bus itself.
    /// A `-` before an answer means that it does not count.
    @Test(arguments: [
        "7>4 -7<5 -7!5 -7<42 -7< 7<4 -7<4", "7>4 -7<bus 7!bus", "8>bus -8!4 8<bus", "7>4 -8<4 -6!bus", "7<4",
    ]) func `reply to a call: counts once, and only from the called connection; an error also from the bus`(
        script: String
    ) throws {
        var ledger = ReplyLedger()
        for step in script.split(separator: " ") {
            let isRefused = step.hasPrefix("-") || script == "7<4"
            let words = step.drop { $0 == "-" }
            let cookie = try #require(UInt64(words.prefix(1)))
            let who = words.dropFirst(2)
            let name = who == "bus" ? ReplyLedger.daemon : who.isEmpty ? "" : ":1.\(who)"
            switch words.dropFirst().first {
            case ">": ledger.note(cookie, to: name)
            case let sign:
                let isTaken = ledger.take(cookie, from: name, isError: sign == "!")
                #expect(isTaken != isRefused, "\(step)")
            }
        }
    }

    @Test func `reply ledger: the bus owes replies until the last one was taken`() {
        var ledger = ReplyLedger()
        for cookie: UInt64 in 7...8 { ledger.note(cookie, to: ReplyLedger.daemon) }
        for cookie: UInt64 in 7...8 {
            #expect(ledger.awaits(ReplyLedger.daemon) && !ledger.awaits(":1.4"))
            _ = ledger.take(cookie, from: ReplyLedger.daemon, isError: false)
        }
        #expect(!ledger.awaits(ReplyLedger.daemon))
    }

    @Test func `1024 unanswered calls are known, and the oldest is forgotten first`() {
        var ledger = ReplyLedger()
        for cookie: UInt64 in 0..<1024 { ledger.note(cookie, to: ":1.4") }
        let first = [1, 3].map { ledger.take($0, from: ":1.4", isError: false) }
        // Two take the places of answered calls, and the third that of the oldest.
        for cookie: UInt64 in 1024...1026 { ledger.note(cookie, to: ":1.4") }
        let second = [0, 2, 4, 1026].map { ledger.take($0, from: ":1.4", isError: false) }
        #expect(first == [true, true] && second == [false, true, true, true])
    }
}
