// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCSessions
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// What a phone around the reader, as of a simulator, learns of an app's sessions, and what it withholds from them.
@Suite(.timeLimit(.minutes(1))) struct PhoneHostTests {
    /// A phone that notes what it learns.
    private final class Phone: SessionHost {
        let withheld: SessionNeeds
        private let notes = Locked<[String]>([])

        init(_ withheld: SessionNeeds = []) { self.withheld = withheld }

        var log: [String] { notes.withLock { $0 } }

        /// What was noted since the last time, when there are so many notes.
        func log(_ count: Int) async throws -> [String] {
            try await waitWhile(log.count < count)
            return notes.withLock { notes in
                defer { notes = [] }
                return notes
            }
        }

        func mark(_ text: String) { notes.withLock { $0.append(text) } }

        /// What the app's calls on tags sent and received.
        let calls = Locked<[String]>([])

        func note(_ event: SessionEvent, of session: Int) {
            if case .called(let name, let sent, let received, let error) = event {
                let result = error.map { "\($0)" } ?? received.hexText()
                return calls.withLock { $0.append("\(name) \(sent.hexText()) \(result)") }
            }
            let text =
                switch event {
                case .began(let kind): "begins \(kind)"
                case .restarted: "restarts"
                case .callback(let name, let detail): detail.isEmpty ? name : "\(name) \(detail)"
                case .called: ""
                case .ended(let reason): "ends \(reason)"
                }
            notes.withLock { $0.append(text) }
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
            belongsToTest: true,
            host: phone
        )
        try await NFCEnvironment.$scoped.withValue(environment) { try await body(phone, sheet) }
    }

    /// The calls of one session: how it begins, what happens, and how it ends. `X` is its delegate's first name.
    private static func calls(_ kind: String, _ delegate: String, _ calls: [String] = [], end: String) -> [String] {
        ["begins \(kind)"] + calls.map { $0.replacing("X", with: delegate) }
            + ["ends \(end)", "\(delegate)(_:didInvalidateWithError:) \(end)"]
    }

    private static let canceled = "200: Session invalidated by user"

    @Test func `Simulator's phone: told of each call of a session and its delegate, in order`() async throws {
        try await Self.with(Phone(), [TestTag.ntag213(), VirtualType5Tag(.icodeSLIX)]) { phone, _ in
            let delegate = TagSessionDelegate()
            let session = tagSession(delegate, [.iso14443, .iso15693])
            // A session that has not begun is not restarted.
            session.restartPolling()
            session.begin()
            session.begin()
            _ = await delegate.nextTags()
            session.restartPolling(configuration: .init(pollingOption: .iso15693))
            _ = await delegate.nextTags()
            session.invalidate()
            await delegate.end()
            session.restartPolling()
            let calls = ["XDidBecomeActive(_:)", "X(_:didDetect:) 2 tags", "restarts", "X(_:didDetect:) 1 tag"]
            let tags = Self.calls("NFCTagReaderSession", "tagReaderSession", calls, end: Self.canceled)
            let log = try await phone.log(7)
            #expect(log == tags)
        }
        try await Self.with(Phone(), [TestTag.ntag213()]) { phone, _ in
            let delegate = MessageDelegate()
            let session = ndefSession(delegate)
            session.begin()
            _ = await delegate.nextLinks()
            // It has no effect for this delegate.
            session.restartPolling()
            session.invalidate()
            await delegate.end()
            let calls = ["XDidBecomeActive(_:)", "X(_:didDetectNDEFs:) 1 message"]
            let messages = Self.calls("NFCNDEFReaderSession", "readerSession", calls, end: Self.canceled)
            let log = try await phone.log(5)
            #expect(log == messages)
        }
    }

    /// A delegate that uses the session in its callback, and notes that in the phone's log.
    private final class BusyDelegate: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
        private let phone: Phone

        init(_ phone: Phone) { self.phone = phone }

        func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
            session.connect(to: tags[0]) { _ in }
            phone.mark("connects")
            session.invalidate()
        }

        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
    }

    @Test func `Delegate that connects in its callback: the phone is told of the callback before the connection`()
        async throws
    {
        try await Self.with(Phone(), [TestTag.ntag213()]) { phone, _ in
            let delegate = BusyDelegate(phone)
            ndefSession(delegate).begin()
            let calls = ["XDidBecomeActive(_:)", "X(_:didDetect:) 1 tag", "connects"]
            let log = try await phone.log(6)
            #expect(log == Self.calls("NFCNDEFReaderSession", "readerSession", calls, end: Self.canceled))
            withExtendedLifetime(delegate) {}
        }
    }

    @Test func `App's calls on a tag: the phone is told what was sent and received, or the error's code`() async throws
    {
        try await Self.with(Phone(), [TestTag.ntag213(message: [0xD0, 0, 0])]) { phone, _ in
            let delegate = TagSessionDelegate()
            let session = tagSession(delegate, .iso14443)
            session.begin()
            let tags = try #require(await delegate.nextTags())
            let tag = try tags[0].miFare
            try await session.connect(to: tags[0])
            _ = try await tag.readNDEF()
            try await tag.writeNDEF(try #require(NFCNDEFMessage(data: Data([0xD1, 1, 1, 0x55, 0]))))
            _ = try await tag.queryNDEFStatus()
            _ = try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0x04]))
            _ = try? await tag.sendMiFareCommand(commandPacket: Data([0x30, 0xFF]))
            session.invalidate()
            await delegate.end()
            #expect(
                phone.calls.withLock { $0 } == [
                    "connect 00 ", "readNDEF  d00000", "writeNDEF d101015500 ", "queryNDEFStatus  02",
                    "command 3004 0103a00c340305d101015500fe000000", "command 30ff 100",
                ]
            )
        }
    }

    // MARK: What it withholds

    @Test(
        arguments: [
            (.radio, "6: NFC radio is disabled"), (.freeReader, "203: System resource unavailable"),
            ([.radio, .freeReader], "6: NFC radio is disabled"), (.entitlement, "2: Missing required entitlement"),
            ([.radio, .entitlement], "2: Missing required entitlement"),
        ] as [(SessionNeeds, String)]
    ) func `Radio, reader or entitlement withheld by the phone: the session ends with that code, without a sheet`(
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
            #expect(log == Self.calls("NFCNDEFReaderSession", "readerSession", end: reason))
        }
    }
}
