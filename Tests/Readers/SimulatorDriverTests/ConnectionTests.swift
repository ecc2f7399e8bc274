// SPDX-License-Identifier: Apache-2.0
import Glibc
import SimulatorDriver
import SimulatorTesting
import TagLink
import TestThreads
import Testing

/// A connection that can't be made, ends, is full, or is silent; and work on it that is cancelled.
@Suite(.timeLimit(.minutes(2))) struct ConnectionTests {
    private static let hasEnded = "The simulator has ended. Start it with: nfc simulator"
    private static let isSilent = "The simulator does not answer. Stop it, and start it again with: nfc simulator"

    @Test func `no simulator: the error says how to start one`() async {
        let error = await SimulatorReader(path: "/nowhere/simulator.sock").failure()
        #expect(error?.code == .readerUnavailable)
        #expect(error?.reason == "No simulator runs at /nowhere/simulator.sock. Start it with: nfc simulator")
    }

    @Test func `simulator that has ended: the exchange is readerUnavailable, and the next exchange connects again`()
        async throws
    {
        let simulator = FakeSimulator { simulator, request in
            if request["hello"] != nil { return [FakeSimulator.greeting] }
            guard request["id"] as? Int ?? 0 > 1 else {
                simulator.end()
                return []
            }
            return [#"{"id":2,"bytes":"4400","checksum":"none"}"#]
        }
        let reader = simulator.reader
        let error = await reader.failure()
        #expect(error?.code == .readerUnavailable && error?.reason == Self.hasEnded)
        #expect(try await reader.ask().bytes == [0x44, 0x00])
        #expect(simulator.count("hello") == 2)
        // One that nobody reads is one that has ended.
        let pairs = SocketPairs()
        #expect(await pairs.makeReader { shutdown($0.simulator, Int32(SHUT_RD)) }.failure()?.reason == Self.hasEnded)
    }

    // MARK: Silence

    private static let patience = Duration.milliseconds(50)

    /// Waits for the error of silence, and checks that it did not come too early.
    private func expectSilence(besides time: Duration = .zero, _ body: () async throws(LinkError) -> Void) async {
        let start = ContinuousClock.now
        do throws(LinkError) {
            try await body()
            Issue.record("The simulator has not answered.")
        } catch {
            #expect(error.code == .readerUnavailable && error.reason == Self.isSilent)
        }
        #expect(ContinuousClock.now - start >= Self.patience + time)
    }

    @Test
    func
        `silent simulator: greeting, exchange and claim fail at their time limits, and the connection is closed`()
        async throws
    {
        let silent = SocketPairs(patience: Self.patience, greeting: nil)
        let stranger = silent.makeReader()
        for count in 1...2 {
            await expectSilence { () throws(LinkError) in try await stranger.prepare() }
            #expect(!stranger.wasAvailable && silent.all.count == count && silent.all.allSatisfy(\.hasEnded))
        }
        let pairs = SocketPairs(patience: Self.patience)
        let reader = pairs.makeReader()
        try await reader.prepare()
        await expectSilence(besides: .milliseconds(200)) { () throws(LinkError) in
            try await reader.ask(timeout: .milliseconds(200))
        }
        #expect(pairs.all.count == 1 && pairs.all[0].hasEnded)
        try await reader.prepare()
        pairs.all[1].fill()
        await expectSilence { () throws(LinkError) in try await reader.claimTurn() }
        #expect(pairs.all.count == 2 && pairs.all[1].hasEnded)
    }

    // MARK: A connection that is full

    @Test(.ownThreads) func `full connection: requests and long screens wait for room`() async throws {
        let pairs = SocketPairs()
        let reader = pairs.makeReader()
        try await reader.prepare()
        let pair = pairs.all[0]
        pair.fill()
        let observation = reader.observePresence {}
        // Several times as long as what a socket holds.
        let screen = #"{"title":"\#(String(repeating: "a", count: 400_000))","items":[]}"#
        reader.showScreen(screen)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while received.count <= screen.utf8.count || received.last != 0x0A {
            let count = unsafe read(pair.simulator, &buffer, buffer.count)
            guard count > 0 else { break }
            received += buffer[..<count].filter { $0 != 0x20 }
        }
        let end = #"{"id":1,"do":"watch"}"# + "\n" + #"{"do":"screen","screen":"# + screen + "}\n"
        #expect(received.suffix(end.utf8.count).elementsEqual(end.utf8))
        withExtendedLifetime(observation) {}
    }

    // MARK: Cancelling

    @Test func `cancelled exchange: stops waiting, and its late answer is ignored`() async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        let simulator = FakeSimulator.scripted { _, id in
            guard id > 1 else {
                asked.continuation.yield()
                return []
            }
            return [#"{"id":1,"bytes":"00"}"#, #"{"id":2,"bytes":"4400","checksum":"none"}"#]
        }
        let reader = simulator.reader
        let task = Task { await reader.failure() }
        for await _ in asked.stream { break }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(try await reader.ask().bytes == [0x44, 0x00])
        #expect(simulator.count("hello") == 1)
    }

    @Test
    func
        `task that is cancelled before its exchange or claim: sends neither, and gives its place in the queue back`()
        async throws
    {
        let simulator = FakeSimulator.answering()
        let reader = simulator.reader
        let carrier = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await reader.failure()
        }
        #expect(await carrier.value?.code == .cancelled && simulator.lines.isEmpty)
        let claim = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await reader.claimTurn()
        }
        await #expect(throws: LinkError(.cancelled, "")) { try await claim.value }
        // The place in the queue is given back, wherever the task was.
        try await simulator.receives("release")
        #expect(simulator.count("claim") == 0)
    }
}
