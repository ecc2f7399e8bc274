// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Checks the exchanges that find out whether a tag is still near.
@Suite struct `Whether a tag is near` {
    /// The bytes that a procedure sends first in each of its exchanges, and how long all of them took.
    private static func exchanges(
        in field: VirtualField,
        _ procedure: () async throws -> Void
    ) async rethrows -> (requests: [[UInt8]], time: Airtime) {
        field.startRecording()
        try await procedure()
        let records = field.stopRecording()
        return (records.map(\.request.bytes), records.reduce(.zero) { $0 + $1.elapsed })
    }

    @Test(arguments: [4, 8, 11, 14] as [UInt8])
    func `A card that is gone is given up within 100 ms, whatever its frame waiting time`(index: UInt8) async throws {
        let field = VirtualField()
        let ats: [UInt8] = [0x05, 0x78, 0x80, index << 4, 0x02]
        let front = Type4FrontEnd.nfcA(uid: [8, 1, 2, 3], ats: ats)
        let card = VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: front)
        field.bring(card)
        let link = try #require(field.link(for: .nfcA))
        _ = try await NFCAActivation(link: link).activateAll()
        let isoDEP = ISODEP(link: link)
        try await isoDEP.activate()
        #expect(isoDEP.answerToSelect?.frameWaitingIndex == index)
        let near = await Self.exchanges(in: field) { #expect(await isoDEP.isPresent()) }
        #expect(near.requests == [[0xB2]] && near.time < .milliseconds(1))
        // After a command the number of the block is the other one.
        _ = try await isoDEP.transmit([0x00, 0xA4, 0x04, 0x00])
        let after = await Self.exchanges(in: field) { #expect(await isoDEP.isPresent()) }
        #expect(after.requests == [[0xB3]])
        field.remove(card)
        let gone = await Self.exchanges(in: field) { #expect(await !isoDEP.isPresent()) }
        #expect(gone.requests.count == 3 && gone.time < .milliseconds(100), "It took \(gone.time).")
    }

    @Test func `A FeliCa Standard card is asked for its mode, and FeliCa Lite-S is polled`() async throws {
        let idm: [UInt8] = [0x01, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34]
        let cards: [(tag: any VirtualTag, request: [UInt8])] = [
            (
                VirtualType3Tag(FeliCaStandardContents(idm: idm, systems: [FeliCaSystem(ndefBlocks: 8)])),
                [0x0A, 0x04] + idm
            ),
            (VirtualType3Tag(FeliCaLiteSContents(idm: idm)), [0x06, 0x00, 0x12, 0xFC, 0x00, 0x00]),
        ]
        for (card, request) in cards {
            let field = VirtualField()
            field.bring(card)
            let link = try #require(field.link(for: .nfcF))
            let polled = try await NFCFPolling(link: link).poll(systemCode: NFCFTarget.ndefSystemCode)
            let tag = Type3Tag(target: try #require(polled.first?.target), link: link)
            let near = await Self.exchanges(in: field) { #expect(await tag.isPresent()) }
            #expect(near.requests == [request] && near.time < .milliseconds(5), "It took \(near.time).")
            field.remove(card)
            let gone = await Self.exchanges(in: field) { #expect(await !tag.isPresent()) }
            #expect(gone.time < .milliseconds(100), "It took \(gone.time).")
        }
    }

    @Test func `A card that knows no Request Response is polled`() async throws {
        let idm: [UInt8] = [0x01, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34]
        let field = VirtualField()
        field.bring(VirtualType3Tag(FeliCaLiteSContents(idm: idm)))
        let link = try #require(field.link(for: .nfcF))
        // By its PMm it is no FeliCa Lite.
        let pmm: [UInt8] = [0x01, 0x20, 0x22, 0x04, 0x27, 0x67, 0x4E, 0xFF]
        let tag = Type3Tag(target: NFCFTarget(idm: idm, pmm: pmm, systemCode: 0x12FC), link: link)
        let near = await Self.exchanges(in: field) { #expect(await tag.isPresent()) }
        #expect(near.requests.map { $0[1] } == [0x04, 0x00])
    }

    @Test(arguments: [
        VirtualType1Tag(.topaz512) as any VirtualTag, VirtualType2Tag(.ntag213),
        VirtualType5Tag(.icodeSLIX2),
    ])
    func `A tag that is gone is given up within 100 ms`(_ virtual: any VirtualTag) async throws {
        let field = VirtualField()
        field.bring(virtual)
        let link = try #require(field.link(for: virtual.technology))
        let tag: (any ForumTag)?
        if virtual.technology == .nfcV {
            let target = try #require(try await NFCVInventory(link: link).findAll().first)
            tag = makeForumTag(for: target, link: link, isAlone: true)
        } else {
            let target = try #require(try await NFCAActivation(link: link).activateAll().first)
            tag = makeForumTag(for: target, link: link)
        }
        let found = try #require(tag)
        _ = try await found.detectNDEF()
        let near = await Self.exchanges(in: field) { #expect(await found.isPresent()) }
        #expect(near.requests.count == 1 && near.time < .milliseconds(10), "It took \(near.time).")
        field.remove(virtual)
        let gone = await Self.exchanges(in: field) { #expect(await !found.isPresent()) }
        #expect(gone.time < .milliseconds(100), "It took \(gone.time).")
    }

    /// Two tags of a kind, that differ in their identifier alone.
    struct Pair: Sendable, CustomTestStringConvertible {
        var name: String
        var make: @Sendable (UInt8) -> any VirtualTag
        var testDescription: String { name }
    }

    static let pairs = [
        Pair(name: "Topaz 512") {
            VirtualType1Tag(Type1Contents(blank: .topaz512, uid: [1, 2, 3, $0, 5, 6, 0x25]))
        },
        Pair(name: "Ultralight") {
            VirtualType2Tag(Type2Contents(blank: .ultralight, uid: [4, 1, 2, 3, 4, 5, $0]))
        },
        Pair(name: "NTAG213") { VirtualType2Tag(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, $0])) },
        Pair(name: "FeliCa Lite-S") {
            VirtualType3Tag(FeliCaLiteSContents(idm: [0x02, 0xFE, 1, 2, 3, 4, 5, $0]))
        },
        Pair(name: "FeliCa Standard") {
            VirtualType3Tag(
                FeliCaStandardContents(idm: [0x01, 0x2E, 1, 2, 3, 4, 5, $0], systems: [FeliCaSystem(ndefBlocks: 8)])
            )
        },
        Pair(name: "Type 4A") {
            let front = Type4FrontEnd.nfcA(uid: [4, 1, 2, 3, 4, 5, $0], ats: [0x05, 0x78, 0x80, 0x70, 0x02])
            return VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: front)
        },
        Pair(name: "Type 4B") {
            VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: .nfcB(pupi: [1, 2, 3, $0]))
        },
        Pair(name: "ICODE SLIX2") {
            VirtualType5Tag(Type5Contents(blank: .icodeSLIX2, uid: [0xE0, 4, 1, 8, 1, 2, 3, $0]))
        },
    ]

    @Test(arguments: pairs) func `Another tag of its kind in its place is not taken for it`(_ pair: Pair) async throws {
        let field = VirtualField()
        let (first, second) = (pair.make(1), pair.make(2))
        field.bring(first)
        let link = try #require(field.link(for: first.technology))
        let tag: (any ForumTag)?
        switch first.technology {
        case .nfcA:
            tag = makeForumTag(for: try #require(try await NFCAActivation(link: link).activateAll().first), link: link)
        case .nfcB:
            tag = makeForumTag(for: try #require(try await NFCBActivation(link: link).findAll().first), link: link)
        case .nfcF:
            let polled = try await NFCFPolling(link: link).poll(systemCode: NFCFTarget.ndefSystemCode)
            tag = makeForumTag(for: try #require(polled.first?.target), link: link)
        case .nfcV:
            let target = try #require(try await NFCVInventory(link: link).findAll().first)
            tag = makeForumTag(for: target, link: link, isAlone: true)
        }
        let found = try #require(tag)
        _ = try await found.surveyNDEF()
        #expect(await found.isPresent())
        field.remove(first)
        field.bring(second)
        #expect(await !found.isPresent())
    }
}
