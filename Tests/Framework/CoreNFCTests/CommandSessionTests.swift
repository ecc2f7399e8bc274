// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// Commands in a session for tags: what one changes for the next, and the codes when the reader can't do them.
@Suite(.timeLimit(.minutes(1))) struct CommandSessionTests {
    private static let f = NFCISO15693RequestFlag.highDataRate

    // MARK: ISO 15693

    @Test func `ISO 15693: a tag answers as the selected one from Select to Reset to Ready, and by its UID always`()
        async throws
    {
        try await withTags(VirtualType5Tag(.icodeSLIX), polling: .iso15693) { _, scene in
            let tag = try scene.iso15693
            func read(_ flags: NFCISO15693RequestFlag) async -> Int {
                await code { try await tag.readSingleBlock(requestFlags: flags, blockNumber: 0) }
            }
            let selected: NFCISO15693RequestFlag = [.highDataRate, .select]
            #expect(await read(selected) == 102)
            try await tag.select(requestFlags: Self.f)
            #expect(await read(selected) == 0)
            #expect(await read(Self.f) == 0)
            try await tag.resetToReady(requestFlags: Self.f)
            #expect(await read(selected) == 102)
            try await tag.stayQuiet()
            #expect(await read(Self.f) == 0)
            #expect(tag.isAvailable)
        }
    }

    @Test func `ISO 15693: a locked block is not written, and the tag's own error is in the user info`() async throws {
        try await withTags(VirtualType5Tag(.icodeSLIX), polling: .iso15693) { _, scene in
            let tag = try scene.iso15693
            func write(_ block: UInt8, _ data: String) async -> NFCReaderError? {
                let data = Data(bytes(data))
                return await readerError {
                    try await tag.writeSingleBlock(requestFlags: Self.f, blockNumber: block, dataBlock: data)
                }
            }
            #expect(await write(10, "01020304") == nil)
            try await tag.lockBlock(requestFlags: Self.f, blockNumber: 10)
            for error in [await write(10, "05060708"), await write(200, "01020304")] {
                #expect(error?.errorCode == 102 && error?.userInfo[NFCISO15693TagResponseErrorKey] is Int)
            }
            // The option flag asks for the security status of each block.
            let range = NSRange(location: 9, length: 3)
            let blocks = try await tag.readMultipleBlocks(requestFlags: [Self.f, .option], blockRange: range)
            #expect(text(blocks) == "0000000000 0101020304 0000000000" && tag.isAvailable)
        }
    }

    // MARK: FeliCa

    @Test func `FeliCa: a card answers as the system polled for last, until polling of the session restarts`()
        async throws
    {
        let app = AppConfiguration.app(systems: ["0003", "FE00", "12FC"])
        try await withTags(VirtualType3Tag(TestTag.twoSystems()), app: app, polling: .iso18092) { _, scene in
            let tag = try scene.feliCa
            func state(_ tag: any NFCFeliCaTag) -> String {
                "\(tag.currentSystemCode.hexText()) \(tag.currentIDm.hexText())"
            }
            #expect(state(tag) == "0003 012e4ce19c5b1234")
            // The card does not have the last one, and the app does not list the one before.
            let rows: [(String, NFCFeliCaPollingRequestCode, String)] = [
                ("fe00", .systemCode, "fe00"), ("0003", .communicationPerformance, "0083"), ("fe00", .noRequest, ""),
                ("88b4", .noRequest, "error 2"), ("12fc", .noRequest, "error 102"),
            ]
            for (system, request, result) in rows {
                let system = Data(bytes(system))
                do {
                    let answer = try await tag.polling(systemCode: system, requestCode: request, timeSlot: .max4)
                    #expect(answer.1.hexText() == result)
                    _ = try await tag.requestResponse() as Int
                } catch {
                    #expect("error \(code(of: error))" == result)
                }
                if result == "fe00" { #expect(state(tag) == "fe00 112e4ce19c5b1234") }
            }
            #expect(tag.currentIDm.isEmpty && tag.isAvailable)
            scene.session.restartPolling()
            let again = try #require(await scene.delegate.nextTags()?.first).feliCa
            #expect(state(again) == "0003 012e4ce19c5b1234")
        }
    }

    // MARK: Errors of the reader

    /// A reader over a virtual field that fails at some commands, and keeps how long it waits for answers.
    private final class FailingReader: FieldDriver {
        let field = VirtualField(onElapsed: { _ in })
        let failure = Locked<LinkError.Code?>(nil)
        let waits = Locked<[String: Airtime]>([:])
        var name: String { "failing" }
        var technologies: Set<Technology> { field.technologies }

        func link(for technology: Technology) -> (any FrameLink)? {
            field.link(for: technology).map { Link(base: $0, reader: self) }
        }

        func setCarrier(_ isOn: Bool) async throws(LinkError) { try await field.setCarrier(isOn) }
        func arrival(of identifier: [UInt8]) -> UInt64? { field.arrival(of: identifier) }
        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
            field.observePresence(handler)
        }
    }

    private final class Link: FrameLink {
        let base: any FrameLink
        let reader: FailingReader
        var technology: Technology { base.technology }
        var maximumFrameLength: Int { base.maximumFrameLength }
        var statistics: LinkStatistics { base.statistics }

        init(base: any FrameLink, reader: FailingReader) { (self.base, self.reader) = (base, reader) }

        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
            let command = technology == .nfcV ? frame.bytes.dropFirst().first : frame.bytes.first
            reader.waits.withLock { $0[[command ?? 0].hexText()] = timeout }
            // 3E of an NTAG, and what no tag answers of ISO 15693.
            let fails = technology == .nfcV ? [0x02, 0x39].contains(command) : command == 0x3E
            if fails, let code = reader.failure.withLock({ $0 }) { throw LinkError(code, "The reader says why.") }
            return try await base.transceive(frame, timeout: timeout)
        }
    }

    private static func withReader(
        _ tag: any VirtualTag,
        _ polling: NFCTagReaderSession.PollingOption = .iso14443,
        _ body: (FailingReader, TagScene) async throws -> Void
    ) async throws {
        let reader = FailingReader()
        reader.field.bring(tag)
        let environment = NFCEnvironment(reader: .field(reader), clock: ManualClock(), isOfTest: true)
        try await NFCEnvironment.$scoped.withValue(environment) {
            let scene = try await TagScene(polling)
            try await body(reader, scene)
            scene.session.invalidate()
            withExtendedLifetime(scene) {}
        }
    }

    /// The codes for each failure: of a tag's command, and of one that no tag answers.
    static let failures: [(LinkError.Code, command: Int, unanswered: Int)] = [
        (.frameTooLong, 105, 105), (.unsupported, 1, 1), (.tagRemoved, 100, 100), (.cancelled, 103, 103),
        (.readerUnavailable, 100, 100), (.protocolViolation, 102, 102), (.inUse, 102, 102), (.timeout, 102, 0),
        (.transmission, 102, 0), (.collision, 102, 0),
    ]

    @Test func `Command that the reader can't do: the phone's code, and only a tag that is gone has to be found again`()
        async throws
    {
        for failure in Self.failures {
            try await Self.withReader(TestTag.ntag213()) { reader, scene in
                let tag = try scene.miFare
                reader.failure.withLock { $0 = failure.0 }
                #expect(await code { try await tag.send("3e010203") } == failure.command, "\(failure.0)")
                #expect(tag.isAvailable == (failure.0 != .tagRemoved))
                if tag.isAvailable { #expect(try await tag.send("3003").hasPrefix("e1")) }
            }
            try await Self.withReader(VirtualType5Tag(.icodeSLIX), .iso15693) { reader, scene in
                let tag = try scene.iso15693
                reader.failure.withLock { $0 = failure.0 }
                let before = reader.field.statistics.exchanges
                #expect(await code { try await tag.stayQuiet() } == failure.unanswered, "\(failure.0)")
                #expect(tag.isAvailable == (failure.0 != .tagRemoved))
                // The tag is asked nothing where no answer is expected.
                if failure.unanswered == 0 { #expect(reader.field.statistics.exchanges == before) }
            }
        }
    }

    @Test func `Command time: a tenth of a second for an answer, and a millisecond where none comes`() async throws {
        try await Self.withReader(TestTag.ntag213()) { reader, scene in
            _ = try await scene.miFare.send("3003")
            _ = try await scene.miFare.send("a21401020304")
            let waits = reader.waits.withLock { $0 }
            #expect(waits["30"] == .milliseconds(100) && waits["a2"] == .milliseconds(100))
        }
        try await Self.withReader(VirtualType5Tag(.icodeSLIX), .iso15693) { reader, scene in
            try await scene.iso15693.stayQuiet()
            #expect(reader.waits.withLock { $0["02"] } == .milliseconds(1))
        }
    }
}
