// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// Checks commands to a tag that is away for a moment between two of them.
@Suite(.timeLimit(.minutes(5))) struct `A tag that leaves and comes back between two commands` {
    private typealias Cards = `Cards in a session for tags`

    @Test(arguments: `A tag that leaves the field`.kinds)
    func `is lost, and is found again when polling is restarted`(
        _ kind: `A tag that leaves the field`.Kind
    ) async throws {
        try await withField(.tag(kind.make())) { field in
            var found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            try await session.connect(to: tag)
            _ = try await tag.queryNDEFStatus()
            try await field.takeAway()
            try await field.bring(field.tags[0])
            for _ in 0..<2 {
                let read = await readerError { try await tag.readNDEF() }
                #expect(read?.code == .readerTransceiveErrorTagConnectionLost)
                let status = await readerError { try await tag.queryNDEFStatus() }
                #expect(status?.code == .readerTransceiveErrorTagConnectionLost)
            }
            #expect(!tag.isAvailable && session.isReady)
            session.restartPolling()
            let again = try #require(await found.events.nextTags()?.first)
            try await session.connect(to: again)
            _ = try await again.queryNDEFStatus()
            #expect(again.isAvailable && !tag.isAvailable)
            session.invalidate()
        }
    }

    @Test(arguments: `A tag that leaves the field`.kinds)
    func `is lost while it is away, also for what was read of it before`(
        _ kind: `A tag that leaves the field`.Kind
    ) async throws {
        try await withField(.tag(kind.make())) { field in
            let found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            try await session.connect(to: tag)
            for _ in 0..<2 { _ = try await tag.queryNDEFStatus() }
            try await field.takeAway()
            let exchanges = field.exchanges.count
            for _ in 0..<2 {
                let status = await readerError { try await tag.queryNDEFStatus() }
                #expect(status?.code == .readerTransceiveErrorTagConnectionLost)
                let lock = await readerError { try await tag.writeLock() }
                #expect(lock?.code == .readerTransceiveErrorTagConnectionLost)
            }
            #expect(field.exchanges.count == exchanges && !tag.isAvailable && session.isReady)
            session.invalidate()
        }
    }

    @Test func `is lost for a command of its technology, unlike one that did not hear it`() async throws {
        try await withVirtualField { field in
            let ntag = TestTag.ntag213(uri: "https://example.com/a")
            field.tags.bring(ntag)
            var found = try await `A session for tags`.detect()
            let tag = try #require(found.miFare)
            let read = Data([0x30, 0x03])
            try await found.session.connect(to: .miFare(tag))
            #expect(try await tag.sendMiFareCommand(commandPacket: read).count == 16)
            field.tags.arm(.effect(.mute, atExchange: 0))
            let unheard = await readerError { try await tag.sendMiFareCommand(commandPacket: read) }
            #expect(unheard?.code == .readerTransceiveErrorTagResponseError && tag.isAvailable)
            #expect(try await tag.sendMiFareCommand(commandPacket: read).count == 16)
            field.tags.remove(ntag)
            field.tags.bring(ntag)
            #expect(!tag.isAvailable && found.session.connectedTag == nil)
            for _ in 0..<2 {
                let lost = await readerError { try await tag.sendMiFareCommand(commandPacket: read) }
                #expect(lost?.code == .readerTransceiveErrorTagConnectionLost)
            }
            #expect(found.session.isReady)
            found.session.restartPolling()
            guard case .miFare(let again)? = await found.events.nextTags()?.first else { throw ScriptedTag.OtherKind() }
            try await found.session.connect(to: .miFare(again))
            #expect(try await again.sendMiFareCommand(commandPacket: read).count == 16)
            found.session.invalidate()
        }
    }

    @Test(arguments: [true, false])
    func `is lost for an APDU, also when the app has not connected to it`(isConnected: Bool) async throws {
        let card = VirtualType4Tag(
            card: ApplicationCard([NDEFApplication()]),
            frontEnd: .nfcA(uid: [0x04, 1, 1, 1, 1, 1, 1], ats: [0x05, 0x78, 0x80, 0x70, 0x02])
        )
        try await Cards.withTags([card], Cards.app(applications: ["D2760000850101"])) { field, session, tags in
            guard case .iso7816(let tag) = try #require(tags.first) else { throw Cards.Unexpected() }
            if isConnected { try await session.connect(to: .iso7816(tag)) }
            field.tags.remove(card)
            field.tags.bring(card)
            let select = try #require(NFCISO7816APDU(data: Data([0, 0xA4, 0, 0x0C, 2, 0xE1, 0x03])))
            for _ in 0..<2 {
                let lost = await readerError { () -> NFCISO7816ResponseAPDU in try await tag.sendCommand(apdu: select) }
                #expect(lost?.code == .readerTransceiveErrorTagConnectionLost)
            }
            #expect(!tag.isAvailable && session.connectedTag == nil && session.isReady)
        }
    }
}
