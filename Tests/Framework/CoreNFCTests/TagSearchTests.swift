// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing
import VirtualCards
import VirtualTags

@Suite(.timeLimit(.minutes(5))) struct `What a session for tags looks for` {
    private typealias Cards = `Cards in a session for tags`
    private typealias Configuration = NFCTagReaderSession.Configuration

    private struct Unexpected: Error {}

    /// An app that lists applications and FeliCa systems.
    static func app(
        applications: [String] = [],
        systems: [String] = [],
        formats: [String] = ["TAG", "PACE"]
    ) -> AppConfiguration {
        var app = Cards.app(applications: applications, systems: systems)
        app.entitlements?.values["com.apple.developer.nfc.readersession.formats"] = formats
        return app
    }

    /// A card with applications that reports that it supports PACE.
    static func paceCard(_ names: [[UInt8]] = []) -> ScriptedCard {
        var card = Cards.card(with: names)
        card.answer([0x00, 0xA4, 0x02, 0x0C, 0x02, 0x01, 0x1C], with: [0x90, 0x00])
        card.answer(
            [0x00, 0xB0, 0x00, 0x00, 0x00],
            with: [
                0x31, 0x14, 0x30, 0x12, 0x06, 0x0A, 0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04, 0x02, 0x02, 0x02,
                0x01, 0x02, 0x02, 0x01, 0x0D, 0x90, 0x00,
            ]
        )
        return card
    }

    /// Begins a session near some tags.
    static func withSession(
        _ tags: [any VirtualTag],
        _ app: AppConfiguration,
        _ configuration: NFCTagReaderSession.Configuration,
        _ body: (
            VirtualFieldScope, NFCTagReaderSession, inout AsyncStream<TagSessionEvent>.Iterator
        ) async throws -> Void
    ) async throws {
        try await AppConfiguration.$scoped.withValue(app) {
            try await withVirtualField { field in
                for tag in tags { field.tags.bring(tag) }
                let delegate = TagSessionDelegate()
                let session = NFCTagReaderSession(configuration: configuration, delegate: delegate)
                session.begin()
                var events = delegate.events.makeAsyncIterator()
                try await body(field, session, &events)
                session.invalidate()
                try await field.untilIdle()
                withExtendedLifetime(delegate) {}
            }
        }
    }

    /// The first tag of a session, by its kind.
    private static func first(
        _ tags: [any VirtualTag],
        _ app: AppConfiguration,
        _ configuration: Configuration
    ) async throws -> (kind: String, pace: Bool, selected: String)? {
        try await AppConfiguration.$scoped.withValue(app) {
            try await withField { field in
                for tag in tags { try await field.bring(.tag(tag)) }
                let delegate = TagSessionDelegate()
                let session = NFCTagReaderSession(configuration: configuration, delegate: delegate)
                session.begin()
                await field.settle()
                session.invalidate()
                var events = delegate.events.makeAsyncIterator()
                guard let tag = await events.nextTags()?.first else { return nil }
                return switch tag {
                case .iso7816(let tag): ("iso7816", tag.supportsPACE, tag.initialSelectedAID)
                case .feliCa(let tag):
                    ("feliCa", false, tag.currentSystemCode.map { String($0) }.joined(separator: "."))
                case .miFare: ("miFare", false, "")
                case .iso15693: ("iso15693", false, "")
                }
            }
        }
    }

    // MARK: PACE

    @Test(arguments: [.pace, [.pace, .iso14443]] as [NFCTagReaderSession.PollingOption])
    func `A card that takes PACE is found by it, and has nothing selected`(
        option: NFCTagReaderSession.PollingOption
    ) async throws {
        let app = Self.app(applications: ["A0000002471001"])
        for frontEnd in [Type4FrontEnd.randomEMRTD, .emrtd(pupi: [0x31, 0x32, 0x33, 0x34])] {
            let card = VirtualType4Tag(card: Self.paceCard([Cards.otherName]), frontEnd: frontEnd)
            let found = try await Self.first([card], app, Configuration(pollingOption: option))
            #expect(found.map { $0 == ("iso7816", true, "") } == true)
        }
    }

    @Test func `A virtual document with EF.CardAccess takes PACE`() async throws {
        var contents = try EMRTDContents(
            MachineReadableZone(
                "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"
            ),
            signer: .test
        )
        let app = Self.app(applications: ["A0000002471001"])
        let configuration = Configuration(pollingOption: .pace)
        let without = try await Self.first([VirtualType4Tag(contents)], app, configuration)
        #expect(without.map { $0 == ("iso7816", false, "A0000002471001") } == true)
        contents.cardAccess = [
            0x31, 0x14, 0x30, 0x12, 0x06, 0x0A, 0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04, 0x02, 0x02, 0x02, 0x01,
            0x02, 0x02, 0x01, 0x0D,
        ]
        let with = try await Self.first([VirtualType4Tag(contents)], app, configuration)
        #expect(with.map { $0 == ("iso7816", true, "") } == true)
    }

    @Test func `Without the option no card is asked for PACE`() async throws {
        let card = VirtualType4Tag(card: Self.paceCard([Cards.otherName]))
        let app = Self.app(applications: ["A0000002471001"])
        let found = try await Self.first([card], app, Configuration(pollingOption: .iso14443))
        #expect(found.map { $0 == ("iso7816", false, "A0000002471001") } == true)
    }

    @Test func `With PACE alone other cards are not found`() async throws {
        let app = Self.app(applications: ["A0000002471001"])
        for tag in [VirtualType2Tag(.ntag213), VirtualType4Tag(DESFireContents.ndef(size: .kilobytes4))]
            as [any VirtualTag]
        {
            #expect(try await Self.first([tag], app, Configuration(pollingOption: .pace)) == nil)
            let found = try await Self.first([tag], app, Configuration(pollingOption: [.pace, .iso14443]))
            #expect(found?.kind == "miFare")
        }
    }

    @Test func `With PACE alone a card that takes it is found beside other tags, and these are left out`()
        async throws
    {
        let app = Self.app(applications: ["A0000002471001"])
        let tags: [any VirtualTag] = [
            VirtualType2Tag(.ntag213), VirtualType4Tag(card: Self.paceCard([Cards.otherName]), frontEnd: .randomEMRTD),
        ]
        try await Self.withSession(tags, app, Configuration(pollingOption: .pace)) { _, session, events in
            for _ in 0..<2 {
                let found = await events.nextTags()
                #expect(found?.count == 1)
                guard case .iso7816? = found?.first else { throw Unexpected() }
                session.restartPolling()
            }
        }
    }

    // MARK: Lists

    @Test(arguments: [
        ([], "D2760000850101"), (["a0000002471001"], "A0000002471001"),
        (["F000000001", "A0000002471001", "A0000002471001", "D2760000850101"], "A0000002471001"),
    ])
    func `A configuration names some of the listed applications`(part: [String], selected: String) async throws {
        let card = VirtualType4Tag(card: Cards.card(with: [Cards.ndefName, Cards.otherName, [0xF0, 0, 0, 0, 1]]))
        let app = Self.app(applications: ["D2760000850101", "A0000002471001"])
        let configuration = Configuration(pollingOption: .iso14443, iso7816SelectIdentifiers: part)
        #expect(try await Self.first([card], app, configuration)?.selected == selected)
    }

    @Test func `An entry of the list that can't be an application's name is not looked for`() async throws {
        let long = [UInt8](repeating: 0xA0, count: 17)
        var scripted = Cards.card(with: [long, Cards.ndefName])
        // The card has an application that it selects when none is named.
        scripted.answer([0x00, 0xA4, 0x04, 0x00, 0x00], with: [0x90, 0x00])
        let card = VirtualType4Tag(card: scripted)
        let entries = ["", String(repeating: "A0", count: 17), "A00", "D2760000850101"]
        let configuration = Configuration(pollingOption: .iso14443)
        let found = try await Self.first([card], Self.app(applications: entries), configuration)
        #expect(found?.selected == "D2760000850101")
        // A name of 16 bytes is one.
        let name = [UInt8](repeating: 0xA0, count: 16)
        let other = VirtualType4Tag(card: Cards.card(with: [name, Cards.ndefName]))
        let text = String(repeating: "A0", count: 16)
        let app = Self.app(applications: [text, "D2760000850101"])
        #expect(try await Self.first([other], app, configuration)?.selected == text)
    }

    @Test func `An application that is not listed is not looked for`() async throws {
        let card = VirtualType4Tag(card: Cards.card(with: [Cards.ndefName, [0xF0, 0, 0, 0, 1]]))
        let configuration = Configuration(pollingOption: .iso14443, iso7816SelectIdentifiers: ["F000000001"])
        let listed = try await Self.first([card], Self.app(applications: ["D2760000850101"]), configuration)
        #expect(listed?.kind == "miFare")
        // An app without a property list has none to hold it against.
        let unlisted = try await Self.first([card], AppConfiguration(), configuration)
        #expect(unlisted?.selected == "F000000001")
    }

    @Test func `A card without the applications that a session names is none of ISO 7816, without a list too`()
        async throws
    {
        let card = VirtualType4Tag(card: Cards.card(with: [Cards.ndefName]))
        let named = Configuration(pollingOption: .iso14443, iso7816SelectIdentifiers: ["F000000001"])
        #expect(try await Self.first([card], AppConfiguration(), named)?.kind == "miFare")
        let unnamed = Configuration(pollingOption: .iso14443)
        #expect(try await Self.first([card], AppConfiguration(), unnamed)?.kind == "iso7816")
    }

    @Test(arguments: [([], "0.3"), (["0003"], "0.3"), (["8008"], nil), (["three"], nil)] as [([String], String?)])
    func `An app without a list finds each FeliCa card, unless the session names systems`(
        codes: [String],
        found: String?
    ) async throws {
        let card = VirtualType3Tag(.transitCard(idm: [1, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34], balance: 500))
        let configuration = Configuration(pollingOption: .iso18092, feliCaSystemCodes: codes)
        let first = try await Self.first([card], AppConfiguration(), configuration)
        #expect((first?.kind == "feliCa") == (found != nil))
        if codes == ["0003"] { #expect(first?.selected == found) }
    }

    @Test func `A configuration names some of the listed FeliCa systems`() async throws {
        let card = VirtualType3Tag(.transitCard(idm: [1, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34], balance: 500))
        let app = Self.app(systems: ["0003", "FE00"])
        func found(_ codes: [String]) async throws -> String? {
            try await Self.first([card], app, Configuration(pollingOption: .iso18092, feliCaSystemCodes: codes))?
                .selected
        }
        #expect(try await found([]) == "0.3")
        #expect(try await found(["0003"]) == "0.3")
        #expect(try await found(["8008"]) == nil)
        #expect(try await found(["fe00"]) == nil)
    }

    // MARK: Restarting

    @Test func `Polling restarts by another configuration, once`() async throws {
        let card = VirtualType4Tag(card: Cards.card(with: [Cards.ndefName, Cards.otherName]))
        let app = Self.app(applications: ["D2760000850101", "A0000002471001"])
        try await Self.withSession([card], app, Configuration(pollingOption: .iso14443)) { _, session, events in
            func selected(_ tags: [NFCTag]?) -> String? {
                if case .iso7816(let tag)? = tags?.first { tag.initialSelectedAID } else { nil }
            }
            #expect(selected(await events.nextTags()) == "D2760000850101")
            session.restartPolling(
                configuration: Configuration(
                    pollingOption: .iso14443,
                    iso7816SelectIdentifiers: ["A0000002471001"]
                )
            )
            #expect(selected(await events.nextTags()) == "A0000002471001")
            session.restartPolling()
            #expect(selected(await events.nextTags()) == "D2760000850101")
        }
    }

    @Test func `Applications that polling restarts with decide what a card is, until it restarts without them`()
        async throws
    {
        let card = VirtualType4Tag(card: Cards.card(with: [Cards.ndefName]))
        let named = Configuration(pollingOption: .iso14443, iso7816SelectIdentifiers: ["F000000001"])
        let unnamed = Configuration(pollingOption: .iso14443)
        try await Self.withSession([card], AppConfiguration(), unnamed) { _, session, events in
            guard case .iso7816? = await events.nextTags()?.first else { throw Unexpected() }
            session.restartPolling(configuration: named)
            guard case .miFare? = await events.nextTags()?.first else { throw Unexpected() }
            session.restartPolling()
            guard case .iso7816? = await events.nextTags()?.first else { throw Unexpected() }
        }
    }

    @Test func `A session that looks for other tags takes the configuration at once, and goes back`() async throws {
        let app = Self.app(applications: ["D2760000850101"])
        let tags: [any VirtualTag] = [VirtualType2Tag(.ntag213)]
        try await Self.withSession(tags, app, Configuration(pollingOption: .iso15693)) { field, session, events in
            guard case .active? = await events.next(isolation: nil) else { throw Unexpected() }
            session.restartPolling(configuration: Configuration(pollingOption: .iso14443))
            guard case .miFare? = await events.nextTags()?.first else { throw Unexpected() }
            session.restartPolling()
            field.clock.advance(by: .seconds(60))
            #expect(await events.end()?.code == .readerSessionInvalidationErrorSessionTimeout)
        }
    }

    @Test func `Polling that goes back reports what the session has asked for at first, and nothing else`()
        async throws
    {
        try await withField(.tag(VirtualType5Tag(.icodeSLIX)), .tag(VirtualType2Tag(.ntag213))) { field in
            let delegate = TagSessionDelegate()
            let session = NFCTagReaderSession(
                configuration: Configuration(pollingOption: .iso15693),
                delegate: delegate
            )
            session.begin()
            await field.settle()
            session.restartPolling(configuration: Configuration(pollingOption: .iso14443))
            await field.settle()
            session.restartPolling()
            await field.settle()
            session.invalidate()
            var kinds: [[String]] = []
            for await event in delegate.events {
                guard case .tags(let tags) = event else { continue }
                kinds.append(tags.map { if case .iso15693 = $0 { "iso15693" } else { "other" } })
            }
            #expect(kinds == [["iso15693"], ["other"], ["iso15693"]])
        }
    }

    @Test func `A configuration without a technology ends the session, when it begins and when polling restarts`()
        async throws
    {
        let nothing = Configuration(pollingOption: [])
        try await Self.withSession([], AppConfiguration(), nothing) { _, session, events in
            #expect(await events.end()?.code == .readerErrorInvalidParameter)
            #expect(!session.isReady)
        }
        try await Self.withSession([], AppConfiguration(), Configuration(pollingOption: .iso14443)) {
            _,
            session,
            events in
            guard case .active? = await events.next(isolation: nil) else { throw Unexpected() }
            session.restartPolling(configuration: nothing)
            #expect(await events.end()?.code == .readerErrorInvalidParameter)
        }
    }

    @Test func `A configuration that the entitlements don't allow ends the session`() async throws {
        let app = Self.app(applications: ["A0000002471001"], formats: ["TAG"])
        try await Self.withSession([], app, Configuration(pollingOption: .iso14443)) { _, session, events in
            guard case .active? = await events.next(isolation: nil) else { throw Unexpected() }
            session.restartPolling(configuration: Configuration(pollingOption: [.iso14443, .pace]))
            let error = try #require(await events.end())
            #expect(error.code == .readerErrorSecurityViolation)
            #expect((error as NSError).localizedFailureReason?.contains("PACE") == true)
        }
    }

    @Test func `A session that is not active takes no configuration`() async {
        await withVirtualField { field in
            field.tags.bring(VirtualType2Tag(.ntag213))
            let delegate = TagSessionDelegate()
            let session = NFCTagReaderSession(
                configuration: Configuration(pollingOption: .iso14443),
                delegate: delegate
            )
            session.restartPolling(configuration: Configuration(pollingOption: []))
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.nextTags()?.count == 1)
            session.invalidate()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            session.restartPolling(configuration: Configuration(pollingOption: []))
            #expect(await events.next(isolation: nil) == nil)
        }
    }

    @Test func `A payment session takes ISO 14443 alone`() async {
        await withVirtualField { field in
            field.tags.bring(VirtualType5Tag(.icodeSLIX))
            field.tags.bring(VirtualType2Tag(.ntag213))
            let delegate = TagSessionDelegate()
            let session = NFCPaymentTagReaderSession(delegate: delegate)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            _ = await events.nextTags()
            session.restartPolling(configuration: Configuration(pollingOption: [.iso14443, .iso15693]))
            #expect(await events.nextTags()?.count == 1)
            session.invalidate()
        }
    }
}
