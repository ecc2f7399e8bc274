// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import Testing

/// Checks the errors of an app's commands to a card whose transport protocol the reader handles.
@Suite(.timeLimit(.minutes(1))) struct `A command to a card that its reader can't carry out` {
    private typealias Cards = `Cards in a session for tags`

    /// A card that answers 9000, unless its reader fails.
    private final class Card: APDULink {
        let failure = Locked<LinkError.Code?>(nil)
        let maximumCommandLength = 261
        let maximumResponseLength = 258
        let singleBlockCommandLength = 261
        let singleBlockResponseLength = 258
        var statistics: LinkStatistics { .zero }

        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
            if let code = failure.withLock({ $0 }) { throw LinkError(code, "The reader says why.") }
            return [0x90, 0x00]
        }

        func isPresent() async -> Bool { true }
    }

    /// A reader that finds the card.
    private final class Reader: DiscoveringDriver {
        let name = "cards"
        let technologies: Set<Technology> = [.nfcA]
        let card: Card
        var statistics: LinkStatistics { .zero }

        init(_ card: Card) { self.card = card }

        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }

        func discover(_: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
            [
                DiscoveredTag(
                    identity: .nfcA(atqa: 0x0344, sak: 0x20, uid: [4, 1, 2, 3, 4, 5, 6]),
                    port: .commands(card, answerToSelect: nil)
                )
            ]
        }

        func select(_ tag: DiscoveredTag) async throws(LinkError) {}
        func release() async {}
    }

    /// Works with a card in an app's environment.
    private static func withCard(
        _ app: AppConfiguration = AppConfiguration(),
        _ body: (Card) async throws -> Void
    ) async throws {
        let card = Card()
        let environment = NFCEnvironment(reader: .discovering(Reader(card)), clock: ManualClock(), isOfTest: true)
        try await NFCEnvironment.$scoped.withValue(environment) {
            try await AppConfiguration.$scoped.withValue(app) { try await body(card) }
        }
    }

    /// Sends an APDU in the way of the card's kind.
    private static func send(_ bytes: [UInt8], to tag: NFCTag) async throws -> NFCISO7816ResponseAPDU {
        let apdu = try #require(NFCISO7816APDU(data: Data(bytes)))
        switch tag {
        case .iso7816(let card): return try await card.sendCommand(apdu: apdu)
        case .miFare(let card): return try await card.sendMiFareISO7816Command(apdu)
        case .feliCa, .iso15693: throw ScriptedTag.OtherKind()
        }
    }

    private static let read: [UInt8] = [0x00, 0xB0, 0x00, 0x00, 0x00]

    @Test(
        arguments: [
            (.frameTooLong, 105, false), (.unsupported, 1, false), (.cancelled, 103, false),
            (.readerUnavailable, 100, false), (.protocolViolation, 102, false), (.inUse, 102, false),
            (.tagRemoved, 100, true), (.timeout, 100, true), (.transmission, 100, true), (.collision, 100, true),
        ] as [(LinkError.Code, Int, Bool)]
    ) func `has the phone's code for it, and only a card that is lost has to be found again`(
        failure: LinkError.Code,
        code: Int,
        isLost: Bool
    ) async throws {
        for app in [AppConfiguration(), Cards.app(applications: ["D2760000850101"])] {
            try await Self.withCard(app) { card in
                let found = try await `A session for tags`.detect()
                let tag = try #require(found.tags.first)
                if case .iso7816 = tag { #expect(app.infoPlist != nil) } else { #expect(app.infoPlist == nil) }
                try await found.session.connect(to: tag)
                #expect(try await Self.send(Self.read, to: tag).statusWord1 == 0x90)
                card.failure.withLock { $0 = failure }
                let error = await readerError { try await Self.send(Self.read, to: tag) }
                #expect(error?.errorCode == code)
                card.failure.withLock { $0 = nil }
                #expect(tag.isAvailable == !isLost)
                let next = await readerError { try await Self.send(Self.read, to: tag) }
                #expect(next?.errorCode == (isLost ? 100 : nil))
                #expect(found.session.isReady)
                found.session.invalidate()
                withExtendedLifetime(found.delegate) {}
            }
        }
    }

    @Test(
        arguments: [
            (.frameTooLong, 105), (.unsupported, 1), (.cancelled, 103), (.readerUnavailable, 100),
            (.protocolViolation, 102), (.transmission, 102), (.tagRemoved, 100), (.timeout, 100),
        ] as [(LinkError.Code, Int)]
    ) func `has the phone's code for a message too`(failure: LinkError.Code, code: Int) async throws {
        try await Self.withCard { card in
            let found = try await FoundTags()
            let tag = found.tag
            try await found.session.connect(to: tag)
            card.failure.withLock { $0 = failure }
            let read = await readerError { try await tag.readNDEF() }
            #expect(read?.errorCode == code)
            let write = await readerError { try await tag.writeNDEF(TestTag.message(uri: "https://example.com/a")) }
            #expect(write?.errorCode == code)
            let lock = await readerError { try await tag.writeLock() }
            #expect(lock?.errorCode == code)
            found.session.invalidate()
            withExtendedLifetime(found.delegate) {}
        }
    }

    @Test func `is not sent when it selects an application that the app does not list, whatever the kind of the card`()
        async throws
    {
        let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00]
        try await Self.withCard(Cards.app()) { card in
            let found = try await `A session for tags`.detect()
            let tag = try #require(found.miFare)
            for isConnected in [false, true] {
                if isConnected { try await found.session.connect(to: .miFare(tag)) }
                // Nothing would come of it.
                card.failure.withLock { $0 = .tagRemoved }
                let error = await readerError { try await Self.send(select, to: .miFare(tag)) }
                #expect(error?.code == .readerErrorSecurityViolation)
                card.failure.withLock { $0 = nil }
            }
            #expect(try await Self.send(Self.read, to: .miFare(tag)).statusWord1 == 0x90)
            found.session.invalidate()
            withExtendedLifetime(found.delegate) {}
        }
    }
}
