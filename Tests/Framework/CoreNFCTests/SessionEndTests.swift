// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// Every way in which a session ends: the code of its error, the calls of its delegate, and what is left of it.
@Suite(.timeLimit(.minutes(1))) struct SessionEndTests {
    // MARK: Before it begins

    /// Why a session never begins, and the code of its end.
    enum Refusal: Int, CaseIterable, Sendable {
        case noReader, noEntitlement, noSystemCodes, noTechnology, noPass, endedBefore, endedBeforeWithoutReader
        case endedWhileWaiting

        var code: Int { [1, 2, 2, 3, 3, 200, 200, 200][rawValue] }
        var lacksReader: Bool { self == .noReader || self == .endedBeforeWithoutReader }

        var app: AppConfiguration {
            switch self {
            case .noEntitlement: AppConfiguration(entitlements: .init(path: "App.entitlements", values: [:]))
            case .noSystemCodes: .app()
            default: AppConfiguration()
            }
        }

        func session(_ queue: DispatchQueue) -> (NFCReaderSession, Recorder) {
            switch self {
            case .noSystemCodes, .noTechnology:
                let delegate = TagSessionDelegate()
                return (
                    tagSession(delegate, self == .noTechnology ? [] : [.iso14443, .iso18092], queue: queue), delegate
                )
            case .noPass:
                let delegate = VASDelegate()
                return (NFCVASReaderSession(vasCommandConfigurations: [], delegate: delegate, queue: queue), delegate)
            default:
                let delegate = MessageDelegate()
                return (ndefSession(delegate, once: true, queue: queue), delegate)
            }
        }
    }

    @Test(arguments: Refusal.allCases)
    func `Session that never begins: one end with its code, on its queue, and no sheet`(_ refusal: Refusal) {
        let (field, sheet) = (VirtualField(), RecordingSheet())
        let reader: NFCEnvironment.Reader = refusal.lacksReader ? .none(reason: "There is none.") : .field(field)
        let environment = NFCEnvironment(reader: reader, clock: ManualClock(), sheet: sheet, isOfTest: true)
        NFCEnvironment.$scoped.withValue(environment) {
            AppConfiguration.$scoped.withValue(refusal.app) {
                let (other, queue) = (TagDelegate(), DispatchQueue(label: "given"))
                let before = ndefSession(other)
                if refusal == .endedWhileWaiting { before.begin() }
                let (session, recorder) = refusal.session(queue)
                session.alertMessage = "Never shown."
                // A call on the queue can't happen before this is over.
                queue.suspend()
                if refusal.code != 200 || refusal == .endedWhileWaiting { session.begin() }
                session.invalidate(errorMessage: "Never shown.")
                session.begin()
                session.invalidate()
                #expect(!session.isReady && recorder.log.isEmpty)
                queue.resume()
                queue.sync {}
                #expect(recorder.log == ["ended \(refusal.code)"])
                #expect(sheet.history.allSatisfy { $0.message.isEmpty })
                #expect(before.isReady == (refusal == .endedWhileWaiting))
                before.invalidate()
                withExtendedLifetime(other) {}
            }
        }
    }

    // MARK: While it is active

    enum Kind: CaseIterable, Sendable {
        case messages, ndefTags, tags, payment

        func session() -> (NFCReaderSession, Recorder) {
            switch self {
            case .messages:
                let delegate = MessageDelegate()
                return (ndefSession(delegate), delegate)
            case .ndefTags:
                let delegate = TagDelegate()
                return (ndefSession(delegate), delegate)
            case .tags:
                let delegate = TagSessionDelegate()
                return (tagSession(delegate), delegate)
            case .payment:
                let delegate = TagSessionDelegate()
                return (NFCPaymentTagReaderSession(delegate: delegate), delegate)
            }
        }
    }

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
    func `Active session: one end with the code of its cause, after which nothing revives it`(_ kind: Kind) async throws
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

    @Test func `Active session: a reader that fails ends it with 202 and the reason`() async throws {
        let reader = TroubledReader(.readerUnavailable)
        let environment = NFCEnvironment(reader: .discovering(reader), clock: ManualClock(), isOfTest: true)
        await NFCEnvironment.$scoped.withValue(environment) {
            let delegate = MessageDelegate()
            ndefSession(delegate).begin()
            let error = await delegate.end()
            #expect(error?.errorCode == 202 && (error as NSError?)?.localizedFailureReason == "The reader says why.")
        }
    }

    @Test func `Busy policy of a phone: a session ends with 203 while the sheet before it leaves`() async throws {
        try await withVirtualField(busyPolicy: .refuseWhileSheetLeaves) { field in
            let first = MessageDelegate()
            let session = ndefSession(first)
            session.begin()
            session.invalidate()
            await first.end()
            try await field.untilIdle()
            for (seconds, code) in [(0.0, 203), (2.5, 200)] {
                field.clock.advance(by: .seconds(seconds))
                let delegate = MessageDelegate()
                let next = ndefSession(delegate)
                next.begin()
                next.invalidate()
                #expect(await delegate.end()?.errorCode == code)
            }
        }
    }

    @Test func `End from inside a callback: the sheet shows its message`() async throws {
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

    // MARK: What is left

    @Test func `Ended session: freed, also when the app keeps a tag of it`() async throws {
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

    @Test func `Delegate: held weakly, and a session without one still ends`() async throws {
        try await withVirtualField { field in
            let session: NFCNDEFReaderSession
            do {
                session = ndefSession(MessageDelegate(), once: true)
                session.begin()
            }
            #expect(session.isReady && session.delegate == nil)
            field.clock.advance(by: .seconds(60))
            try await field.untilIdle()
            session.sessionQueue.sync {}
            #expect(!session.isReady)
        }
    }

    // MARK: Value added services

    private static let pass = NFCVASCommandConfiguration(
        vasMode: .normal,
        passTypeIdentifier: "pass.com.example",
        url: nil
    )

    private static func configuration(
        _ mode: NFCVASCommandConfiguration.Mode,
        _ identifier: String,
        _ url: String? = nil
    ) -> NFCVASCommandConfiguration {
        NFCVASCommandConfiguration(
            vasMode: mode,
            passTypeIdentifier: identifier,
            url: url.flatMap { URL(string: $0) }
        )
    }

    @Test func `VAS session: active, then error 1 for the missing keys; a wrong configuration is error 3`() async throws
    {
        let (pass, refused) = (["active", "ended 1"], ["ended 3"])
        let rows: [([NFCVASCommandConfiguration], [String])] = [
            ([Self.pass], pass), ([Self.configuration(.urlOnly, "pass.com.example", TestTag.link)], pass),
            ([], refused), ([Self.configuration(.normal, "com.example")], refused),
            ([Self.configuration(.normal, "passport")], refused),
            ([Self.pass, Self.configuration(.urlOnly, "pass.com.example")], refused),
        ]
        for (configurations, log) in rows {
            try await withVirtualField { field in
                let delegate = VASDelegate { session, event in
                    if case .active = event { #expect(session.isReady) }
                }
                let copies = configurations.compactMap { $0.copy() as? NFCVASCommandConfiguration }
                let session = NFCVASReaderSession(vasCommandConfigurations: copies, delegate: delegate, queue: nil)
                // The session has its own copies.
                for copy in copies { (copy.mode, copy.passTypeIdentifier) = (.urlOnly, "com.example") }
                session.begin()
                #expect(await delegate.wholeLog() == log)
                session.begin()
                session.sessionQueue.sync {}
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
    /// How often a session has looked.
    let looks = Locked(0)
    private let failure: LinkError.Code

    init(_ failure: LinkError.Code) { self.failure = failure }

    func discover(_: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        looks.withLock { $0 += 1 }
        throw LinkError(failure, "The reader says why.")
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {}
    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }
    func release() async {}
}
