// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import Testing

@testable import TagTrace

/// What is recorded of a reader that finds tags by itself, call by call.
@Suite("A recorder of a reader that finds tags")
struct RecorderTests {
    /// A file for a recording, which is removed with this.
    final class Scratch: Sendable {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ocn-\(UUID().uuidString).jsonl").path
        deinit { try? FileManager.default.removeItem(atPath: path) }
        var recording: Recording { get throws { try Recording(path: path) } }
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

    private final class Reader: DiscoveringDriver {
        let name = "a reader"
        let technologies: Set<Technology> = [.nfcB, .nfcA]
        let statistics = LinkStatistics.zero
        let looks: Locked<[Result<[DiscoveredTag], LinkError>]>
        let selected = Locked(0)
        let interruptions = Locked(0)
        let handler = Locked<(@Sendable () -> Void)?>(nil)
        let onRelease = Locked<(@Sendable () -> Void)?>(nil)
        let tellsPresence: Bool
        let reportsAtOnce: Bool

        init(
            _ looks: [Result<[DiscoveredTag], LinkError>],
            tellsPresence: Bool = true,
            reportsAtOnce: Bool = false
        ) {
            self.looks = Locked(looks)
            self.tellsPresence = tellsPresence
            self.reportsAtOnce = reportsAtOnce
        }

        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
            guard tellsPresence else { return nil }
            self.handler.withLock { $0 = handler }
            if reportsAtOnce { handler() }
            return PresenceObservation {}
        }

        func discover(_: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
            let look = looks.withLock { looks -> Result<[DiscoveredTag], LinkError> in
                looks.isEmpty ? .success([]) : looks.removeFirst()
            }
            return try look.get()
        }

        func select(_ tag: DiscoveredTag) async throws(LinkError) { selected.withLock { $0 += 1 } }
        func release() async { if let work = onRelease.withLock({ $0 }) { work() } }
        func interrupt() { interruptions.withLock { $0 += 1 } }

        /// Whether the tag has left since it was found.
        let isGone = Locked(false)

        func arrival(of identifier: [UInt8]) -> UInt64? {
            identifier == [1, 2, 3, 4] && !isGone.withLock { $0 } ? 7 : nil
        }
    }

    private static func tag(_ card: Card) -> DiscoveredTag {
        DiscoveredTag(
            identity: .nfcA(atqa: 0x0344, sak: 0x20, uid: [1, 2, 3, 4]),
            port: .commands(card, answerToSelect: [1])
        )
    }

    private static func recorded(_ reader: Reader, to scratch: Scratch) throws -> any DiscoveringDriver {
        guard case .discovering(let recorded) = try Recorder(path: scratch.path).recording(.discovering(reader)) else {
            throw LinkError(.unsupported, "")
        }
        return recorded
    }

    /// The numbers of the tags that each look of a recording has found; nil for a look that failed.
    private static func looks(_ recording: Recording) -> [[Int]?] {
        recording.steps.map { step -> [Int]? in
            if case .tags(let tags)? = step.outcome { tags.map(\.number) } else { nil }
        }
    }

    @Test("Looks that find nothing are written once, and what is found behind them is not lost")
    func looks() async throws {
        let scratch = Scratch()
        let found = Self.tag(Card())
        let reader = Reader([
            .success([]), .success([]), .success([]), .success([found]), .success([]), .success([]),
            .failure(LinkError(.transmission, "Noise.")), .success([]),
        ])
        let recorded = try Self.recorded(reader, to: scratch)
        for _ in 0..<8 { _ = try? await recorded.discover([.nfcA], systemCodes: []) }
        // Another look is one of its own, though it finds nothing either.
        _ = try await recorded.discover([.nfcA], systemCodes: [0x12FC])
        let recording = try scratch.recording
        #expect(Self.looks(recording) == [[], [1], [], nil, [], []])
        #expect(recording.steps.allSatisfy { $0.outcome != nil } && !recording.isCutOff)
        #expect(recording.header.technologies == [.nfcA, .nfcB] && !recording.header.isField)
    }

    @Test("A report before the first look is behind the header, which says that there are reports")
    func presence() async throws {
        for tellsPresence in [true, false] {
            let scratch = Scratch()
            let reader = Reader([], tellsPresence: tellsPresence)
            let recorded = try Self.recorded(reader, to: scratch)
            let told = Locked(0)
            let observation = recorded.observePresence { told.withLock { $0 += 1 } }
            #expect((observation != nil) == tellsPresence)
            if let report = reader.handler.withLock({ $0 }) { report() }
            await recorded.release()
            let recording = try scratch.recording
            #expect(recording.header.tellsPresence == tellsPresence && told.withLock { $0 } == (tellsPresence ? 1 : 0))
            let actions: [Recording.Action] = tellsPresence ? [.presence, .release] : [.release]
            #expect(recording.steps.map(\.action) == actions)
        }
    }

