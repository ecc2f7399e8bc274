// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PCSCDriver  // reports are made of internal findings

/// The readers of the service, what is reported of them, and its errors.
struct ReaderListTests {
    private typealias Cards = SampleCards
    private static let names = ["Slot 00 00", "An NFC reader 01 00", "Another NFC reader 02 00"]

    private static func service() -> ScriptedService {
        ScriptedService(names.map { ScriptedService.Reader(name: $0) })
    }

    private static func code(_ work: () throws(LinkError) -> Void) -> LinkError.Code? {
        do throws(LinkError) {
            try work()
            return nil
        } catch { return error.code }
    }

    @Test func `choice of a reader: the first contactless one, or the named one`() async throws {
        let service = Self.service()
        #expect(try PCSCReader.findContactless(service)?.name == Self.names[1])
        #expect(try PCSCReader.find(.first, service).name == Self.names[1])
        #expect(try PCSCReader.find(.named("another"), service).name == Self.names[2])
        #expect(service.look { $0.contexts.isEmpty && $0.open.isEmpty })
        #expect(PCSCReader(.first, layer: service).name == "PC/SC")
        let reader = PCSCReader(.named("another"), layer: service)
        #expect(reader.name == "another")
        #expect(await Cards.poll(reader) == (0, nil))
        #expect(reader.name == Self.names[2])
        // Where no service seems to run, only a named reader is looked for.
        service.change { $0.isLikely = false }
        #expect(try PCSCReader.findContactless(service) == nil)
        #expect(await PCSCReader.reports(service, askingReaders: false).isEmpty)
        #expect(try PCSCReader.find(.named("an nfc"), service).name == Self.names[1])
    }

    @Test func `finding a reader: readerUnavailable without a reader, without the service or with a silent service`() {
        let service = Self.service()
        #expect(
            Self.code { () throws(LinkError) in _ = try PCSCReader.find(.named("x"), service) } == .readerUnavailable
        )
        service.change { $0.readers = [] }
        #expect(Self.code { () throws(LinkError) in _ = try PCSCReader.find(.first, service) } == .readerUnavailable)
        service.change { state in
            state.isRunning = false
            state.isLikely = true
        }
        // That it is gone is an error only for who wants one of its readers.
        #expect(Self.code { () throws(LinkError) in _ = try PCSCReader.findContactless(service) } == nil)
        #expect(Self.code { () throws(LinkError) in _ = try PCSCReader.find(.first, service) } == .readerUnavailable)
        service.change { state in
            state.isRunning = true
            state.hanging = [.establish]
        }
        let limit = Duration.milliseconds(20)
        for silent in [
            Self.code { () throws(LinkError) in _ = try PCSCReader.findContactless(service, within: limit) },
            Self.code { () throws(LinkError) in _ = try PCSCReader.find(.first, service, within: limit) },
        ] { #expect(silent == .readerUnavailable) }
    }

    // MARK: Reports

    @Test
    func
        `reader reports: in the service's order; only asking for features opens readers, and powers their cards down`()
        async
    {
        let card = ScriptedService.Card(answerToReset: Cards.cardAnswer) { _ in [0x6A, 0x81] }
        let service = ScriptedService(Self.names.map { ScriptedService.Reader(name: $0, card: card) })
        for isAsked in [false, true] {
            let reports = await PCSCReader.reports(service, askingReaders: isAsked)
            #expect(reports.map(\.name) == Self.names && reports.allSatisfy { $0.presence == .tag })
            #expect(service.commands.isEmpty == !isAsked)
        }
        #expect(service.look(\.dispositions) == [.unpower, .leave, .unpower, .leave, .unpower, .leave])
        #expect(service.look { $0.contexts.isEmpty && $0.open.isEmpty })
    }

    @Test func `report of an opened reader: features and chip, also without a tag; an unusable tag is its problem`()
        async throws
    {
        func report(_ service: ScriptedService, asking: Bool = true) async throws -> PCSCReaderReport {
            try #require(await PCSCReader.reports(service, askingReaders: asking).first)
        }
        let service = ScriptedService([ScriptedService.Reader(name: "Some reader")])
        service.change { state in
            state.controls[0x4200_0D48] = [UInt8](hex: "1304 42000001 1204 42330012")
            state.controls[0x4233_0012] = [UInt8](hex: "0b02 2f07 0c02 0023")
        }
        for (answer, chip) in [
            ("d50332010607 9000", "PN532 1.6"), ("d50332010607 6300", nil), ("d505320106079000", nil), ("9000", nil),
            ("90", nil),
        ] as [(String, String?)] {
            service.change { $0.controls[0x4200_0001] = [UInt8](hex: answer) }
            let asked = try await report(service)
            #expect(asked.usbIdentifier == "072f:2300" && asked.hasEscapeCommands && asked.chip == chip, "\(answer)")
            #expect(asked.problem == nil && asked.presence == .empty)
        }
        #expect(service.look { $0.open.isEmpty && $0.contexts.isEmpty && Set($0.dispositions) == [.leave] })
        let unasked = try await report(service, asking: false)
        #expect(unasked.usbIdentifier == nil && !unasked.hasEscapeCommands)
        // A tag is let go of before the reader is asked by itself.
        let storage = Cards.service(Cards.type2Answer, table: ["ffca000000": "04a1b2c3d4e580 9000"])
        storage.change { $0.controls[0x4200_0D48] = [UInt8](hex: "1304 42000001") }
        let withTag = try await report(storage)
        #expect(withTag.presence == .tag && withTag.hasEscapeCommands && withTag.problem == nil)
        #expect(storage.look(\.dispositions) == [.unpower, .leave])
        #expect(try await report(Cards.service([0x00], table: [:])).problem?.isEmpty == false)
    }

