// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// Checks the commands of ISO 15693 and FeliCa through a session, where one command changes what the next one meets.
@Suite(.timeLimit(.minutes(1))) struct `Commands in a session for tags` {
    private typealias Cards = `Cards in a session for tags`
    private typealias Search = `What a session for tags looks for`

    /// Connects a session to an ICODE.
    private static func withICODE(
        _ body: (VirtualFieldScope, NFCTagReaderSession, any NFCISO15693Tag) async throws -> Void
    ) async throws {
        try await withVirtualField { field in
            field.tags.bring(VirtualType5Tag(.icodeSLIX))
            let found = try await `A session for tags`.detect(.iso15693)
            guard case .iso15693(let tag)? = found.tags.first else { throw ScriptedTag.OtherKind() }
            try await found.session.connect(to: .iso15693(tag))
            try await body(field, found.session, tag)
            found.session.invalidate()
            withExtendedLifetime(found.delegate) {}
        }
    }

    // MARK: ISO 15693

    @Test func `A tag answers as the selected one between its selection and its reset, and its name at any time`()
        async throws
    {
        try await Self.withICODE { _, _, tag in
            let selected: NFCISO15693RequestFlag = [.highDataRate, .select]
            func read(_ flags: NFCISO15693RequestFlag) async -> Int? {
                let error = await readerError { try await tag.readSingleBlock(requestFlags: flags, blockNumber: 0) }
                return error?.errorCode
            }
            #expect(await read(selected) == 102)
            #expect(tag.isAvailable)
            try await tag.select(requestFlags: .highDataRate)
            #expect(await read(selected) == nil)
            #expect(await read(.highDataRate) == nil)
            try await tag.resetToReady(requestFlags: .highDataRate)
            #expect(await read(selected) == 102)
            try await tag.stayQuiet()
            #expect(await read(.highDataRate) == nil)
            #expect(await read([.highDataRate, .address]) == nil)
            #expect(tag.isAvailable)
        }
    }

    @Test func `A locked block is not written, and the tag's own error says why`() async throws {
        try await Self.withICODE { _, _, tag in
            let flags = NFCISO15693RequestFlag.highDataRate
            let (old, new) = (Data([1, 2, 3, 4]), Data([5, 6, 7, 8]))
            try await tag.writeSingleBlock(requestFlags: flags, blockNumber: 10, dataBlock: old)
            try await tag.lockBlock(requestFlags: flags, blockNumber: 10)
            for _ in 0..<2 {
                let locked = await readerError {
                    try await tag.writeSingleBlock(requestFlags: flags, blockNumber: 10, dataBlock: new)
                }
                #expect(locked?.code == .readerTransceiveErrorTagResponseError)
                #expect(locked?.userInfo[NFCISO15693TagResponseErrorKey] is Int)
            }
            let absent = await readerError { try await tag.readSingleBlock(requestFlags: flags, blockNumber: 200) }
            #expect(absent?.code == .readerTransceiveErrorTagResponseError)
            #expect(absent?.userInfo[NFCISO15693TagResponseErrorKey] is Int)
            let range = NSRange(location: 9, length: 3)
            let statuses = try await tag.getMultipleBlockSecurityStatus(requestFlags: flags, blockRange: range)
            #expect(statuses.map(\.intValue) == [0, 1, 0])
            let blocks = try await tag.readMultipleBlocks(requestFlags: [.highDataRate, .option], blockRange: range)
            #expect(blocks.map { [UInt8]($0) } == [[0, 0, 0, 0, 0], [1, 1, 2, 3, 4], [0, 0, 0, 0, 0]])
            #expect(tag.isAvailable)
        }
    }

    @Test(arguments: [(2, nil), (1, 101), (0, 102)] as [(Int, Int?)])
    func `A command is sent again to a tag that is near and does not answer, as often as allowed`(
        retries: Int,
        code: Int?
    ) async throws {
        try await Self.withICODE { field, _, tag in
            let configuration = NFCISO15693ReadMultipleBlocksConfiguration(
                range: NSRange(location: 0, length: 2),
                chunkSize: 2,
                maximumRetries: retries,
                retryInterval: 0
            )
            // Between two tries the tag is asked whether it is near.
            field.tags.arm(FaultPlan([Fault(.mute, at: .exchange(0)), Fault(.mute, at: .exchange(2))]))
            let error = await readerError { try await tag.readMultipleBlock(readConfiguration: configuration) }
            #expect(error?.errorCode == code)
            field.tags.arm(FaultPlan())
            #expect(tag.isAvailable)
            let blocks = try await tag.readMultipleBlock(readConfiguration: configuration)
            #expect(blocks.count == 8)
        }
    }

    @Test(arguments: [true, false])
    func `A command that waits to be sent again ends with its session, or with its tag`(endsSession: Bool) async throws
    {
        try await Self.withICODE { field, session, tag in
            let configuration = NFCISO15693ReadMultipleBlocksConfiguration(
                range: NSRange(location: 0, length: 2),
                chunkSize: 2,
                maximumRetries: 5,
                retryInterval: 5
            )
            field.tags.arm(.effect(.mute, atExchange: 0))
            let codes = Locked<[Int]>([])
            tag.readMultipleBlock(
                readConfiguration: configuration,
                completionHandler: { (_: Data, error: (any Error)?) in
                    codes.withLock { $0.append((error as? NFCReaderError)?.errorCode ?? 0) }
                }
            )
            // The limits of the session and of the connection, and the next try.
            try await waitWhile(field.clock.scheduledEventCount < 3)
            if endsSession {
                session.invalidate()
                try await field.untilIdle()
            } else {
                field.tags.removeAll()
            }
            field.clock.advance(by: .seconds(5))
            try await waitWhile(codes.withLock { $0 }.isEmpty)
            field.clock.advance(by: .seconds(5))
            await withCheckedContinuation { done in session.sessionQueue.async { done.resume() } }
            #expect(codes.withLock { $0 } == [endsSession ? 103 : 100])
            #expect(session.isReady == !endsSession)
        }
    }

    // MARK: FeliCa

    private static let idm: [UInt8] = [0x01, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34]

    @Test func `A card answers as the system that was polled for last, until polling of the session restarts`()
        async throws
    {
        let contents = FeliCaStandardContents(
            idm: Self.idm,
            systems: [0x0003, 0xFE00].map { FeliCaSystem(code: $0, files: []) }
        )
        let app = Search.app(systems: ["0003", "FE00", "12FC"])
        let configuration = NFCTagReaderSession.Configuration(pollingOption: .iso18092)
        try await Search.withSession([VirtualType3Tag(contents)], app, configuration) { _, session, events in
            let tags = await events.nextTags()
            guard case .feliCa(let tag)? = tags?.first else { throw Cards.Unexpected() }
            try await session.connect(to: .feliCa(tag))
            #expect(tag.currentSystemCode == Data([0x00, 0x03]) && tag.currentIDm == Data(Self.idm))
            let other = Data([0xFE, 0x00])
            let (parameter, code) = try await tag.polling(systemCode: other, requestCode: .systemCode, timeSlot: .max4)
            #expect(parameter == Data(contents.pmm) && code == other)
            // The first four bits tell the systems of a card apart.
            #expect(tag.currentSystemCode == other && tag.currentIDm == Data([0x11] + Self.idm.dropFirst()))
            _ = try await tag.requestResponse() as Int
            let unlisted = await readerError {
                try await tag.polling(systemCode: Data([0x88, 0xB4]), requestCode: .noRequest, timeSlot: .max1)
            }
            #expect(unlisted?.code == .readerErrorSecurityViolation && tag.currentSystemCode == other)
            // The card has no such system.
            let absent = await readerError {
                try await tag.polling(systemCode: Data([0x12, 0xFC]), requestCode: .noRequest, timeSlot: .max1)
            }
            #expect(absent?.code == .readerTransceiveErrorTagResponseError)
            #expect(tag.currentIDm.isEmpty && tag.isAvailable)
            let first = Data([0x00, 0x03])
            let (_, rates) = try await tag.polling(
                systemCode: first,
                requestCode: .communicationPerformance,
                timeSlot: .max16
            )
            #expect(rates == Data([0x00, 0x83]))
            #expect(tag.currentSystemCode == first && tag.currentIDm == Data(Self.idm))
            let (_, nothing) = try await tag.polling(systemCode: other, requestCode: .noRequest, timeSlot: .max1)
            #expect(nothing.isEmpty && tag.currentSystemCode == other)
            session.restartPolling()
            let again = await events.nextTags()
            guard case .feliCa(let next)? = again?.first else { throw Cards.Unexpected() }
            #expect(next.currentSystemCode == first && next.currentIDm == Data(Self.idm))
        }
    }
}
