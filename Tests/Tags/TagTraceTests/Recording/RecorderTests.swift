// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import TagTrace
import Testing

/// What is recorded of a reader, call by call, and what is not written of it.
struct RecorderTests {
    /// A file for a recording, which is removed with this.
    private final class Scratch: Sendable {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ocn-\(UUID().uuidString).jsonl").path
        deinit { try? FileManager.default.removeItem(atPath: path) }
        var recording: Recording { get throws { try Recording(path: path) } }
        var steps: [Recording.Step] { get throws { try recording.steps } }

        func recorded(_ reader: Reader) throws -> any DiscoveringDriver {
            try #require(Recorder(path: path).recording(.discovering(reader)).discovering)
        }
    }

    private final class Card: APDULink {
        let (maximumCommandLength, maximumResponseLength) = (261, 258)
        let (singleBlockCommandLength, singleBlockResponseLength) = (100, 90)
        let statistics = LinkStatistics(exchanges: 4)
        let commands = Locked<[[UInt8]]>([])
        let activations = Locked(0)
        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
            commands.withLock { $0.append(apdu) }
            guard apdu.count > 1 else { throw LinkError(.timeout, "Silence.") }
            return [0x90, 0x00]
        }
        func isPresent() async -> Bool { commands.withLock { $0.count } < 3 }
        func wasActivated() { activations.withLock { $0 += 1 } }
    }

    private static let uid: [UInt8] = [1, 2, 3, 4]

    private static func tag(_ card: Card = Card()) -> DiscoveredTag {
        DiscoveredTag(identity: .nfcA(atqa: 0x0344, sak: 0x20, uid: uid), port: .commands(card, answerToSelect: [1]))
    }

    private final class Reader: DiscoveringDriver {
        let name = "a reader"
        let technologies: Set<Technology> = [.nfcB, .nfcA]
        let statistics = LinkStatistics.zero
        private let looks: Locked<[Result<[DiscoveredTag], LinkError>]>
        private let presence: String?
        let handler = Locked<(@Sendable () -> Void)?>(nil)
        let onRelease = Locked<(@Sendable () -> Void)?>(nil)
        let calls = Locked<[String]>([])
        /// Whether the tag has left since it was found.
        let isGone = Locked(false)

        /// - Parameter presence: "early" if it reports a change as soon as it is observed, nil if it never does.
        init(_ looks: [Result<[DiscoveredTag], LinkError>] = [], presence: String? = "later") {
            (self.looks, self.presence) = (Locked(looks), presence)
        }

        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
            guard let presence else { return nil }
            self.handler.withLock { $0 = handler }
            if presence == "early" { handler() }
            return PresenceObservation {}
        }

        func discover(_: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
            let look = looks.withLock { $0.isEmpty ? .success([]) : $0.removeFirst() }
            return try look.get()
        }

        func select(_ tag: DiscoveredTag) async throws(LinkError) { calls.withLock { $0.append("select") } }
        func release() async { onRelease.withLock { $0 }?() }
        func interrupt() { calls.withLock { $0.append("interrupt") } }
        func arrival(of identifier: [UInt8]) -> UInt64? { identifier == uid && !isGone.withLock { $0 } ? 7 : nil }
    }

    // MARK: A reader that finds tags

    @Test func `polls that find nothing: recorded once, and again after a tag, an error or another kind of poll`()
        async throws
    {
        let scratch = Scratch()
        let recorded = try scratch.recorded(
            Reader([
                .success([]), .success([]), .success([]), .success([Self.tag()]), .success([]), .success([]),
                .failure(LinkError(.transmission, "Noise.")), .success([]),
            ])
        )
        for _ in 0..<8 { _ = try? await recorded.discover([.nfcA], systemCodes: []) }
        _ = try await recorded.discover([.nfcA], systemCodes: [0x12FC])
        let recording = try scratch.recording
        let looks = recording.steps.map { step -> [Int]? in
            if case .tags(let tags)? = step.outcome { tags.map(\.number) } else { nil }
        }
        #expect(looks == [[], [1], [], nil, [], []])
        #expect(recording.steps.allSatisfy { $0.outcome != nil } && !recording.isCutOff)
        #expect(recording.header.technologies == [.nfcA, .nfcB] && !recording.header.isField)
    }

    @Test(arguments: ["later", "early", nil])
    func `presence report before the first poll: recorded after the header that announces reports`(presence: String?)
        async throws
    {
        let scratch = Scratch()
        let reader = Reader(presence: presence)
        let recorded = try scratch.recorded(reader)
        let told = Locked(0)
        let observation = recorded.observePresence { told.withLock { $0 += 1 } }
        if presence == "later" { reader.handler.withLock { $0 }?() }
        await recorded.release()
        let (recording, reports) = (try scratch.recording, presence == nil ? 0 : 1)
        #expect((observation != nil) == (reports == 1) && recording.header.reportsPresence == (reports == 1))
        #expect(told.withLock { $0 } == reports)
        #expect(recording.steps.map(\.action) == [.presence, .release].suffix(1 + reports))
    }

    @Test func `ISO-DEP card: recorded without its PIN, and the replay gives the same results`() async throws {
        let (scratch, card) = (Scratch(), Card())
        let reader = Reader([.success([Self.tag(card)])])
        /// Uses the card, and returns what its calls gave.
        func flow(_ reader: any DiscoveringDriver) async throws -> [String] {
            let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            guard case .commands(let card, let answerToSelect) = tag.port else { return [] }
            try await reader.select(tag)
            card.wasActivated()
            let limits = [
                card.maximumCommandLength, card.maximumResponseLength, card.singleBlockCommandLength,
                card.singleBlockResponseLength,
            ]
            var results = ["\(limits)", "\(answerToSelect ?? [])"]
            results.append("\(try await card.transmit([0x00, 0x20, 0x00, 0x81, 4, 0x31, 0x32, 0x33, 0x34]))")
            results.append("\(await card.isPresent())")
            results.append("\(try await card.transmit([0, 0x84, 0, 0, 8]))")
            do throws(LinkError) { _ = try await card.transmit([7]) } catch { results.append("\(error.code)") }
            results.append("\(await card.isPresent())")
            await reader.release()
            return results
        }
        let recorded = try scratch.recorded(reader)
        let results = try await flow(recorded)
        #expect(results == ["[261, 258, 100, 90]", "[1]", "[144, 0]", "true", "[144, 0]", "timeout", "false"])
        recorded.interrupt()
        #expect(card.activations.withLock { $0 } == 1 && reader.calls.withLock { $0 } == ["select", "interrupt"])
        // The card has got its PIN, which is not in the file.
        #expect(card.commands.withLock { $0.first?.suffix(4) } == [0x31, 0x32, 0x33, 0x34])
        let text = try String(contentsOfFile: scratch.path, encoding: .utf8)
        #expect(!text.contains("31323334") && text.contains("002000810400000000"))
        let replay = RecordingReplay(try scratch.recording)
        let again = try #require(replay.reader.discovering)
        #expect(try await flow(again) == results)
        #expect(replay.departure == nil && replay.remainingExchangeCount == 0)
        // Commands and responses are counted, since the blocks are not known: 9, 5 and 1 bytes, and two status words.
        #expect(again.statistics == LinkStatistics(exchanges: 3, bytesOnAir: 19))
    }

    @Test func `call: written before the reader gets it; selecting a tag of another reader is tagRemoved`() async throws
    {
        let (scratch, reader) = (Scratch(), Reader())
        let recorded = try scratch.recorded(reader)
        let outcomes = Locked<[Recording.Outcome?]>([])
        reader.onRelease.withLock { $0 = { outcomes.withLock { $0 = (try? scratch.steps.map(\.outcome)) ?? [] } } }
        await recorded.release()
        #expect(outcomes.withLock { $0 } == [nil])
        #expect(try scratch.steps.map(\.outcome) == [.done])
        await #expect(throws: LinkError(.tagRemoved, "")) { try await recorded.select(Self.tag()) }
        #expect(reader.calls.withLock { $0 } == [])
    }

    @Test func `arrival and presence of a tag: the arrival is recorded once, each check with its answer, and replayed`()
        async throws
    {
        let (scratch, reader) = (Scratch(), Reader([.success([Self.tag()])]))
        let uid = Self.uid
        func flow(_ driver: any DiscoveringDriver, onDeparture: () -> Void) async throws -> [String] {
            _ = try await driver.discover([.nfcA], systemCodes: [])
            var results: [String] = []
            for _ in 0..<2 { results.append("\(driver.arrival(of: uid) ?? 0) \(driver.arrival(of: [5]) ?? 0)") }
            results.append("\(await driver.isStillNear(uid, since: 7)) \(await driver.isStillNear(uid, since: 6))")
            onDeparture()
            for _ in 0..<2 { results.append("\(driver.arrival(of: uid) ?? 0)") }
            return results
        }
        let live = try await flow(try scratch.recorded(reader)) { reader.isGone.withLock { $0 = true } }
        #expect(live == ["7 0", "7 0", "true false", "0", "0"])
        let recording = try scratch.recording
        let near = Recording.Action.isStillNear(uid)
        let steps = recording.steps.dropFirst()
        #expect(steps.map(\.action) == [.arrival(uid, number: 7), near, near, .arrival(uid, number: nil)])
        #expect(steps.map(\.outcome) == [.done, .isPresent(true), .isPresent(false), .done])
        #expect(recording.trace.lines.contains { $0.meaning == "01020304 is gone" } && !recording.isCutOff)
        #expect(try await flow(try #require(RecordingReplay(recording).reader.discovering)) {} == live)
    }

    @Test(arguments: ["select", "discover"])
    func `tag that takes frames: its product decides what is a password, until another tag is used`(next: String)
        async throws
    {
        let pages = [Script.send(1, "60", "0004040201001303"), Script.send(2, "a22b01020304", "0a", bits: 4)]
        let other = next == "select" ? Script.call(#""select","tag":2"#) : Script.look(3)
        let last = Script.send(3, "a22b00000000", "0a", tag: next == "select" ? 2 : 4, bits: 4)
        // A replay is the reader that is recorded. Page 2B of this product has no password.
        let replay = try Script.replay(Script.look(1) + Script.call(#""wake","tag":1"#) + pages.joined() + other + last)
        let scratch = Scratch()
        let recorded = try Recorder(path: scratch.path).recording(replay.reader)
        let reader = try #require(recorded.discovering)
        var found = try await reader.discover([.nfcA], systemCodes: [])
        let first = try #require(found[0].frames)
        #expect(first.maximumFrameLength == 64 && !first.countsAir)
        try await first.reactivate()
        try await first.send([0x60])
        try await first.send([0xA2, 0x2B, 1, 2, 3, 4])
        if next == "select" {
            try await reader.select(found[1])
        } else {
            found = try await reader.discover([.nfcA], systemCodes: [])
        }
        try await found[1].frames?.send([0xA2, 0x2B, 0x31, 0x32, 0x33, 0x34])
        #expect(replay.departure == nil && replay.remainingExchangeCount == 0)
        let recording = try scratch.recording
        let requests: [[UInt8]] = [[0x60], [0xA2, 0x2B, 1, 2, 3, 4], [0xA2, 0x2B, 0, 0, 0, 0]]
        #expect(recording.trace.exchanges.map(\.request.bytes) == requests)
        #expect(recording.steps.map(\.action).contains(.reactivate(tag: 1)))
        guard case .tags(let tags)? = recording.steps.first?.outcome else { return #expect(Bool(false)) }
        #expect(
            tags.map(\.port) == [
                .frames(maximumLength: 64, countsAir: false), .frames(maximumLength: 64, countsAir: false),
            ]
        )
    }

    // MARK: A reader whose host sends every frame

    @Test func `field reader: header and reports are recorded, with times from the start of the recording`()
        async throws
    {
        var writer = RecordingWriter(reader: "R", technologies: [.nfcA, .nfcV], maximumFrameLength: 64)
        let pages: [Frame] = [4, 8, 12].map { (page: UInt8) in Frame([UInt8](repeating: page, count: 16)) }
        writer.add(Frame([0x30, 4]), pages[0])
        writer.add(Frame([0x30, 8]), pages[1])
        writer.addArrival(of: [4, 5, 6, 7], number: 2, at: .zero)
        writer.addPresence(at: .zero)
        writer.add(Frame([0x30, 12]), pages[2])
        let scratch = Scratch()
        let reader = RecordingReplay(try Recording(parsing: writer.bytes)).reader
        let base = try #require(reader.field)
        try await base.link(for: .nfcA)?.send([0x30, 4])
        #expect(base.statistics.airtime > .zero)
        let origin = base.statistics.airtime
        let field = try #require(try Recorder(path: scratch.path).recording(reader).field)
        let link = try #require(field.link(for: .nfcA))
        // A report is before what its listener asks.
        let observation = field.observePresence { _ = field.arrival(of: [4, 5, 6, 7]) }
        var times: [Int64] = []
        for page: UInt8 in [8, 12] {
            try await link.send([0x30, page])
            times.append((field.statistics.airtime - origin).duration.wholeMicroseconds)
        }
        #expect(observation != nil && link.maximumFrameLength == 64 && times[0] > 0 && times[1] > times[0])
        let recording = try scratch.recording
        #expect(recording.header.isField && recording.header.reportsPresence)
        #expect(recording.header.technologies == [.nfcA, .nfcV] && recording.header.maximumFrameLength == 64)
        #expect(recording.steps[1...2].map(\.action) == [.presence, .arrival([4, 5, 6, 7], number: 2)])
        #expect(recording.steps.map(\.time.wholeMicroseconds) == [0, times[0], times[0], times[0]])
        #expect(recording.steps.first?.endTime?.wholeMicroseconds == times[0])
        #expect(recording.steps.last?.endTime?.wholeMicroseconds == times[1])
    }

    // MARK: The file

    @Test func `file of a recorder: a recording is replaced, another file is kept, a full disk is reported`() throws {
        let scratch = Scratch()
        let file = URL(fileURLWithPath: scratch.path)
        try Data("hello".utf8).write(to: file)
        #expect(throws: RecordingError(.notARecording, "")) { try Recorder(path: scratch.path) }
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
        try Data(RecordingWriter(reader: "R").bytes).write(to: file)
        let recorder = try Recorder(path: scratch.path)
        #expect(recorder.path == scratch.path && recorder.failure == nil)
        #expect(try Data(contentsOf: file).isEmpty)
        #expect(throws: RecordingError(.unwritable, "")) { try Recorder(path: "/nonexistent/r.jsonl") }
        let full = try Recorder(path: "/dev/full")
        #expect(full.failure == nil)
        _ = full.recording(RecordingReplay(try Recording(parsing: RecordingWriter(reader: "R").bytes)).reader)
        #expect(full.failure?.code == .unwritable)
    }

    // MARK: A writer without a reader

    @Test func `recording writer: the recording has each event once, with its time`() throws {
        var writer = RecordingWriter(reader: "simulator")
        writer.addField(isOn: true, at: .milliseconds(1))
        writer.addPresence(at: .milliseconds(2))
        let (reqA, atqA) = (Frame(bits: [0x26], validBitsInLastByte: 7), Frame([0x44, 0x00], checksum: .none))
        writer.add(reqA, atqA, at: .milliseconds(3), for: .microseconds(428))
        // An arrival is written when it is new, and once.
        for (milliseconds, number) in [(4, 2), (5, 2), (6, 4), (7, 4), (8, 2)] as [(Int, UInt64)] {
            writer.addArrival(of: [4, 5, 6, 7], number: number, at: .milliseconds(milliseconds))
            writer.addArrival(of: [8, 5, 6, 7], number: 2, at: .milliseconds(milliseconds))
        }
        let polling = Frame([0x06, 0x00, 0x12, 0xFC, 0x01, 0x03])
        writer.add(polling, nil, .nfcF, at: .milliseconds(9), for: .milliseconds(8))
        writer.addField(isOn: false, at: .milliseconds(18))
        let recording = try Recording(parsing: writer.bytes)
        #expect(recording.readerName == "simulator" && recording.exchangeCount == 2)
        #expect(recording.trace.exchanges[0].answer == .success(atqA))
        #expect(recording.trace.exchanges.map(\.duration) == [.microseconds(428), .milliseconds(8)])
        let lines = recording.trace.lines.map { line in
            "\(line.time.map { "\($0.wholeMicroseconds / 1000) " } ?? "")\(line.meaning)"
        }
        #expect(
            lines == [
                "1 field on", "2 a tag arrived or left", "3 REQA", "3 ATQA: UID of 7 bytes",
                "4 04050607 is near, arrival 2", "4 08050607 is near, arrival 2", "6 04050607 is near, arrival 4",
                "8 04050607 is near, arrival 2", "9 POLLING for system 12FC (NDEF), 4 slots", "17 no answer",
                "18 field off",
            ]
        )
    }

    @Test func `recording writer: passwords are zeros, on the pages where the product may have them`() throws {
        let (write, ack) = (Frame([0xA2, 0x2B, 0xDE, 0xAD, 0xBE, 0xEF]), Frame(bits: [0x0A], validBitsInLastByte: 4))
        let key = Frame([0xA2, 0x2C, 0xDE, 0xAD, 0xBE, 0xEF])
        let version = (Frame([0x60]), Frame([0, 4, 4, 2, 1, 0, 0x0F, 3]))
        let other = (Frame([0x60]), Frame([0, 4, 4, 2, 1, 0, 0x13, 3]))
        let authentication = (Frame([0x1A, 0x00]), Frame([0xAF] + [UInt8](repeating: 7, count: 8)))
        let rows: [(first: (Frame, Frame), off: Bool, last: Frame, isSecret: Bool)] = [
            (version, false, write, true), (other, false, write, false), (other, true, write, true),
            (authentication, false, key, true), (authentication, false, write, false),
            (version, false, Frame([0x1B, 0xDE, 0xAD, 0xBE, 0xEF]), true),
        ]
        for row in rows {
            var writer = RecordingWriter(reader: "simulator")
            writer.add(row.first.0, row.first.1)
            if row.off { writer.addField(isOn: false, at: .zero) }
            writer.add(row.last, ack)
            #expect(String(decoding: writer.bytes, as: UTF8.self).contains("deadbeef") == !row.isSecret)
            let last = try Recording(parsing: writer.bytes).trace.exchanges.last?.request.bytes
            let head = row.last.bytes.dropLast(4)
            #expect(last == (row.isSecret ? head + [0, 0, 0, 0] : row.last.bytes))
        }
    }
}

extension RecordingWriter {
    /// Adds an exchange; nil is no answer.
    fileprivate mutating func add(
        _ request: Frame,
        _ answer: Frame?,
        _ technology: Technology = .nfcA,
        at time: Duration = .zero,
        for duration: Duration = .zero
    ) {
        let result = answer.map { Result<Frame, LinkError>.success($0) } ?? .failure(LinkError(.timeout, "Silence."))
        addExchange(
            technology,
            request: request,
            result: result,
            timeout: .milliseconds(5),
            at: time,
            duration: duration
        )
    }
}
