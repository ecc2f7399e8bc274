// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// Checks what a session knows of a card that may support PACE, from one look to the next.
@Suite(.timeLimit(.minutes(1))) struct `A card in a session that looks for PACE` {
    private typealias Cards = `Cards in a session for tags`
    private typealias Search = `What a session for tags looks for`
    private typealias Configuration = NFCTagReaderSession.Configuration

    /// What a session says of a card: its application, or PACE, or that it is a MIFARE card.
    private static func words(_ tag: NFCTag) -> String {
        switch tag {
        case .iso7816(let card): card.supportsPACE ? "PACE\(card.initialSelectedAID)" : card.initialSelectedAID
        case .miFare: "MIFARE"
        case .feliCa, .iso15693: "other"
        }
    }

    /// A card of Type A that is of no known maker.
    private static func frontEnd(_ number: UInt8) -> Type4FrontEnd {
        .nfcA(uid: [0x02, number, 3, 4, 5, 6, 7], ats: [0x05, 0x78, 0x80, 0x70, 0x02])
    }

    /// A card that has EF.CardAccess with Chip Authentication, and no PACE.
    private static func cardWithoutPACE(_ names: [[UInt8]] = []) -> ScriptedCard {
        var card = Cards.card(with: names)
        card.answer([0x00, 0xA4, 0x02, 0x0C, 0x02, 0x01, 0x1C], with: [0x90, 0x00])
        card.answer(
            [0x00, 0xB0, 0x00, 0x00, 0x00],
            with: [
                0x31, 0x14, 0x30, 0x12, 0x06, 0x0A, 0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x03, 0x02, 0x02, 0x02,
                0x01, 0x02, 0x02, 0x01, 0x0D, 0x90, 0x00,
            ]
        )
        return card
    }

    @Test func `takes PACE while the configuration asks for it, and not while polling restarts without it`()
        async throws
    {
        let card = VirtualType4Tag(card: Search.paceCard([Cards.otherName]))
        let app = Search.app(applications: ["A0000002471001"])
        try await Search.withSession([card], app, Configuration(pollingOption: .pace)) { _, session, events in
            #expect(await events.nextTags()?.map(Self.words) == ["PACE"])
            session.restartPolling(configuration: Configuration(pollingOption: .iso14443))
            #expect(await events.nextTags()?.map(Self.words) == ["A0000002471001"])
            session.restartPolling(configuration: Configuration(pollingOption: [.pace, .iso14443]))
            #expect(await events.nextTags()?.map(Self.words) == ["PACE"])
            session.restartPolling()
            #expect(await events.nextTags()?.map(Self.words) == ["PACE"])
        }
    }

    @Test func `takes PACE also for an app that lists no applications`() async throws {
        let card = VirtualType4Tag(card: Search.paceCard())
        for option in [.pace, [.pace, .iso14443]] as [NFCTagReaderSession.PollingOption] {
            try await Search.withSession([card], Search.app(), Configuration(pollingOption: option)) { _, _, events in
                #expect(await events.nextTags()?.map(Self.words) == ["PACE"])
            }
        }
    }

    @Test func `is found by its application when it lists other protocols than PACE`() async throws {
        let card = VirtualType4Tag(card: Self.cardWithoutPACE([Cards.otherName]))
        let app = Search.app(applications: ["A0000002471001"])
        for option in [.pace, [.pace, .iso14443]] as [NFCTagReaderSession.PollingOption] {
            try await Search.withSession([card], app, Configuration(pollingOption: option)) { _, _, events in
                #expect(await events.nextTags()?.map(Self.words) == ["A0000002471001"])
            }
        }
    }

    @Test func `is left out beside one that takes PACE, unless it has an application or all cards are looked for`()
        async throws
    {
        let tags: [any VirtualTag] = [
            VirtualType4Tag(card: Self.cardWithoutPACE(), frontEnd: Self.frontEnd(1)),
            VirtualType4Tag(card: Search.paceCard(), frontEnd: .nfcB(pupi: [1, 2, 3, 4])),
        ]
        let app = Search.app(applications: ["A0000002471001"])
        try await Search.withSession(tags, app, Configuration(pollingOption: .pace)) { _, session, events in
            #expect(await events.nextTags()?.map(Self.words) == ["PACE"])
            session.restartPolling(configuration: Configuration(pollingOption: [.pace, .iso14443]))
            #expect(await events.nextTags()?.map(Self.words).sorted() == ["MIFARE", "PACE"])
            session.restartPolling()
            #expect(await events.nextTags()?.map(Self.words) == ["PACE"])
        }
    }

    @Test func `takes PACE and its commands after another card had its turn`() async throws {
        let tags: [any VirtualTag] = [
            VirtualType4Tag(card: Search.paceCard([Cards.otherName]), frontEnd: Self.frontEnd(1)),
            VirtualType4Tag(card: Cards.card(with: [Cards.otherName]), frontEnd: Self.frontEnd(2)),
        ]
        let app = Search.app(applications: ["A0000002471001"])
        try await Search.withSession(tags, app, Configuration(pollingOption: .pace)) { _, session, events in
            let found = try #require(await events.nextTags())
            #expect(found.map(Self.words).sorted() == ["A0000002471001", "PACE"])
            let challenge = try #require(NFCISO7816APDU(data: Data([0, 0x84, 0, 0, 2])))
            for tag in found + found {
                guard case .iso7816(let card) = tag else { throw Cards.Unexpected() }
                try await session.connect(to: tag)
                let answer: NFCISO7816ResponseAPDU = try await card.sendCommand(apdu: challenge)
                #expect(answer.payload == Data([0xCA, 0xFE]))
                #expect(card.supportsPACE == card.initialSelectedAID.isEmpty)
            }
        }
    }

    @Test func `is not looked for by a session for payment, which ends when polling restarts for that`() async throws {
        try await withVirtualField { field in
            field.tags.bring(VirtualType2Tag(.ntag213))
            let delegate = TagSessionDelegate()
            let session = NFCPaymentTagReaderSession(delegate: delegate)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.nextTags()?.count == 1)
            // A payment session looks for ISO 14443 alone, and then for nothing.
            session.restartPolling(configuration: Configuration(pollingOption: [.pace, .iso15693]))
            #expect(await events.end()?.code == .readerErrorInvalidParameter)
            #expect(!session.isReady)
            try await field.untilIdle()
        }
    }
}
