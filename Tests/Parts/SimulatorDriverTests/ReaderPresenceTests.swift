// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime
import NFCTestKit
import SimulatorDriver
import SimulatorTesting
import TagLink
import Testing
import VirtualTags

@Suite(.timeLimit(.minutes(5))) struct `The tags that come to the reader of a simulator` {
    private static let reqA = Frame(bits: [0x26], validBitsInLastByte: 7)

    @Test func `reports tags that come, and their arrivals on its own thread`() async throws {
        let field = VirtualField()
        let simulator = FakeSimulator.serving(field)
        let reader = simulator.reader
        try await reader.prepare()
        let uid: [UInt8] = [0x04, 1, 2, 3, 4, 5, 6]
        let arrivals = AsyncStream.makeStream(of: UInt64?.self)
        let observation = reader.observePresence { [weak reader] in
            arrivals.continuation.yield(reader?.arrival(of: uid))
        }
        #expect(observation != nil)
        defer { withExtendedLifetime(observation) {} }
        var numbers = arrivals.stream.makeAsyncIterator()
        let tag = VirtualType2Tag(.ntag213, uid: uid)
        field.bring(tag)
        let first = try #require(await numbers.next() ?? nil)
        #expect(await reader.isStillNear(uid, since: first))
        field.remove(tag)
        #expect(await numbers.next() == .some(nil))
        #expect(await !reader.isStillNear(uid, since: first))
        field.bring(tag)
        let second = try #require(await numbers.next() ?? nil)
        #expect(second != first)
        #expect(simulator.lines.count { $0.contains("watch") } == 1)
    }

    @Test func `asks for news of tags again when the simulator runs again`() async throws {
        let simulator = FakeSimulator.serving(VirtualField())
        let reader = simulator.reader
        try await reader.prepare()
        let observation = reader.observePresence {}
        #expect(observation != nil)
        // What comes before the answer to this has been sent before it.
        try await reader.setCarrier(true)
        #expect(simulator.lines.count { $0.contains("\"watch\"") } == 1)
        try await simulator.restart(for: reader)
        #expect(simulator.lines.count { $0.contains("\"watch\"") } == 2)
        withExtendedLifetime(observation) {}
    }

    @Test func `forgets the arrivals of a simulator that has ended`() async throws {
        let runs = Locked<Int>(0)
        let simulator = FakeSimulator { _, request in
            if request["hello"] != nil {
                runs.withLock { $0 += 1 }
                return [FakeSimulator.greeting]
            }
            guard let id = request["id"] else { return [] }
            guard request["do"] as? String == "arrival" else { return [#"{"id":\#(id)}"#] }
            return [#"{"id":\#(id),"arrival":\#(runs.withLock { $0 })}"#]
        }
        let reader = simulator.reader
        try await reader.prepare()
        let arrivals = AsyncStream.makeStream(of: UInt64?.self)
        let observation = reader.observePresence { [weak reader] in
            arrivals.continuation.yield(reader?.arrival(of: [1, 2, 3, 4]))
        }
        #expect(observation != nil)
        var numbers = arrivals.stream.makeAsyncIterator()
        try await reader.setCarrier(true)
        simulator.push(#"{"event":"presence"}"#)
        #expect(await numbers.next() == .some(1))
        simulator.end()
        #expect(await numbers.next() == .some(2))
        withExtendedLifetime(observation) {}
    }

    @Test func `keeps events that come during an exchange`() async throws {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            guard request["do"] as? String == "frame" else { return [#"{"id":\#(id)}"#] }
            return [
                #"{"event":"presence"}"#, #"{"event":"unknown"}"#, #"{"id":\#(id),"bytes":"4400","checksum":"none"}"#,
            ]
        }
        let reader = simulator.reader
        let events = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { events.continuation.yield() }
        #expect(observation != nil)
        defer { withExtendedLifetime(observation) {} }
        let link = try #require(reader.link(for: .nfcA))
        #expect(try await link.transceive(Self.reqA, timeout: .milliseconds(1)).bytes == [0x44, 0x00])
        for await _ in events.stream { break }
    }

    @Test func `lets go of what a handler holds, also of another observation`() {
        let reader = FakeSimulator.serving(VirtualField()).reader
        var inner = reader.observePresence {}
        weak var held = inner
        var outer = reader.observePresence { [inner] in withExtendedLifetime(inner) {} }
        inner = nil
        #expect(held != nil && outer != nil)
        outer = nil
        #expect(held == nil)
        inner = reader.observePresence {}
        held = inner
        for (state, isHeld) in [("ready", true), ("dismissed", false)] {
            reader.showSheet(state: state, title: "", message: "", showsErrorSymbol: false) { [inner] in
                withExtendedLifetime(inner) {}
            }
            inner = nil
            #expect((held != nil) == isHeld)
        }
    }

    @Test func `tells observers that the simulator has ended`() async throws {
        let simulator = FakeSimulator.serving(VirtualField())
        let reader = simulator.reader
        try await reader.prepare()
        let events = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { events.continuation.yield() }
        #expect(observation != nil)
        defer { withExtendedLifetime(observation) {} }
        simulator.end()
        for await _ in events.stream { break }
    }
}
