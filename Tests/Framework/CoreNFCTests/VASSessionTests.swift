// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing

final class VASDelegate: NSObject, NFCVASReaderSessionDelegate, Sendable {
    let events: AsyncStream<NFCReaderError?>
    /// Whether the session was ready in each call that it became active.
    let wasReady = Locked<[Bool]>([])
    private let continuation: AsyncStream<NFCReaderError?>.Continuation
    private let watch = EndWatch()

    override init() {
        (events, continuation) = AsyncStream.makeStream()
    }

    func readerSessionDidBecomeActive(_ session: NFCVASReaderSession) {
        watch.call(session)
        wasReady.withLock { $0.append(session.isReady) }
        continuation.yield(nil)
    }

    func readerSession(_ session: NFCVASReaderSession, didReceive responses: [NFCVASResponse]) { watch.call(session) }

    func readerSession(_ session: NFCVASReaderSession, didInvalidateWithError error: any Error) {
        watch.call(session, isEnd: true)
        continuation.yield(error as? NFCReaderError)
        continuation.finish()
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A session for value added services` {
    static let pass = NFCVASCommandConfiguration(vasMode: .normal, passTypeIdentifier: "pass.com.example", url: nil)

    /// Returns the errors of a session's events; nil stands for the event that the session became active.
    static func events(_ configurations: [NFCVASCommandConfiguration]) async -> [NFCReaderError?] {
        let delegate = VASDelegate()
        let session = NFCVASReaderSession(vasCommandConfigurations: configurations, delegate: delegate, queue: nil)
        session.begin()
        var events: [NFCReaderError?] = []
        for await event in delegate.events { events.append(event) }
        return events
    }

    @Test func `It becomes active, and then says that there are no keys`() async throws {
        try await withVirtualField { field in
            let events = await Self.events([Self.pass])
            #expect(events.map { $0?.code } == [nil, .readerErrorUnsupportedFeature])
            #expect(field.sheet.history.map(\.state).first == .ready)
            try await field.untilIdle()
        }
    }

    @Test func `It is ready when its delegate hears that it is active, and not after its end`() async throws {
        try await withVirtualField { field in
            let delegate = VASDelegate()
            let session = NFCVASReaderSession(vasCommandConfigurations: [Self.pass], delegate: delegate, queue: nil)
            session.begin()
            for await _ in delegate.events {}
            #expect(delegate.wasReady.withLock { $0 } == [true] && !session.isReady)
            try await field.untilIdle()
        }
    }

    @Test func `It keeps the configurations as they were when it was made`() async throws {
        try await withVirtualField { field in
            let pass = NFCVASCommandConfiguration(vasMode: .normal, passTypeIdentifier: "pass.com.example", url: nil)
            let delegate = VASDelegate()
            let session = NFCVASReaderSession(vasCommandConfigurations: [pass], delegate: delegate, queue: nil)
            pass.mode = .urlOnly
            pass.passTypeIdentifier = "com.example"
            session.begin()
            var events: [NFCReaderError?] = []
            for await event in delegate.events { events.append(event) }
            #expect(events.map { $0?.code } == [nil, .readerErrorUnsupportedFeature])
            try await field.untilIdle()
        }
    }

    @Test func `A configuration with a URL alone keeps its URL`() async throws {
        let url = try #require(URL(string: "https://example.com/a"))
        let other = try #require(URL(string: "https://example.com/b"))
        let link = NFCVASCommandConfiguration(vasMode: .urlOnly, passTypeIdentifier: "pass.com.example", url: url)
        let copy = try #require(link.copy() as? NFCVASCommandConfiguration)
        link.url = other
        #expect(link.url == other && copy.url == url && copy.mode == .urlOnly)
        #expect(copy.passTypeIdentifier == "pass.com.example")
        try await withVirtualField { field in
            #expect(await Self.events([copy]).map { $0?.code } == [nil, .readerErrorUnsupportedFeature])
            try await field.untilIdle()
        }
    }

    @Test func `Configurations that break the rules end it at once`() async {
        await withVirtualField { field in
            let noPass = NFCVASCommandConfiguration(vasMode: .normal, passTypeIdentifier: "com.example", url: nil)
            let noURL = NFCVASCommandConfiguration(vasMode: .urlOnly, passTypeIdentifier: "pass.com.example", url: nil)
            let almost = NFCVASCommandConfiguration(vasMode: .normal, passTypeIdentifier: "passport", url: nil)
            for configurations in [[], [noPass], [almost], [Self.pass, noURL]] {
                #expect(await Self.events(configurations).map { $0?.code } == [.readerErrorInvalidParameter])
            }
            #expect(field.sheet.history.isEmpty)
        }
    }
}

/// Configurations that break the rules, and sessions that end before they begin.
@Suite(.timeLimit(.minutes(5))) struct `A refused session for value added services` {
    /// The codes of a delegate's events; nil stands for the event that the session became active.
    private static func codes(_ delegate: VASDelegate) async -> [NFCReaderError.Code?] {
        var codes: [NFCReaderError.Code?] = []
        for await event in delegate.events { codes.append(event?.code) }
        return codes
    }

    @Test(arguments: [true, false]) func `One that is ended before it begins ends once, as by the user`(
        isRefused: Bool
    ) async throws {
        try await withVirtualField { field in
            let configurations = isRefused ? [] : [`A session for value added services`.pass]
            let delegate = VASDelegate()
            let session = NFCVASReaderSession(vasCommandConfigurations: configurations, delegate: delegate, queue: nil)
            session.invalidate()
            session.begin()
            session.begin()
            // The delegate reports a second end by itself.
            session.sessionQueue.sync {}
            #expect(await Self.codes(delegate) == [.readerSessionInvalidationErrorUserCanceled])
            #expect(!session.isReady && field.sheet.history.isEmpty)
            try await field.untilIdle()
        }
    }

    @Test func `One that is begun and ended again and again ends once, for the first reason`() async throws {
        try await withVirtualField { field in
            let delegate = VASDelegate()
            let session = NFCVASReaderSession(vasCommandConfigurations: [], delegate: delegate, queue: nil)
            session.begin()
            session.begin()
            session.invalidate()
            session.begin()
            session.sessionQueue.sync {}
            #expect(await Self.codes(delegate) == [.readerErrorInvalidParameter])
            #expect(!session.isReady && field.sheet.history.isEmpty)
            try await field.untilIdle()
        }
    }
}

@Suite struct `User activities` {
    @Test func `One that is not from a tag has a message with one empty record`() {
        let activity = NSUserActivity(activityType: "com.example.note")
        #expect(activity.ndefMessagePayload.records.map(\.typeNameFormat) == [.empty])
        #expect(activity.webpageURL == nil)
    }

    @Test func `One from a tag has its link and its message`() throws {
        let url = try #require(URL(string: "https://example.com/a"))
        let activity = NSUserActivity(
            webpageURL: url,
            ndefMessagePayload: TestTag.message(uri: "https://example.com/a")
        )
        #expect(activity.activityType == NSUserActivityTypeBrowsingWeb)
        #expect(activity.webpageURL == url)
        #expect(activity.ndefMessagePayload.records.first?.wellKnownTypeURIPayload() == url)
    }

    @Test func `Events of scenes keep their value through coding`() throws {
        let events = [(NFCWindowSceneEvent.presentation, "presentation"), (.readerDetected, "readerDetected")]
        for (event, name) in events {
            let data = try JSONEncoder().encode(event)
            #expect(try JSONDecoder().decode(NFCWindowSceneEvent.self, from: data) == event)
            #expect(event.description == name)
        }
    }
}
