// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

/// A replay of recordings that are written by hand, call by call; and how they are shown.
@Suite(.timeLimit(.minutes(1))) struct ReplayTests {
    private static let on = [#"{"us":0,"do":"field-on"}"#, #"{"us":1000,"done":true}"#]
    private static let read = [
        #"{"n":1,"us":2000,"do":"send","technology":"nfc-a","hex":"3004","timeout_us":5000}"#,
        #"{"n":1,"us":7000,"got":"01020304050607080910111213141516"}"#,
    ]
    private static let get = [
        #"{"n":2,"us":8000,"do":"send","technology":"nfc-v","hex":"0201","timeout_us":5000}"#,
        #"{"n":2,"us":9000,"failed":"timeout","reason":"Silence."}"#,
    ]
    private static let report = [#"{"us":9000,"do":"presence"}"#]
    private static let again = Script.send(3, "3008", "00", tag: nil)

    /// A replay of a field reader, with its two links.
    private struct Stage {
        let replay: RecordingReplay
        let field: any FieldDriver
        let nfcA: any FrameLink
        let nfcV: any FrameLink

        init(
            _ lines: [String],
            cutOff: Bool = false,
            onElapsed: (@Sendable (Duration) -> Void)? = nil,
            onDeparture: (@Sendable (ReplayDeparture) -> Void)? = nil
        ) throws {
            let recording = try Script.recording(kind: "field", cutOff: cutOff, lines)
            replay = RecordingReplay(recording, onElapsed: onElapsed, onDeparture: onDeparture)
            field = try #require(replay.reader.field)
            (nfcA, nfcV) = (try #require(field.link(for: .nfcA)), try #require(field.link(for: .nfcV)))
        }
    }

    private static func discovering(_ lines: [String]) throws -> (RecordingReplay, any DiscoveringDriver) {
        let replay = try Script.replay(lines)
        return (replay, try #require(replay.reader.discovering))
    }

    @Test func `replay: each call has its recorded answer and time, and is counted`() async throws {
        let elapsed = Locked<[Duration]>([])
        let stage = try Stage(
            Self.on + Self.read + Self.get,
            onElapsed: { time in elapsed.withLock { $0.append(time) } }
        )
        let (field, nfcA, nfcV) = (stage.field, stage.nfcA, stage.nfcV)
        #expect(
            field.name == "recording of R" && field.technologies == [.nfcA, .nfcV] && field.link(for: .nfcF) == nil
        )
        #expect(nfcA.maximumFrameLength == 64 && nfcA.technology == .nfcA && stage.replay.remainingExchangeCount == 2)
        try await field.setCarrier(true)
        // The timeout may be another one.
        let answer = try await nfcA.transceive(Frame([0x30, 4]), timeout: .milliseconds(1))
        #expect(answer.bytes.count == 16 && stage.replay.remainingExchangeCount == 1)
        await #expect(throws: LinkError(.timeout, "")) { try await nfcV.send([0x02, 0x01]) }
        #expect(elapsed.withLock { $0 } == [.milliseconds(1), .milliseconds(5), .milliseconds(1)])
        #expect(stage.replay.departure == nil && stage.replay.remainingExchangeCount == 0)
        // A command of two bytes and an answer of sixteen, each with its checksum; and a request without an answer.
        #expect(nfcA.statistics.exchanges == 1 && nfcA.statistics.bytesOnAir == 22 && nfcA.statistics.airtime > .zero)
        #expect(nfcV.statistics.exchanges == 1 && nfcV.statistics.bytesOnAir == 4)
        #expect(field.statistics == nfcA.statistics + nfcV.statistics)
    }

    @Test
    func `replay, call that was not recorded: this call and all later ones fail, with the expected call as reason`()
        async throws
    {
        let left = Locked<[ReplayDeparture]>([])
        let stage = try Stage(Self.on + Self.read + Self.get, onDeparture: { end in left.withLock { $0.append(end) } })
        try await stage.field.setCarrier(true)
        var reasons: Set<String> = []
        for packet in [[0x30, 5], [0x30, 4], [0x60]] as [[UInt8]] {
            let error = await #expect(throws: LinkError.self) { try await stage.nfcA.send(packet) }
            #expect(error?.code == .readerUnavailable)
            reasons.insert(error?.reason ?? "")
        }
        let departure = try #require(stage.replay.departure)
        #expect(departure.exchange == 1 && departure.time == .milliseconds(2) && !departure.isCutOff)
        #expect(departure.expected == "READ 04 [3004]" && departure.actual == "READ 05 [3005]")
        let reason =
            "The replay departed from the recording at exchange 1 (2 ms). Expected: READ 04 [3004]. "
            + "Actual: READ 05 [3005]. Find out what changed, or record the flow again."
        #expect(reasons == [reason] && departure.description == reason && departure.reason == reason)
        // It is reported once.
        #expect(left.withLock { $0 } == [departure] && stage.replay.remainingExchangeCount == 2)
    }

    @Test(arguments: 0..<5) func `replay of another call, technology or number of bits: departs from the recording`(
        index: Int
    ) async throws {
        let stage = try Stage(Self.on + Self.read)
        if index > 0 { try await stage.field.setCarrier(true) }
        await #expect(throws: LinkError(.readerUnavailable, "")) {
            switch index {
            case 0: try await stage.field.setCarrier(false)
            case 1: try await stage.field.setCarrier(true)
            case 2: try await stage.nfcV.send([0x30, 4])
            case 3: try await stage.nfcA.send([UInt8](repeating: 0xA2, count: 33))
            default:
                let frame = Frame(bits: [0x30, 4], validBitsInLastByte: 7)
                _ = try await stage.nfcA.transceive(frame, timeout: .milliseconds(5))
            }
        }
        let departure = try #require(stage.replay.departure)
        let long = String(repeating: "a2", count: 32)
        let ends = ["field off", "field on", "[3004]", "[\(long)…]", "[3004/7]"]
        #expect(departure.actual.hasSuffix(ends[index]))
        #expect(departure.reason.contains("before its first exchange") == (index == 0))
    }

    @Test func `replay, call after the end: the reason tells a complete recording from one that breaks off`()
        async throws
    {
        let rows: [([String], Bool, String)] = [
            ([], false, "The recording ends before its first exchange"), ([], true, "The recording breaks off before"),
            ([Self.on[0]], true, "The recording breaks off before its first exchange"),
            (Self.on + Self.read, false, "The recording ends after exchange 1, but this call followed: field on"),
        ]
        for (lines, cutOff, reason) in rows {
            let stage = try Stage(lines, cutOff: cutOff)
            if lines.count > 1 {
                try await stage.field.setCarrier(true)
                try await stage.nfcA.send([0x30, 4])
            }
            await #expect(throws: LinkError.self) { try await stage.field.setCarrier(true) }
            let departure = try #require(stage.replay.departure)
            #expect(departure.reason.hasPrefix(reason) && departure.isCutOff == cutOff, "\(departure.reason)")
        }
    }

    // MARK: Readers that find tags

    private static let look = #"{"us":0,"do":"discover","technologies":["nfc-a"],"systems":["12fc"]}"#
    private static let nothing = #"{"us":0,"found":0}"#
    private static let found = [
        look, #"{"tag":1,"technology":"nfc-a","atqa":"0044","sak":"00","uid":"04","maximum_frame_length":32}"#,
        #"{"us":0,"found":1}"#,
    ]

    @Test func `replay: more or fewer polls that find nothing than recorded are accepted`() async throws {
        let calls =
            [#"{"us":0,"do":"arrival","uid":"04","number":3}"#] + Script.call(#""select","tag":1"#)
            + Script.call(#""is-still-near","uid":"04""#, #""present":false"#) + Script.call(#""wake","tag":1"#)
        let (replay, reader) = try Self.discovering([Self.look, Self.nothing] + Self.found + calls)
        #expect(!reader.reportsActivationData)
        #expect(try await reader.discover([.nfcA], systemCodes: [0x12FC]).isEmpty)
        let tags = try await reader.discover([.nfcA], systemCodes: [0x12FC])
        #expect(tags.map(\.identity) == [.nfcA(atqa: 0x0044, sak: 0, uid: [4])])
        let link = try #require(tags[0].frames)
        #expect(link.maximumFrameLength == 32 && link.countsAir)
        #expect(reader.arrival(of: [4]) == 3 && reader.arrival(of: [5]) == nil)
        try await reader.select(tags[0])
        #expect(await reader.isStillNear([5], since: 3))
        #expect(await !reader.isStillNear([4], since: 3))
        // The tag is checked as often as in the recording; otherwise it stays.
        #expect(await reader.isStillNear([4], since: 3))
        try await link.reactivate()
        #expect(replay.departure == nil)
        // The tag was woken once.
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await link.reactivate() }
        #expect(replay.departure?.actual == "wake tag 1")
        let (empty, patient) = try Self.discovering([Self.look, Self.nothing])
        for _ in 0..<3 { #expect(try await patient.discover([.nfcA], systemCodes: [0x12FC]).isEmpty) }
        await #expect(throws: LinkError(.readerUnavailable, "")) {
            try await patient.discover([.nfcA], systemCodes: [])
        }
        #expect(empty.departure?.actual == "look for nfc-a")
        let question = Script.call(#""is-still-near","uid":"04""#, #""present":false"#)
        let (left, eager) = try Self.discovering(Self.found + question)
        #expect(try await eager.discover([.nfcA], systemCodes: [0x12FC]).count == 1)
        await #expect(throws: LinkError.self) { try await eager.discover([.nfcA], systemCodes: [0x12FC]) }
        #expect(left.departure?.expected == "is 04 still near")
        // Where the recording was left, nothing is known of a tag any more, so it stays.
        #expect(await eager.isStillNear([4], since: 3))
    }

    @Test
    func `replay of a presence check: takes its recorded time; one in which the recording breaks off counts as near`()
        async throws
    {
        let elapsed = Locked<[Duration]>([])
        let lines = [
            #"{"us":0,"do":"presence"}"#, #"{"us":1000,"do":"is-still-near","uid":"04"}"#,
            #"{"us":4000,"present":false}"#,
            #"{"us":5000,"do":"is-still-near","uid":"04"}"#,
        ]
        let recording = try Script.recording(cutOff: true, lines)
        let replay = RecordingReplay(recording, onElapsed: { time in elapsed.withLock { $0.append(time) } })
        let reader = try #require(replay.reader.discovering)
        #expect(await !reader.isStillNear([4], since: 3))
        #expect(elapsed.withLock { $0 } == [.milliseconds(3)])
        #expect(await reader.isStillNear([4], since: 3))
        #expect(replay.departure == nil)
        await #expect(throws: LinkError.self) { try await reader.discover([.nfcA], systemCodes: []) }
        #expect(replay.departure?.actual == "is 04 still near" && replay.departure?.isCutOff == true)
        #expect(await reader.isStillNear([4], since: 3))
    }

    // MARK: Reports

    @Test func `replay of presence reports: made after their call, to the observers that exist by then`() async throws {
        let stage = try Stage(Self.on + Self.read + Self.report + Self.get + Self.report + Self.again)
        try await stage.field.setCarrier(true)
        let told = Locked<[Int]>([])
        var first = stage.field.observePresence { told.withLock { $0.append(1) } }
        let second = stage.field.observePresence { told.withLock { $0.append(2) } }
        try await stage.nfcA.send([0x30, 4])
        #expect(told.withLock { $0 } == [1, 2])
        first = nil
        _ = try? await stage.nfcV.send([0x02, 0x01])
        try await stage.nfcA.send([0x30, 8])
        #expect(told.withLock { $0 } == [1, 2, 2])
        #expect(first == nil && second != nil && stage.replay.departure == nil)
    }

    @Test func `replay of a presence report before any observer: reported to the first observer, once`() async throws {
        let stage = try Stage(Self.report + Self.on + Self.read + Self.get)
        try await stage.field.setCarrier(true)
        let told = Locked(0)
        let observation = stage.field.observePresence { told.withLock { $0 += 1 } }
        try await stage.nfcA.send([0x30, 4])
        _ = try? await stage.nfcV.send([0x02, 0x01])
        #expect(told.withLock { $0 } == 1 && observation != nil && stage.replay.departure == nil)
    }

    @Test func `replay of a presence report after the last call: reported; without one nothing is`() async throws {
        let (silent, last) = (try Stage(Self.on + Self.read), try Stage(Self.on + Self.read + Self.report))
        let (reports, report) = AsyncStream.makeStream(of: Int.self)
        let told = Locked(0)
        let observations = [
            silent.field.observePresence { told.withLock { $0 += 1 } },
            last.field.observePresence { report.yield(last.replay.remainingExchangeCount) },
        ]
        for stage in [silent, last] {
            try await stage.field.setCarrier(true)
            try await stage.nfcA.send([0x30, 4])
        }
        var iterator = reports.makeAsyncIterator()
        #expect(await iterator.next() == 0)
        #expect(told.withLock { $0 } == 0 && observations.allSatisfy { $0 != nil })
        // A reader that reported nothing when it was recorded reports nothing, so that it is asked.
        for reportsPresence in [true, false] {
            let recording = try Script.recording(kind: "field", reportsPresence: reportsPresence, Self.on)
            let field = try #require(RecordingReplay(recording).reader.field)
            #expect((field.observePresence({}) != nil) == reportsPresence && !field.reportsPresenceInTime)
        }
    }

    // MARK: Secrets and chains across tags and fields

    @Test
    func `replay of a write: any data if the page may have the password, else only the recorded data`() async throws {
        // NTAG213 has its password in this page, NTAG216 has not. After a new field, the product is not known.
        for (size, isSwitched, isSecret) in [("0f", false, true), ("13", false, false), ("13", true, true)] {
            let version = Script.send(1, "60", "000404020100\(size)03", tag: nil)
            let write = Script.send(2, isSecret ? "a22b00000000" : "a22b01020304", "0a", tag: nil, bits: 4)
            let stage = try Stage(Self.on + version + (isSwitched ? Self.on : []) + write)
            try await stage.field.setCarrier(true)
            try await stage.nfcA.send([0x60])
            if isSwitched { try await stage.field.setCarrier(true) }
            let answer = try? await stage.nfcA.send([0xA2, 0x2B, 5, 6, 7, 8])
            #expect((answer?.nibble == 0x0A) == isSecret)
            #expect(stage.replay.departure?.expected == (isSecret ? nil : "WRITE 2B: 01020304 [a22b01020304]"))
        }
    }

    /// What a reader does by itself: no frame of that is in its recording.
    private static func work(_ how: String, _ next: Int = 3) -> [String] {
        switch how {
        case "wake": Script.call(#""wake","tag":1"#)
        case "select": Script.call(#""select","tag":2"#)
        default: Script.look(next, sak: "20")
        }
    }

    @Test(arguments: ["wake", "select", "discover"])
    func `trace of a reader that wakes tags: each wake begins ISO-DEP anew, passwords are those of the tag`(how: String)
        throws
    {
        let card = Script.look(1, sak: "20")
        let rats = { Script.send($0, "e080", "0578807002") }
        let (opened, read) = (["RATS: begin ISO-DEP, CID 0", "ATS"], "READ BINARY 0000+02")
        // The first block of a chain, and the first of an answer.
        let chains = [
            card, rats(1), Script.send(2, "1300d600000401", "a3"), Self.work(how), rats(3),
            Script.send(4, "0200b0000002", "12010203"), Self.work(how, 5), rats(5),
            Script.send(6, "0200b0000002", "02049000"),
        ]
        let lines = try Script.recording(Array(chains.joined())).trace.lines.filter { $0.number != nil }.map(\.meaning)
        let update = ["UPDATE BINARY 0000+04, continues", "R(ACK): continue"]
        let answers = [[read, "3 bytes, continues"], [read, "1 byte, 9000 done"]]
        #expect(lines == opened + update + opened + answers[0] + opened + answers[1])
        // NTAG216 has no password in this page, another product may.
        let version = Script.send(1, "60", "0004040201001303")
        let password = card + version + Self.work(how) + Script.send(2, "a22b01020304", "00")
        let request = try Script.recording(password).trace.lines.first { $0.number == 2 }
        #expect(request?.concealed == (how == "wake" ? [] : [2..<6]))
    }

    @Test func `trace of a Type 2 tag selected behind a card: not taken for a block of ISO-DEP`() throws {
        let pages = String(repeating: "00", count: 16)
        let steps = Script.look(1) + Script.send(1, "e080", "0578807002") + Self.work("select")
        let recording = try Script.recording(steps + Script.send(2, "3004", pages, tag: 2))
        let lines = recording.trace.lines.filter { $0.number != nil }.map(\.meaning)
        #expect(lines == ["RATS: begin ISO-DEP, CID 0", "ATS", "READ 04", "16 bytes of memory"])
    }
}
