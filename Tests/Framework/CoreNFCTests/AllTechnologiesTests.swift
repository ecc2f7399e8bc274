// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct `Tags of every technology` {
    static let idm: [UInt8] = [0x01, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34]

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var make: @Sendable () -> any VirtualTag
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "Type 1") { VirtualType1Tag(Type1Contents(blank: .topaz512, uid: [1, 2, 3, 4, 5, 6, 0x25])) },
        Case(name: "Type 2") { VirtualType2Tag(.ntag216) },
        Case(name: "Type 3") {
            VirtualType3Tag(FeliCaStandardContents(idm: idm, systems: [FeliCaSystem(ndefBlocks: 64)]))
        },
        Case(name: "Type 4A") { VirtualType4Tag(card: ApplicationCard([NDEFApplication()])) },
        Case(name: "Type 4A, mapping 3") {
            VirtualType4Tag(card: ApplicationCard([NDEFApplication(mapping: .version3)]))
        },
        Case(name: "Type 4B") {
            VirtualType4Tag(
                card: ApplicationCard([NDEFApplication()]),
                frontEnd: .nfcB(pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0x00, 0x81, 0x71])
            )
        },
        Case(name: "Type 5") { VirtualType5Tag(.icodeSLIX2) },
        Case(name: "Type 5, two-byte addresses") { VirtualType5Tag(.st25dv64K) },
    ]

    @Test(arguments: cases) func `A message is written, read again and locked`(_ test: Case) async throws {
        try await withVirtualField { field in
            field.tags.bring(test.make())
            let found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            try await session.connect(to: tag)
            let (status, capacity) = try await tag.queryNDEFStatus()
            #expect(status == .readWrite)
            #expect(capacity > 100)
            // 8 KB on a Type 5 tag take longer than the 20 seconds that a connection lasts.
            for length in [1, 100, min(capacity - 20, 2000)] {
                let message = NFCNDEFMessage(records: [
                    NFCNDEFPayload(
                        format: .media,
                        type: Data("a/b".utf8),
                        identifier: Data(),
                        payload: Data((0..<length).map { UInt8(truncatingIfNeeded: $0) })
                    )
                ])
                try await tag.writeNDEF(message)
                #expect(try await tag.readNDEF().records.first?.payload == message.records[0].payload)
            }
            try await tag.writeLock()
            #expect(try await tag.queryNDEFStatus().0 == .readOnly)
            session.invalidate()
        }
    }

    @Test func `Five technologies at once arrive in one array, and each can be worked with in turn`() async throws {
        try await withVirtualField { field in
            for test in Self.cases where ["Type 2", "Type 3", "Type 4A", "Type 4B", "Type 5"].contains(test.name) {
                field.tags.bring(test.make())
            }
            let found = try await FoundTags()
            let (session, tags) = (found.session, found.tags)
            #expect(tags.count == 5)
            for (index, tag) in (tags + tags).enumerated() {
                try await session.connect(to: tag)
                let message = TestTag.message(uri: "https://example.com/\(index)")
                try await tag.writeNDEF(message)
                #expect(try await tag.readNDEF().length == message.length)
            }
            session.invalidate()
        }
    }

    @Test func `A tag session gives each tag as what it is, and its commands reach it`() async throws {
        try await withVirtualField { field in
            field.tags.bring(VirtualType2Tag(.ntag213, uid: [0x04, 1, 2, 3, 4, 5, 6]))
            field.tags.bring(VirtualType3Tag(.transitCard(idm: Self.idm, balance: 1234)))
            field.tags.bring(VirtualType5Tag(.icodeSLIX))
            let delegate = TagSessionDelegate()
            let options: NFCTagReaderSession.PollingOption = [.iso14443, .iso15693, .iso18092]
            let session = try #require(NFCTagReaderSession(pollingOption: options, delegate: delegate, queue: nil))
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            let tags = try #require(await events.nextTags())
            #expect(tags.count == 3)
            for tag in tags {
                try await session.connect(to: tag)
                switch tag {
                case .miFare(let tag):
                    #expect(tag.mifareFamily == .ultralight)
                    #expect(tag.identifier == Data([0x04, 1, 2, 3, 4, 5, 6]))
                    #expect(
                        try await tag.sendMiFareCommand(commandPacket: Data([0x60]))
                            == Data([0, 4, 4, 2, 1, 0, 0x0F, 3])
                    )
                    #expect(
                        try await tag.sendMiFareCommand(commandPacket: Data([0xA2, 10, 1, 2, 3, 4])) == Data([0x0A])
                    )
                    let pages = try await tag.sendMiFareCommand(commandPacket: Data([0x30, 10]))
                    #expect(pages.prefix(4) == Data([1, 2, 3, 4]))
                case .feliCa(let tag):
                    #expect(tag.currentIDm == Data(Self.idm))
                    let (flag1, _, blocks) = try await tag.readWithoutEncryption(
                        serviceCodeList: [Data([0x8B, 0x00])],
                        blockList: [Data([0x80, 0x00])]
                    )
                    #expect(flag1 == 0)
                    #expect(blocks.first?.count == 16)
                case .iso15693(let tag):
                    #expect(tag.icManufacturerCode == 4)
                    let block = Data([9, 8, 7, 6])
                    try await tag.writeSingleBlock(requestFlags: [.highDataRate], blockNumber: 5, dataBlock: block)
                    #expect(
                        try await tag.readSingleBlock(requestFlags: [.highDataRate, .address], blockNumber: 5) == block
                    )
                case .iso7816: Issue.record("no card with applications is in the field")
                }
            }
            session.invalidate()
        }
    }
}
