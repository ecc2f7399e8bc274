// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing
import VirtualTags

/// Checks as what a tag arrives, and what its object says of it.
@Suite(.timeLimit(.minutes(5))) struct `A tag that was detected` {
    private typealias Cards = `Cards in a session for tags`

    @Test(arguments: ["MIFARE Classic 1K", "Topaz 512"])
    func `A tag that phones don't detect is none of a session for tags, and has no technology in one for NDEF`(
        product: String
    ) async throws {
        try await withField(.product(product)) { field in
            let delegate = TagSessionDelegate()
            let session = try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate, queue: nil))
            session.begin()
            await field.settle()
            session.invalidate()
            var events = delegate.events.makeAsyncIterator()
            guard case .active? = await events.next(isolation: nil) else { throw Cards.Unexpected() }
            guard case .invalidated? = await events.next(isolation: nil) else { throw Cards.Unexpected() }
            let found = try await FoundTags()
            #expect(found.tags.count == 1 && !(found.tag is any NFCMiFareTag))
            try await found.session.connect(to: found.tag)
            let (status, capacity) = try await found.tag.queryNDEFStatus()
            let holdsNDEF = product == "Topaz 512"
            #expect((status == .notSupported && capacity == 0) == !holdsNDEF)
            found.session.invalidate()
        }
    }

    @Test func `The coding of application data is that of a Type B card's ATQB, and a Type A card has none`()
        async throws
    {
        let app = Cards.app(applications: ["A0000002471001"])
        // ADC is 0 for a proprietary coding (ISO/IEC 14443-3, 7.9.4.6).
        for (options, isProprietary) in [(UInt8(0x71), true), (0x75, false)] {
            let frontEnd = Type4FrontEnd.nfcB(
                pupi: [1, 2, 3, 4],
                applicationData: [0, 6, 7, 8],
                protocolInfo: [0x00, 0x81, options]
            )
            let card = VirtualType4Tag(card: Cards.card(with: [Cards.otherName]), frontEnd: frontEnd)
            try await Cards.withTags([card], app) { _, _, tags in
                guard case .iso7816(let tag) = try #require(tags.first) else { throw Cards.Unexpected() }
                #expect(tag.proprietaryApplicationDataCoding == isProprietary)
                #expect(tag.applicationData == Data([0, 6, 7, 8]) && tag.historicalBytes == nil)
            }
        }
        let other = VirtualType4Tag(
            card: Cards.card(with: [Cards.otherName]),
            frontEnd: .nfcA(uid: [0x04, 1, 2, 3, 4, 5, 6], ats: [0x04, 0x08, 0xCA, 0xFE])
        )
        try await Cards.withTags([other], app) { _, _, tags in
            guard case .iso7816(let tag) = try #require(tags.first) else { throw Cards.Unexpected() }
            #expect(!tag.proprietaryApplicationDataCoding && tag.applicationData == nil)
            #expect(tag.historicalBytes == Data([0xCA, 0xFE]))
        }
    }

    @Test(arguments: [[0x01], [0x02, 0x08], [0x05, 0x78, 0x80, 0x70, 0x02]] as [[UInt8]])
    func `A card whose ATS has no historical bytes has none`(ats: [UInt8]) async throws {
        let app = Cards.app(applications: ["A0000002471001"])
        func card(_ names: [[UInt8]]) -> VirtualType4Tag {
            VirtualType4Tag(card: Cards.card(with: names), frontEnd: .nfcA(uid: [0x04, 1, 2, 3, 4, 5, 6], ats: ats))
        }
        try await Cards.withTags([card([Cards.otherName])], app) { _, _, tags in
            guard case .iso7816(let tag) = try #require(tags.first) else { throw Cards.Unexpected() }
            #expect(tag.historicalBytes == nil)
        }
        try await Cards.withTags([card([])], app) { _, _, tags in
            guard case .miFare(let tag) = try #require(tags.first) else { throw Cards.Unexpected() }
            #expect(tag.historicalBytes == nil)
        }
    }

    @Test(arguments: [[0x04, 1, 2, 3, 4, 5, 6], [0x08, 1, 2, 3]] as [[UInt8]])
    func `A MIFARE Plus is known by its historical bytes, also with a random UID`(uid: [UInt8]) async throws {
        let historicalBytes: [UInt8] = [0xC1, 0x05, 0x2F, 0x2F, 0x01, 0xBC, 0xD6]
        let card = VirtualType4Tag(
            card: Cards.card(with: []),
            frontEnd: .nfcA(uid: uid, atqa: 0x0044, ats: [UInt8(2 + historicalBytes.count), 0x08] + historicalBytes)
        )
        try await Cards.withTags([card], Cards.app(applications: ["A0000002471001"])) { _, _, tags in
            guard case .miFare(let tag) = try #require(tags.first) else { throw Cards.Unexpected() }
            #expect(tag.mifareFamily == .plus && tag.historicalBytes == Data(historicalBytes))
        }
    }
}
