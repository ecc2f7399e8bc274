// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

/// Checks a replay by recordings that are written by hand, call by call.
@Suite(.timeLimit(.minutes(1))) struct `A replay, call by call` {
    private static func replay(
        kind: String = "field",
        cutOff: Bool = false,
        tellsPresence: Bool = true,
        _ lines: [String],
        onElapsed: (@Sendable (Duration) -> Void)? = nil,
        onDeparture: (@Sendable (ReplayDeparture) -> Void)? = nil
    ) throws -> RecordingReplay {
        let head =
            #"{"opencorenfc_recording":1,"reader":"R","kind":"\#(kind)","technologies":["nfc-a","nfc-v"],"#
            + #""maximum_frame_length":64,"tells_presence":\#(tellsPresence)}"#
        let text = ([head] + lines).joined(separator: "\n") + (cutOff ? "\n{" : "\n")
        return RecordingReplay(try Recording(parsing: Array(text.utf8)), onElapsed: onElapsed, onDeparture: onDeparture)
    }

    private static func field(_ replay: RecordingReplay) throws -> any FieldDriver {
        guard case .field(let field) = replay.reader else { throw LinkError(.unsupported, "") }
        return field
    }

    private static let on = [#"{"us":0,"do":"field-on"}"#, #"{"us":1000,"done":true}"#]
    private static let read = [
        #"{"n":1,"us":2000,"do":"send","technology":"nfc-a","hex":"3004","timeout_us":5000}"#,
        #"{"n":1,"us":7000,"got":"01020304050607080910111213141516"}"#,
    ]
    private static let get = [
        #"{"n":2,"us":8000,"do":"send","technology":"nfc-v","hex":"0201","timeout_us":5000}"#,
        #"{"n":2,"us":9000,"failed":"timeout","reason":"Silence."}"#,
    ]

    @Test func `Each call is answered as it was, in its own time, and counted`() async throws {
        let elapsed = Locked<[Duration]>([])
        let replay = try Self.replay(
            Self.on + Self.read + Self.get,
            onElapsed: { time in elapsed.withLock { $0.append(time) } }
        )
        let field = try Self.field(replay)
        #expect(field.name == "recording of R" && field.technologies == [.nfcA, .nfcV])
        #expect(field.link(for: .nfcF) == nil)
        let (nfcA, nfcV) = (try #require(field.link(for: .nfcA)), try #require(field.link(for: .nfcV)))
        #expect(nfcA.maximumFrameLength == 64 && nfcA.technology == .nfcA)
        #expect(replay.remainingExchangeCount == 2)
        try await field.setCarrier(true)
        // The timeout may be another one.
        let answer = try await nfcA.transceive(Frame([0x30, 4]), timeout: .milliseconds(1))
        #expect(answer.bytes.count == 16 && replay.remainingExchangeCount == 1)
        let error = await #expect(throws: LinkError.self) {
            _ = try await nfcV.transceive(Frame([0x02, 0x01]), timeout: .milliseconds(5))
        }
        #expect(error?.code == .timeout && error?.reason == "Silence.")
        #expect(elapsed.withLock { $0 } == [.milliseconds(1), .milliseconds(5), .milliseconds(1)])
        #expect(replay.departure == nil && replay.remainingExchangeCount == 0)
        // A command of two bytes and an answer of sixteen, each with its checksum; and a request without an answer.
        #expect(nfcA.statistics.exchanges == 1 && nfcA.statistics.bytesOnAir == 22)
        #expect(nfcV.statistics.exchanges == 1 && nfcV.statistics.bytesOnAir == 4)
        #expect(nfcA.statistics.airtime > .zero)
        #expect(field.statistics == nfcA.statistics + nfcV.statistics)
    }

    @Test func `What comes in place of a call, and all after it, ends with what was expected`() async throws {
        let left = Locked<[ReplayDeparture]>([])
        let replay = try Self.replay(
            Self.on + Self.read + Self.get,
            onDeparture: { end in left.withLock { $0.append(end) } }
        )
        let field = try Self.field(replay)
        try await field.setCarrier(true)
        let link = try #require(field.link(for: .nfcA))
        var reasons: Set<String> = []
        for packet in [[0x30, 5], [0x30, 4], [0x60]] as [[UInt8]] {
            let error = await #expect(throws: LinkError.self) {
                _ = try await link.transceive(Frame(packet), timeout: .milliseconds(5))
            }
            #expect(error?.code == .readerUnavailable)
            reasons.insert(error?.reason ?? "")
        }
        let departure = try #require(replay.departure)
        #expect(departure.exchange == 1 && departure.time == .milliseconds(2) && !departure.isCutOff)
        #expect(departure.expected == "READ 04 [3004]" && departure.actual == "READ 05 [3005]")
        #expect(
            reasons == [
                "The recording was left at exchange 1 (2 ms). Expected: READ 04 [3004]. Came: READ 05 [3005]. "
                    + "Find out what has changed, or record the flow again."
            ]
        )
        #expect(departure.description == departure.reason)
        // It is reported once.
        #expect(left.withLock { $0 } == [departure])
        #expect(replay.remainingExchangeCount == 2)
    }

    @Test(arguments: [1, 31, 32, 33, 255])
    func `Of a long call that was not expected the first 32 bytes are said`(length: Int) async throws {
        let replay = try Self.replay(Self.on + Self.read)
        let field = try Self.field(replay)
        try await field.setCarrier(true)
        let link = try #require(field.link(for: .nfcA))
        let bytes = [0xA2] + (0..<UInt8(length - 1)).map { $0 }
        await #expect(throws: LinkError.self) {
            _ = try await link.transceive(Frame(bytes), timeout: .milliseconds(5))
        }
        let shown = bytes.prefix(32).hexText() + (length > 32 ? "…" : "")
        #expect(replay.departure?.actual.hasSuffix("[\(shown)]") == true, "\(replay.departure?.actual ?? "")")
    }

    @Test func `Another call, technology, or number of bits is another one`() async throws {
        for index in 0..<4 {
            let replay = try Self.replay(Self.on + Self.read)
            let field = try Self.field(replay)
            let (nfcA, nfcV) = (try #require(field.link(for: .nfcA)), try #require(field.link(for: .nfcV)))
            if index > 0 { try await field.setCarrier(true) }
            await #expect(throws: LinkError.self) {
                switch index {
                case 0: try await field.setCarrier(false)
                case 1: try await field.setCarrier(true)
                case 2: _ = try await nfcV.transceive(Frame([0x30, 4]), timeout: .milliseconds(5))
                default:
                    _ = try await nfcA.transceive(
                        Frame(bits: [0x30, 4], validBitsInLastByte: 7),
                        timeout: .milliseconds(5)
                    )
                }
            }
            let departure = try #require(replay.departure)
            if index == 0 {
                #expect(
                    departure.reason.hasPrefix(
                        "The recording was left before its first exchange (0 ms). Expected: field on. Came: field off."
                    )
                )
            }
            if index == 1 { #expect(departure.actual == "field on") }
            if index == 3 { #expect(departure.actual.hasSuffix("[3004/7]")) }
        }
    }

    @Test func `The end of a recording is distinguished from an interruption`() async throws {
        for (lines, cutOff, reason) in [
            (
                [], false,
                "The recording ends before its first exchange, and what came then was: field on. Record the flow again."
            ),
            (
                [], true,
                "The recording breaks off before its first exchange, and what came then was: field on. Record the flow again."
            ),
            (
                [Self.on[0]], true,
                "The recording breaks off before its first exchange, and what came then was: field on. Record the flow again."
            ),
        ] {
            let replay = try Self.replay(cutOff: cutOff, lines)
            await #expect(throws: LinkError.self) { try await Self.field(replay).setCarrier(true) }
            #expect(replay.departure?.reason == reason && replay.departure?.isCutOff == cutOff)
        }
        let replay = try Self.replay(Self.on + Self.read)
        let field = try Self.field(replay)
        try await field.setCarrier(true)
        let link = try #require(field.link(for: .nfcA))
        _ = try await link.transceive(Frame([0x30, 4]), timeout: .milliseconds(5))
        await #expect(throws: LinkError.self) {
            _ = try await link.transceive(Frame([0x30, 4]), timeout: .milliseconds(5))
        }
        #expect(
            replay.departure?.reason.hasPrefix(
                "The recording ends after exchange 1, and what came then was: READ 04 [3004]."
            ) == true
        )
    }

    private static let look = #"{"us":0,"do":"discover","technologies":["nfc-a"],"systems":["12fc"]}"#
    private static let nothing = #"{"us":0,"found":0}"#
    private static let tag =
        #"{"tag":1,"technology":"nfc-a","atqa":"0044","sak":"00","uid":"04","maximum_frame_length":32,"counts_air":false}"#

    @Test func `Looks that find nothing may be more or fewer than they were`() async throws {
        let lines = [
            Self.look, Self.nothing, Self.look, Self.tag, #"{"us":0,"found":1}"#,
            #"{"us":0,"do":"arrival","uid":"04","number":3}"#,
            #"{"us":0,"do":"select","tag":1}"#, #"{"us":0,"done":true}"#,
            #"{"us":0,"do":"is-still-near","uid":"04"}"#, #"{"us":0,"present":false}"#,
            #"{"us":0,"do":"wake","tag":1}"#, #"{"us":0,"done":true}"#,
        ]
        let replay = try Self.replay(kind: "discovering", lines)
        guard case .discovering(let reader) = replay.reader else { throw LinkError(.unsupported, "") }
        #expect(!reader.tellsActivation)
        #expect(try await reader.discover([.nfcA], systemCodes: [0x12FC]).isEmpty)
        let tags = try await reader.discover([.nfcA], systemCodes: [0x12FC])
        #expect(tags.map(\.identity) == [.nfcA(atqa: 0x0044, sak: 0, uid: [4])])
        guard case .frames(let link)? = tags.first?.port else { throw LinkError(.unsupported, "") }
        #expect(link.maximumFrameLength == 32 && !link.countsAir)
        #expect(reader.arrival(of: [4]) == 3 && reader.arrival(of: [5]) == nil)
        try await reader.select(tags[0])
        #expect(await reader.isStillNear([5], since: 3))
        #expect(await !reader.isStillNear([4], since: 3))
        // The tag is checked as often as in the recording; otherwise it stays.
        #expect(await reader.isStillNear([4], since: 3))
        try await link.reactivate()
        #expect(replay.departure == nil)
        // The tag was woken once.
        await #expect(throws: LinkError.self) { try await link.reactivate() }
        #expect(replay.departure?.actual == "wake tag 1")
        let other = try Self.replay(kind: "discovering", [Self.look, Self.nothing])
        guard case .discovering(let patient) = other.reader else { throw LinkError(.unsupported, "") }
        for _ in 0..<3 { #expect(try await patient.discover([.nfcA], systemCodes: [0x12FC]).isEmpty) }
        await #expect(throws: LinkError.self) { _ = try await patient.discover([.nfcA], systemCodes: []) }
        #expect(other.departure?.actual == "look for nfc-a")
    }

    @Test func `The reader's reports come after the call before them, to those who listen then`() async throws {
        let lines = Self.on + Self.read + [#"{"us":9,"do":"presence"}"#] + Self.get
        let told = Locked(0)
        let replay = try Self.replay(lines)
        let field = try Self.field(replay)
        try await field.setCarrier(true)
        var observation = field.observePresence { told.withLock { $0 += 1 } }
        let link = try #require(field.link(for: .nfcA))
        _ = try await link.transceive(Frame([0x30, 4]), timeout: .milliseconds(5))
        // The recording continues with an exchange, so the report came during the work.
        #expect(told.withLock { $0 } == 1)
        observation = nil
        #expect(observation == nil)
        _ = try? await field.link(for: .nfcV)?.transceive(Frame([0x02, 0x01]), timeout: .milliseconds(5))
        #expect(told.withLock { $0 } == 1)
    }

    @Test("Who stops to listen is told no more, and the others are")
    func listeners() async throws {
        let report = [#"{"us":9,"do":"presence"}"#]
        let again = [
            #"{"n":3,"us":9500,"do":"send","technology":"nfc-a","hex":"3008","timeout_us":5000}"#,
            #"{"n":3,"us":9600,"got":"00"}"#,
        ]
        let replay = try Self.replay(Self.on + Self.read + report + Self.get + report + again)
        let field = try Self.field(replay)
        try await field.setCarrier(true)
        let told = Locked<[Int]>([])
        var first = field.observePresence { told.withLock { $0.append(1) } }
        let second = field.observePresence { told.withLock { $0.append(2) } }
        _ = try await field.link(for: .nfcA)?.transceive(Frame([0x30, 4]), timeout: .milliseconds(5))
        #expect(told.withLock { $0 } == [1, 2])
        first = nil
        _ = try? await field.link(for: .nfcV)?.transceive(Frame([0x02, 0x01]), timeout: .milliseconds(5))
        #expect(told.withLock { $0 } == [1, 2, 2])
        #expect(first == nil && second != nil && replay.departure == nil)
    }

    @Test("A report that nobody heard is told to the first who listens, and once")
    func owedReport() async throws {
        let again = [
            #"{"n":3,"us":9500,"do":"send","technology":"nfc-a","hex":"3008","timeout_us":5000}"#,
            #"{"n":3,"us":9600,"got":"00"}"#,
        ]
        let replay = try Self.replay([#"{"us":0,"do":"presence"}"#] + Self.on + Self.read + Self.get + again)
        let field = try Self.field(replay)
        try await field.setCarrier(true)
        let told = Locked(0)
        let observation = field.observePresence { told.withLock { $0 += 1 } }
        let (nfcA, nfcV) = (try #require(field.link(for: .nfcA)), try #require(field.link(for: .nfcV)))
        _ = try await nfcA.transceive(Frame([0x30, 4]), timeout: .milliseconds(5))
        #expect(told.withLock { $0 } == 1)
        _ = try? await nfcV.transceive(Frame([0x02, 0x01]), timeout: .milliseconds(5))
        #expect(told.withLock { $0 } == 1)
        _ = try await nfcA.transceive(Frame([0x30, 8]), timeout: .milliseconds(5))
        #expect(told.withLock { $0 } == 1 && observation != nil && replay.departure == nil)
    }

    @Test("A report behind the last call is told, and where there was none, nobody is told")
    func lastReport() async throws {
        let (reports, report) = AsyncStream.makeStream(of: Int.self)
        let silent = try Self.field(Self.replay(Self.on + Self.read))
        let replay = try Self.replay(Self.on + Self.read + [#"{"us":9,"do":"presence"}"#])
        let field = try Self.field(replay)
        let told = Locked(0)
        let observations = [
            silent.observePresence { told.withLock { $0 += 1 } },
            field.observePresence { report.yield(replay.remainingExchangeCount) },
        ]
        for reader in [silent, field] {
            try await reader.setCarrier(true)
            _ = try await reader.link(for: .nfcA)?.transceive(Frame([0x30, 4]), timeout: .milliseconds(5))
        }
        var iterator = reports.makeAsyncIterator()
        let left = await iterator.next()
        #expect(left == 0 && replay.departure == nil)
        #expect(told.withLock { $0 } == 0 && observations.allSatisfy { $0 != nil })
    }

    @Test("A question takes its time, and one that the recording breaks off in has no answer")
    func questions() async throws {
        let elapsed = Locked<[Duration]>([])
        let replay = try Self.replay(
            kind: "discovering",
            cutOff: true,
            [
                #"{"us":0,"do":"presence"}"#, #"{"us":1000,"do":"is-still-near","uid":"04"}"#,
                #"{"us":4000,"present":false}"#, #"{"us":5000,"do":"is-still-near","uid":"04"}"#,
            ],
            onElapsed: { time in elapsed.withLock { $0.append(time) } }
        )
        guard case .discovering(let reader) = replay.reader else { throw LinkError(.unsupported, "") }
        #expect(await !reader.isStillNear([4], since: 3))
        #expect(elapsed.withLock { $0 } == [.milliseconds(3)])
        #expect(await reader.isStillNear([4], since: 3))
        #expect(replay.departure == nil)
        await #expect(throws: LinkError.self) { _ = try await reader.discover([.nfcA], systemCodes: []) }
        let start = "The recording breaks off before its first exchange, and what came then was: is 04 still near."
        #expect(replay.departure?.reason.hasPrefix(start) == true, "\(replay.departure?.reason ?? "")")
        // Behind its end nothing is known of a tag, so it stays.
        #expect(await reader.isStillNear([4], since: 3))
    }

    @Test("A reader that told nothing when it was recorded tells nothing, so that it is asked")
    func silentReader() throws {
        for tellsPresence in [true, false] {
            let field = try Self.field(Self.replay(tellsPresence: tellsPresence, Self.on))
            #expect((field.observePresence({}) != nil) == tellsPresence)
            #expect(!field.reportsPresenceInTime)
        }
    }

    @Test("Looks that find nothing are free only until one has found a tag")
    func lookBehindTag() async throws {
        let lines = [
            Self.look, Self.nothing, Self.look, Self.tag, #"{"us":0,"found":1}"#,
            #"{"us":0,"do":"is-still-near","uid":"04"}"#, #"{"us":0,"present":false}"#,
        ]
        let replay = try Self.replay(kind: "discovering", lines)
        guard case .discovering(let reader) = replay.reader else { throw LinkError(.unsupported, "") }
        #expect(try await reader.discover([.nfcA], systemCodes: [0x12FC]).isEmpty)
        #expect(try await reader.discover([.nfcA], systemCodes: [0x12FC]).count == 1)
        let error = await #expect(throws: LinkError.self) {
            _ = try await reader.discover([.nfcA], systemCodes: [0x12FC])
        }
        #expect(error?.code == .readerUnavailable)
        #expect(replay.departure?.expected == "is 04 still near")
        // Where the recording was left, it says nothing of a tag any more.
        #expect(await reader.isStillNear([4], since: 3))
    }

    @Test("In another field a page is no secret, and what is written there counts")
    func secretsOfOneField() async throws {
        let version = [
            #"{"n":1,"us":0,"do":"send","technology":"nfc-a","hex":"60","timeout_us":5000}"#,
            #"{"n":1,"us":0,"got":"0004040201000f03"}"#,
        ]
        func write(_ data: String) -> [String] {
            [
                #"{"n":2,"us":0,"do":"send","technology":"nfc-a","hex":"a22b\#(data)","timeout_us":5000}"#,
                #"{"n":2,"us":0,"got":"0a","bits":4,"checksum":"none"}"#,
            ]
        }
        for isSwitched in [false, true] {
            let between = isSwitched ? Self.on : []
            let data = isSwitched ? "01020304" : "00000000"
            let replay = try Self.replay(Self.on + version + between + write(data))
            let field = try Self.field(replay)
            let link = try #require(field.link(for: .nfcA))
            try await field.setCarrier(true)
            _ = try await link.transceive(Frame([0x60]), timeout: .milliseconds(5))
            if isSwitched { try await field.setCarrier(true) }
            let answer = try? await link.transceive(Frame([0xA2, 0x2B, 5, 6, 7, 8]), timeout: .milliseconds(5))
            #expect((answer?.nibble == 0x0A) == !isSwitched)
            #expect(replay.departure?.expected == (isSwitched ? "WRITE 2B: 01020304 [a22b01020304]" : nil))
        }
    }
}
