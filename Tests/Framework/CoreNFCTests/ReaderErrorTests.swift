// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// Checks what an app gets when its reader can't do an exchange.
@Suite(.timeLimit(.minutes(1))) struct `A command that the reader can't do` {
    /// The commands with this code fail.
    private static let marker: UInt8 = 0x3E
    /// Of ISO 15693 it is Stay Quiet and Challenge, which no tag answers.
    private static let unanswered: Set<UInt8> = [0x02, 0x39]

    /// A reader over a virtual field that fails at some commands, and keeps how long it waits for answers.
    private final class FailingReader: FieldDriver {
        let field = VirtualField(onElapsed: { _ in })
        let failure = Locked<LinkError.Code?>(nil)
        let waits = Locked<[[UInt8]: Airtime]>([:])
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
            reader.waits.withLock { $0[frame.bytes] = timeout }
            let isMarked =
                technology == .nfcV
                ? unanswered.contains(frame.bytes.dropFirst().first ?? 0) : frame.bytes.first == marker
            if isMarked, let code = reader.failure.withLock({ $0 }) {
                throw LinkError(code, "The reader says why.")
            }
            return try await base.transceive(frame, timeout: timeout)
        }
    }

    private static func withReader(
        _ tag: any VirtualTag,
        _ polling: NFCTagReaderSession.PollingOption,
        _ body: (FailingReader, `A session for tags`.Detected) async throws -> Void
    ) async throws {
        let reader = FailingReader()
        reader.field.bring(tag)
        let environment = NFCEnvironment(reader: .field(reader), clock: ManualClock(), isOfTest: true)
        try await NFCEnvironment.$scoped.withValue(environment) {
            let found = try await `A session for tags`.detect(polling)
            try await found.session.connect(to: try #require(found.tags.first))
            try await body(reader, found)
            found.session.invalidate()
        }
    }

    @Test(
        arguments: [
            (.frameTooLong, 105), (.unsupported, 1), (.tagRemoved, 100), (.cancelled, 103), (.readerUnavailable, 100),
            (.protocolViolation, 102), (.timeout, 102), (.transmission, 102), (.collision, 102), (.inUse, 102),
        ] as [(LinkError.Code, Int)]
    ) func `has the phone's code for it`(code: LinkError.Code, expected: Int) async throws {
        try await Self.withReader(TestTag.ntag213(uri: "https://example.com/a"), .iso14443) { reader, found in
            let tag = try #require(found.miFare)
            reader.failure.withLock { $0 = code }
            let error = await readerError {
                try await tag.sendMiFareCommand(commandPacket: Data([Self.marker, 1, 2, 3]))
            }
            #expect(error?.errorCode == expected)
            // Only a tag that is gone has to be found again.
            #expect(tag.isAvailable == (code != .tagRemoved))
            if code != .tagRemoved {
                let pages = try await tag.sendMiFareCommand(commandPacket: Data([0x30, 3]))
                #expect(pages.prefix(1) == Data([0xE1]))
            }
        }
    }

    @Test(arguments: [LinkError.Code.timeout, .transmission, .collision])
    func `is done where no answer is expected and none is understood, and the tag is asked nothing`(
        code: LinkError.Code
    ) async throws {
        try await Self.withReader(VirtualType5Tag(.icodeSLIX), .iso15693) { reader, found in
            guard case .iso15693(let tag)? = found.tags.first else { throw ScriptedTag.OtherKind() }
            reader.failure.withLock { $0 = code }
            let before = reader.field.statistics.exchanges
            #expect(await readerError { try await tag.stayQuiet() } == nil)
            let challenge = await readerError {
                try await tag.challenge(requestFlags: .highDataRate, cryptoSuiteIdentifier: 0, message: Data([7]))
            }
            #expect(challenge == nil && tag.isAvailable && reader.field.statistics.exchanges == before)
        }
    }

    @Test(
        arguments: [
            (.frameTooLong, 105), (.unsupported, 1), (.tagRemoved, 100), (.cancelled, 103), (.readerUnavailable, 100),
        ] as [(LinkError.Code, Int)]
    ) func `has its code also where no answer is expected`(code: LinkError.Code, expected: Int) async throws {
        try await Self.withReader(VirtualType5Tag(.icodeSLIX), .iso15693) { reader, found in
            guard case .iso15693(let tag)? = found.tags.first else { throw ScriptedTag.OtherKind() }
            reader.failure.withLock { $0 = code }
            let error = await readerError { try await tag.stayQuiet() }
            #expect(error?.errorCode == expected && tag.isAvailable == (code != .tagRemoved))
        }
    }

    @Test func `waits a tenth of a second, and where no answer comes a millisecond`() async throws {
        try await Self.withReader(TestTag.ntag213(uri: "https://example.com/a"), .iso14443) { reader, found in
            let tag = try #require(found.miFare)
            _ = try await tag.sendMiFareCommand(commandPacket: Data([0x30, 3]))
            _ = try await tag.sendMiFareCommand(commandPacket: Data([0xA2, 20, 1, 2, 3, 4]))
            let waits = reader.waits.withLock { $0 }
            #expect(waits[[0x30, 3]] == .milliseconds(100) && waits[[0xA2, 20, 1, 2, 3, 4]] == .milliseconds(100))
        }
        try await Self.withReader(VirtualType5Tag(.icodeSLIX), .iso15693) { reader, found in
            guard case .iso15693(let tag)? = found.tags.first else { throw ScriptedTag.OtherKind() }
            try await tag.stayQuiet()
            let waits = reader.waits.withLock { $0.filter { $0.key.dropFirst().first == 0x02 } }
            #expect(Array(waits.values) == [.milliseconds(1)])
        }
    }
}
