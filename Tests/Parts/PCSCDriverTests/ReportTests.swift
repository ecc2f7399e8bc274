// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PCSCDriver

/// Checks the report on a reader for people, and how a session handles the service's errors.
struct ReportTests {
    private static func report(
        _ flags: SmartCardReaderState.Flags = .empty,
        name: String = "Some NFC reader",
        _ change: (inout PCSCReaderReport) -> Void = { _ in }
    ) -> PCSCReaderReport {
        var report = PCSCReaderReport(SmartCardReaderState(name, flags: flags, answerToReset: [0x3B]))
        change(&report)
        return report
    }

    @Test("What is on a reader goes by the service's flags")
    func presence() {
        #expect(Self.report().presence == .empty && Self.report([]).presence == .empty)
        #expect(Self.report(.present).presence == .tag)
        #expect(Self.report([.present, .mute]).presence == .mute)
        #expect(Self.report([.unavailable, .present]).presence == .unplugged)
        #expect(!Self.report(.present).isInUse && Self.report([.present, .inUse]).isInUse)
        #expect(Self.report([.present, .exclusive]).isInUse)
        #expect(Self.report().name == "Some NFC reader" && Self.report().answerToReset == [0x3B])
        #expect(
            Self.report().isContactless && !Self.report(name: "A slot").isContactless && Self.report().problem == nil
        )
    }

    /// The support of each call, by name, and its reason.
    private static func calls(_ report: PCSCReaderReport) -> [String: (support: ServedCall.Support, reason: String)] {
        Dictionary(uniqueKeysWithValues: report.calls.map { ($0.name, ($0.support, $0.reason)) })
    }

    @Test("Calls that no reader's hardware decides are the same for all")
    func common() throws {
        let calls = Self.calls(Self.report())
        #expect(calls.count == 7)
        #expect(calls["NFCNDEFTag.readNDEF, writeNDEF"]?.support == .yes)
        #expect(calls["NFCISO7816Tag.sendCommand"]?.support == .yes)
        #expect(calls["NFCTagReaderSession.PollingOption.pace"]?.support == .yes)
        #expect(calls["NFCVASReaderSession"]?.support == .no)
        for (takes, words): (UInt8?, String) in [
            (nil, "does not report"), (1, "extended ones too"), (0, "takes no extended ones"),
        ] {
            let report = Self.report { report in
                report.features.properties[10] = takes.map { [$0, $0, $0, 0] }
            }
            #expect(report.takesExtendedAPDUs == takes.map { $0 == 1 })
            #expect(try #require(Self.calls(report)["NFCISO7816Tag.sendCommand"]).reason.contains(words))
        }
    }

    @Test("What passes a chip, a transparent session, Traverse or storage commands is reported for each technology")
    func technologies() throws {
        let names: [(Technology, String)] = [
            (.nfcA, "NFCMiFareTag.sendMiFareCommand"), (.nfcF, "NFCFeliCaTag's commands"),
            (.nfcV, "NFCISO15693Tag's commands"),
        ]
        let unknown = Self.report()
        let chip = Self.report { $0.findings.chip = .some("PN532 1.6") }
        let named = Self.report(name: "ACS ACR122U")
        for (technology, name) in names {
            #expect(Self.calls(unknown)[name]?.support == .unknown)
            let withChip = try #require(Self.calls(chip)[name])
            #expect(withChip.support == (technology == .nfcV ? .no : .yes) && withChip.reason.contains("PN532 1.6"))
            #expect(Self.calls(named)[name]?.support == (technology == .nfcV ? .no : .unknown))
            let transparent = Self.report { $0.findings.transparent[technology] = .some(0xC2) }
            #expect(Self.calls(transparent)[name]?.support == .yes)
            #expect(Self.calls(transparent)[name]?.reason.contains("transparent") == true)
            #expect(transparent.transparentTechnologies == [technology])
            let storage = Self.report { $0.findings.transparent[technology] = .some(nil) }
            #expect(Self.calls(storage)[name]?.support == .partly && storage.transparentTechnologies.isEmpty)
        }
        #expect(Self.calls(named)["NFCISO15693Tag's commands"]?.reason.contains("PN53x") == true)
        let traverse = Self.report { $0.findings.traverse = true }
        #expect(Self.calls(traverse)["NFCISO15693Tag's commands"]?.support == .yes)
        #expect(Self.calls(traverse)["NFCISO15693Tag's commands"]?.reason.contains("Traverse") == true)
        let without = Self.report { $0.findings.traverse = false }
        #expect(Self.calls(without)["NFCISO15693Tag's commands"]?.support == .unknown)
        // A reader that is known to have no chip polls for every technology, independent of its name.
        let other = Self.report(name: "ACS ACR122U") { $0.findings.chip = .some(nil) }
        #expect(other.technologies == Set(Technology.allCases) && other.chip == nil && chip.chip == "PN532 1.6")
        #expect(named.technologies == [.nfcA, .nfcB, .nfcF])
    }

    // MARK: Readers that are asked

    private static let features: UInt32 = 0x4200_0D48

    @Test("A reader that is asked tells its features without a tag too, and the chip behind its escape command")
    func asked() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "Some reader")])
        let escape: UInt32 = 0x42000001
        service.change { state in
            state.controls[Self.features] = [UInt8](hex: "1304 42000001 1204 42330012")
            state.controls[0x4233_0012] = [UInt8](hex: "0b02 2f07 0c02 0023")
            state.controls[escape] = [UInt8](hex: "d50332010607 9000")
        }
        let states = try PCSCReader.states(service)
        let report = try #require(await PCSCReader.reports(states, service, askingReaders: true).first)
        #expect(report.usbIdentifier == "072f:2300" && report.hasEscapeCommands && report.chip == "PN532 1.6")
        #expect(report.problem == nil && report.presence == .empty)
        // The report connected to the reader without a card, and left it unchanged. No connection remains open.
        #expect(service.look(\.dispositions) == [.leave])
        #expect(service.look { $0.open.isEmpty && $0.contexts.isEmpty })
        let unasked = try #require(await PCSCReader.reports(states, service, askingReaders: false).first)
        #expect(unasked.usbIdentifier == nil && !unasked.hasEscapeCommands && unasked.chip == nil)
        for answer in ["d50332010607 6300", "d505320106079000", "9000", "90"] {
            service.change { $0.controls[escape] = [UInt8](hex: answer) }
            #expect(try #require(await PCSCReader.reports(states, service, askingReaders: true).first).chip == nil)
        }
    }

    @Test("A tag is let go of, without its power, before the reader is asked by itself")
    func askedWithTag() async throws {
        let (service, _) = SampleCards.storageReader()
        service.change { $0.controls[Self.features] = [UInt8](hex: "1304 42000001") }
        let report = try #require(
            await PCSCReader.reports(try PCSCReader.states(service), service, askingReaders: true).first
        )
        #expect(report.presence == .tag && report.hasEscapeCommands && report.problem == nil)
        #expect(report.findings.chip == .some(nil) && report.findings.transparent[.nfcA] == .some(nil))
        #expect(service.look(\.dispositions) == [.unpower, .leave])
    }

    @Test("A reader that is asked polls for a FeliCa card of any system")
    func askedWithFeliCa() async throws {
        let poll = "ff00000008d4420600ffff0100"
        let service = SampleCards.service(
            SampleCards.felicaAnswer,
            table: [
                "ffca000000": "02fe001122334455 9000", "ff00000002d402": "d50332010607 9000",
                poll: "d54300 1401 02fe001122334455 00f1000000014300 88b4 9000",
            ]
        )
        let report = try #require(
            await PCSCReader.reports(try PCSCReader.states(service), service, askingReaders: true).first
        )
        #expect(report.problem == nil && report.chip == "PN532 1.6")
        #expect(service.commands.contains(poll))
    }

    @Test("What keeps a reader from being used is in its report")
    func problem() async throws {
        let service = SampleCards.service([0x00]) { _ in [0x6A, 0x81] }
        let report = try #require(
            await PCSCReader.reports(try PCSCReader.states(service), service, askingReaders: true).first
        )
        #expect(report.problem?.isEmpty == false)
        #expect(PCSCReader.missing(.first, among: []).contains("Plug one in"))
        let states = [SmartCardReaderState("A"), SmartCardReaderState("B")]
        #expect(
            PCSCReader.missing(.named("C"), among: states)
                == #"There is no PC/SC reader named "C". There are: "A", "B"."#
        )
        #expect(
            PCSCReader.missing(.firstContactless, among: states)
                == #"None of the PC/SC readers seems to be contactless. There are: "A", "B"."#
        )
    }

    // MARK: Errors

    private typealias Code = SmartCardError.Code

    @Test("Each code of the service is one of a link's, and says whether the service or the connection is lost")
    func codes() {
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
        ]
        for (code, number, link, lost) in known {
            let error = SmartCardError(code, "SCardConnect")
            #expect(code.rawValue == number && LinkError(error).code == link, "\(error)")
            #expect(LinkError(error).reason == error.reason && error.description == "SCardConnect: \(error.reason)")
            #expect(error.isServiceLost == (lost == "S") && error.isConnectionLost == !lost.isEmpty, "\(error)")
            #expect(error == SmartCardError(code, "other") && !error.reason.contains("answered"))
        }
        #expect(Set(known.map { SmartCardError($0.0, "") }).count == known.count)
        #expect(SmartCardError(.timeout, "") != SmartCardError(.cancelled, ""))
        let unknown = SmartCardError(Code(rawValue: 0x8010_0001), "SCardTransmit")
        #expect(unknown.description == "SCardTransmit: The PC/SC service answered 80100001.")
        #expect(LinkError(unknown).code == .readerUnavailable)
    }

    @Test("A card that can't be opened is looked for again, or an error, by what the service says")
    func opening() async throws {
        let cases: [(SmartCardError.Code, LinkError.Code?)] = [
            (.noSmartcard, .transmission), (.removedCard, .transmission), (.unresponsiveCard, .transmission),
            (.unpoweredCard, .transmission), (.notTransacted, .transmission), (.protocolMismatch, .transmission),
            (.readerUnavailable, nil), (.unknownReader, nil), (.noService, nil), (.unsupportedFeature, .unsupported),
            (.invalidValue, .frameTooLong),
        ]
        for (code, expected) in cases {
            let service = SampleCards.service(SampleCards.type2Answer) { _ in [0x90, 0x00] }
            service.change { $0.connectFailure = code }
            let reader = PCSCReader(.first, layer: service)
            do throws(LinkError) {
                #expect(try await reader.discover(Set(Technology.allCases), systemCodes: []).isEmpty && expected == nil)
            } catch {
                #expect(error.code == expected, "\(code)")
            }
            await reader.release()
        }
    }

    @Test(
        "A tag whose identity fails in the middle is looked for again; what no retry mends is an error",
        arguments: [
            (.notTransacted, .transmission), (.removedCard, .transmission), (.sharingViolation, .inUse),
            (.unsupportedFeature, .unsupported), (.readerUnavailable, nil),
        ] as [(SmartCardError.Code, LinkError.Code?)]
    )
    func identifying(code: SmartCardError.Code, expected: LinkError.Code?) async throws {
        let service = SampleCards.service(SampleCards.type2Answer) { _ throws(SmartCardError) in
            throw SmartCardError(code, "test")
        }
        let reader = PCSCReader(.first, layer: service)
        do throws(LinkError) {
            #expect(try await reader.discover([.nfcA], systemCodes: []).isEmpty && expected == nil)
        } catch {
            #expect(error.code == expected)
        }
        await reader.release()
    }
}
