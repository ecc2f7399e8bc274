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
    private static let isSilent = "The simulator does not answer. Stop it. Start it with: nfc simulator"

    @Test func `no simulator: the error says how to start one`() async {
        let error = await SimulatorReader(path: "/nowhere/simulator.sock").failure()
        #expect(error?.code == .readerUnavailable)
        #expect(error?.reason == "No simulator runs at /nowhere/simulator.sock. Start it with: nfc simulator")
    }

    @Test func `simulator that has ended: the exchange fails, and the next one connects again`() async throws {
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

    @Test(.ownThreads, arguments: [true, false])
    func `too many open files: the reader is unavailable`(isConnected: Bool) async {
        await #expect(processExitsWith: .success) { [isConnected = isConnected as Bool] in
            let made = try SocketPair()
            made.send(FakeSimulator.greeting)
            let reader = SimulatorReader { () throws(LinkError) in made.reader }
            if isConnected { try await reader.prepare() }
            // A watch takes another descriptor; poll(2) takes no more than a process may open.
            let count: rlim_t = isConnected ? 1 : 3
            var limit = rlimit(rlim_cur: count, rlim_max: count)
            #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
            let error = await reader.failure()
            #expect(error?.code == .readerUnavailable && made.hasEnded)
            let files = "The process has too many open files. Close some, and try again."
            #expect(error?.reason == (isConnected ? Self.hasEnded : files))
        }
    }

    @Test func `screen without a simulator: the app tries to connect every two seconds, until it shows none`()
        async throws
    {
        let (attempts, others) = (Locked(0), Locked(0))
        func reader(_ count: Locked<Int>) -> SimulatorReader {
            SimulatorReader { () throws(LinkError) in
                count.withLock { $0 += 1 }
                throw LinkError(.readerUnavailable, "")
            }
        }
        let (app, other) = (reader(attempts), reader(others))
        other.showScreen("{}")
        other.showScreen(nil)
        let start = ContinuousClock.now
        for _ in 0..<3 { app.showScreen("{}") }
        while attempts.withLock({ $0 }) < 4 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(ContinuousClock.now - start >= .seconds(2))
        #expect(others.withLock { $0 } == 2)
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

    @Test func `silent simulator: each wait ends after its time, and its connection is closed`() async throws {
        let silent = SocketPairs(patience: Self.patience, greeting: nil)
        let stranger = silent.makeReader()
        for count in 1...2 {
            await expectSilence { () throws(LinkError) in try await stranger.prepare() }
            #expect(!stranger.wasThere && silent.all.count == count && silent.all.allSatisfy(\.hasEnded))
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
        // Who waits for tags looks again.
        try await reader.prepare()
        pairs.all[2].fill()
        let (news, events) = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { events.yield() }
        for await _ in news { break }
        #expect(pairs.all[2].hasEnded)
        withExtendedLifetime(observation) {}
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
        let screen = #"{"title":"\#(String(repeating: "a", count: 1_000_000))","items":[]}"#
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

    @Test(.ownThreads) func `endless line: the connection is closed when it is too long`() async throws {
        let pairs = SocketPairs()
        let reader = pairs.makeReader()
        try await reader.prepare()
        let (news, events) = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { events.yield() }
        var rest = [UInt8](repeating: 0x61, count: (256 << 10) + 1)
        while !rest.isEmpty {
            let count = unsafe send(pairs.all[0].simulator, rest, rest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { break }
            rest.removeFirst(count)
        }
        for await _ in news { break }
        #expect(pairs.all[0].hasEnded)
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

    @Test func `task that is cancelled before it begins, or at a full connection: sends nothing`() async throws {
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
        let pairs = SocketPairs()
        let full = pairs.makeReader { pair in
            pair.fill()
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        }
        #expect(await Task { await full.failure() }.value?.code == .cancelled)
    }
}
