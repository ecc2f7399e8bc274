// SPDX-License-Identifier: Apache-2.0
import BusTesting
import CSDBus
import TestThreads
import Testing

@testable import UserBus

/// What is sent in a message is what is received.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `Values of messages` {
    private static let object = BusCall.Object("org.example.App", "/org/example/App", "org.example.App")
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    private func ask(_ values: [BusValue] = [], _ answer: @escaping @Sendable (Peer.Call) -> Peer.Answer) throws
        -> [BusValue]
    {
        let peer = try Peer(bus.address, "org.example.App", answer: answer)
        defer { withExtendedLifetime(peer) {} }
        return try BusConnection(.user, address: bus.address).ask(BusCall(Self.object, "Echo", values), within: 60)
    }

    private static let all: [BusValue] = [
        .string(""), .string("Grüße"), .path("/a/b"), .boolean(true), .boolean(false), .byte(0), .byte(255),
        .int32(.min), .int32(7), .uint32(.max), .bytes([]), .bytes([1, 0, 255]), .properties([:]),
        .properties([
            "a": .string("x"), "b": .boolean(true), "c": .bytes([1]), "d": .properties(["e": .uint32(5)]),
            "f": .path("/"), "g": .byte(1), "h": .int32(-1),
        ]),
    ]

    @Test(arguments: all) func `arrive as they were sent`(value: BusValue) throws {
        #expect(try ask([value]) { .values($0.values) } == [value])
    }

    @Test func `arrive all, in order, with the name and the object of the call`() throws {
        let peer = try Peer(bus.address, "org.example.App") { .values($0.values) }
        let connection = try BusConnection(.user, address: bus.address)
        #expect(try connection.ask(BusCall(Self.object, "Echo", Self.all)) == Self.all)
        #expect(peer.calls == [.init(name: "org.example.App.Echo", path: "/org/example/App", values: Self.all)])
    }

    @Test func `of a list of texts are a list, also in properties`() throws {
        let sent: [BusValue] = [.strings(["a", ""]), .strings([]), .properties(["x": .strings(["b"])])]
        let received: [BusValue] = [
            .list([.string("a"), .string("")]), .list([]), .properties(["x": .list([.string("b")])]),
        ]
        let values = try ask(sent) { call in call.values == received ? .values(sent) : .refusal("No", "\(call.values)")
        }
        #expect(values == received)
        #expect(values.first?.values?.first?.text == "a" && values.last?.members?["x"]?.values?.count == 1)
    }

    @Test func `that can only be received are not sent, and nothing goes out`() throws {
        let peer = try Peer(bus.address, "org.example.App") { .values($0.values) }
        let connection = try BusConnection(.user, address: bus.address)
        for value in [BusValue.number(1), .list([]), .list([.string("x")])] {
            for values in [[value], [.string("a"), value], [value, .string("a")], [.properties(["a": value])]] {
                let error = #expect(throws: BusError.self) { try connection.send(BusCall(Self.object, "Echo", values)) }
                #expect(error?.reason.hasPrefix("The message can't be written: ") == true)
                #expect(throws: BusError.self) { try connection.emit(Self.object, "Changed", values) }
            }
        }
        #expect(try connection.ask(BusCall(Self.object, "Echo")) == [])
        #expect(peer.calls.count == 1)
    }

    @Test func `of an answer that can't be written are no answer`() throws {
        let peer = try BusConnection(.user, address: bus.address)
        try peer.take("org.example.App")
        let caller = try BusConnection(.user, address: bus.address)
        let cookie = try caller.send(BusCall(Self.object, "Echo"))
        var message: ReceivedMessage?
        while message?.isCall != true { message = try peer.receive() }
        #expect(throws: BusError.self) { try message?.answer([.string("a"), .list([])]) }
        try message?.refuse("Failed", "It can't be written.")
        let answer = try #require(try caller.answers(to: [cookie], within: .seconds(60))[cookie])
        #expect(answer.isError && !answer.isCall && !answer.isSignal)
    }

    @Test func `that a program answers are read by their types`() throws {
        let written: [(@Sendable (inout BusMessageWriter) -> Void, BusValue)] = [
            (
                {
                    $0.structure("su") {
                        $0.string("a"); $0.number(7)
                    }
                }, .list([.string("a"), .uint32(7)])
            ),
            (
                {
                    $0.array(of: "(sb)") {
                        $0.structure("sb") {
                            $0.string("a"); $0.boolean(true)
                        }
                    }
                },
                .list([.list([.string("a"), .boolean(true)])])
            ),
            ({ $0.texts(["b": "2", "a": "1"]) }, .properties(["a": .string("1"), "b": .string("2")])),
            ({ $0.property("n", "u") { $0.number(1) } }, .list([.string("n"), .uint32(1)])),
            (
                { $0.array(of: "{sv}") { $0.entry("n", "b") { $0.boolean(false) } } },
                .properties(["n": .boolean(false)])
            ),
            ({ $0.array(of: "u") }, .list([])),
        ]
        for (write, value) in written { #expect(try ask { _ in .written(write) } == [value]) }
    }

    @Test func `of every size are read as one number`() throws {
        func read<Number: FixedWidthInteger & Sendable>(_ type: UInt8, _ number: Number) throws -> BusValue? {
            try ask { _ in
                .written { writer in
                    var number = number
                    writer.note(unsafe ocn_bus_message_append_basic(writer.message, CChar(type), &number))
                }
            }.first
        }
        let (n, q, x, t) = (UInt8(ascii: "n"), UInt8(ascii: "q"), UInt8(ascii: "x"), UInt8(ascii: "t"))
        #expect(try read(n, Int16.min) == .number(-32768) && read(n, Int16.max) == .number(32767))
        #expect(try read(q, UInt16.max) == .number(65535) && read(x, Int64.min) == .number(.min))
        #expect(try read(t, UInt64(7)) == .number(7) && read(t, UInt64.max) == .number(.max))
        // What is no whole number is rounded, and what is no number is zero.
        for (value, number) in [(2.5, 3), (-2.5, -3), (1e300, 0), (.infinity, 0), (.nan, 0)] as [(Double, Int64)] {
            #expect(try read(UInt8(ascii: "d"), value.bitPattern) == .number(number), "\(value)")
        }
    }

    @Test(arguments: [1, 15, 16, 20]) func `are read down to a bounded depth`(depth: Int) throws {
        @Sendable func signature(_ depth: Int) -> String {
            depth == 0 ? "s" : "(" + signature(depth - 1) + ")"
        }
        @Sendable func write(_ writer: inout BusMessageWriter, _ depth: Int) {
            guard depth > 0 else { return writer.string("x") }
            writer.structure(signature(depth - 1)) { write(&$0, depth - 1) }
        }
        var value = BusValue.string("x")
        for _ in 0..<depth { value = .list([value]) }
        if depth < 16 {
            #expect(try ask { _ in .written { write(&$0, depth) } } == [value])
        } else {
            let error = #expect(throws: BusError.self) { try ask { _ in .written { write(&$0, depth) } } }
            #expect(error?.code == .badMessage)
            #expect(error?.reason == "org.example.App answers with values that can't be read.")
        }
    }

    @Test func `are read up to a number of values and of bytes`() {
        var budget = BusMessageReader.Budget()
        let count = (0...(1 << 14)).count { _ in budget.takeValue() }
        #expect(count == 1 << 14)
        // None is taken twice, and one value alone may be too large.
        for sizes in [[1 << 24], [1 << 23, 0, 1 << 23], [(1 << 24) - 1, 1]] {
            for rest in [1, Int.max] {
                var budget = BusMessageReader.Budget()
                let areTaken = sizes.map { budget.take($0) }
                let isRestTaken = budget.take(rest)
                #expect(areTaken.allSatisfy(\.self) && !isRestTaken)
            }
        }
    }

    @Test func `are not read at all when they are too many or too large`() throws {
        let most = [String](repeating: "", count: (1 << 14) - 1)
        #expect(try ask { _ in .values([.strings(most)]) }.first?.values?.count == most.count)
        let size = (1 << 24) + 1
        for value in [
            BusValue.strings(most + [""]), .string(String(repeating: "x", count: size)),
            .bytes([UInt8](repeating: 1, count: size)),
        ] {
            let error = #expect(throws: BusError.self) { try ask { _ in .values([value]) } }
            #expect(error?.code == .badMessage)
        }
    }

    @Test func `have the one property that their kind has`() {
        let values: [BusValue] = [
            .string("a"), .path("/"), .boolean(true), .byte(1), .int32(-1), .uint32(2), .number(3), .bytes([1]),
            .strings(["a"]), .properties(["a": .byte(1)]), .list([.byte(1)]),
        ]
        #expect(values.map(\.text) == ["a", "/"] + Array(repeating: nil, count: 9))
        #expect(values.map(\.isTrue) == [nil, nil, true] + Array(repeating: nil, count: 8))
        #expect(values.map(\.integer) == [nil, nil, nil, 1, -1, 2, 3, nil, nil, nil, nil])
        #expect(values.map(\.values) == Array(repeating: nil, count: 10) + [[.byte(1)]])
        #expect(values.map(\.members) == Array(repeating: nil, count: 9) + [["a": .byte(1)], nil])
        #expect(values.map(\.signature) == ["s", "o", "b", "y", "i", "u", "x", "ay", "as", "a{sv}", "x"])
    }
}
