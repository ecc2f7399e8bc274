// SPDX-License-Identifier: Apache-2.0
import BusTesting
import CSDBus
import TestThreads
import Testing

@testable import UserBus  // the values of messages are internal

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct ValueTests {
    private static let name = "org.example.App"
    private static let object = BusCall.Object(name, "/org/example/App", "org.example.App")
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    private func ask(_ values: [BusValue] = [], _ answer: @escaping @Sendable (Peer.Call) -> Peer.Answer) throws
        -> [BusValue]
    {
        let peer = try Peer(bus.address, Self.name, answer: answer)
        defer { withExtendedLifetime(peer) {} }
        return try bus.connection().ask(BusCall(Self.object, "Echo", values), within: .seconds(60))
    }

    @Test func `values of each type are received as they were sent, with the name and object of the call`() throws {
        let all: [BusValue] = [
            .string(""), .string("Grüße"), .path("/a/b"), .boolean(true), .boolean(false), .byte(0), .byte(255),
            .int32(.min), .int32(7), .uint32(.max), .bytes([]), .bytes([1, 0, 255]), .properties([:]),
            .properties([
                "a": .string("x"), "b": .boolean(true), "c": .bytes([1]), "d": .properties(["e": .uint32(5)]),
                "f": .path("/"), "g": .byte(1), "h": .int32(-1),
            ]),
        ]
        let peer = try Peer(bus.address, Self.name) { .values($0.values) }
        let connection = try bus.connection()
        for value in all { #expect(try connection.ask(BusCall(Self.object, "Echo", [value])) == [value]) }
        #expect(try connection.ask(BusCall(Self.object, "Echo", all)) == all)
        #expect(peer.calls.last == .init(name: "org.example.App.Echo", path: "/org/example/App", values: all))
    }

    @Test func `lists of texts are received as lists, also in properties`() throws {
        let sent: [BusValue] = [.strings(["a", ""]), .strings([]), .properties(["x": .strings(["b"])])]
        let received: [BusValue] = [
            .list([.string("a"), .string("")]), .list([]), .properties(["x": .list([.string("b")])]),
        ]
        #expect(try ask(sent) { $0.values == received ? .values(sent) : .unknown } == received)
    }

    @Test
    func `numbers and lists, which can only be received: sending one in a call, signal or answer throws BusError`()
        throws
    {
        let program = try bus.connection()
        try program.take(Self.name)
        let caller = try bus.connection()
        for value in [BusValue.number(1), .list([]), .list([.string("x")])] {
            for values in [[value], [.string("a"), value], [value, .string("a")], [.properties(["a": value])]] {
                #expect(throws: BusError.self) { try caller.send(BusCall(Self.object, "Echo", values)) }
                #expect(throws: BusError.self) { try caller.emit(Self.object, "Changed", values) }
            }
        }
        let cookie = try caller.send(BusCall(Self.object, "Right"))
        let call = try program.next { $0.isCall }
        #expect(call.name == "org.example.App.Right")
        #expect(throws: BusError.self) { try call.answer([.string("a"), .list([])]) }
        try call.refuse("Failed", "It can't be written.")
        #expect(try caller.answer(to: cookie).isError)
    }

    @Test func `structures and arrays of a foreign program, also nested and in variants: read as lists`() throws {
        let pair = BusValue.structure(pairValues)
        let rows: [(BusValue, BusValue)] = [
            (.array(of: "(sb)", [pair]), .list([.list(pairValues)])), (pair, .list(pairValues)),
            (.structure([.string("n"), .variant(.uint32(1))]), .list([.string("n"), .uint32(1)])),
            (.structure([.array(of: "v", [.variant(pair)])]), .list([.list([.list(pairValues)])])),
            (.array(of: "u", []), .list([])),
        ]
        for (sent, value) in rows { #expect(try ask { _ in .values([sent]) } == [value]) }
    }

    private let pairValues: [BusValue] = [.string("a"), .boolean(true)]

    @Test func `numbers of every size are read as one type, fractions are rounded`() throws {
        // The letters of types are those of the D-Bus Specification 0.38, Type System.
        let rows: [(Unicode.Scalar, UInt64, Int64)] = [
            ("n", 0x8000, -32768), ("n", 0x7FFF, 32767), ("q", 0xFFFF, 65535), ("x", 1 << 63, .min), ("t", 7, 7),
            ("t", .max, .max), ("d", 2.5.bitPattern, 3), ("d", (-2.5).bitPattern, -3), ("d", 1e300.bitPattern, 0),
            ("d", Double.infinity.bitPattern, 0), ("d", Double.nan.bitPattern, 0),
        ]
        for (type, bits, number) in rows {
            let values = try ask { _ in .number(type, bits) }
            #expect(values == [.number(number)], "\(type) \(bits)")
        }
    }

    @Test(arguments: [1, 15, 16, 20]) func `nested values: 15 levels are read, 16 are not`(depth: Int) throws {
        var (sent, received) = (BusValue.string("x"), BusValue.string("x"))
        for _ in 0..<depth { (sent, received) = (.structure([sent]), .list([received])) }
        let answer = Peer.Answer.values([sent])
        if depth < 16 {
            #expect(try ask { _ in answer } == [received])
        } else {
            expect(.badMessage) { try ask { _ in answer } }
        }
    }

    @Test func `size of a received message: 2^14 values and 2^24 bytes are read, one more is badMessage`() throws {
        let most = [String](repeating: "", count: (1 << 14) - 1)
        #expect(try ask { _ in .values([.strings(most)]) }.first?.values?.count == most.count)
        let size = (1 << 24) + 1
        let rows: [BusValue] = [
            .strings(most + [""]), .string(String(repeating: "x", count: size)),
            .bytes([UInt8](repeating: 1, count: size)),
        ]
        for value in rows { expect(.badMessage) { try ask { _ in .values([value]) } } }
        for sizes in [[1 << 24], [1 << 23, 0, 1 << 23], [(1 << 24) - 1, 1]] {
            var budget = BusMessageReader.Budget()
            let taken = (sizes + [1]).map { budget.take($0) }
            #expect(taken == sizes.map { _ in true } + [false], "\(sizes)")
        }
    }
}
