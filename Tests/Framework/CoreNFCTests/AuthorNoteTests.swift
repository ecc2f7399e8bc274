// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCSessions
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// The notes for an app's author: mistakes that fail nowhere, a session that is refused, and why there is no reader.
@Suite(.timeLimit(.minutes(5))) struct AuthorNoteTests {
    /// How many notes begin so in the trace of a field.
    private static func notes(_ field: TestField, _ start: String) -> Int {
        field.trace.entries.count { if case .note(let text) = $0.event { text.hasPrefix(start) } else { false } }
    }

    private static func reasons(_ output: [UInt8], _ start: String) -> [String] {
        String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init).filter { $0.hasPrefix(start) }
    }

    // MARK: Mistakes

    @Test func `begin() after a session's end, or while another session is active: one note for each mistake`()
        async throws
    {
        try await withField { field in
            func counts() -> [Int] { ["begin() was called on", "A session waits"].map { Self.notes(field, $0) } }
            let delegates = (0..<3).map { _ in MessageDelegate() }
            let sessions = delegates.map { ndefSession($0) }
            sessions[0].begin()
            sessions[0].begin()
            #expect(counts() == [0, 0])
            sessions[1].begin()
            #expect(counts() == [0, 1])
            sessions[1].invalidate()
            sessions[0].invalidate()
            sessions[2].begin()
            #expect(counts() == [0, 1])
            for _ in 0..<3 { sessions[0].begin() }
            #expect(counts() == [1, 1])
            sessions[2].invalidate()
            withExtendedLifetime(delegates) {}
        }
    }

    @Test(arguments: [true, false])
    func `Delegate released before the session's end: one note; released after invalidate(): none`(endsFirst: Bool)
        async throws
    {
        try await withField("NTAG213") { field in
            var delegate: MessageDelegate? = MessageDelegate()
            let queue = DispatchQueue(label: "given")
            let session = ndefSession(try #require(delegate), queue: queue)
            // The delegate is released before its first call, or after the end.
            if !endsFirst { queue.suspend() }
            session.begin()
            if endsFirst {
                await field.settle()
                session.invalidate()
            }
            delegate = nil
            if !endsFirst { queue.resume() }
            await field.settle()
            session.invalidate()
            await field.settle()
            #expect(Self.notes(field, "The delegate of a session was released") == (endsFirst ? 0 : 1))
        }
    }

    @Test func `Delegate released after a single-read session's message, or when its test ends: no note`() async throws
    {
        let field = try await withField(.product("NTAG213", holding: .uri("https://example.com"))) { field in
            var delegate: MessageDelegate? = MessageDelegate()
            let queue = DispatchQueue(label: "given")
            let session = ndefSession(try #require(delegate), once: true, queue: queue)
            session.begin()
            await field.settle()
            delegate = nil
            await field.wait(for: .seconds(70))
            #expect(session.delegate == nil && Self.notes(field, "The delegate of") == 0)
            ndefSession(MessageDelegate(), queue: queue).begin()
            return field
        }
        #expect(Self.notes(field, "The delegate of") == 0)
    }

    @Test func `Card without the listed applications: noted once, and only where an application was looked for`()
        async throws
    {
        let desfire = VirtualType4Tag(DESFireContents.ndef(size: .kilobytes4))
        let typeB = VirtualType4Tag(card: TestTag.card(), frontEnd: .nfcB(pupi: [1, 2, 3, 4]))
        let pace = VirtualType4Tag(card: TestTag.card(access: .pace))
        let missing = "A card has none of the applications that the app lists, so it "
        let rows: [(String, any VirtualTag, [String], NFCTagReaderSession.PollingOption, String?)] = [
            ("listed, DESFire", desfire, [AID.document], .iso14443, missing + "is reported as .miFare"),
            ("listed, DESFire, PACE alone", desfire, [AID.document], .pace, missing + "is not reported"),
            ("listed, Type B", typeB, [AID.document], .iso14443, missing + "is not reported"),
            // An app that lists nothing wants MIFARE cards, and other tags take no APDUs.
            ("nothing listed", desfire, [], .iso14443, nil),
            ("NTAG", VirtualType2Tag(.ntag213), [AID.document], .iso14443, nil),
            ("one of two listed", desfire, [AID.document, AID.ndef], .iso14443, nil),
            ("with PACE", pace, [AID.document], [.iso14443, .pace], nil),
        ]
        for (name, tag, list, options, note) in rows {
            try await AppConfiguration.$scoped.withValue(.app(applications: list)) {
                try await withField(.tag(tag)) { field in
                    let delegate = TagSessionDelegate()
                    let session = tagSession(delegate, options)
                    session.begin()
                    await field.settle()
                    session.restartPolling()
                    await field.settle()
                    #expect(Self.notes(field, note ?? missing) == (note == nil ? 0 : 1), "\(name)")
                    session.invalidate()
                    withExtendedLifetime(delegate) {}
                }
            }
        }
    }

    /// A delegate whose methods are the main actor's.
    @MainActor private final class MainActorDelegate: NSObject, @MainActor NFCTagReaderSessionDelegate {
        func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}
        func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {}
        func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {}
    }

    @MainActor @Test func `Main-actor delegate of a session without a queue: one note; with the main queue: none`()
        async throws
    {
        try await withField { @MainActor field in
            let delegate = MainActorDelegate()
            for queue in [nil, DispatchQueue.main] {
                let session = tagSession(delegate, queue: queue)
                session.begin()
                await field.settle()
                session.invalidate()
                await field.settle()
                #expect(Self.notes(field, "The delegate of a session belongs to the main actor") == 1)
            }
            withExtendedLifetime(delegate) {}
        }
    }

    // MARK: On standard error

    @Test(.ownThreads) func `Standard error: begin() after the end, and a refused session, write one line each`()
        async throws
    {
        let end = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await withField { field in
                let session = ndefSession(MessageDelegate(), once: true)
                session.begin()
                session.invalidate()
                for _ in 0..<3 { session.begin() }
                await field.settle()
                await AppConfiguration.$scoped.withValue(.app(formats: [])) {
                    let delegate = TagSessionDelegate()
                    tagSession(delegate).begin()
                    await delegate.end()
                }
            }
        }
        // A test has no app around it, so there is no line about what iOS would need.
        let starts = ["CoreNFC: begin()", "CoreNFC: the session was refused.", "CoreNFC: this runs here"]
        #expect(starts.map { Self.reasons(end.standardErrorContent, $0).count } == [1, 1, 0])
    }

    // MARK: The reader

    /// Runs `body` with a reader, and returns the notices for the app's author.
    private static func notices(
        _ reader: NFCEnvironment.Reader,
        clock: ManualClock = ManualClock(),
        _ body: () async throws -> Void
    ) async rethrows -> [String] {
        let said = Locked<[String]>([])
        let environment = NFCEnvironment(reader: reader, clock: clock, belongsToTest: true) { text in
            said.withLock { $0.append(text) }
        }
        try await NFCEnvironment.$scoped.withValue(environment) { try await body() }
        return said.withLock { $0 }
    }

    @Test func `No reader: one note with the reason, for readingAvailable or for sessions that end without one`()
        async throws
    {
        let asked = await Self.notices(.none(reason: "Plug in a reader.")) {
            for _ in 0..<2 {
                #expect(!NFCNDEFReaderSession.readingAvailable)
                #expect(!NFCTagReaderSession.readingAvailable)
            }
        }
        #expect(asked == ["Plug in a reader."])
        let lost = NFCEnvironment.Reader.discovering(TroubledReader(.readerUnavailable))
        let rows: [(NFCEnvironment.Reader, Int, String)] = [
            (.none(reason: "Plug in a reader."), 1, "Plug in a reader."), (lost, 202, "The reader says why."),
        ]
        for (reader, code, reason) in rows {
            let said = await Self.notices(reader) {
                for _ in 0..<2 {
                    let delegate = MessageDelegate()
                    ndefSession(delegate).begin()
                    let error = await delegate.end()
                    #expect(error?.errorCode == code && (error as NSError?)?.localizedFailureReason == reason)
                }
            }
            #expect(said == [reason])
        }
    }
}
