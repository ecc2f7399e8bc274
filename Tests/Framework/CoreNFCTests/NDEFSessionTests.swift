// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing
import VirtualTags

/// What the delegate of a session for NDEF gets, in order.
@Suite(.timeLimit(.minutes(1))) struct NDEFSessionTests {
    @Test(arguments: [(true, ["active", "messages 1", "ended 204"]), (false, ["active", "messages 1", "ended 200"])])
    func `invalidateAfterFirstRead: the session ends with 204 after the first message; without it, polling goes on`(
        once: Bool,
        log: [String]
    ) async throws {
        await withVirtualField { field in
            field.tags.bring(TestTag.ntag213())
            let delegate = MessageDelegate()
            let session = ndefSession(delegate, once: once)
            session.alertMessage = "Hold your iPhone near the poster."
            session.begin()
            #expect(await delegate.nextLinks() == [TestTag.link])
            if !once { session.invalidate() }
            #expect(await delegate.wholeLog() == log)
            if once { #expect(field.sheet.history.map(\.state) == [.ready, .scanning, .success]) }
            #expect(field.sheet.history.first?.message == "Hold your iPhone near the poster.")
        }
    }

    @Test(arguments: [true, false])
    func `NDEF delegate that takes tags: gets no messages, and invalidateAfterFirstRead does not end its session`(
        once: Bool
    ) async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213())
            let delegate = TagDelegate()
            let session = ndefSession(delegate, once: once)
            session.begin()
            for _ in 0..<2 {
                let tag = try #require(await delegate.nextNDEFTags()?.first)
                try await session.connect(to: tag)
                #expect(try await tag.readNDEF().link == TestTag.link)
                session.restartPolling()
            }
            #expect(await delegate.nextNDEFTags()?.count == 1)
            session.invalidate()
            #expect(await delegate.wholeLog() == ["active", "tags 1", "tags 1", "tags 1", "ended 200"])
        }
    }

    @Test
    func `Messages: a tag's message is reported once for each visit; restartPolling() does not repeat the report`()
        async throws
    {
        try await withField { field in
            var tags: [NearbyTag] = []
            for number in 1...2 {
                tags.append(try await field.make(.product("NTAG213", holding: .uri("https://example.com/\(number)"))))
            }
            let delegate = MessageDelegate { session, _ in
                // It has no effect for a delegate that gets messages.
                (session as? NFCNDEFReaderSession)?.restartPolling()
            }
            let session = ndefSession(delegate)
            session.begin()
            for (index, number) in [(0, 1), (1, 2), (0, 1)] {
                try await field.bring(tags[index])
                #expect(await delegate.nextLinks() == ["https://example.com/\(number)"])
                for _ in 0..<5 {
                    session.restartPolling()
                    await field.wait(for: .milliseconds(200))
                }
                try await field.takeAway(tags[index])
            }
            session.invalidate()
            #expect(
                await delegate.wholeLog() == ["active", "messages 1", "messages 1", "messages 1", "ended 200"],
                "\(field.trace)"
            )
        }
    }

    @Test
    func `invalidateAfterFirstRead: empty and damaged messages are skipped, the message of a tag beside them is read`()
        async throws
    {
        func damaged(_ serial: UInt8) -> VirtualType2Tag { TestTag.ntag213(message: bytes("d101c855"), serial: serial) }
        try await withField(.tag(TestTag.ntag213(message: [])), .tag(damaged(1))) { field in
            let delegate = MessageDelegate()
            let session = ndefSession(delegate, once: true)
            session.begin()
            await field.settle()
            #expect(session.isReady && delegate.log == ["active"])
            try await field.bring(.product("NTAG213", holding: .uri(TestTag.link)))
            #expect(await delegate.nextLinks() == [TestTag.link])
            #expect(await delegate.end()?.errorCode == 204)
        }
        for (bad, good) in [(1, 2), (2, 1)] as [(UInt8, UInt8)] {
            await withVirtualField { field in
                for tag in [damaged(bad), TestTag.ntag213(serial: good)] { field.tags.bring(tag) }
                let delegate = MessageDelegate()
                ndefSession(delegate, once: true).begin()
                #expect(await delegate.nextLinks() == [TestTag.link])
                #expect(await delegate.end()?.errorCode == 204)
            }
        }
    }

    // MARK: The sheet

    /// Where an app sets the sheet's text.
    enum Place: CaseIterable, Sendable { case callback, sessionQueue, mainQueue, mainActor }

    @Test(arguments: Place.allCases)
    func `invalidateAfterFirstRead: the success sheet shows the alertMessage that the app sets on the message`(
        _ place: Place
    ) async throws {
        for _ in 0..<20 {
            await withVirtualField { field in
                field.tags.bring(TestTag.ntag213())
                let delegate = MessageDelegate { session, event in
                    guard case .messages = event else { return }
                    let shared = Shared(session)
                    switch place {
                    case .callback: session.alertMessage = "Read."
                    case .sessionQueue: session.sessionQueue.async { shared.value.alertMessage = "Read." }
                    case .mainQueue: DispatchQueue.main.async { shared.value.alertMessage = "Read." }
                    case .mainActor: Task { @MainActor in shared.value.alertMessage = "Read." }
                    }
                }
                ndefSession(delegate, once: true).begin()
                #expect(await delegate.end()?.errorCode == 204)
                #expect(field.sheet.history.last { $0.state == .success }?.message == "Read.")
            }
        }
    }
}
