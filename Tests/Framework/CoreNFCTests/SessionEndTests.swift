// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCSessions
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// Every way in which a session ends: the code of its error, the calls of its delegate, and what is left of it.
@Suite(.timeLimit(.minutes(1))) struct SessionEndTests {
    enum Kind: CaseIterable, Sendable {
        case messages, ndefTags, tags, payment

        func session(
            _ options: NFCTagReaderSession.PollingOption = .iso14443,
            queue: DispatchQueue? = nil
        ) -> (NFCReaderSession, Recorder) {
            switch self {
            case .messages:
                let delegate = MessageDelegate()
                return (ndefSession(delegate, queue: queue), delegate)
            case .ndefTags:
                let delegate = TagDelegate()
                return (ndefSession(delegate, queue: queue), delegate)
            case .tags:
                let delegate = TagSessionDelegate()
                return (tagSession(delegate, options, queue: queue), delegate)
            case .payment:
                let delegate = TagSessionDelegate()
                return (NFCPaymentTagReaderSession(delegate: delegate, queue: queue), delegate)
            }
        }
    }

    // MARK: Before it begins

    /// Why a session never begins: of which kind it is, what it polls for, its app, and the code of its end.
    typealias Refusal = (
        name: String, kind: Kind, options: NFCTagReaderSession.PollingOption, app: AppConfiguration, code: Int
    )

    static let refusals: [Refusal] = [
        ("no reader", .messages, [], AppConfiguration(), 1), ("no entitlement", .messages, [], .app(formats: []), 2),
        ("no system codes", .tags, [.iso14443, .iso18092], .app(), 2),
        ("no technology", .tags, [], AppConfiguration(), 3), ("ended before", .messages, [], AppConfiguration(), 200),
        ("ended before, no reader", .ndefTags, [], AppConfiguration(), 200),
        ("ended while it waits", .tags, .iso14443, AppConfiguration(), 200),
    ]

    @Test func `Session that never becomes active: didInvalidate once, with its code and on its queue, and no sheet`() {
        for refusal in Self.refusals {
            let (field, sheet) = (VirtualField(), RecordingSheet())
            let reader: NFCEnvironment.Reader =
                refusal.name.hasSuffix("no reader") ? .none(reason: "There is none.") : .field(field)
            let environment = NFCEnvironment(reader: reader, clock: ManualClock(), sheet: sheet, belongsToTest: true)
            NFCEnvironment.$scoped.withValue(environment) {
                AppConfiguration.$scoped.withValue(refusal.app) {
                    let (other, queue) = (TagDelegate(), DispatchQueue(label: "given"))
                    let before = ndefSession(other)
                    let waits = refusal.name == "ended while it waits"
                    if waits { before.begin() }
                    let (session, recorder) = refusal.kind.session(refusal.options, queue: queue)
                    session.alertMessage = "Never shown."
                    // A call on the queue can't happen before this is over.
                    queue.suspend()
                    if refusal.code != 200 || waits { session.begin() }
                    session.invalidate(errorMessage: "Never shown.")
                    session.begin()
                    session.invalidate()
                    #expect(!session.isReady && recorder.log.isEmpty, "\(refusal.name)")
                    queue.resume()
                    queue.sync {}
                    #expect(recorder.log == ["ended \(refusal.code)"], "\(refusal.name)")
                    #expect(sheet.history.allSatisfy { $0.message.isEmpty } && before.isReady == waits)
                    before.invalidate()
                    withExtendedLifetime(other) {}
                }
            }
        }
    }

    // MARK: While it is active

    /// What ends a session, the code of its error, and the last states of its sheet.
    typealias Way = (
        name: String, code: Int, sheet: [SheetState], act: @Sendable (NFCReaderSession, VirtualFieldScope) -> Void
    )

    static let ways: [Way] = [
        ("invalidate()", 200, [.success, .dismissed], { session, _ in session.invalidate() }),
        (
            "invalidate(errorMessage:)", 200, [.failure, .dismissed],
            { session, _ in session.invalidate(errorMessage: "No.") }
        ),
        ("Cancel", 200, [.ready, .dismissed], { _, field in field.sheet.cancel() }),
        ("a minute", 201, [], { _, field in field.clock.advance(by: .seconds(60)) }),
    ]

    @Test(arguments: Kind.allCases)
    func `Active session: didInvalidate once, with the code of the cause; later calls change nothing`(_ kind: Kind)
        async throws
    {
        for way in Self.ways {
            try await withVirtualField { field in
                let (session, recorder) = kind.session()
                session.begin()
                session.begin()
                guard case .active? = await recorder.next() else { throw SessionEnded() }
                #expect(session.isReady)
                way.act(session, field)
                #expect(await recorder.wholeLog() == ["active", "ended \(way.code)"], "\(way.name)")
                session.begin()
                session.invalidate(errorMessage: "Too late.")
                session.invalidate()
                try await field.untilIdle()
                field.clock.advance(by: .seconds(3))
                session.sessionQueue.sync {}
                #expect(!session.isReady && recorder.log.count == 2)
                let states = field.sheet.history.map(\.state)
                #expect(states.last == .dismissed && Array(states.suffix(way.sheet.count)) == way.sheet, "\(way.name)")
                #expect(!field.sheet.history.contains { $0.message == "Too late." })
            }
        }
    }

    @Test func `invalidate(errorMessage:) in a callback: the sheet shows the message`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213())
            let delegate = TagSessionDelegate { session, event in
                if case .tags = event { session.invalidate(errorMessage: "Not this one.") }
            }
            tagSession(delegate).begin()
            #expect(await delegate.wholeLog() == ["active", "tags 1", "ended 200"])
            #expect(field.sheet.history.contains { $0.state == .failure && $0.message == "Not this one." })
            try await field.untilIdle()
        }
    }

    @Test func `Session begun in another one's didInvalidate: becomes active next, and has a sheet of its own`()
        async throws
    {
        try await withVirtualField { field in
            let (log, queue) = (Locked<[String]>([]), DispatchQueue(label: "shared"))
            let other = MessageDelegate { _, event in log.withLock { $0.append("b \(event.text)") } }
            let next = Shared(ndefSession(other, queue: queue))
            let delegate = MessageDelegate { session, event in
                log.withLock { $0.append("a \(event.text)") }
                guard case .ended = event else { return }
                session.begin()
                next.value.begin()
            }
            let session = ndefSession(delegate, queue: queue)
            session.begin()
            session.invalidate()
            await delegate.end()
            try await waitWhile(log.withLock { $0 }.last != "b active")
            next.value.invalidate()
            await other.end()
            #expect(log.withLock { $0 } == ["a active", "a ended 200", "b active", "b ended 200"])
            let states: [SheetState] = [.ready, .success, .dismissed, .ready, .success]
            #expect(Array(field.sheet.history.map(\.state).prefix(5)) == states)
            try await field.untilIdle()
        }
    }

    // MARK: What is left

    @Test func `Ended session: freed even while the app keeps one of its tags`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213())
            func keptTag() async throws -> any NFCMiFareTag {
                let scene = try await TagScene()
                let tag = try scene.miFare
                #expect(tag.session === scene.session)
                scene.session.invalidate()
                await scene.delegate.end()
                try await field.untilIdle()
                // The sheet keeps its content until it has closed.
                field.clock.advance(by: .seconds(3))
                return tag
            }
            let tag = try await keptTag()
            try await waitWhile(tag.session != nil)
            #expect(tag.session == nil && !tag.isAvailable)
            #expect(await code { try await tag.send("3003") } == 103)
        }
    }

    // MARK: Value added services

    /// The configuration for some words: the mode, the identifier of the pass, and perhaps a link.
    private static func configuration(_ words: String) -> NFCVASCommandConfiguration {
        let words = words.split(separator: " ").map(String.init)
        return NFCVASCommandConfiguration(
            vasMode: words[0] == "normal" ? .normal : .urlOnly,
            passTypeIdentifier: words[1],
            url: words.count > 2 ? URL(string: words[2]) : nil
        )
    }

    @Test func `VAS session: active, then error 1 for the missing keys; a wrong configuration is error 3`() async throws
    {
        let (pass, refused) = (["active", "ended 1"], ["ended 3"])
        let rows: [([String], [String])] = [
            (["normal pass.com.example"], pass), (["urlOnly pass.com.example \(TestTag.link)"], pass), ([], refused),
            (["normal com.example"], refused), (["normal passport"], refused),
            (["normal pass.com.example", "urlOnly pass.com.example"], refused),
        ]
        for (words, log) in rows {
            try await withVirtualField { field in
                let (delegate, configurations) = (VASDelegate(), words.map(Self.configuration))
                let session = NFCVASReaderSession(
                    vasCommandConfigurations: configurations,
                    delegate: delegate,
                    queue: nil
                )
                // The session has its own copies.
                for wrong in configurations { (wrong.mode, wrong.passTypeIdentifier) = (.urlOnly, "com.example") }
                session.begin()
                #expect(await delegate.wholeLog() == log)
                #expect(!session.isReady && field.sheet.history.isEmpty == (log == refused))
                try await field.untilIdle()
            }
        }
    }
}

/// A reader that fails whenever a session looks for tags.
final class TroubledReader: DiscoveringDriver {
    let name = "troubled"
    let technologies: Set<Technology> = [.nfcA]
    var statistics: LinkStatistics { .zero }
    private let failure: LinkError.Code

    init(_ failure: LinkError.Code) { self.failure = failure }

    func discover(_: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        throw LinkError(failure, "The reader says why.")
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {}
    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }
    func release() async {}
}
