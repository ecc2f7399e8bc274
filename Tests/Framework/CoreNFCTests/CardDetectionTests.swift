// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing

@Suite(.timeLimit(.minutes(5))) struct `Cards in a session for tags` {
    static let ndefName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
    static let otherName: [UInt8] = [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01]

    /// An app that lists applications and FeliCa systems.
    static func app(applications: [String] = [], systems: [String] = []) -> AppConfiguration {
        AppConfiguration(
            infoPlist: .init(
                path: "Info.plist",
                values: [
                    "NFCReaderUsageDescription": ["Cards are read."],
                    "com.apple.developer.nfc.readersession.iso7816.select-identifiers": applications,
                    "com.apple.developer.nfc.readersession.felica.systemcodes": systems,
                ]
            ),
            entitlements: .init(
                path: "App.entitlements",
                values: ["com.apple.developer.nfc.readersession.formats": ["TAG"]]
            )
        )
    }

    /// A card that has applications of the given names and answers GET CHALLENGE with the number of the selected one.
    static func card(with names: [[UInt8]]) -> ScriptedCard {
        var card = ScriptedCard(otherwise: CardAnswer(status: .notFound))
        for name in names {
            card.answer([0x00, 0xA4, 0x04, 0x00, UInt8(name.count)] + name + [0x00], with: [0x90, 0x00])
        }
        card.answer([0x00, 0x84, 0x00, 0x00, 0x02], with: [0xCA, 0xFE, 0x90, 0x00])
        return card
    }

    static func withTags(
        _ tags: [any VirtualTag],
        _ configuration: AppConfiguration,
        polling options: NFCTagReaderSession.PollingOption = .iso14443,
        _ body: (VirtualFieldScope, NFCTagReaderSession, [NFCTag]) async throws -> Void
    ) async throws {
        try await AppConfiguration.$scoped.withValue(configuration) {
            try await withVirtualField { field in
                for tag in tags { field.tags.bring(tag) }
                let delegate = TagSessionDelegate()
                let session = try #require(
                    NFCTagReaderSession(pollingOption: options, delegate: delegate, queue: nil)
                )
                session.begin()
                var events = delegate.events.makeAsyncIterator()
                try await body(field, session, try #require(await events.nextTags()))
                session.invalidate()
                #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            }
        }
    }

    @Test func `A DESFire is a MIFARE card unless its application is listed`() async throws {
        let desfire = VirtualType4Tag(DESFireContents.ndef(size: .kilobytes4))
        try await Self.withTags([desfire], Self.app(applications: ["A0000002471001"])) { _, session, tags in
            guard case .miFare(let tag) = try #require(tags.first) else { throw Unexpected() }
            #expect(tag.mifareFamily == .desfire)
            #expect(tag.historicalBytes == Data([0x80]))
            try await session.connect(to: .miFare(tag))
            // GET VERSION, wrapped.
            let command = try #require(NFCISO7816APDU(data: Data([0x90, 0x60, 0, 0, 0])))
            let answer: NFCISO7816ResponseAPDU = try await tag.sendMiFareISO7816Command(command)
            #expect(answer.statusWord1 == 0x91 && answer.statusWord2 == 0xAF)
        }
        try await Self.withTags([desfire], Self.app(applications: ["D2760000850101"])) { _, session, tags in
            guard case .iso7816(let tag) = try #require(tags.first) else { throw Unexpected() }
            #expect(tag.initialSelectedAID == "D2760000850101")
            try await session.connect(to: .iso7816(tag))
            // The application is selected already: its capability container can be.
            let command = try #require(NFCISO7816APDU(data: Data([0, 0xA4, 0, 0x0C, 2, 0xE1, 0x03])))
            let answer: NFCISO7816ResponseAPDU = try await tag.sendCommand(apdu: command)
            #expect(answer.statusWord1 == 0x90)
        }
    }

    @Test func `The first of the listed applications that a card has is selected`() async throws {
        let lists: [(list: [String], names: [[UInt8]], selected: String)] = [
            (["A0000002471001", "D2760000850101"], [Self.ndefName], "D2760000850101"),
            (["A0000002471001", "D2760000850101"], [Self.ndefName, Self.otherName], "A0000002471001"),
            (["D2760000850101", "A0000002471001"], [Self.ndefName, Self.otherName], "D2760000850101"),
        ]
        for test in lists {
            let card = VirtualType4Tag(card: Self.card(with: test.names))
            try await Self.withTags([card], Self.app(applications: test.list)) { _, _, tags in
                guard case .iso7816(let tag) = try #require(tags.first) else { throw Unexpected() }
                #expect(tag.initialSelectedAID == test.selected)
            }
        }
    }

    @Test func `A scripted card arrives as ISO 7816 without a list, with a random UID of its own`() async throws {
        let cards = [VirtualType4Tag(card: Self.card(with: [])), VirtualType4Tag(card: Self.card(with: []))]
        try await Self.withTags(cards, AppConfiguration()) { _, session, tags in
            let found = try tags.map { tag in
                guard case .iso7816(let card) = tag else { throw Unexpected() }
                return card
            }
            #expect(found.count == 2 && Set(found.map(\.identifier)).count == 2)
            #expect(found.allSatisfy { $0.identifier.count == 4 && $0.identifier.first == 0x08 })
            try await session.connect(to: tags[0])
            let command = try #require(NFCISO7816APDU(data: Data([0, 0x84, 0, 0, 2])))
            let answer: NFCISO7816ResponseAPDU = try await found[0].sendCommand(apdu: command)
            #expect(answer.payload == Data([0xCA, 0xFE]))
        }
    }

    @Test func `A Type B card is found by its application, and says what its ATQB does`() async throws {
        let front = Type4FrontEnd.nfcB(pupi: [1, 2, 3, 4], applicationData: [5, 6, 7, 8])
        let card = VirtualType4Tag(card: Self.card(with: [Self.otherName]), frontEnd: front)
        try await Self.withTags([card], Self.app(applications: ["A0000002471001"])) { _, session, tags in
            guard case .iso7816(let tag) = try #require(tags.first) else { throw Unexpected() }
            #expect(tag.identifier == Data([1, 2, 3, 4]))
            #expect(tag.applicationData == Data([5, 6, 7, 8]))
            try await session.connect(to: .iso7816(tag))
            let command = try #require(NFCISO7816APDU(data: Data([0, 0x84, 0, 0, 2])))
            let answer: NFCISO7816ResponseAPDU = try await tag.sendCommand(apdu: command)
            #expect(answer.payload == Data([0xCA, 0xFE]))
        }
    }

    @Test func `A Type B card without ISO-DEP takes no APDUs, and is sent none`() async throws {
        let front = Type4FrontEnd.nfcB(pupi: [1, 2, 3, 4], protocolInfo: [0x00, 0x80, 0x71])
        let card = VirtualType4Tag(card: Self.card(with: []), frontEnd: front)
        try await Self.withTags([card], AppConfiguration()) { field, _, tags in
            guard case .iso7816(let tag) = try #require(tags.first) else { throw Unexpected() }
            let command = try #require(NFCISO7816APDU(data: Data([0, 0x84, 0, 0, 2])))
            let before = field.tags.statistics.exchanges
            let error = await readerError { () -> NFCISO7816ResponseAPDU in try await tag.sendCommand(apdu: command) }
            #expect(error?.code == .readerErrorUnsupportedFeature)
            #expect(field.tags.statistics.exchanges == before)
        }
    }

    @Test func `Several cards are worked with in turn, each with its application selected`() async throws {
        let uids: [[UInt8]] = [[0x04, 1, 1, 1, 1, 1, 1], [0x04, 2, 2, 2, 2, 2, 2]]
        let cards = uids.map { uid in
            VirtualType4Tag(
                card: ApplicationCard([NDEFApplication()]),
                frontEnd: .nfcA(uid: uid, ats: [0x05, 0x78, 0x80, 0x70, 0x02])
            )
        }
        try await Self.withTags(cards, Self.app(applications: ["D2760000850101"])) { _, session, tags in
            #expect(tags.count == 2)
            for tag in tags + tags {
                guard case .iso7816(let card) = tag else { throw Unexpected() }
                try await session.connect(to: tag)
                let command = try #require(NFCISO7816APDU(data: Data([0, 0xA4, 0, 0x0C, 2, 0xE1, 0x03])))
                let answer: NFCISO7816ResponseAPDU = try await card.sendCommand(apdu: command)
                #expect(answer.statusWord1 == 0x90)
            }
        }
    }

    @Test(arguments: [true, false])
    func `An APDU connects a card when the connected one is lost, and not before`(isAsked: Bool) async throws {
        let cards = [UInt8(1), 2].map { number in
            VirtualType4Tag(
                card: ApplicationCard([NDEFApplication()]),
                frontEnd: .nfcA(uid: [0x04, number, 1, 1, 1, 1, 1], ats: [0x05, 0x78, 0x80, 0x70, 0x02])
            )
        }
        try await Self.withTags(cards, Self.app(applications: ["D2760000850101"])) { field, session, tags in
            let found = try tags.map { tag in
                guard case .iso7816(let card) = tag else { throw Unexpected() }
                return card
            }
            try #require(found.count == 2)
            let select = try #require(NFCISO7816APDU(data: Data([0, 0xA4, 0, 0x0C, 2, 0xE1, 0x03])))
            try await session.connect(to: tags[0])
            let early = await readerError { () -> NFCISO7816ResponseAPDU in
                try await found[1].sendCommand(apdu: select)
            }
            #expect(early?.code == .readerTransceiveErrorTagNotConnected)
            field.tags.remove(try #require(cards.first { Data($0.identifier) == found[0].identifier }))
            if isAsked {
                let lost = await readerError { () -> NFCISO7816ResponseAPDU in
                    try await found[0].sendCommand(apdu: select)
                }
                #expect(lost?.code == .readerTransceiveErrorTagConnectionLost)
            } else {
                // The reader has noticed the removal without a command.
                #expect(!found[0].isAvailable)
            }
            let answer: NFCISO7816ResponseAPDU = try await found[1].sendCommand(apdu: select)
            #expect(answer.statusWord1 == 0x90)
            #expect(found[1].isAvailable)
        }
    }

    @Test func `FeliCa cards are found by the first listed system that they have`() async throws {
        let idm: [UInt8] = [1, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34]
        let card = VirtualType3Tag(.transitCard(idm: idm, balance: 500))
        try await Self.withTags([card], Self.app(systems: ["8008", "0003"]), polling: .iso18092) { _, _, tags in
            guard case .feliCa(let tag) = try #require(tags.first) else { throw Unexpected() }
            #expect(tag.currentSystemCode == Data([0x00, 0x03]))
            #expect(tag.currentIDm == Data(idm))
        }
    }

    @Test(arguments: [["0003", "FE00"], ["FE00", "0003"]])
    func `A FeliCa card with two listed systems is one tag`(systems: [String]) async throws {
        let idm: [UInt8] = [1, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34]
        let codes: [UInt16] = [0x0003, 0xFE00]
        let contents = FeliCaStandardContents(idm: idm, systems: codes.map { FeliCaSystem(code: $0, files: []) })
        let app = Self.app(systems: systems)
        try await Self.withTags([VirtualType3Tag(contents)], app, polling: .iso18092) { _, _, tags in
            #expect(tags.count == 1)
            guard case .feliCa(let tag) = try #require(tags.first) else { throw Unexpected() }
            // The card tells its second system by the number in the first four bits.
            let isFirst = systems[0] == "0003"
            #expect(tag.currentSystemCode == (isFirst ? Data([0x00, 0x03]) : Data([0xFE, 0x00])))
            #expect(tag.currentIDm == Data([isFirst ? 0x01 : 0x11] + idm[1...]))
        }
    }

    @Test(arguments: [
        "miFare(<NFCMiFareTag", "iso7816(<NFCISO7816Tag", "iso15693(<NFCISO15693Tag", "feliCa(<NFCFeliCaTag",
    ])
    func `A tag prints with the name that a phone has for its kind, and the address of its object`(text: String)
        async throws
    {
        let (tag, option): (any VirtualTag, NFCTagReaderSession.PollingOption) =
            switch text.prefix(4) {
            case "miFa": (VirtualType2Tag(.ntag213), .iso14443)
            case "iso7": (VirtualType4Tag(card: Self.card(with: [])), .iso14443)
            case "iso1": (VirtualType5Tag(.icodeSLIX), .iso15693)
            default: (VirtualType3Tag(.transitCard(idm: [1, 2, 3, 4, 5, 6, 7, 8], balance: 1)), .iso18092)
            }
        try await Self.withTags([tag], AppConfiguration(), polling: option) { _, _, tags in
            let found = try #require(tags.first)
            let object: AnyObject =
                switch found {
                case .miFare(let tag): tag
                case .iso7816(let tag): tag
                case .iso15693(let tag): tag
                case .feliCa(let tag): tag
                }
            let address = String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
            #expect("\(found)" == "\(text): 0x\(address)>)")
        }
    }

    @Test func `An APDU connects an ISO 7816 card when no tag is connected, and no other tag`() async throws {
        let select = try #require(NFCISO7816APDU(data: Data([0, 0xA4, 0, 0x0C, 2, 0xE1, 0x03])))
        let listed = AppProperties(
            infoPlist: [
                "NFCReaderUsageDescription": "Cards are read.",
                "com.apple.developer.nfc.readersession.iso7816.select-identifiers": ["D2760000850101"],
            ]
        )
        try await withField("DESFire EV1 4K", app: listed) { field in
            let found = try await `A session for tags`.detect()
            guard case .iso7816(let card) = try #require(found.tags.first) else { throw Unexpected() }
            let read = await readerError { try await card.readNDEF() }
            #expect(read?.code == .readerTransceiveErrorTagNotConnected)
            #expect(!card.isAvailable && found.session.connectedTag == nil)
            let answer: NFCISO7816ResponseAPDU = try await card.sendCommand(apdu: select)
            #expect(answer.statusWord1 == 0x90)
            guard case .iso7816(let connected)? = found.session.connectedTag else { throw Unexpected() }
            #expect(card.isAvailable && connected === card)
            // Its 20 seconds have begun.
            await field.wait(for: .seconds(20))
            #expect(!card.isAvailable)
            let late = await readerError { () -> NFCISO7816ResponseAPDU in try await card.sendCommand(apdu: select) }
            #expect(late?.code == .readerTransceiveErrorTagConnectionLost)
            found.session.invalidate()
            let ended = await readerError { () -> NFCISO7816ResponseAPDU in try await card.sendCommand(apdu: select) }
            #expect(ended?.code == .readerTransceiveErrorSessionInvalidated)
        }
        try await withField(
            "DESFire EV1 4K",
            app: AppProperties(infoPlist: listed.infoPlist?.filter { !$0.key.contains("7816") })
        ) { _ in
            let found = try await `A session for tags`.detect()
            let card = try #require(found.miFare)
            let error = await readerError { () -> NFCISO7816ResponseAPDU in
                try await card.sendMiFareISO7816Command(select)
            }
            #expect(error?.code == .readerTransceiveErrorTagNotConnected)
            found.session.invalidate()
        }
    }

    @Test func `An APDU to another card than the connected one does not connect it`() async throws {
        let cards = [
            VirtualType4Tag(card: Self.card(with: [Self.ndefName])),
            VirtualType4Tag(card: Self.card(with: [Self.ndefName])),
        ]
        try await Self.withTags(cards, Self.app(applications: ["D2760000850101"])) { _, session, tags in
            guard case .iso7816(let other) = try #require(tags.last) else { throw Unexpected() }
            try await session.connect(to: tags[0])
            let command = try #require(NFCISO7816APDU(data: Data([0, 0x84, 0, 0, 2])))
            let error = await readerError { () -> NFCISO7816ResponseAPDU in try await other.sendCommand(apdu: command) }
            #expect(error?.code == .readerTransceiveErrorTagNotConnected)
            #expect(tags[0].isAvailable)
        }
    }

    @Test func `What is not detected keeps the session looking`() async throws {
        try await AppConfiguration.$scoped.withValue(Self.app(applications: ["A0000002471001"])) {
            try await withVirtualField { field in
                // A Type B card without a listed application is not there for an app.
                field.tags.bring(
                    VirtualType4Tag(card: Self.card(with: []), frontEnd: .nfcB(pupi: [1, 2, 3, 4]))
                )
                let delegate = TagSessionDelegate()
                let session = try #require(
                    NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate, queue: nil)
                )
                session.begin()
                field.tags.bring(VirtualType2Tag(.ntag213))
                var events = delegate.events.makeAsyncIterator()
                let tags = try #require(await events.nextTags())
                #expect(tags.count == 1)
                guard case .miFare = try #require(tags.first) else { throw Unexpected() }
                session.invalidate()
            }
        }
    }

    @Test func `A tag that was lost is found again when polling is restarted`() async throws {
        try await withField("NTAG213") { field in
            let delegate = TagSessionDelegate()
            let session = try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate, queue: nil))
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            let first = try #require(await events.nextTags()?.first)
            try await session.connect(to: first)
            #expect(session.connectedTag != nil)
            guard case .miFare(let tag) = first else { throw Unexpected() }
            try await field.takeAway()
            let read = Data([0x30, 0x04])
            await #expect(throws: NFCReaderError.self) { try await tag.sendMiFareCommand(commandPacket: read) }
            #expect(!tag.isAvailable)
            #expect(session.connectedTag == nil)
            session.restartPolling()
            try await field.bring(field.tags[0])
            guard case .miFare(let again) = try #require(await events.nextTags()?.first) else { throw Unexpected() }
            try await session.connect(to: .miFare(again))
            #expect(try await again.sendMiFareCommand(commandPacket: read).count == 16)
            session.invalidate()
        }
    }

    @Test func `A card of another maker is of an unknown family`() async throws {
        let card = VirtualType4Tag(card: Self.card(with: []))
        try await Self.withTags([card], Self.app(applications: ["A0000002471001"])) { _, _, tags in
            guard case .miFare(let tag) = try #require(tags.first) else { throw Unexpected() }
            #expect(tag.mifareFamily == .unknown)
        }
        let other = VirtualType2Tag(.ntag213, uid: [0x02, 1, 2, 3, 4, 5, 6])
        try await Self.withTags([other], Self.app()) { _, _, tags in
            guard case .miFare(let tag) = try #require(tags.first) else { throw Unexpected() }
            #expect(tag.mifareFamily == .unknown)
        }
    }

    struct Unexpected: Error {}
}
