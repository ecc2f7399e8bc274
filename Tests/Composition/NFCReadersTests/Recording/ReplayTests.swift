// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import TagTrace
import Testing
import VirtualCards
import VirtualTags

@Suite(.timeLimit(.minutes(5))) struct `A replay` {
    private static let message: [UInt8] = [0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x48]

    static var tags: [any VirtualTag] {
        [
            VirtualType1Tag(Type1Contents(blank: .topaz512, uid: [1, 2, 3, 4, 5, 6, 7])),
            VirtualType2Tag(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])),
            VirtualType3Tag(FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, 6])),
            VirtualType4Tag(NTAG424Contents()),
            VirtualType5Tag(Type5Contents(blank: .icodeSLIX, uid: [0xE0, 4, 1, 0x10, 1, 2, 3, 4])),
        ]
    }

    /// A file of a test's own.
    private final class Scratch: Sendable {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ocn-\(UUID().uuidString).jsonl").path
        deinit { try? FileManager.default.removeItem(atPath: path) }
        var recording: Recording { get throws { try Recording(path: path) } }
    }

    /// A flow: finds a tag, reads its status, and writes and reads a message.
    private static func flow(
        on reader: NFCEnvironment.Reader,
        message: [UInt8] = message
    ) async throws -> [UInt8] {
        let environment = NFCEnvironment(reader: reader, clock: ManualClock())
        let session = try #require(ReaderSession(environment: environment))
        let (events, continuation) = AsyncStream.makeStream(of: ReaderSession.Event.self)
        session.observe { event in
            continuation.yield(event)
            if case .ended = event { continuation.finish() }
        }
        session.begin()
        var result: Result<[UInt8], any Error> = .failure(LinkError(.timeout, "No tag."))
        for await event in events {
            guard case .detected(let tags) = event, let tag = tags.first else {
                if case .ended(.terminatedUnexpectedly(let reason)) = event {
                    result = .failure(LinkError(.readerUnavailable, reason))
                }
                continue
            }
            let connected = await handedOver { session.connect(to: tag, completion: $0) }
            guard case .success = connected else {
                session.invalidate()
                continue
            }
            let read: Result<[UInt8], CommandError> = await handedOver { done in
                session.perform(
                    on: tag,
                    { tag throws(TagError) in
                        _ = try await tag.detectNDEF()
                        try await tag.writeNDEF(message)
                        return try await tag.readNDEF()
                    },
                    completion: done
                )
            }
            result = read.mapError { $0 as any Error }
            session.invalidate()
        }
        return try result.get()
    }

    private static func record(
        _ tag: any VirtualTag,
        to scratch: Scratch,
        discovering: Bool = false
    ) async throws {
        let field = VirtualField()
        field.bring(tag)
        let recorder = try Recorder(path: scratch.path)
        let reader: NFCEnvironment.Reader = discovering ? .discovering(ActivatingReader(field)) : .field(field)
        #expect(try await flow(on: recorder.recording(reader)) == message)
        #expect(recorder.failure == nil)
    }

    @Test(arguments: 0..<5, [false, true]) func `A recorded flow runs again`(index: Int, discovering: Bool) async throws
    {
        // Readers that find tags by themselves handle Type 1 tags differently.
        if discovering, index == 0 { return }
        let scratch = Scratch()
        try await Self.record(Self.tags[index], to: scratch, discovering: discovering)
        let replay = RecordingReplay(try scratch.recording)
        #expect(try await Self.flow(on: replay.reader) == Self.message)
        #expect(replay.departure == nil)
        #expect(replay.remainingExchangeCount == 0)
        #expect(replay.recording.exchangeCount > 3)
    }

    @Test func `No recording has a password, its replay takes any, and nothing that is shown has one`() async throws {
        let scratch = Scratch()
        let wrong: [UInt8] = [0x0B, 0xAD, 0xCA, 0xFE]
        let password: [UInt8] = [0xC0, 0xFF, 0xEE, 0x42]
        /// Sets a tag's password and authenticates with it. Replayed with the recorded password and with another one.
        func flow(_ reader: NFCEnvironment.Reader, _ password: [UInt8]) async throws -> [[UInt8]] {
            guard case .field(let field) = reader, let link = field.link(for: .nfcA) else { return [] }
            try await field.setCarrier(true)
            var answers: [[UInt8]] = []
            for frame in [
                Frame(bits: [0x26], validBitsInLastByte: 7), Frame([0x93, 0x20], checksum: .none),
                Frame([0x93, 0x70, 0x88, 4, 1, 2, 0x8F]), Frame([0x95, 0x20], checksum: .none),
                Frame([0x95, 0x70, 3, 4, 5, 6, 4]), Frame([0x60]), Frame([0xA2, 0x2B] + password),
                Frame([0xA2, 0x04, 1, 2, 3, 4]), Frame([0x1B] + password),
            ] {
                answers.append(try await link.transceive(frame, timeout: .microseconds(20_000)).bytes)
            }
            return answers
        }
        let field = VirtualField()
        field.bring(VirtualType2Tag(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])))
        let recorder = try Recorder(path: scratch.path)
        let answers = try await flow(recorder.recording(.field(field)), password)
        #expect(answers.count == 9 && answers.last == [0, 0])
        let text = try String(contentsOfFile: scratch.path, encoding: .utf8)
        #expect(!text.contains(password.hexText()) && text.contains("1b00000000") && text.contains("a22b00000000"))
        #expect(text.contains("a20401020304"))
        let recording = try scratch.recording
        let table = recording.trace.description
        #expect(!table.contains("c0 ff ee 42") && !table.contains(password.hexText()))
        #expect(table.contains("1b ** ** ** **") && table.contains("a2 2b ** ** ** **"))
        let replay = RecordingReplay(recording)
        #expect(try await flow(replay.reader, wrong) == answers)
        #expect(replay.departure == nil)
        // Where a replay is left, no password is shown either.
        let left = RecordingReplay(recording)
        if case .field(let field) = left.reader, let link = field.link(for: .nfcA) {
            try await field.setCarrier(true)
            await #expect(throws: LinkError.self) {
                _ = try await link.transceive(Frame([0x1B] + password), timeout: .microseconds(1000))
            }
        }
        let reason = try #require(left.departure?.reason)
        #expect(!reason.contains(password.hexText()) && reason.contains("PWD AUTH"))
    }

    @Test func `A flow in simulated time is recorded alike at every run`() async throws {
        let files = [Scratch(), Scratch()]
        for file in files { try await Self.record(Self.tags[1], to: file) }
        let texts = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0.path)) }
        #expect(texts[0] == texts[1])
    }

    @Test func `A recorded replay equals the recording, except for the reader's name and times`() async throws {
        let first = Scratch()
        try await Self.record(Self.tags[1], to: first)
        let second = Scratch()
        let recorder = try Recorder(path: second.path)
        _ = try await Self.flow(on: recorder.recording(RecordingReplay(try first.recording).reader))
        #expect(try second.recording.trace.table(showsTimes: false) == first.recording.trace.table(showsTimes: false))
    }

    @Test(arguments: [1, 2, 3, 4]) func `Code that sends something else gets an error with the place`(index: Int)
        async throws
    {
        let scratch = Scratch()
        try await Self.record(Self.tags[index], to: scratch)
        let replay = RecordingReplay(try scratch.recording)
        var other = Self.message
        other[7] = 0x49
        await #expect(throws: (any Error).self) { try await Self.flow(on: replay.reader, message: other) }
        let departure = try #require(replay.departure)
        #expect(departure.exchange > 3)
        #expect(departure.expected != nil)
        #expect(departure.reason.contains("exchange \(departure.exchange)"))
        let lines = replay.recording.trace.lines
        let expected = try #require(lines.first { $0.number == departure.exchange })
        #expect(departure.expected?.hasPrefix(expected.meaning) == true)
    }

    @Test func `A recording that was cut off at any line ends the flow with a reason`() async throws {
        let scratch = Scratch()
        try await Self.record(Self.tags[1], to: scratch)
        let lines = try String(contentsOfFile: scratch.path, encoding: .utf8).split(separator: "\n")
        for count in 1..<lines.count - 2 {
            let text = lines[..<count].joined(separator: "\n") + "\n" + lines[count].prefix(5)
            let replay = RecordingReplay(try Recording(parsing: Array(text.utf8)))
            await #expect(throws: (any Error).self) { try await Self.flow(on: replay.reader) }
            #expect(replay.departure?.reason.contains("breaks off") == true, "\(count)")
        }
    }

    @Test func `A tag that comes later comes in the replay too`() async throws {
        let scratch = Scratch()
        let field = VirtualField()
        let recorder = try Recorder(path: scratch.path)
        let tag = Self.tags[1]
        async let read = Self.flow(on: recorder.recording(.field(field)))
        while field.statistics.exchanges < 4 { try await Task.sleep(for: .milliseconds(1)) }
        field.bring(tag)
        #expect(try await read == Self.message)
        let replay = RecordingReplay(try scratch.recording)
        #expect(try await Self.flow(on: replay.reader) == Self.message)
        #expect(replay.departure == nil)
    }

    @Test func `A tag that was put on again while it was read is read again in the replay too`() async throws {
        let scratch = Scratch()
        let field = VirtualField()
        let tag = Self.tags[1]
        field.bring(tag)
        let recorder = try Recorder(path: scratch.path)
        // The tag has been found by then, and its first pages are read.
        field.arm(.effect(.loss, atExchange: 8))
        let reports = try await Self.readUntilItGoesWell(on: recorder.recording(.field(field))) { field.bring(tag) }
        #expect(reports == 2)
        let replay = RecordingReplay(try scratch.recording)
        #expect(try await Self.readUntilItGoesWell(on: replay.reader) {} == reports)
        #expect(replay.departure == nil)
    }

    @Test func `A tag that leaves between two commands is lost in the replay too`() async throws {
        let scratch = Scratch()
        let (field, tag) = (VirtualField(), Self.tags[1])
        field.bring(tag)
        let recorder = try Recorder(path: scratch.path)
        let codes = try await Self.readTwice(on: recorder.recording(.field(field))) { field.remove(tag) }
        #expect(codes == [nil, .tagLost])
        let replay = RecordingReplay(try scratch.recording)
        #expect(try await Self.readTwice(on: replay.reader) {} == codes)
        #expect(replay.departure == nil && replay.remainingExchangeCount == 0)
    }

    /// Reads a tag twice.
    ///
    /// - Parameters:
    ///   - reader: the reader.
    ///   - between: called after the first time.
    /// - Returns: the codes of the errors; nil where a message was read.
    private static func readTwice(
        on reader: NFCEnvironment.Reader,
        between: () -> Void
    ) async throws -> [TagError.Code?] {
        let session = try #require(
            ReaderSession(environment: NFCEnvironment(reader: reader, clock: ManualClock()))
        )
        let (events, continuation) = AsyncStream.makeStream(of: ReaderSession.Event.self)
        session.observe { continuation.yield($0) }
        session.begin()
        var codes: [TagError.Code?] = []
        for await event in events {
            if case .ended = event { break }
            guard case .detected(let tags) = event, let tag = tags.first else { continue }
            try await handedOver { session.connect(to: tag, completion: $0) }.get()
            for isSecond in [false, true] {
                if isSecond { between() }
                let read: Result<[UInt8], CommandError> = await handedOver { done in
                    session.perform(
                        on: tag,
                        { tag throws(TagError) in try await tag.readNDEF() },
                        completion: done
                    )
                }
                if case .failure(.tag(let error)) = read { codes.append(error.code) } else { codes.append(nil) }
            }
            session.invalidate()
        }
        return codes
    }

    /// Reads like a session for messages: a tag that was reported and has not left is not read again.
    ///
    /// - Parameters:
    ///   - reader: the reader.
    ///   - failed: called when a tag could not be read, before the next poll.
    /// - Returns: how often tags were reported until one could be read.
    private static func readUntilItGoesWell(
        on reader: NFCEnvironment.Reader,
        failed: () -> Void
    ) async throws -> Int {
        let session = try #require(
            ReaderSession(environment: NFCEnvironment(reader: reader, clock: ManualClock()))
        )
        let (events, continuation) = AsyncStream.makeStream(of: ReaderSession.Event.self)
        session.observe { continuation.yield($0) }
        session.begin()
        var reports = 0
        for await event in events {
            if case .ended = event { break }
            guard case .detected(let tags) = event, let tag = tags.first else { continue }
            reports += 1
            _ = await handedOver { session.connect(to: tag, completion: $0) }
            let read: Result<[UInt8], CommandError> = await handedOver { done in
                session.perform(
                    on: tag,
                    { tag throws(TagError) in try await tag.readNDEF() },
                    completion: done
                )
            }
            guard case .success = read else {
                failed()
                session.restartPolling(skippingReported: true)
                continue
            }
            session.invalidate()
        }
        return reports
    }

    @Test func `A file that is no recording is not replaced`() throws {
        let scratch = Scratch()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.path))
        let error = #expect(throws: RecordingError.self) { try Recorder(path: scratch.path) }
        #expect(error?.code == .notARecording)
        #expect(try String(contentsOfFile: scratch.path, encoding: .utf8) == "mine")
        #expect(throws: RecordingError.self) { try Recorder(path: "/nonexistent/file") }
    }

    @Test func `A full disk is reported`() async throws {
        let recorder = try Recorder(path: "/dev/full")
        let field = VirtualField()
        field.bring(Self.tags[1])
        #expect(try await Self.flow(on: recorder.recording(.field(field))) == Self.message)
        #expect(recorder.failure != nil)
    }
}
