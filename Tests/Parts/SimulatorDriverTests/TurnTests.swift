// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime
import SimulatorDriver
import SimulatorTesting
import TagLink
import Testing
import VirtualTags

/// What an app waits for at a simulator while it does something else: its turn, and news.
@Suite(.timeLimit(.minutes(5))) struct `A simulator that is waited for` {
    private static let reqA = Frame(bits: [0x26], validBitsInLastByte: 7)

    /// A simulator that answers everything but a claim.
    private static func simulator() -> FakeSimulator {
        FakeSimulator { _, request in
            guard let id = request["id"] as? Int else { return request["hello"] == nil ? [] : [FakeSimulator.greeting] }
            switch request["do"] as? String {
            case "claim": return []
            case "frame": return [#"{"id":\#(id),"bytes":"4400","checksum":"none"}"#]
            default: return [#"{"id":\#(id)}"#]
            }
        }
    }

    /// Waits until a simulator has received a line.
    ///
    /// - Returns: the number of the request.
    @discardableResult
    private static func received(_ part: String, by simulator: FakeSimulator) async throws -> Int? {
        while true {
            if let line = simulator.lines.last(where: { $0.contains(part) }) {
                return (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? FakeSimulator.Request)?["id"]
                    as? Int
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private static func answers(_ reader: SimulatorReader) async throws -> Bool {
        let link = try #require(reader.link(for: .nfcA))
        return try await link.transceive(reqA, timeout: .milliseconds(1)).bytes == [0x44, 0x00]
    }

    private static func hellos(_ simulator: FakeSimulator) -> Int { simulator.lines.count { $0.contains("hello") } }

    @Test func `A turn is waited for while frames are exchanged, and an answer to it comes at any time`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        let claim = Task { try await reader.claimTurn() }
        let id = try #require(try await Self.received("claim", by: simulator))
        #expect(try await Self.answers(reader))
        simulator.push(#"{"id":\#(id),"granted":true}"#)
        try await claim.value
        // The next one has an answer of its own, which comes in an exchange.
        let next = Task { try await reader.claimTurn() }
        while simulator.lines.count(where: { $0.contains("claim") }) < 2 { try await Task.sleep(for: .milliseconds(2)) }
        let number = try #require(try await Self.received("claim", by: simulator))
        #expect(number > id)
        simulator.push(#"{"id":\#(number),"error":"in-use","message":"Another app reads."}"#)
        #expect(try await Self.answers(reader))
        let error = await #expect(throws: LinkError.self) { try await next.value }
        #expect(error?.code == .inUse && error?.reason == "Another app reads.")
        #expect(Self.hellos(simulator) == 1 && !simulator.lines.contains { $0.contains("release") })
    }

    @Test func `A turn that nobody waits for any more is given back, and its late answer ignored, once`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        let claim = Task { try await reader.claimTurn() }
        let id = try #require(try await Self.received("claim", by: simulator))
        claim.cancel()
        let error = await #expect(throws: LinkError.self) { try await claim.value }
        #expect(error?.code == .cancelled)
        try await Self.received("release", by: simulator)
        simulator.push(#"{"id":\#(id),"granted":true}"#)
        #expect(try await Self.answers(reader))
        #expect(Self.hellos(simulator) == 1)
        // A second answer is one to a request that was not made, which no simulator sends.
        let news = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { news.continuation.yield() }
        #expect(observation != nil)
        simulator.push(#"{"id":\#(id),"granted":true}"#)
        for await _ in news.stream { break }
        #expect(try await Self.answers(reader))
        #expect(Self.hellos(simulator) == 2)
        withExtendedLifetime(observation) {}
    }

    @Test func `A turn is not waited for at a simulator that has ended`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        let claims = (0..<2).map { _ in Task { try await reader.claimTurn() } }
        while simulator.lines.count(where: { $0.contains("claim") }) < 2 { try await Task.sleep(for: .milliseconds(2)) }
        simulator.end()
        for claim in claims {
            let error = await #expect(throws: LinkError.self) { try await claim.value }
            #expect(error?.code == .readerUnavailable)
            #expect(error?.reason == "The simulator has ended. Start it with: nfc simulator")
        }
        #expect(try await Self.answers(reader))
    }

    @Test func `A task that is cancelled before it begins asks for nothing`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        let carrier = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await reader.setCarrier(true)
        }
        let error = await #expect(throws: LinkError.self) { try await carrier.value }
        #expect(error?.code == .cancelled && simulator.lines.isEmpty)
        let claim = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await reader.claimTurn()
        }
        let second = await #expect(throws: LinkError.self) { try await claim.value }
        #expect(second?.code == .cancelled)
        // The place in the queue is given back, wherever the task was.
        try await Self.received("release", by: simulator)
        #expect(!simulator.lines.contains { $0.contains("claim") || $0.contains("carrier") })
    }

    @Test func `An error that belongs to no request is ignored`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        #expect(try await Self.answers(reader))
        simulator.push(#"{"error":"invalid","message":"A line was no object."}"#)
        #expect(try await Self.answers(reader))
        #expect(Self.hellos(simulator) == 1)
    }

    @Test func `News reach those who observe, and no longer`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        let news = AsyncStream.makeStream(of: Int.self)
        let first = reader.observePresence { news.continuation.yield(1) }
        var second = reader.observePresence { news.continuation.yield(2) }
        #expect(first != nil && second != nil)
        #expect(try await Self.answers(reader))
        var heard = news.stream.makeAsyncIterator()
        simulator.push(#"{"event":"presence"}"#)
        let both = [try #require(await heard.next()), try #require(await heard.next())]
        #expect(both.sorted() == [1, 2])
        second = nil
        for _ in 0..<2 {
            simulator.push(#"{"event":"presence"}"#)
            #expect(await heard.next() == 1)
        }
        withExtendedLifetime(first) {}
    }

    @Test func `An arrival is asked for once, and known on other threads, until the tags near the phone change`()
        async throws
    {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            return [request["do"] as? String == "arrival" ? #"{"id":\#(id),"arrival":7}"# : #"{"id":\#(id)}"#]
        }
        let reader = simulator.reader
        let uid: [UInt8] = [1, 2, 3, 4]
        let numbers: [UInt64?] = [7, 7]
        try await reader.prepare()
        #expect(reader.arrival(of: uid) == nil)
        let news = AsyncStream.makeStream(of: [UInt64?].self)
        let observation = reader.observePresence { [weak reader] in
            news.continuation.yield([reader?.arrival(of: uid), reader?.arrival(of: uid)])
        }
        var heard = news.stream.makeAsyncIterator()
        try await reader.setCarrier(true)
        for count in 1...2 {
            simulator.push(#"{"event":"presence"}"#)
            #expect(await heard.next() == numbers)
            #expect(reader.arrival(of: uid) == 7)
            #expect(simulator.lines.count { $0.contains("\"arrival\"") } == count)
        }
        withExtendedLifetime(observation) {}
    }

    @Test func `A request waits for room in a connection that is full`() async throws {
        let pairs = Locked<[SocketPair]>([])
        let reader = SimulatorReader { () throws(LinkError) in
            let pair = try SocketPair()
            _ = fcntl(pair.simulator, F_SETFL, O_NONBLOCK)
            pair.send(FakeSimulator.greeting)
            pairs.withLock { $0.append(pair) }
            return pair.reader
        }
        try await reader.prepare()
        let pair = try #require(pairs.withLock { $0.first })
        let (own, end) = (pair.reader, pair.simulator)
        defer { close(end) }
        let noise = [UInt8](repeating: 0x20, count: 4096)
        while unsafe send(own, noise, noise.count, Int32(MSG_NOSIGNAL)) > 0 {}
        let observation = reader.observePresence {}
        // Most often the request has met the full connection by then; if not, it finds room at once.
        try await Task.sleep(for: .milliseconds(20))
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var count = -1
        while count != 0, received.count(where: { $0 == 0x0A }) < 2 {
            count = unsafe recv(end, &buffer, buffer.count, 0)
            if count < 0 { try await Task.sleep(for: .milliseconds(1)) }
            received += buffer.prefix(max(0, count)).filter { $0 != 0x20 }
        }
        // The greeting came before the noise.
        #expect(String(decoding: received, as: UTF8.self).hasSuffix("\n" + #"{"id":1,"do":"watch"}"# + "\n"))
        withExtendedLifetime(observation) {}
    }

    @Test(
        arguments: [
            (0, 0), (5000, 5000), (1 << 40, 1 << 40), ((1 << 40) + 1, nil), (-1, nil), (nil, nil),
        ] as [(Int?, Int64?)]
    )
    func `The time of an exchange is the simulator's, unless that is no time`(reported: Int?, counted: Int64?)
        async throws
    {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            let time = reported.map { #","elapsed_us":\#($0)"# } ?? ""
            return [#"{"id":\#(id),"bytes":"4400","checksum":"none"\#(time)}"#]
        }
        let reader = simulator.reader
        #expect(try await Self.answers(reader))
        let counts = reader.statistics
        // On the air it took some time in any case.
        #expect(counts.airtime > .zero)
        let expected = counted.map { max(.microseconds($0), counts.airtime) } ?? counts.airtime
        #expect(counts.airtime + counts.tagWorkTime == expected)
    }
}
