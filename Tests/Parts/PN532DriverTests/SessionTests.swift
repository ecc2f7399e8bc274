// SPDX-License-Identifier: Apache-2.0
import ChipTesting
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCRuntime
import PN532Driver
import TagLink
import Testing
import VirtualTags

/// Checks Core NFC's sessions on a PN532.
@Suite(.timeLimit(.minutes(5)))
struct SessionTests {
    private static let message: [UInt8] = [0xD1, 0x01, 0x08, 0x54, 0x02, 0x65, 0x6E, 0x48, 0x65, 0x6C, 0x6C, 0x6F]

    private static func withReader(
        _ tags: [any VirtualTag],
        _ body: (ScriptedChip, ModelChip) async throws -> Void
    ) async throws {
        let model = ModelChip(tags)
        let chip = try ScriptedChip { model.respond($0, $1) }
        defer { chip.end() }
        let environment = NFCEnvironment(
            reader: .discovering(try PN532Reader(chip.path, limits: .patient)),
            limits: SessionLimits(lasting: .seconds(300))
        )
        try await NFCEnvironment.$scoped.withValue(environment) { try await body(chip, model) }
    }

    @Test("NFCNDEFReaderSession writes and reads each type", arguments: Sample.all)
    func ndefSession(sample: Sample) async throws {
        try await Self.withReader([sample.make()]) { _, _ in
            let delegate = NDEFDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            var tags = delegate.tags.makeAsyncIterator()
            let tag = try #require(await tags.next(isolation: nil)?.first)
            try await session.connect(to: tag)
            #expect(try await tag.queryNDEFStatus().0 == .readWrite)
            let message = try #require(NFCNDEFMessage(data: Data(Self.message)))
            try await tag.writeNDEF(message)
            let read = try await tag.readNDEF()
            #expect(read.records.first?.payload == message.records.first?.payload)
            session.invalidate()
        }
    }

