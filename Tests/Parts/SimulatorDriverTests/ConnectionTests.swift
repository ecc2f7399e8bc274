// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import SimulatorDriver
import SimulatorTesting
import SystemLibrary
import TagLink
import TestThreads
import Testing

/// What a connection does apart from the lines that it carries.
@Suite(.timeLimit(.minutes(2))) struct `A connection to a simulator` {
    private static let hasEnded = "The simulator has ended. Start it with: nfc simulator"

    @Test func `that nobody reads any more is one to a simulator that has ended`() async {
        let reader = SimulatorReader { () throws(LinkError) in
            let pair = try SocketPair()
            close(pair.simulator)
            return pair.reader
        }
        let error = await #expect(throws: LinkError.self) { try await reader.prepare() }
        #expect(error?.code == .readerUnavailable && error?.reason == Self.hasEnded)
    }

    @Test func `that is full is waited for, until the task is cancelled`() async throws {
        let pairs = Locked<[SocketPair]>([])
        let reader = SimulatorReader { () throws(LinkError) in
            let pair = try SocketPair()
            let noise = [UInt8](repeating: 0x20, count: 4096)
            while unsafe send(pair.reader, noise, noise.count, Int32(MSG_NOSIGNAL)) > 0 {}
            pairs.withLock { $0.append(pair) }
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return pair.reader
        }
        let opening = Task { try await reader.prepare() }
        let error = await #expect(throws: LinkError.self) { try await opening.value }
        #expect(error?.code == .cancelled)
        close(try #require(pairs.withLock { $0.first }).simulator)
    }

    @Test(.ownThreads) func `that the system does not let wait is one to a simulator that has ended`() async {
        await #expect(processExitsWith: .success) {
            let simulator = FakeSimulator { _, request in request["hello"] == nil ? [] : [FakeSimulator.greeting] }
            let reader = simulator.reader
            try await reader.prepare()
            // poll(2) takes no more descriptors than a process may open.
            var limit = rlimit(rlim_cur: 1, rlim_max: 1)
            #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
            let error = await #expect(throws: LinkError.self) { try await reader.setCarrier(true) }
            #expect(error?.code == .readerUnavailable && error?.reason == Self.hasEnded)
        }
    }

    @Test(.ownThreads) func `that can't be watched because too many files are open is closed with that reason`() async {
        await #expect(processExitsWith: .success) {
            let made = try SocketPair()
            made.send(FakeSimulator.greeting)
            let reader = SimulatorReader { () throws(LinkError) in made.reader }
            // All numbers below the limit are taken.
            var limit = rlimit(rlim_cur: 3, rlim_max: 3)
            #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
            let error = await #expect(throws: LinkError.self) { try await reader.prepare() }
            #expect(error?.code == .readerUnavailable)
            #expect(error?.reason == "The process has too many open files. Close some, and try again.")
            #expect(made.hasEnded)
        }
    }

    @Test func `that ends before a claim is sent ends the claim`() async throws {
        let executor = QueueExecutor(target: nil)
        let simulator = FakeSimulator { _, request in
            guard request["hello"] != nil else { return [] }
            // The claim goes on only when its connection has ended.
            executor.queue.suspend()
            return [FakeSimulator.greeting]
        }
        let reader = simulator.reader
        let (news, events) = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { events.yield() }
        #expect(observation != nil)
        let claim = Task(executorPreference: executor) { try await reader.claimTurn() }
        while !reader.wasThere { try await Task.sleep(for: .milliseconds(2)) }
        simulator.end()
        for await _ in news { break }
        executor.queue.resume()
        let error = await #expect(throws: LinkError.self) { try await claim.value }
        #expect(error?.code == .readerUnavailable && error?.reason == Self.hasEnded)
        withExtendedLifetime(observation) {}
    }

    @Test(.ownThreads) func `that is full is waited for while a long screen is sent`() async throws {
        let pair = try SocketPair()
        defer { close(pair.simulator) }
        let ends = Locked([pair.reader])
        let reader = SimulatorReader { () throws(LinkError) in
            guard let end = ends.withLock({ $0.popLast() }) else { throw LinkError(.readerUnavailable, "") }
            return end
        }
        pair.send(FakeSimulator.greeting)
        try await reader.prepare()
        // Several times as long as what a socket holds.
        let screen = #"{"title":"\#(String(repeating: "a", count: 1_000_000))","items":[]}"#
        reader.showScreen(screen)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        // The greeting comes before it.
        while received.count <= screen.utf8.count || received.last != 0x0A {
            let count = unsafe read(pair.simulator, &buffer, buffer.count)
            guard count > 0 else { break }
            received += buffer[..<count]
        }
        let end = Array((screen + "}\n").utf8)
        #expect(Array(received.suffix(end.count)) == end)
        withExtendedLifetime(reader) {}
    }

    @Test func `that can't be made is tried again every two seconds, however often a screen was shown`() async throws {
        let attempts = Locked(0)
        let reader = SimulatorReader { () throws(LinkError) in
            attempts.withLock { $0 += 1 }
            throw LinkError(.readerUnavailable, "")
        }
        // An app that has shown a screen, and shows none any more, does not come back.
        let others = Locked(0)
        let other = SimulatorReader { () throws(LinkError) in
            others.withLock { $0 += 1 }
            throw LinkError(.readerUnavailable, "")
        }
        other.showScreen("{}")
        other.showScreen(nil)
        let start = ContinuousClock.now
        for _ in 0..<3 { reader.showScreen("{}") }
        // Three at once, and then one after the other.
        while attempts.withLock({ $0 }) < 5 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(ContinuousClock.now - start >= .seconds(4))
        #expect(others.withLock { $0 } == 2)
        withExtendedLifetime((reader, other)) {}
    }

    @Test func `has room for a long line, and for whatever comes behind it`() async throws {
        let simulator = FakeSimulator { _, _ in [FakeSimulator.greeting] }
        let reader = simulator.reader
        try await reader.prepare()
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        var received = stream.makeAsyncIterator()
        reader.onPress { events.yield($0) }
        // More than half of what a line may have.
        let more = String(repeating: "a", count: 140_000)
        for item in ["one", "two"] {
            simulator.push(#"{"event":"press","item":"\#(item)","more":"\#(more)"}"#)
            #expect(await received.next() == item)
        }
    }
}
