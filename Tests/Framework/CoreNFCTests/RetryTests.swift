// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// ISO 15693 commands with a configuration: chunks of a range of blocks, and retries.
@Suite(.timeLimit(.minutes(1))) struct RetryTests {
    static func read(
        _ first: Int,
        _ count: Int,
        chunk: Int,
        retries: Int = 0,
        interval: TimeInterval = 0
    ) -> NFCISO15693ReadMultipleBlocksConfiguration {
        NFCISO15693ReadMultipleBlocksConfiguration(
            range: NSRange(location: first, length: count),
            chunkSize: chunk,
            maximumRetries: retries,
            retryInterval: interval
        )
    }

    @Test(arguments: [
        (1, "0300 0400 0500 0600 0700 0800"), (2, "0301 0501 0701"), (4, "0303 0701"), (5, "0304 0800"),
        (6, "0305"), (7, "0305"),
    ])
    func `Read in chunks: one command for each chunk of the range, and the blocks are joined`(
        size: Int,
        sent: String
    ) async throws {
        let chunks = stride(from: 0, to: 6, by: size).map { start in
            "00" + (start..<min(start + size, 6)).map { "0\($0)" }.joined()
        }
        let fixture = try await ScriptedTag(ScriptedTag.vicinity, chunks)
        let blocks = try await fixture.tag.iso15693.readMultipleBlock(readConfiguration: Self.read(3, 6, chunk: size))
        #expect(blocks.hexText() == "000102030405")
        #expect(fixture.channel.sent == sent.split(separator: " ").map { "2223|\($0)" })
    }

    @Test func `Read in chunks: an empty range or a chunk size below 1 is error 300, and nothing is sent`()
        async throws
    {
        let (channel, tag) = try await ScriptedTag.iso15693()
        for configuration in [Self.read(0, 0, chunk: 1), Self.read(0, 2, chunk: 0), Self.read(0, 2, chunk: -1)] {
            #expect(await code { try await tag.readMultipleBlock(readConfiguration: configuration) } == 300)
        }
        #expect(channel.sent.isEmpty)
    }

    /// Retries, a script, and the result of a custom command: its answer, or the code of its error.
    @Test(
        arguments: [
            (0, "none", "100"), (3, "none none none 0007", "07"), (3, "none none none none 0007", "101"),
            (5, "lost", "100"), (5, "010f", "102"), (5, "none none lost", "100"), (5, "none none 010f", "102"),
            (1, "0007", "07"),
        ]
    )
    func `Retry: a silent tag is asked again, up to maximumRetries times; a lost tag and an error are not`(
        retries: Int,
        script: String,
        result: String
    ) async throws {
        let answers = script.split(separator: " ").map(String.init)
        let fixture = try await ScriptedTag(ScriptedTag.vicinity, answers)
        let tag = try fixture.tag.iso15693
        let configuration = CommandRangeTests.custom(retries: retries)
        do {
            #expect(try await tag.sendCustomCommand(commandConfiguration: configuration).hexText() == result)
        } catch {
            #expect("\(code(of: error))" == result)
        }
        #expect(fixture.channel.sent == [String](repeating: "02a007", count: min(answers.count, retries + 1)))
    }

    @Test func `Retry: each chunk of a range has all retries, and the first that fails ends the command`() async throws
    {
        let configuration = Self.read(4, 4, chunk: 2, retries: 1)
        let (channel, tag) = try await ScriptedTag.iso15693("none", "0001010202", "none", "0003030404")
        #expect(try await tag.readMultipleBlock(readConfiguration: configuration).hexText() == "0101020203030404")
        #expect(channel.sent == ["2223|0401", "2223|0401", "2223|0601", "2223|0601"])
        let failing = try await ScriptedTag(ScriptedTag.vicinity, ["0001010202", "none", "none", "0003030404"])
        let values = Locked<[String]>([])
        try failing.tag.iso15693.readMultipleBlock(
            readConfiguration: configuration,
            completionHandler: { data, error in values.withLock { $0.append("\(data.count) \(code(of: error))") } }
        )
        // Each chunk is asked for when the one before it has come.
        for _ in 0..<4 { await failing.settle() }
        #expect(values.withLock { $0 } == ["0 101"] && failing.channel.sent.count == 3)
    }

    @Test func `Retry: each attempt waits for the retryInterval that the configuration had at the call`() async throws {
        let fixture = try await ScriptedTag(ScriptedTag.vicinity, ["none", "none", "0007"])
        let configuration = CommandRangeTests.custom(retries: 2, interval: 0.5)
        try fixture.tag.iso15693.sendCustomCommand(
            commandConfiguration: configuration,
            completionHandler: { (_: Data, _: (any Error)?) in }
        )
        (configuration.maximumRetries, configuration.retryInterval) = (0, 60)
        for attempt in 1...2 {
            await fixture.settle()
            fixture.channel.manualClock.advance(by: .milliseconds(499))
            await fixture.settle()
            #expect(fixture.channel.sent.count == attempt)
            fixture.channel.manualClock.advance(by: .milliseconds(1))
            await fixture.settle()
            #expect(fixture.channel.sent.count == attempt + 1)
        }
    }

    // MARK: In a session

    @Test(arguments: [true, false])
    func `Command between two retries: error 103 if the session ends, error 100 if the tag has left`(
        endsSession: Bool
    ) async throws {
        try await withTags(VirtualType5Tag(.icodeSLIX), polling: .iso15693) { field, scene in
            field.tags.arm(.effect(.mute, atExchange: 0))
            let codes = Locked<[Int]>([])
            try scene.iso15693.readMultipleBlock(
                readConfiguration: Self.read(0, 2, chunk: 2, retries: 5, interval: 5),
                completionHandler: { (_: Data, error: (any Error)?) in codes.withLock { $0.append(code(of: error)) } }
            )
            // The limits of the session and of the connection, and the next try.
            try await waitWhile(field.clock.scheduledEventCount < 3)
            if endsSession {
                scene.session.invalidate()
                try await field.untilIdle()
            } else {
                field.tags.removeAll()
            }
            field.clock.advance(by: .seconds(5))
            try await waitWhile(codes.withLock { $0 }.isEmpty)
            field.clock.advance(by: .seconds(5))
            scene.session.sessionQueue.sync {}
            #expect(codes.withLock { $0 } == [endsSession ? 103 : 100])
            #expect(scene.session.isReady == !endsSession)
        }
    }
}