    private static func report(
        _ flags: SmartCardReaderState.Flags = .empty,
        name: String = "Some NFC reader",
        _ change: (inout PCSCReaderReport) -> Void = { _ in }
    ) -> PCSCReaderReport {
        var report = PCSCReaderReport(SmartCardReaderState(name, flags: flags, answerToReset: [0x3B]))
        change(&report)
        return report
    }

    @Test
    func
        `reader report: the service's state flags give presence and use by programs, the name gives isContactless`()
    {
        let rows: [(SmartCardReaderState.Flags, PCSCReaderReport.Presence, Bool)] = [
            (.empty, .empty, false), ([], .empty, false), (.present, .tag, false), ([.present, .mute], .mute, false),
            ([.unavailable, .present], .unplugged, false), ([.present, .inUse], .tag, true),
            ([.present, .exclusive], .tag, true),
        ]
        for (flags, presence, isInUse) in rows {
            let report = Self.report(flags)
            #expect(report.presence == presence && report.isInUse == isInUse, "\(flags)")
        }
        #expect(Self.report().isContactless && !Self.report(name: "A slot").isContactless)
    }

    @Test func `reader report: support of each Core NFC call follows from chip, transparent session and Traverse`() {
        func support(_ report: PCSCReaderReport, _ name: String) -> SupportedAPI.Support? {
            report.calls.first { $0.name.contains(name) }?.support
        }
        for (name, wanted) in [
            ("NFCNDEFTag.readNDEF", .yes), ("NFCISO7816Tag.sendCommand", .yes), ("PollingOption.pace", .yes),
            ("NFCVASReaderSession", .no),
        ] as [(String, SupportedAPI.Support)] { #expect(support(Self.report(), name) == wanted, "\(name)") }
        let named = Self.report(name: "ACS ACR122U")
        for (technology, name) in [
            (.nfcA, "sendMiFareCommand"), (.nfcF, "NFCFeliCaTag's"), (.nfcV, "NFCISO15693Tag's"),
        ] as [(Technology, String)] {
            let isV = technology == .nfcV
            let rows: [(PCSCReaderReport, SupportedAPI.Support)] = [
                (Self.report(), .unknown), (Self.report { $0.findings.chip = .some("PN532 1.6") }, isV ? .no : .yes),
                (named, isV ? .no : .unknown),
                (Self.report { $0.findings.transparent[technology] = .some(0xC2) }, .yes),
                (Self.report { $0.findings.transparent[technology] = .some(nil) }, .partly),
                (Self.report { $0.findings.traverse = true }, isV ? .yes : .unknown),
                (Self.report { $0.findings.traverse = false }, .unknown),
            ]
            for (index, row) in rows.enumerated() { #expect(support(row.0, name) == row.1, "\(name) \(index)") }
            let transparent = Self.report { $0.findings.transparent[technology] = .some(0xC2) }
            #expect(transparent.transparentTechnologies == [technology])
        }
        // A reader that is known to have no chip polls for every technology, whatever its name.
        let other = Self.report(name: "ACS ACR122U") { $0.findings.chip = .some(nil) }
        #expect(other.technologies == Cards.everyTechnology && named.technologies == [.nfcA, .nfcB, .nfcF])
    }

    // MARK: Errors (pcsclite.h)

    @Test func `SmartCardError: each code has its PC/SC number, link error, and whether service or connection is lost`()
    {
        // S: the service is lost. C: the connection. Both cut what was open.
        let known: [(SmartCardError.Code, UInt32, LinkError.Code, String)] = [
            (.libraryMissing, 1, .readerUnavailable, "S"), (.socketForbidden, 2, .readerUnavailable, "S"),
            (.cancelled, 0x8010_0002, .cancelled, "C"), (.invalidHandle, 0x8010_0003, .readerUnavailable, "S"),
            (.invalidParameter, 0x8010_0004, .frameTooLong, ""), (.insufficientBuffer, 0x8010_0008, .frameTooLong, ""),
            (.unknownReader, 0x8010_0009, .readerUnavailable, ""), (.timeout, 0x8010_000A, .readerUnavailable, "C"),
            (.sharingViolation, 0x8010_000B, .inUse, ""), (.noSmartcard, 0x8010_000C, .tagRemoved, ""),
            (.protocolMismatch, 0x8010_000F, .readerUnavailable, ""), (.invalidValue, 0x8010_0011, .frameTooLong, ""),
            (.communicationError, 0x8010_0013, .readerUnavailable, "S"), (.notTransacted, 0x8010_0016, .timeout, ""),
            (.readerUnavailable, 0x8010_0017, .readerUnavailable, ""),
            (.noService, 0x8010_001D, .readerUnavailable, "S"),
            (.serviceStopped, 0x8010_001E, .readerUnavailable, "S"),
            (.unsupportedFeature, 0x8010_001F, .unsupported, ""),
            (.noReaders, 0x8010_002E, .readerUnavailable, ""), (.unresponsiveCard, 0x8010_0066, .timeout, ""),
            (.unpoweredCard, 0x8010_0067, .tagRemoved, ""), (.resetCard, 0x8010_0068, .tagRemoved, ""),
            (.removedCard, 0x8010_0069, .tagRemoved, ""), (.securityViolation, 0x8010_006A, .readerUnavailable, "S"),
            (.init(rawValue: 0x8010_0001), 0x8010_0001, .readerUnavailable, ""),
        ]
        for (code, number, link, lost) in known {
            let error = SmartCardError(code, "SCardConnect")
            #expect(code.rawValue == number && LinkError(error).code == link, "\(error)")
            #expect(error.isServiceLost == (lost == "S") && error.isConnectionLost == !lost.isEmpty, "\(error)")
        }
    }
}
