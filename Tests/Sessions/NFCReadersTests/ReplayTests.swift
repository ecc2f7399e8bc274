// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import NFCSessions
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import TagTrace
import Testing
import VirtualTags

/// A recorded flow runs again on its recording, and code that does something else is told where.
@Suite(.timeLimit(.minutes(5))) struct ReplayTests {
    static var tags: [any VirtualTag] {
        [
            VirtualType2Tag(Type2Contents(blank: .ntag213, uid: uid(6))),
            VirtualType3Tag(FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, 6])), VirtualType4Tag(NTAG424Contents()),
            VirtualType5Tag(Type5Contents(blank: .icodeSLIX, uid: [0xE0, 4, 1, 0x10, 1, 2, 3, 4])),
            VirtualType1Tag(Type1Contents(blank: .topaz512, uid: [1, 2, 3, 4, 5, 6, 7])),
        ]
    }

    private static func environment(_ reader: NFCEnvironment.Reader) -> NFCEnvironment {
        NFCEnvironment(reader: reader, clock: ManualClock())
    }

    /// A flow: finds a tag, reads its status, and writes and reads a message.
    private static func flow(_ reader: NFCEnvironment.Reader, writing bytes: [UInt8] = message) async throws -> [UInt8]
    {
        try await ReaderSession.with(environment(reader)) { session, tags in
            try await session.use(tags[0]) { tag throws(TagError) in
                _ = try await tag.detectNDEF()
                try await tag.writeNDEF(bytes)
                return try await tag.readNDEF()
            }
        }
    }

    /// A recording of the flow.
    private static func record(_ tag: any VirtualTag, in folder: Folder, discovering: Bool = false) async throws
        -> String
    {
        let path = "\(folder.path)/\(UUID().uuidString).jsonl"
        let field = VirtualField()
        field.bring(tag)
        let recorder = try Recorder(path: path)
        let reader: NFCEnvironment.Reader = discovering ? .discovering(ActivatingReader(field)) : .field(field)
        #expect(try await flow(recorder.recording(reader)) == message && recorder.failure == nil)
        return path
    }

    // Readers that find tags by themselves handle Type 1 tags differently.
    @Test(arguments: (0..<5).map { ($0, false) } + (0..<4).map { ($0, true) })
    func `replay: the same flow succeeds; another flow fails at the first exchange that differs, with its number`(
        index: Int,
        discovering: Bool
    )
        async throws
    {
        let folder = try Folder()
        let recording = try Recording(
            path: try await Self.record(Self.tags[index], in: folder, discovering: discovering)
        )
        let replay = RecordingReplay(recording)
        #expect(try await Self.flow(replay.reader) == message)
        #expect(replay.departure == nil && replay.remainingExchangeCount == 0 && recording.exchangeCount > 3)
        if index == 4 { return }
        let other = RecordingReplay(recording)
        await #expect(throws: (any Error).self) {
            try await Self.flow(other.reader, writing: message.dropLast() + [0x49])
        }
        let departure = try #require(other.departure)
        #expect(
            departure.exchange > (discovering ? 0 : 3) && departure.reason.contains("exchange \(departure.exchange)")
        )
        let expected = try #require(recording.trace.lines.first { $0.number == departure.exchange })
        #expect(departure.expected?.hasPrefix(expected.meaning) == true)
    }

    @Test func `recording: equal for two equal runs; a recording of its replay has the same exchanges`() async throws {
        let folder = try Folder()
        let paths = [try await Self.record(Self.tags[0], in: folder), try await Self.record(Self.tags[0], in: folder)]
        let files = try paths.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        #expect(files[0] == files[1])
        let recording = try Recording(path: paths[0])
        let path = folder.path + "/again.jsonl"
        _ = try await Self.flow(try Recorder(path: path).recording(RecordingReplay(recording).reader))
        // But for the reader's name and the times.
        let again = try Recording(path: path)
        #expect(again.trace.table(showsTimes: false) == recording.trace.table(showsTimes: false))
    }

    @Test func `recording cut off at any line: its replay ends with a reason`() async throws {
        let folder = try Folder()
        let text = try String(contentsOfFile: try await Self.record(Self.tags[0], in: folder), encoding: .utf8)
        let lines = text.split(separator: "\n")
        for count in 1..<lines.count - 2 {
            let cut = lines[..<count].joined(separator: "\n") + "\n" + lines[count].prefix(5)
            let replay = RecordingReplay(try Recording(parsing: Array(cut.utf8)))
            await #expect(throws: (any Error).self) { try await Self.flow(replay.reader) }
            #expect(replay.departure?.reason.contains("breaks off") == true, "\(count)")
        }
    }

    @Test func `recording: passwords that were sent are zeros, and the replay accepts any password in their place`()
        async throws
    {
        let folder = try Folder()
        let path = folder.path + "/a.jsonl"
        let password: [UInt8] = [0xC0, 0xFF, 0xEE, 0x42]
        /// Sets a tag's password and authenticates with it.
        func flow(_ reader: NFCEnvironment.Reader, _ password: [UInt8]) async throws -> [[UInt8]] {
            guard case .field(let field) = reader, let link = field.link(for: .nfcA) else { return [] }
            try await field.setCarrier(true)
            var answers: [[UInt8]] = []
            for frame in [
                Frame(bits: [0x26], validBitsInLastByte: 7), Frame([0x93, 0x20], checksum: .none),
                Frame([0x93, 0x70, 0x88, 4, 1, 2, 0x8F]), Frame([0x95, 0x20], checksum: .none),
                Frame([0x95, 0x70, 3, 4, 5, 6, 4]), Frame([0x60]), Frame([0xA2, 0x2B] + password),
                Frame([0xA2, 0x04, 1, 2, 3, 4]), Frame([0x1B] + password),
            ] { answers.append(try await link.transceive(frame, timeout: .microseconds(20_000)).bytes) }
            return answers
        }
        let field = VirtualField()
        field.bring(Self.tags[0])
        let answers = try await flow(try Recorder(path: path).recording(.field(field)), password)
        #expect(answers.count == 9 && answers.last == [0, 0])
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains(password.hexText()))
        for part in ["1b00000000", "a22b00000000", "a20401020304"] { #expect(text.contains(part), "\(part)") }
        let recording = try Recording(path: path)
        #expect(!recording.trace.description.contains("c0 ff ee 42"))
        let replay = RecordingReplay(recording)
        #expect(try await flow(replay.reader, [0x0B, 0xAD, 0xCA, 0xFE]) == answers)
        #expect(replay.departure == nil)
    }

    // MARK: Tags that come and leave

    @Test func `replay of a tag that arrived during the session: the flow succeeds again`() async throws {
        let folder = try Folder()
        let (path, field, tag) = (folder.path + "/a.jsonl", VirtualField(), Self.tags[0])
        let recorder = try Recorder(path: path)
        async let read = Self.flow(recorder.recording(.field(field)))
        while field.statistics.exchanges < 4 { try await Task.sleep(for: .milliseconds(1)) }
        field.bring(tag)
        #expect(try await read == message)
        let replay = RecordingReplay(try Recording(path: path))
        #expect(try await Self.flow(replay.reader) == message)
        #expect(replay.departure == nil)
    }

    /// Reads a tag until that goes well. Returns how often tags were reported.
    private static func reports(on reader: NFCEnvironment.Reader, failed: () -> Void) async throws -> Int {
        var reports = 0
        return try await ReaderSession.with(environment(reader)) { session, tags -> Int? in
            reports += 1
            do {
                _ = try await session.use(tags[0]) { tag throws(TagError) in try await tag.readNDEF() }
                return reports
            } catch {
                failed()
                return nil
            }
        }
    }

    @Test func `replay: a tag that was put on again during a read is read again`() async throws {
        let folder = try Folder()
        let (path, field, tag) = (folder.path + "/a.jsonl", VirtualField(), Self.tags[0])
        field.bring(tag)
        // The tag has been found by then, and its first pages are read.
        field.arm(.effect(.loss, atExchange: 8))
        let recorder = try Recorder(path: path)
        #expect(try await Self.reports(on: recorder.recording(.field(field))) { field.bring(tag) } == 2)
        let replay = RecordingReplay(try Recording(path: path))
        #expect(try await Self.reports(on: replay.reader) {} == 2)
        #expect(replay.departure == nil)
    }

    // MARK: Files

    @Test func `recording: an existing file is not replaced; a full disk is reported, and the flow goes on`()
        async throws
    {
        let folder = try Folder()
        let path = try folder.put("mine".utf8, as: "a.jsonl")
        #expect(throws: RecordingError.self) { try Recorder(path: path) }
        #expect(try folder.bytes("a.jsonl") == Array("mine".utf8))
        #expect(throws: RecordingError.self) { try Recorder(path: "/nonexistent/file") }
        let recorder = try Recorder(path: "/dev/full")
        let field = VirtualField()
        field.bring(Self.tags[0])
        #expect(try await Self.flow(recorder.recording(.field(field))) == message)
        #expect(recorder.failure != nil)
    }
}