    @Test("A report that comes before the observation does not hide that there are reports")
    func earlyReport() async throws {
        let scratch = Scratch()
        let recorded = try Self.recorded(Reader([], reportsAtOnce: true), to: scratch)
        let observation = recorded.observePresence {}
        await recorded.release()
        let recording = try scratch.recording
        #expect(observation != nil && recording.header.tellsPresence)
        #expect(recording.steps.map(\.action) == [.presence, .release])
    }

    @Test("A card has its own limits, is told when it was activated, and is replayed with the same")
    func card() async throws {
        let scratch = Scratch()
        let card = Card()
        let reader = Reader([.success([Self.tag(card)])])
        let recorded = try Self.recorded(reader, to: scratch)
        /// Uses the card, and returns what its calls gave.
        func flow(_ reader: any DiscoveringDriver) async throws -> [String] {
            let found = try await reader.discover([.nfcA], systemCodes: [])
            let tag = try #require(found.first)
            guard case .commands(let card, let answerToSelect) = tag.port else { return [] }
            try await reader.select(tag)
            card.wasActivated()
            let limits = [
                card.maximumCommandLength, card.maximumResponseLength, card.singleBlockCommandLength,
                card.singleBlockResponseLength,
            ]
            var results = ["\(limits)", "\(answerToSelect ?? [])"]
            let verified = try await card.transmit([0x00, 0x20, 0x00, 0x81, 4, 0x31, 0x32, 0x33, 0x34])
            let isThere = await card.isPresent()
            let challenge = try await card.transmit([0, 0x84, 0, 0, 8])
            results += ["\(verified)", "\(isThere)", "\(challenge)"]
            do throws(LinkError) { _ = try await card.transmit([7]) } catch { results.append("\(error)") }
            let isStillThere = await card.isPresent()
            results.append("\(isStillThere)")
            await reader.release()
            return results
        }
        let results = try await flow(recorded)
        #expect(
            results == [
                "[261, 258, 100, 90]", "[1]", "[144, 0]", "true", "[144, 0]", "timeout: Silence.", "false",
            ]
        )
        #expect(card.activations.withLock { $0 } == 1 && reader.selected.withLock { $0 } == 1)
        // The card has got its PIN, which is not in the file.
        #expect(card.commands.withLock { $0.first?.suffix(4) } == [0x31, 0x32, 0x33, 0x34])
        let text = try String(contentsOfFile: scratch.path, encoding: .utf8)
        #expect(!text.contains("31323334") && text.contains("002000810400000000"))
        let replay = RecordingReplay(try scratch.recording)
        guard case .discovering(let again) = replay.reader else { throw LinkError(.unsupported, "") }
        #expect(try await flow(again) == results)
        #expect(replay.departure == nil && replay.remainingExchangeCount == 0)
        // Commands and responses are counted, since the blocks are not known: 9, 5 and 1 bytes, and two status words.
        #expect(again.statistics == LinkStatistics(exchanges: 3, bytesOnAir: 19))
    }

    @Test("A call is in the file when the reader gets it, and a reader that waits is interrupted")
    func order() async throws {
        let scratch = Scratch()
        let reader = Reader([])
        let recorded = try Self.recorded(reader, to: scratch)
        let outcomes = Locked<[Recording.Outcome?]>([])
        let look: @Sendable () -> Void = {
            let steps = try? scratch.recording.steps
            outcomes.withLock { $0 = steps?.map(\.outcome) ?? [] }
        }
        reader.onRelease.withLock { $0 = look }
        await recorded.release()
        #expect(outcomes.withLock { $0 } == [nil])
        #expect(try scratch.recording.steps.map(\.outcome) == [.done])
        recorded.interrupt()
        #expect(reader.interruptions.withLock { $0 } == 1)
    }

    @Test("A tag of another reader is not selected")
    func foreignTag() async throws {
        let scratch = Scratch()
        let reader = Reader([])
        let recorded = try Self.recorded(reader, to: scratch)
        await #expect(throws: LinkError(.tagRemoved, "")) { try await recorded.select(Self.tag(Card())) }
        #expect(reader.selected.withLock { $0 } == 0)
    }

    @Test("Whether a tag has stayed near is recorded with the answer, and its arrival once")
    func stays() async throws {
        let scratch = Scratch()
        let recorded = try Self.recorded(Reader([.success([Self.tag(Card())])]), to: scratch)
        _ = try await recorded.discover([.nfcA], systemCodes: [])
        for _ in 0..<2 { #expect(recorded.arrival(of: [1, 2, 3, 4]) == 7 && recorded.arrival(of: [5]) == nil) }
        #expect(await recorded.isStillNear([1, 2, 3, 4], since: 7))
        #expect(await !recorded.isStillNear([1, 2, 3, 4], since: 6))
        let recording = try scratch.recording
        let near = Recording.Action.isStillNear([1, 2, 3, 4])
        #expect(recording.steps.dropFirst().map(\.action) == [.arrival([1, 2, 3, 4], number: 7), near, near])
        #expect(recording.steps.dropFirst().map(\.outcome) == [.done, .isPresent(true), .isPresent(false)])
        #expect(!recording.isCutOff)
    }

    @Test("A tag that was gone when its arrival was asked for is gone in the replay too")
    func gone() async throws {
        let scratch = Scratch()
        let reader = Reader([.success([Self.tag(Card())])])
        let uid: [UInt8] = [1, 2, 3, 4]
        func arrivals(_ driver: any DiscoveringDriver, onDeparture: () -> Void) async throws -> [UInt64?] {
            _ = try await driver.discover([.nfcA], systemCodes: [])
            let first = driver.arrival(of: uid)
            _ = await driver.isStillNear(uid, since: 7)
            onDeparture()
            return [first, driver.arrival(of: uid), driver.arrival(of: uid)]
        }
        let recorded = try Self.recorded(reader, to: scratch)
        let live = try await arrivals(recorded) { reader.isGone.withLock { $0 = true } }
        #expect(live == [7, nil, nil])
        let recording = try scratch.recording
        let near = Recording.Action.isStillNear(uid)
        #expect(
            recording.steps.dropFirst().map(\.action) == [
                .arrival(uid, number: 7), near, .arrival(uid, number: nil),
            ]
        )
        #expect(recording.trace.lines.contains { $0.meaning == "01020304 is gone" })
        guard case .discovering(let replayed) = RecordingReplay(recording).reader else {
            throw LinkError(.unsupported, "")
        }
        let again = try await arrivals(replayed) {}
        #expect(again == live)
    }

    @Test(
        "A tag that takes frames is recorded with its link, and its password until another tag is used",
        arguments: ["select", "discover"]
    )
    func frames(next: String) async throws {
        func tag(_ number: Int) -> String {
            #"{"tag":\#(number),"technology":"nfc-a","atqa":"0044","sak":"00","uid":"0\#(number)","#
                + #""maximum_frame_length":64,"counts_air":false}"#
        }
        func send(_ number: Int, to tag: Int, _ hex: String, _ answer: String) -> [String] {
            [
                #"{"n":\#(number),"us":0,"do":"send","tag":\#(tag),"technology":"nfc-a","hex":"\#(hex)","timeout_us":1}"#,
                #"{"n":\#(number),"us":0,\#(answer)}"#,
            ]
        }
        let (ack, done) = (#""got":"0a","bits":4,"checksum":"none""#, #"{"us":0,"done":true}"#)
        let look = #"{"us":0,"do":"discover","technologies":["nfc-a"],"systems":[]}"#
        let other =
            next == "select"
            ? [#"{"us":0,"do":"select","tag":2}"#, done] : [look, tag(3), tag(4), #"{"us":0,"found":2}"#]
        let head =
            #"{"opencorenfc_recording":1,"reader":"R","kind":"discovering","technologies":["nfc-a"],"#
            + #""maximum_frame_length":256,"tells_presence":false}"#
        // A replay is the reader that is recorded. Page 2B of this product has the password.
        var lines = [head, look, tag(1), tag(2), #"{"us":0,"found":2}"#, #"{"us":0,"do":"wake","tag":1}"#, done]
        lines += send(1, to: 1, "60", #""got":"0004040201000f03""#) + send(2, to: 1, "a22b00000000", ack)
        lines += other + send(3, to: next == "select" ? 2 : 4, "a22b31323334", ack)
        let replay = RecordingReplay(try Recording(parsing: Array((lines.joined(separator: "\n") + "\n").utf8)))
        let scratch = Scratch()
        guard case .discovering(let reader) = try Recorder(path: scratch.path).recording(replay.reader) else { return }
        var found = try await reader.discover([.nfcA], systemCodes: [])
        guard case .frames(let first) = found[0].port else { return }
        #expect(first.maximumFrameLength == 64 && !first.countsAir)
        try await first.reactivate()
        for request: [UInt8] in [[0x60], [0xA2, 0x2B, 1, 2, 3, 4]] {
            _ = try await first.transceive(Frame(request), timeout: .milliseconds(5))
        }
        if next == "select" {
            try await reader.select(found[1])
        } else {
            found = try await reader.discover([.nfcA], systemCodes: [])
        }
        guard case .frames(let second) = found[1].port else { return }
        _ = try await second.transceive(Frame([0xA2, 0x2B, 0x31, 0x32, 0x33, 0x34]), timeout: .milliseconds(5))
        #expect(replay.departure == nil && replay.remainingExchangeCount == 0)
        let recording = try scratch.recording
        #expect(
            recording.trace.exchanges.map(\.request.bytes) == [
                [0x60], [0xA2, 0x2B, 0, 0, 0, 0], [0xA2, 0x2B, 0x31, 0x32, 0x33, 0x34],
            ]
        )
        #expect(recording.steps.map(\.action).contains(.reactivate(tag: 1)))
        guard case .tags(let tags)? = recording.steps.first?.outcome else { return }
        let port = Recording.Tag.Port.frames(maximumLength: 64, countsAir: false)
        #expect(tags.map(\.port) == [port, port])
    }
}
