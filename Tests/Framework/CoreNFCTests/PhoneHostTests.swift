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

/// What a phone around the reader, as of a simulator, learns of an app's sessions, and what it withholds from them.
@Suite(.timeLimit(.minutes(1))) struct PhoneHostTests {
    private typealias Configuration = NFCTagReaderSession.Configuration

    /// A phone that notes what it learns.
    private final class Phone: SessionHost {
        let withheld: SessionNeeds
        private let notes = Locked<[String]>([])
        private let sessions = Locked<Set<Int>>([])

        init(_ withheld: SessionNeeds = []) { self.withheld = withheld }

        var log: [String] { notes.withLock { $0 } }
        var sessionCount: Int { sessions.withLock { $0.count } }

        /// What was noted since the last time, when there are so many notes.
        func log(_ count: Int) async throws -> [String] {
            try await waitWhile(log.count < count)
            return notes.withLock { notes in
                defer { notes = [] }
                return notes
            }
        }

        func note(_ event: SessionEvent, of session: Int) {
            let text =
                switch event {
                case .began(let kind): "begins \(kind)"
                case .restarted: "restarts"
                case .callback(let name, let detail): detail.isEmpty ? name : "\(name) \(detail)"
                case .ended(let reason): "ends \(reason)"
                }
            notes.withLock { $0.append(text) }
            sessions.withLock { _ = $0.insert(session) }
        }
    }

    /// Runs `body` with a phone, tags near it, and its sheet.
    private static func with(
        _ phone: Phone = Phone(),
        _ tags: [any VirtualTag] = [],
        _ body: (Phone, RecordingSheet) async throws -> Void
    ) async throws {
        let (field, sheet) = (VirtualField(), RecordingSheet())
        for tag in tags { field.bring(tag) }
        let environment = NFCEnvironment(
            reader: .field(field),
            clock: ManualClock(),
            sheet: sheet,
            host: phone,
            place: nil
        )
        try await NFCEnvironment.$scoped.withValue(environment) { try await body(phone, sheet) }
    }

    /// How the phone learns of the end of a session.
    private static func end(_ name: String, _ reason: String = "200: Session invalidated by user") -> [String] {
        ["ends \(reason)", "\(name)(_:didInvalidateWithError:) \(reason)"]
    }

    @Test func `Phone: learns of each call of each kind of session`() async throws {
        try await Self.with(Phone(), [TestTag.ntag213(), VirtualType5Tag(.icodeSLIX)]) { phone, _ in
            let delegate = TagSessionDelegate()
            let session = tagSession(delegate, [.iso14443, .iso15693])
            // A session that has not begun is not restarted.
            session.restartPolling()
            session.begin()
            session.begin()
            _ = await delegate.nextTags()
            session.restartPolling(configuration: Configuration(pollingOption: .iso15693))
            _ = await delegate.nextTags()
            session.invalidate()
            await delegate.end()
            session.restartPolling()
            #expect(
                try await phone.log(7) == [
                    "begins NFCTagReaderSession", "tagReaderSessionDidBecomeActive(_:)",
                    "tagReaderSession(_:didDetect:) 2 tags", "restarts", "tagReaderSession(_:didDetect:) 1 tag",
                ] + Self.end("tagReaderSession")
            )
            let scene = try await NDEFScene()
            // The app hears of its tags before the phone has noted that.
            try await waitWhile(phone.log.count < 3)
            scene.session.restartPolling()
            _ = await scene.delegate.nextNDEFTags()
            scene.session.invalidate()
            await scene.delegate.end()
            #expect(
                try await phone.log(7) == [
                    "begins NFCNDEFReaderSession", "readerSessionDidBecomeActive(_:)",
                    "readerSession(_:didDetect:) 2 tags", "restarts", "readerSession(_:didDetect:) 2 tags",
                ] + Self.end("readerSession")
            )
            #expect(phone.sessionCount == 2)
        }
        for count in 1...2 {
            try await Self.with(Phone(), (0..<UInt8(count)).map { TestTag.ntag213(serial: $0) }) { phone, _ in
                let delegate = MessageDelegate()
                let session = ndefSession(delegate)
                session.begin()
                _ = await delegate.nextLinks()
                // It has no effect for this delegate.
                session.restartPolling()
                session.invalidate()
                await delegate.end()
                let messages = count == 1 ? "1 message" : "2 messages"
                let log = try await phone.log(5)
                #expect(
                    log == [
                        "begins NFCNDEFReaderSession", "readerSessionDidBecomeActive(_:)",
                        "readerSession(_:didDetectNDEFs:) \(messages)",
                    ] + Self.end("readerSession")
                )
            }
        }
    }

    // MARK: What it withholds

    @Test(
        arguments: [
            (.radio, "6: NFC radio is disabled"), (.freeReader, "203: System resource unavailable"),
            ([.radio, .freeReader], "6: NFC radio is disabled"), (.entitlement, "2: Missing required entitlement"),
            ([.radio, .entitlement], "2: Missing required entitlement"),
        ] as [(SessionNeeds, String)]
    ) func `Withheld by the phone: the session ends with its code before its sheet is shown`(
        withheld: SessionNeeds,
        reason: String
    ) async throws {
        try await Self.with(Phone(withheld)) { phone, sheet in
            let delegate = MessageDelegate()
            let session = ndefSession(delegate, once: true)
            session.begin()
            #expect(await delegate.wholeLog() == ["ended \(reason.prefix { $0 != ":" })"])
            #expect(!session.isReady && sheet.history.isEmpty)
            let log = try await phone.log(3)
            #expect(log == ["begins NFCNDEFReaderSession"] + Self.end("readerSession", reason))
        }
    }

    @Test func `Withheld entitlement: the reason names the app's own file`() async throws {
        try await Self.with(Phone(.entitlement)) { _, _ in
            try await AppConfiguration.$scoped.withValue(.app()) {
                let delegate = MessageDelegate()
                ndefSession(delegate, once: true).begin()
                let error = try #require(await delegate.end())
                #expect((error as NSError).localizedFailureReason?.contains("App/App.entitlements") == true)
            }
        }
    }

    @Test(.ownThreads) func `Withheld usage text: the process ends, and says why`() async throws {
        let end = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
            try await Self.with(Phone(.usageText)) { _, _ in ndefSession(MessageDelegate(), once: true).begin() }
        }
        let lines = String(decoding: end.standardErrorContent, as: UTF8.self)
        #expect(lines.contains("NFCReaderUsageDescription is missing in the app's Info.plist."))
    }
}
