// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing
import VirtualTags

/// What a session for tags looks for, by its configuration and the app's lists, and what a tag then is to the app.
@Suite(.timeLimit(.minutes(1))) struct TagSearchTests {
    private typealias Configuration = NFCTagReaderSession.Configuration

    /// What a session does next, and the kinds of the tags that it then finds.
    private enum Step: Sendable {
        case begin
        case restart
        case restartWith(NFCTagReaderSession.PollingOption, applications: [String] = [])
    }

    /// Plays steps with some tags near. After each, the session finds tags of these kinds.
    private static func check(
        _ tags: [any VirtualTag],
        _ app: AppConfiguration,
        _ configuration: Configuration,
        _ steps: [(Step, [String])],
        _ comment: Comment? = nil
    ) async throws {
        try await AppConfiguration.$scoped.withValue(app) {
            try await withField { field in
                for tag in tags { try await field.bring(.tag(tag)) }
                let delegate = TagSessionDelegate()
                let session = NFCTagReaderSession(configuration: configuration, delegate: delegate)
                for (step, _) in steps {
                    switch step {
                    case .begin: session.begin()
                    case .restart: session.restartPolling()
                    case .restartWith(let options, let names):
                        session.restartPolling(
                            configuration: Configuration(pollingOption: options, iso7816SelectIdentifiers: names)
                        )
                    }
                    await field.settle()
                }
                session.invalidate()
                var kinds: [[String]] = []
                while let tags = await delegate.nextTags() { kinds.append(tags.map(\.kind).sorted()) }
                #expect(kinds == steps.map(\.1).filter { !$0.isEmpty }, comment)
            }
        }
    }

    private static func card(
        _ names: String...,
        access: TestTag.Access = .none,
        front: Type4FrontEnd = .nfcA(uid: [0x02, 1, 3, 4, 5, 6, 7], ats: [0x05, 0x78, 0x80, 0x70, 0x02])
    ) -> VirtualType4Tag {
        VirtualType4Tag(card: TestTag.card(names, access: access), frontEnd: front)
    }

    private static let a = AID.document
    private static let b = AID.ndef

    // MARK: Lists of applications and systems

    @Test func `Applications: the first of the listed ones that a card has is selected`() async throws {
        let (a, b, other) = (Self.a, Self.b, "F000000001")
        let (long, longest) = (String(repeating: "A0", count: 17), String(repeating: "A0", count: 16))
        // The app's list or none, the session's own part of it, the card's applications, and the kind.
        let rows: [([String]?, [String], [String], String)] = [
            ([a, b], [], [b], "ISO 7816 \(b)"), ([a, b], [], [b, a], "ISO 7816 \(a)"),
            ([b, a], [], [b, a], "ISO 7816 \(b)"), ([b, a], [a.lowercased()], [b, a], "ISO 7816 \(a)"),
            ([b, a], [other, a, a, b], [b, a, other], "ISO 7816 \(a)"),
            ([a], [], [], "MIFARE"), ([a], [], [b], "MIFARE"), ([b], [other], [b, other], "MIFARE"),
            // What can't be a name is not looked for.
            (["", long, "A00", b], [], [long, b], "ISO 7816 \(b)"),
            ([longest, b], [], [longest, b], "ISO 7816 \(longest)"),
            // An app without an Info.plist.
            (nil, [], [b], "ISO 7816 "), (nil, [other], [b], "MIFARE"), (nil, [b], [b], "ISO 7816 \(b)"),
        ]
        for (list, part, names, kind) in rows {
            var card = TestTag.card(names)
            // The card has an application that it selects when none is named.
            card.answer(bytes("00a4040000"), with: [0x90, 0x00])
            try await Self.check(
                [VirtualType4Tag(card: card)],
                list.map { .app(applications: $0) } ?? AppConfiguration(),
                Configuration(pollingOption: .iso14443, iso7816SelectIdentifiers: part),
                [(.begin, [kind])],
                "\(list ?? []) \(part) \(names)"
            )
        }
    }

    @Test func `FeliCa systems: the first of the listed ones that a card has is selected`() async throws {
        let two = VirtualType3Tag(TestTag.twoSystems())
        // The app's list or none, the session's own part, the card, and the system that is found.
        let rows: [([String]?, [String], VirtualType3Tag, String?)] = [
            (["8008", "0003"], [], TestTag.transitCard(), "0003"),
            (["0003", "FE00"], ["0003"], TestTag.transitCard(), "0003"),
            (["0003", "FE00"], ["8008"], TestTag.transitCard(), nil),
            (["0003", "FE00"], ["fe00"], TestTag.transitCard(), nil),
            (["0003", "FE00"], [], two, "0003"), (["FE00", "0003"], [], two, "fe00"),
            (nil, ["0003"], TestTag.transitCard(), "0003"), (nil, ["8008"], TestTag.transitCard(), nil),
            (nil, ["three"], TestTag.transitCard(), nil),
        ]
        for (list, part, card, system) in rows {
            try await Self.check(
                [card],
                list.map { .app(systems: $0) } ?? AppConfiguration(),
                Configuration(pollingOption: .iso18092, feliCaSystemCodes: part),
                [(.begin, system.map { ["FeliCa \($0)"] } ?? [])],
                "\(list ?? []) \(part)"
            )
        }
    }

    // MARK: PACE

    @Test func `PACE polling option: a card that supports PACE is found, with no application selected`() async throws {
        let options: [NFCTagReaderSession.PollingOption] = [.pace, [.pace, .iso14443]]
        let pace = ["ISO 7816 PACE"]
        var document = try EMRTDContents(
            MachineReadableZone(
                "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"
            ),
            signer: .test
        )
        let plain = VirtualType4Tag(document)
        document.cardAccess = TestTag.cardAccess
        // A card, the app's applications, and what it is for `.pace`, for `.pace` and `.iso14443`, and for `.iso14443`.
        let listed = ["ISO 7816 \(Self.a)"]
        let random = Self.card(Self.a, access: .pace, front: .randomEMRTD)
        let typeB = Self.card(Self.a, access: .pace, front: .emrtd(pupi: [1, 2, 3, 4]))
        let otherProtocol = Self.card(Self.a, access: .chipAuthentication)
        let desfire = VirtualType4Tag(DESFireContents.ndef(size: .kilobytes4))
        let rows: [(VirtualType4Tag, [String], [String], [String], [String])] = [
            (random, [Self.a], pace, pace, listed), (typeB, [Self.a], pace, pace, listed),
            (VirtualType4Tag(document), [Self.a], pace, pace, listed), (plain, [Self.a], listed, listed, listed),
            // An app that lists no applications.
            (Self.card(access: .pace), [], pace, pace, ["MIFARE"]),
            (otherProtocol, [Self.a], listed, listed, listed), (desfire, [Self.a], [], ["MIFARE"], ["MIFARE"]),
        ]
        for (index, (card, list, alone, both, without)) in rows.enumerated() {
            for (option, kinds) in zip(options + [.iso14443], [alone, both, without]) {
                try await Self.check(
                    [card],
                    .app(applications: list),
                    Configuration(pollingOption: option),
                    [(.begin, kinds)],
                    "\(index) \(option)"
                )
            }
        }
    }

    @Test func `PACE as the only polling option: cards without PACE and other tags are left out`() async throws {
        let without = Self.card(access: .chipAuthentication)
        let other = Self.card(Self.a, front: .nfcA(uid: [0x02, 2, 3, 4, 5, 6, 7], ats: [0x02, 0x08]))
        let with = Self.card(access: .pace, front: .nfcB(pupi: [1, 2, 3, 4]))
        let tags: [any VirtualTag] = [VirtualType2Tag(.ntag213), without, other, with]
        let found = ["ISO 7816 \(Self.a)", "ISO 7816 PACE"]
        try await Self.check(
            tags,
            .app(applications: [Self.a]),
            Configuration(pollingOption: .pace),
            [
                (.begin, found), (.restartWith([.pace, .iso14443]), found + ["MIFARE", "MIFARE"]), (.restart, found),
                (.restartWith(.iso14443), ["ISO 7816 \(Self.a)", "MIFARE", "MIFARE"]), (.restart, found),
            ]
        )
    }

    // MARK: Restarting with a configuration

    @Test func `Restart with a configuration: applies to that restart only`() async throws {
        try await Self.check(
            [Self.card(Self.a, Self.b)],
            .app(applications: [Self.b, Self.a]),
            Configuration(pollingOption: .iso14443),
            [
                (.begin, ["ISO 7816 \(Self.b)"]),
                (.restartWith(.iso14443, applications: [Self.a]), ["ISO 7816 \(Self.a)"]),
                (.restart, ["ISO 7816 \(Self.b)"]),
            ]
        )
        // A session that has found nothing yet takes it at once.
        try await Self.check(
            [VirtualType2Tag(.ntag213)],
            AppConfiguration(),
            Configuration(pollingOption: .iso15693),
            [(.begin, []), (.restartWith(.iso14443), ["MIFARE"]), (.restart, [])]
        )
    }

    /// A session, with what polling restarts, and the code of its end.
    @Test(
        arguments: [
            (false, [], 3), (false, [.iso14443, .pace], 2), (true, [.pace, .iso15693], 3),
            (true, [.iso14443, .iso15693], 200),
        ] as [(Bool, NFCTagReaderSession.PollingOption, Int)]
    ) func `restartPolling(configuration:): no technology is error 3, and one without its entitlement error 2`(
        isPayment: Bool,
        options: NFCTagReaderSession.PollingOption,
        code: Int
    ) async throws {
        try await AppConfiguration.$scoped.withValue(.app(applications: [Self.a], formats: ["TAG"])) {
            try await withVirtualField { field in
                field.tags.bring(VirtualType2Tag(.ntag213))
                field.tags.bring(VirtualType5Tag(.icodeSLIX))
                let delegate = TagSessionDelegate()
                let session = isPayment ? NFCPaymentTagReaderSession(delegate: delegate) : tagSession(delegate)
                // A session that is not active takes no configuration.
                session.restartPolling(configuration: Configuration(pollingOption: []))
                session.begin()
                #expect(await delegate.nextTags()?.map(\.kind) == ["MIFARE"])
                session.restartPolling(configuration: Configuration(pollingOption: options))
                if code == 200 {
                    // A payment session looks for ISO 14443 alone.
                    #expect(await delegate.nextTags()?.map(\.kind) == ["MIFARE"])
                    session.invalidate()
                }
                #expect(await delegate.end()?.errorCode == code)
                session.restartPolling(configuration: Configuration(pollingOption: []))
                try await field.untilIdle()
                session.sessionQueue.sync {}
                #expect(!session.isReady)
            }
        }
    }
}
