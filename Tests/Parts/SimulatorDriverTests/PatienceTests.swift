// SPDX-License-Identifier: Apache-2.0
import Glibc
import SimulatorDriver
import SimulatorTesting
import TagLink
import TestThreads
import Testing

/// How long a simulator is waited for that is there, and what becomes of the connection when it has not answered.
@Suite(.timeLimit(.minutes(2))) struct `A simulator that does not answer` {
    private static let reason = "The simulator does not answer. Stop it. Start it with: nfc simulator"
    private static let patience = Duration.milliseconds(50)

    /// Waits for an error, and checks that it is the one for silence, and that it did not come too early.
    ///
    /// - Parameter time: what is waited for besides the patience.
    private func expectSilence(besides time: Duration = .zero, _ body: () async throws(LinkError) -> Void) async {
        let start = ContinuousClock.now
        do throws(LinkError) {
            try await body()
            Issue.record("The simulator has not answered.")
        } catch {
            #expect(error.code == .readerUnavailable && error.reason == Self.reason)
        }
        #expect(ContinuousClock.now - start >= Self.patience + time)
    }

    @Test func `a greeting is given up, and its connection is closed`() async {
        let pairs = SocketPairs(patience: Self.patience, greets: false)
        let reader = pairs.makeReader()
        await expectSilence { () throws(LinkError) in try await reader.prepare() }
        #expect(!reader.wasThere && pairs.all.count == 1 && pairs.all.allSatisfy(\.hasEnded))
        await expectSilence { () throws(LinkError) in try await reader.prepare() }
        #expect(pairs.all.count == 2)
    }

    @Test func `a frame is given up after its own time and the usual one, and the next use connects again`()
        async throws
    {
        let pairs = SocketPairs(patience: Self.patience)
        let reader = pairs.makeReader()
        try await reader.prepare()
        let link = try #require(reader.link(for: .nfcA))
        await expectSilence(besides: .milliseconds(200)) { () throws(LinkError) in
            _ = try await link.transceive(Frame(bits: [0x26], validBitsInLastByte: 7), timeout: .milliseconds(200))
        }
        #expect(pairs.all.count == 1 && pairs.all.allSatisfy(\.hasEnded))
        try await reader.prepare()
        #expect(pairs.all.count == 2 && !pairs.all[1].hasEnded)
    }

    @Test func `a request that it does not take is given up, and so is its connection`() async throws {
        let pairs = SocketPairs(patience: Self.patience)
        let reader = pairs.makeReader()
        try await reader.prepare()
        pairs.all[0].fill()
        await expectSilence { () throws(LinkError) in try await reader.claimTurn() }
        #expect(pairs.all.count == 1 && pairs.all.allSatisfy(\.hasEnded))
    }

    @Test func `those who wait for tags look again when it does not take their request`() async throws {
        let pairs = SocketPairs(patience: Self.patience)
        let reader = pairs.makeReader()
        try await reader.prepare()
        pairs.all[0].fill()
        let (news, events) = AsyncStream.makeStream(of: Void.self)
        let start = ContinuousClock.now
        let observation = reader.observePresence { events.yield() }
        for await _ in news { break }
        #expect(ContinuousClock.now - start >= Self.patience && pairs.all[0].hasEnded)
        withExtendedLifetime(observation) {}
    }

    @Test func `nothing is expected of the next connection that was asked in one that took nothing more`()
        async throws
    {
        let pairs = SocketPairs()
        let reader = pairs.makeReader()
        try await reader.prepare()
        // It still sends, and takes nothing.
        shutdown(pairs.all[0].simulator, Int32(SHUT_RD))
        let (news, events) = AsyncStream.makeStream(of: Void.self)
        var heard = news.makeAsyncIterator()
        // The first request of the reader.
        let observation = reader.observePresence { events.yield() }
        _ = await heard.next()
        try await reader.prepare()
        try #require(pairs.all.count == 2)
        // The answer belongs to no request of this connection, which ends it. Otherwise the news would be heard.
        pairs.all[1].send(#"{"id":1}"#)
        pairs.all[1].send(#"{"event":"presence"}"#)
        _ = await heard.next()
        try await reader.prepare()
        #expect(pairs.all.count == 3)
        withExtendedLifetime(observation) {}
    }

    @Test(.ownThreads) func `a line that does not end is left when it is too long`() async throws {
        let pairs = SocketPairs()
        let reader = pairs.makeReader()
        try await reader.prepare()
        let pair = pairs.all[0]
        let (news, events) = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { events.yield() }
        // The reader reads along.
        var rest = [UInt8](repeating: 0x61, count: (256 << 10) + 1)
        while !rest.isEmpty {
            let count = unsafe send(pair.simulator, rest, rest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { break }
            rest.removeFirst(count)
        }
        for await _ in news { break }
        #expect(pair.hasEnded)
        withExtendedLifetime(observation) {}
    }
}
