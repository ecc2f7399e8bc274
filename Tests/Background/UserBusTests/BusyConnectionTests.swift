// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Glibc
import TestThreads
import Testing

@testable import UserBus

/// What a connection keeps, sends and refuses when there is much of it, or when the bus is slow.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `A connection with much to do` {
    private static let name = "org.example.App"
    private static let object = BusCall.Object(name, "/org/example/App", "org.example.App")
    private static let gone = BusCall.Object(":1.999", "/", "org.example.App")
    /// More than a socket takes at once.
    private static let large = BusValue.bytes([UInt8](repeating: 7, count: 4 << 20))
    /// More than a connection of root keeps for a bus that takes nothing.
    private static let huge = BusValue.bytes([UInt8](repeating: 7, count: 24 << 20))
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    private func connection() throws -> BusConnection { try BusConnection(.user, address: bus.address) }

    /// A connection that gets the signals of an interface, and has got nothing yet.
    private func subscriber(_ interface: String = "org.example.App") throws -> BusConnection {
        let listener = try connection()
        try listener.listen(to: "interface='\(interface)'")
        while try listener.receive() != nil {}
        return listener
    }

    /// The next message that is wanted.
    private func next(of connection: BusConnection, _ isWanted: (ReceivedMessage) -> Bool) throws -> ReceivedMessage {
        while true {
            if let message = try connection.receive() {
                if isWanted(message) { return message }
            } else {
                connection.wait(.milliseconds(5))
            }
        }
    }

    private func expect(_ reason: String, _ body: () throws -> Void) {
        let error = #expect(throws: BusError.self) { try body() }
        #expect(error?.reason.hasPrefix(reason) == true)
    }

    @Test func `keeps what comes during a call in its order, and no more than 4096 messages`() throws {
        let (sender, listener) = (try connection(), try subscriber())
        for number in UInt32(0)...4096 { try sender.emit(Self.object, "Changed", [.uint32(number)]) }
        // The bus handles what it gets in order, and delivers the signals before its answers.
        _ = try sender.ask(BusCall(.daemon, "GetId"))
        for _ in 0..<2 { _ = try listener.ask(BusCall(.daemon, "GetId")) }
        var numbers: [Int64] = []
        while let message = try listener.receive() { numbers.append(message.values().first?.integer ?? -1) }
        #expect(numbers == (0..<4096).map { Int64($0) })
    }

    @Test func `finds answers that came while it waited for others, each once, and leaves the rest`() throws {
        let peer = try Peer(bus.address, Self.name) { .values($0.values) }
        let connection = try connection()
        let cookies = try (0..<3).map { try connection.send(BusCall(Self.object, "Echo", [.uint32($0)])) }
        // The answers come in the order of the calls.
        for number in [2, 1] {
            let answers = try connection.answers(to: [cookies[number]], within: .seconds(60))
            #expect(answers.mapValues { $0.values() } == [cookies[number]: [.uint32(UInt32(number))]])
        }
        var rest: [UInt64?] = []
        while let message = try connection.receive() {
            if !message.isSignal { rest.append(message.answersTo) }
        }
        #expect(rest == [cookies[0]])
        withExtendedLifetime(peer) {}
    }

    @Test func `does not wait for another message while one waits`() throws {
        let (sender, listener) = (try connection(), try subscriber())
        try sender.emit(Self.object, "Changed", [])
        for connection in [sender, listener] { _ = try connection.ask(BusCall(.daemon, "GetId")) }
        listener.wait(.seconds(600))
        #expect(try listener.receive()?.name == "org.example.App.Changed")
    }

    @Test func `sleeps while it waits for an answer`() throws {
        let peer = try Peer(bus.address, Self.name) { _ in .silence }
        let connection = try connection()
        let cookie = try connection.send(BusCall(Self.object, "Do"))
        let before = ProcessorTime.ofThread()
        #expect(try connection.answers(to: [cookie], within: .milliseconds(300)).isEmpty)
        #expect(ProcessorTime.ofThread() - before < .milliseconds(30))
        withExtendedLifetime(peer) {}
    }

    @Test func `sends a large message whole, even when it does nothing else afterwards`() throws {
        let (sender, listener) = (try connection(), try subscriber())
        try listener.take(Self.name)
        try sender.emit(Self.object, "Large", [Self.large])
        #expect(!sender.isSilent)
        let signal = try next(of: listener) { $0.name == "org.example.App.Large" }
        #expect(signal.values() == [Self.large])
        let cookie = try sender.send(BusCall(Self.object, "Do", [Self.large]))
        let call = try next(of: listener) { $0.isCall }
        #expect(call.values() == [Self.large])
        try call.answer([Self.large])
        #expect(try sender.answers(to: [cookie], within: .seconds(60))[cookie]?.values() == [Self.large])
    }

    @Test func `keeps an answer that comes before the whole call is sent`() throws {
        let way = try EarlyAnswer(bus, from: Self.gone.destination)
        let connection = try BusConnection(.user, address: way.address)
        way.answerNext()
        let cookie = try connection.send(BusCall(Self.gone, "Do", [Self.huge]))
        #expect(try connection.answers(to: [cookie], within: .zero)[cookie]?.isError == false)
    }

    @Test(arguments: [false, true])
    func `counts a bus as silent that does not take a message in time, and loses nothing`(isClosed: Bool)
        throws
    {
        let peer = try Peer(bus.address, Self.name)
        let receiver = try subscriber("org.example.Large")
        var sender: BusConnection? = try subscriber()
        sender?.patience = .milliseconds(800)
        let huge = Self.huge
        bus.stop()
        let before = ProcessorTime.ofThread()
        try sender?.emit(BusCall.Object("", "/", "org.example.Large"), "Large", [huge])
        #expect(ProcessorTime.ofThread() - before < .milliseconds(300))
        #expect(sender?.isSilent == true)
        // From now on it does not even try.
        expect("The session bus does not answer.") { _ = try sender?.send(BusCall(Self.gone, "Do")) }
        bus.goOn()
        sender?.patience = .seconds(30)
        peer.emit(Self.object, "Changed", [])
        if isClosed {
            while sender?.isSilent == true { _ = try sender?.receive() }
        } else {
            // What ends the silence is not lost.
            let open = try #require(sender)
            while (try? open.isThere(Self.name)) == nil { usleep(1000) }
            let kept = try next(of: open) { _ in true }
            #expect(kept.name == "org.example.App.Changed")
        }
        sender = nil
        let received = try next(of: receiver) { _ in true }
        #expect(received.name == "org.example.Large.Large")
    }

    @Test func `asks a bus again that has taken all messages, although nothing came from it`() throws {
        let sender = try subscriber()
        sender.patience = .milliseconds(300)
        bus.stop()
        // The bus owes no answer to a signal.
        try sender.emit(BusCall.Object("", "/", "org.example.Large"), "Large", [Self.huge])
        #expect(sender.isSilent)
        bus.goOn()
        sender.patience = .seconds(30)
        waitWhile((try? sender.isThere(Self.name)) == nil)
        #expect(!sender.isSilent)
        #expect(try !sender.isThere(Self.name))
    }

    @Test func `takes a path of 4095 bytes, and none that is longer`() throws {
        let peer = try Peer(bus.address, Self.name) { _ in .values([]) }
        let connection = try connection()
        let paths = [4094, 4095].map { "/" + String(repeating: "a", count: $0) }
        for path in paths { _ = try connection.ask(BusCall(BusCall.Object(Self.name, path, Self.name), "Do")) }
        #expect(peer.calls.map(\.path) == [paths[0], ""])
    }

    @Test func `calls a connection by its unique name without a question to the bus`() throws {
        let connection = try connection()
        let cookie = try connection.send(BusCall(Self.gone, "Do"))
        let answer = try connection.answers(to: [cookie], within: .seconds(60))[cookie]
        #expect(answer?.error(of: "It").code == .nobody && answer?.sender == "org.freedesktop.DBus")
    }

    @Test func `says what is wrong with what can't be made, written or sent`() throws {
        let connection = try connection()
        let wrong = BusCall.Object(":1.999", "no path", "org.example.App")
        expect("The call can't be made: Invalid argument.") { _ = try connection.send(BusCall(wrong, "Do")) }
        expect("The signal can't be made: Invalid argument.") { try connection.emit(wrong, "Changed", []) }
        expect("The call can't be written: Invalid argument.") {
            _ = try connection.call(Self.gone, "Do", shownAs: "It", within: .zero) { $0.value(.list([])) }
        }
        bus.end()
        expect("The bus is gone: ") { while true { _ = try connection.receive() } }
        expect("The call can't be sent: ") { _ = try connection.send(BusCall(Self.gone, "Do")) }
        expect("The signal can't be sent: ") { try connection.emit(Self.object, "Changed", []) }
    }

    @Test func `does not take an address that it can't use for a missing desktop`() {
        let address = "unix:path=/" + String(repeating: "a", count: 200)
        let error = #expect(throws: BusError.self) { try BusConnection(.user, address: address) }
        #expect(error?.code == .refused && error?.reason.hasPrefix("There is no bus of the user: ") == true)
        #expect(error?.reason.contains("Log in") == false)
    }
}
