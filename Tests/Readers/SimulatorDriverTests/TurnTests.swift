// SPDX-License-Identifier: Apache-2.0
import SimulatorDriver
import SimulatorTesting
import TagLink
import Testing
import VirtualTags

/// What an app waits for at a simulator beside its exchanges: its turn, and news of tags.
@Suite(.timeLimit(.minutes(5))) struct TurnTests {
    private static let hasEnded = "The simulator has ended. Start it with: nfc simulator"

    // MARK: Turns

    @Test func `claim that waits: frames are answered meanwhile, and a grant or error also arrives during an exchange`()
        async throws
    {
        let simulator = FakeSimulator.answering()
        let reader = simulator.reader
        let claim = Task { try await reader.claimTurn() }
        let id = try await simulator.receives("claim")
        try await reader.ask()
        simulator.push(#"{"id":\#(id),"granted":true}"#)
        try await claim.value
        // The next one has an answer of its own, which comes in an exchange.
        let next = Task { try await reader.claimTurn() }
        let number = try await simulator.receives("claim", times: 2)
        #expect(number > id)
        simulator.push(#"{"id":\#(number),"error":"in-use","message":"Another app reads."}"#)
        try await reader.ask()
        let error = await #expect(throws: LinkError.self) { try await next.value }
        #expect(error?.code == .inUse && error?.reason == "Another app reads.")
        #expect(simulator.count("hello") == 1 && simulator.count("release") == 0)
    }

    @Test func `cancelled claim: released, and its late answer is ignored once`() async throws {
        let simulator = FakeSimulator.answering()
        let reader = simulator.reader
        let claim = Task { try await reader.claimTurn() }
        let id = try await simulator.receives("claim")
        claim.cancel()
        await #expect(throws: LinkError(.cancelled, "")) { try await claim.value }
        try await simulator.receives("release")
        simulator.push(#"{"id":\#(id),"granted":true}"#)
        try await reader.ask()
        #expect(simulator.count("hello") == 1)
        // A second answer is one to a request that was not made, which no simulator sends.
        let (news, events) = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { events.yield() }
        simulator.push(#"{"id":\#(id),"granted":true}"#)
        for await _ in news { break }
        try await reader.ask()
        #expect(simulator.count("hello") == 2)
        withExtendedLifetime(observation) {}
    }

    @Test func `claims at a simulator that ends: fail as readerUnavailable`() async throws {
        let simulator = FakeSimulator.answering()
        let reader = simulator.reader
        let claims = (0..<2).map { _ in Task { try await reader.claimTurn() } }
        try await simulator.receives("claim", times: 2)
        simulator.end()
        for claim in claims {
            let error = await #expect(throws: LinkError.self) { try await claim.value }
            #expect(error?.code == .readerUnavailable && error?.reason == Self.hasEnded)
        }
        try await reader.ask()
    }

    // MARK: Tags that come and leave

    @Test func `tag that arrives or leaves: observers are called, and each arrival has its own number`() async throws {
        let field = VirtualField()
        let simulator = FakeSimulator.serving(field)
        let reader = simulator.reader
        try await reader.prepare()
        let uid: [UInt8] = [0x04, 1, 2, 3, 4, 5, 6]
        let (stream, arrivals) = AsyncStream.makeStream(of: UInt64?.self)
        let observation = reader.observePresence { [weak reader] in arrivals.yield(reader?.arrival(of: uid)) }
        var numbers = stream.makeAsyncIterator()
        let tag = VirtualType2Tag(.ntag213, uid: uid)
        field.bring(tag)
        let first = try #require(await numbers.next() ?? nil)
        #expect(await reader.isStillNear(uid, since: first))
        // Asked for once, and known on other threads, until the tags near the phone change.
        let count = simulator.count("\"arrival\"")
        #expect(reader.arrival(of: uid) == first && simulator.count("\"arrival\"") == count)
        field.remove(tag)
        #expect(await numbers.next() == .some(nil))
        #expect(await !reader.isStillNear(uid, since: first))
        field.bring(tag)
        let second = try #require(await numbers.next() ?? nil)
        #expect(second != first && simulator.count("watch") == 1)
        // The arrivals of a simulator that has ended are forgotten, and the next one is asked for news again.
        try await simulator.restart(for: reader)
        #expect(simulator.count("watch") == 2)
        withExtendedLifetime(observation) {}
    }

    @Test(arguments: [#""bytes":"4400","checksum":"none""#, #""error":"timeout","message":"""#])
    func `presence event during an exchange: reported, also if it fails`(members: String) async throws {
        let simulator = FakeSimulator.scripted { request, id in
            let answer = #"{"id":\#(id),\#(request == "frame" ? members : "\"ok\":true")}"#
            return request == "frame" ? [#"{"event":"presence"}"#, #"{"event":"unknown"}"#, answer] : [answer]
        }
        let reader = simulator.reader
        let (news, events) = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { events.yield() }
        #expect(await reader.failure()?.code == (members.contains("timeout") ? .timeout : nil))
        for await _ in news { break }
        withExtendedLifetime(observation) {}
    }

}
