// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCRuntime
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Checks that an app's author gets the reason why there is no reader. The app itself shows only the error's text.
@Suite(.timeLimit(.minutes(5))) struct `The reason why there is no reader` {
    /// A reader whose adapter is gone whenever a session looks for tags.
    private final class LostReader: DiscoveringDriver {
        let name = "lost"
        let technologies: Set<Technology> = [.nfcA]
        let statistics = LinkStatistics()

        func discover(_: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
            throw LinkError(.readerUnavailable, "The line /nope can't be opened.")
        }

        func select(_ tag: DiscoveredTag) async throws(LinkError) {}
        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }
        func release() async {}
    }

    /// Runs code with a reader, and returns the notices for the app's author.
    private func notices(
        _ reader: NFCEnvironment.Reader,
        _ body: () async throws -> Void
    ) async rethrows -> [String] {
        let said = Locked<[String]>([])
        let environment = NFCEnvironment(reader: reader, isOfTest: true) { text in said.withLock { $0.append(text) } }
        try await NFCEnvironment.$scoped.withValue(environment) { try await body() }
        return said.withLock { $0 }
    }

    /// Runs a session to its end.
    private func error() async throws -> NFCReaderError {
        let delegate = MessageDelegate()
        let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
        session.begin()
        var events = delegate.events.makeAsyncIterator()
        return try #require(await events.end())
    }

    @Test func `It is said when an app asks whether there is a reader, once`() async {
        let said = await notices(.none(reason: "Plug in a reader.")) {
            for _ in 0..<3 {
                #expect(!NFCNDEFReaderSession.readingAvailable)
                #expect(!NFCTagReaderSession.readingAvailable)
            }
        }
        #expect(said == ["Plug in a reader."])
    }

    @Test func `It is said when a session ends because of it, once for all sessions`() async throws {
        let said = try await notices(.none(reason: "Plug in a reader.")) {
            for _ in 0..<2 {
                let error = try await error()
                #expect(error.code == .readerErrorUnsupportedFeature)
                #expect((error as NSError).localizedFailureReason == "Plug in a reader.")
            }
        }
        #expect(said == ["Plug in a reader."])
    }

    @Test func `A reader that can't be reached is no different`() async throws {
        let said = try await notices(.discovering(LostReader())) {
            #expect(NFCNDEFReaderSession.readingAvailable)
            for _ in 0..<2 {
                let error = try await error()
                #expect(error.code == .readerSessionInvalidationErrorSessionTerminatedUnexpectedly)
                #expect((error as NSError).localizedFailureReason == "The line /nope can't be opened.")
            }
        }
        #expect(said == ["The line /nope can't be opened."])
    }

    @Test func `An app that ends its session without a reader before it begins gets no notice`() async {
        let said = await notices(.none(reason: "Plug in a reader.")) {
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.invalidate()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
        }
        #expect(said == [])
    }

    @Test func `An app that ends its session gets no notice`() async {
        let said = await notices(.field(VirtualField())) {
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            session.invalidate()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            #expect(NFCNDEFReaderSession.readingAvailable)
        }
        #expect(said == [])
    }
}
