// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Glibc
import NFCRuntime
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// What an app's author is told: mistakes that fail nowhere, what iOS would need, and why there is no reader.
@Suite(.timeLimit(.minutes(5))) struct AuthorNoteTests {
    /// How many notes begin so in the trace of a field.
    private static func notes(_ field: TestField, _ start: String) -> Int {
        field.trace.entries.count { if case .note(let text) = $0.event { text.hasPrefix(start) } else { false } }
    }

    private static func reasons(_ output: [UInt8], _ start: String) -> [String] {
        String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init).filter { $0.hasPrefix(start) }
    }

    // MARK: Mistakes

    @Test func `Session begun again after its end: noted once, and not while it is active`() async throws {
        try await withField { field in
            let delegate = MessageDelegate()
            let session = ndefSession(delegate)
            session.begin()
            session.begin()
            #expect(Self.notes(field, "begin() was called") == 0)
            session.invalidate()
            for _ in 0..<3 { session.begin() }
            #expect(Self.notes(field, "begin() was called on a session that has ended") == 1)
        }
        try await AppConfiguration.$scoped.withValue(.app(formats: [])) {
            try await withField { field in
                let delegate = TagSessionDelegate()
                let session = tagSession(delegate)
                session.begin()
                #expect(await delegate.end()?.errorCode == 2)
                #expect(Self.notes(field, "begin() was called") == 0)
                for _ in 0..<3 { session.begin() }
                #expect(Self.notes(field, "begin() was called on a session that has ended") == 1)
            }
        }
    }

    @Test func `Session that waits behind another: noted, but not one that begins after the end`() async throws {
        try await withField { field in
            let delegates = (0..<3).map { _ in MessageDelegate() }
            let sessions = delegates.map { ndefSession($0) }
            sessions[0].begin()
            #expect(Self.notes(field, "A session waits") == 0)
            sessions[1].begin()
            #expect(Self.notes(field, "A session waits") == 1)
            sessions[1].invalidate()
            sessions[0].invalidate()
            sessions[2].begin()
            #expect(Self.notes(field, "A session waits") == 1)
            sessions[2].invalidate()
            withExtendedLifetime(delegates) {}
        }
    }

    @Test(arguments: [true, false])
    func `Delegate released: noted once, but not by the code that ends the session`(endsFirst: Bool) async throws {
        try await withField("NTAG213") { field in
            var delegate: MessageDelegate? = MessageDelegate()
            let session = ndefSession(try #require(delegate))
            session.begin()
            if endsFirst {
                await field.settle()
                session.invalidate()
            }
            delegate = nil
            await field.settle()
            session.invalidate()
            await field.settle()
            #expect(Self.notes(field, "The delegate of a session was released") == (endsFirst ? 0 : 1))
        }
    }

    @Test func `Card without the listed applications: noted once, and only where an application was looked for`()
        async throws
    {
        let (desfire, ntag) = (VirtualType4Tag(DESFireContents.ndef(size: .kilobytes4)), VirtualType2Tag(.ntag213))
        func typeB(_ protocolInfo: [UInt8] = [0x00, 0x81, 0x71], access: TestTag.Access = .none) -> VirtualType4Tag {
            let front = Type4FrontEnd.nfcB(pupi: [1, 2, 3, 4], protocolInfo: protocolInfo)
            return VirtualType4Tag(card: TestTag.card(access: access), frontEnd: front)
        }
        let pace = VirtualType4Tag(card: TestTag.card(access: .pace))
        let arrives = "A card has none of the applications that the app lists, so it arrives as .miFare"
        let missing = "A card has none of the applications that the app lists, so it is not reported"
        let rows: [(String, any VirtualTag, [String], NFCTagReaderSession.PollingOption, String?)] = [
            ("listed, DESFire", desfire, [AID.document], .iso14443, arrives),
            ("listed, DESFire, PACE alone", desfire, [AID.document], .pace, missing),
            ("listed, Type B", typeB(), [AID.document], .iso14443, missing),
            // An app that lists nothing wants MIFARE cards, and other tags take no APDUs.
            ("nothing listed", desfire, [], .iso14443, nil), ("NTAG", ntag, [AID.document], .iso14443, nil),
            ("one of two listed", desfire, [AID.document, AID.ndef], .iso14443, nil),
            ("with PACE", pace, [AID.document], [.iso14443, .pace], nil),
            ("Type B with PACE", typeB(access: .pace), [AID.document], [.iso14443, .pace], nil),
            ("Type B without APDUs", typeB([0x00, 0x80, 0x71]), [AID.document], .iso14443, nil),
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
                    #expect(Self.notes(field, note ?? "A card has none") == (note == nil ? 0 : 1), "\(name)")
                    session.invalidate()
                    withExtendedLifetime(delegate) {}
                }
            }
        }
    }

    @Test func `Tag of an older session: noted once by each session, while another one runs`() async throws {
        try await withField("NTAG213") { field in
            let start = "A tag of a session that has ended"
            let scene = try await TagScene()
            let old = try scene.miFare
            scene.session.invalidate()
            // No other session runs, so the error is clear enough.
            #expect(await code { try await old.send("3004") } == 103)
            #expect(Self.notes(field, start) == 0)
            let next = try await TagScene(connects: false)
            for _ in 0..<2 { #expect(await code { try await old.send("3004") } == 103) }
            #expect(Self.notes(field, start) == 1)
            #expect(await code { try await next.session.connect(to: .miFare(old)) } == 3)
            #expect(Self.notes(field, start) == 2)
            next.session.invalidate()
        }
    }

    /// A delegate whose methods are the main actor's.
    @MainActor private final class MainActorDelegate: NSObject, @MainActor NFCTagReaderSessionDelegate {
        func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}
        func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {}
        func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {}
    }

    @MainActor @Test func `Delegate of the main actor without a queue: noted once, and not with the main queue`()
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

    @Test(.ownThreads) func `Delegate of the main actor without a queue, in strict mode: the process ends`()
        async throws
    {
        let end = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
            var app = AppConfiguration.app()
            app.isStrict = true
            try await AppConfiguration.$scoped.withValue(app) {
                try await withField { @MainActor field in
                    let delegate = MainActorDelegate()
                    tagSession(delegate).begin()
                    await field.wait(for: .seconds(1))
                    withExtendedLifetime(delegate) {}
                }
            }
        }
        #expect(Self.reasons(end.standardErrorContent, "CoreNFC: the process ends, as it would on iOS.").count == 1)
    }

    // MARK: On standard error

    @Test(.ownThreads) func `Standard error: a mistake, and the refusal of a session, are one line each`() async throws
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
        let lines = Self.reasons(end.standardErrorContent, "CoreNFC: ")
        #expect(lines.count { $0.hasPrefix("CoreNFC: begin()") } == 1)
        let refusals = lines.filter { $0.hasPrefix("CoreNFC: the session was refused.") }
        #expect(refusals.count == 1 && refusals.first?.contains("Add it with TAG among its values.") == true)
        // A test has no app around it.
        #expect(!lines.contains { $0.hasPrefix("CoreNFC: this runs here") })
    }

    @Test(.ownThreads, arguments: [false, true])
    func `App without property lists: told once what iOS would need, and an app with all of it nothing`(
        isComplete: Bool
    ) async throws {
        let end = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [isComplete = isComplete as Bool] in
            unsafe setenv("NFC_READER", "none", 1)
            for _ in 0..<3 {
                await AppConfiguration.$scoped.withValue(isComplete ? .app(systems: ["0003"]) : AppConfiguration()) {
                    let delegate = TagSessionDelegate()
                    tagSession(delegate, [.iso14443, .iso18092]).begin()
                    let error = await delegate.end()
                    precondition(error?.errorCode == 1)
                }
            }
        }
        let notes = Self.reasons(end.standardErrorContent, "CoreNFC: this runs here, and on iOS it would need more.")
        #expect(notes.count == (isComplete ? 0 : 1))
        for key in ["NFCReaderUsageDescription", "readersession.formats", "felica.systemcodes"] where !isComplete {
            #expect(notes.first?.contains(key) == true)
        }
    }

    // MARK: The reader

    /// Runs `body` with a reader, and returns the notices for the app's author.
    private static func notices(
        _ reader: NFCEnvironment.Reader,
        clock: ManualClock = ManualClock(),
        _ body: () async throws -> Void
    ) async rethrows -> [String] {
        let said = Locked<[String]>([])
        let environment = NFCEnvironment(reader: reader, clock: clock, isOfTest: true) { text in
            said.withLock { $0.append(text) }
        }
        try await NFCEnvironment.$scoped.withValue(environment) { try await body() }
        return said.withLock { $0 }
    }

    @Test func `No reader: the reason is noted once, when an app asks for one, or when its sessions end`() async throws
    {
        let asked = await Self.notices(.none(reason: "Plug in a reader.")) {
            for _ in 0..<3 {
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
            let said = try await Self.notices(reader) {
                for _ in 0..<2 {
                    let delegate = MessageDelegate()
                    ndefSession(delegate).begin()
                    let error = try #require(await delegate.end())
                    #expect(error.errorCode == code && (error as NSError).localizedFailureReason == reason)
                }
            }
            #expect(said == [reason])
        }
    }

    @Test func `Tag that another program has: noted when the session's minute is over`() async {
        let (clock, reader) = (ManualClock(), TroubledReader(.inUse))
        let said = await Self.notices(.discovering(reader), clock: clock) {
            let delegate = MessageDelegate()
            ndefSession(delegate).begin()
            while reader.looks.withLock({ $0 }) == 0 || clock.scheduledEventCount < 2 { await Task.yield() }
            clock.advance(by: .seconds(60))
            #expect(await delegate.end()?.errorCode == 201)
        }
        #expect(said == ["The reader says why."])
    }
}