    @Test("NFCTagReaderSession finds cards of both kinds and sends them long APDUs")
    func tagSession() async throws {
        for frontEnd: Type4FrontEnd in [
            .nfcA(uid: [4, 8, 9, 10, 11, 12, 13], ats: [0x05, 0x78, 0x80, 0x70, 0x02]), .nfcB(pupi: [1, 2, 3, 4]),
        ] {
            let application = NDEFApplication(mapping: .version3, maximumRead: 0x400, maximumWrite: 0x400)
            let card = VirtualType4Tag(card: ApplicationCard([application]), frontEnd: frontEnd)
            try await Self.withReader([card]) { chip, _ in
                let delegate = CardDelegate()
                let session = try AppConfiguration.$scoped.withValue(Self.listsNDEF) {
                    try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate))
                }
                session.begin()
                var tags = delegate.tags.makeAsyncIterator()
                let tag = try #require(await tags.next(isolation: nil)?.first)
                try await session.connect(to: tag)
                guard case .iso7816(let card) = tag else { throw LinkError(.unsupported, "no card") }
                let name: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
                _ = try await Self.send(card, [0x00, 0xA4, 0x04, 0x00, 0x07] + name + [0x00])
                _ = try await Self.send(card, [0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x04])
                let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
                _ = try await Self.send(card, [0x00, 0xD6, 0x00, 0x04, 0x00, 0x02, 0x58] + data)
                let read = try await Self.send(card, [0x00, 0xB0, 0x00, 0x04, 0x00, 0x02, 0x58])
                #expect(read == data)
                session.invalidate()
                #expect(!chip.commands.contains(0x40))
            }
        }
    }

    private static let listsNDEF = AppConfiguration(
        infoPlist: AppConfiguration.PropertyFile(
            path: "Info.plist",
            values: [
                AppConfiguration.Key.usageDescription.rawValue: ["Cards are read."],
                AppConfiguration.Key.selectIdentifiers.rawValue: ["D2760000850101"],
            ]
        )
    )

    private static func send(_ card: any NFCISO7816Tag, _ bytes: [UInt8]) async throws -> [UInt8] {
        let apdu = try #require(NFCISO7816APDU(data: Data(bytes)))
        let (data, sw1, sw2) = try await card.sendCommand(apdu: apdu)
        #expect((sw1, sw2) == (0x90, 0x00))
        return Array(data)
    }

    @Test("A tag that has left before it is connected can't be connected", arguments: Sample.all)
    func departed(sample: Sample) async throws {
        try await Self.withReader([sample.make()]) { _, model in
            let delegate = NDEFDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            var tags = delegate.tags.makeAsyncIterator()
            let tag = try #require(await tags.next(isolation: nil)?.first)
            model.field.removeAll()
            let error = await #expect(throws: NFCReaderError.self) { try await session.connect(to: tag) }
            #expect(error?.code == .readerTransceiveErrorTagConnectionLost)
            #expect(!tag.isAvailable)
            session.invalidate()
        }
    }

    @Test("A tag that the reader let go of for one that had left is not connected, until it is connected again")
    func letGo() async throws {
        let virtual = [UInt8(1), 2].map {
            VirtualType2Tag(Type2Contents(blank: .ntag216, uid: [4, $0, $0, $0, $0, $0, $0]))
        }
        try await Self.withReader(virtual) { _, model in
            let delegate = NDEFDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            var tags = delegate.tags.makeAsyncIterator()
            let found = try #require(await tags.next(isolation: nil))
            try #require(found.count == 2)
            let (stays, leaves) = (found[0], found[1])
            try await session.connect(to: stays)
            #expect(stays.isAvailable)
            let uid = try #require(leaves as? any NFCMiFareTag).identifier
            model.field.remove(try #require(virtual.first { Data($0.identifier) == uid }))
            let error = await #expect(throws: NFCReaderError.self) { try await session.connect(to: leaves) }
            #expect(error?.code == .readerTransceiveErrorTagConnectionLost)
            #expect(!leaves.isAvailable && !stays.isAvailable)
            try await session.connect(to: stays)
            #expect(stays.isAvailable)
            #expect(try await stays.queryNDEFStatus().0 == .readWrite)
            session.invalidate()
        }
    }

    @Test("A PN532 that is unplugged ends the session")
    func unplugged() async throws {
        try await Self.withReader([]) { chip, _ in
            let delegate = NDEFDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            while !chip.commands.contains(0x4A) { try await Task.sleep(for: .milliseconds(1)) }
            chip.end()
            var ends = delegate.ends.makeAsyncIterator()
            let error = try #require(await ends.next(isolation: nil))
            #expect(error.code == .readerSessionInvalidationErrorSessionTerminatedUnexpectedly)
        }
    }
}

private final class NDEFDelegate: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
    let tags: AsyncStream<[any NFCNDEFTag]>
    let ends: AsyncStream<NFCReaderError>
    private let tagsContinuation: AsyncStream<[any NFCNDEFTag]>.Continuation
    private let endsContinuation: AsyncStream<NFCReaderError>.Continuation

    override init() {
        (tags, tagsContinuation) = AsyncStream.makeStream()
        (ends, endsContinuation) = AsyncStream.makeStream()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        nonisolated(unsafe) let tags = tags
        unsafe tagsContinuation.yield(tags)
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        if let error = error as? NFCReaderError { endsContinuation.yield(error) }
        endsContinuation.finish()
        tagsContinuation.finish()
    }
}

private final class CardDelegate: NSObject, NFCTagReaderSessionDelegate, Sendable {
    let tags: AsyncStream<[NFCTag]>
    private let continuation: AsyncStream<[NFCTag]>.Continuation

    override init() {
        (tags, continuation) = AsyncStream.makeStream()
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        nonisolated(unsafe) let tags = tags
        unsafe continuation.yield(tags)
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        continuation.finish()
    }
}
