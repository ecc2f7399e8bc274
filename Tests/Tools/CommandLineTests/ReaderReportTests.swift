// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCReaders
import TagLink
import Testing

@testable import nfc  // no test has a reader with all of this

/// How nfc readers shows a reader, with what is known of it.
struct ReaderReportTests {
    private let bare = ReaderReport(name: "R", kind: "pcsc", technologies: [.nfcF, .nfcA])

    private func summary(_ change: (inout ReaderReport) -> Void) -> String {
        var report = bare
        change(&report)
        return ReaderReportPrinter(report: report, verbose: false).summary
    }

    private func object(_ report: ReaderReport, verbose: Bool) -> String {
        String(decoding: ReaderReportPrinter(report: report, verbose: verbose).object.line.dropLast(), as: UTF8.self)
    }

    @Test func `nfc readers: a reader named by option or environment is listed alone`() throws {
        let (named, unnamed) = (try ReaderOptions.parse(["--reader", "virtual"]), try ReaderOptions.parse([]))
        let (some, none) = (ReaderConfiguration(reader: "pcsc"), ReaderConfiguration())
        #expect(named.isNamed(beside: none) && unnamed.isNamed(beside: some) && named.isNamed(beside: some))
        #expect(!unnamed.isNamed(beside: none))
    }

    @Test func `nfc readers, summary: what is on the reader, or the technologies of the reader`() {
        #expect(summary { _ in } == "nfc-a, nfc-f")
        #expect(summary { $0.presence = .empty } == "PC/SC, nothing on it")
        #expect(summary { $0.presence = .mute } == "PC/SC, something on it that does not answer")
        #expect(summary { $0.presence = .unplugged } == "PC/SC, unplugged")
        #expect(summary { ($0.presence, $0.kind) = (.tag, nil) } == "a tag on it")
        #expect(summary { ($0.presence, $0.isContactless) = (.tag, true) } == "PC/SC, a tag on it")
        #expect(
            summary { ($0.presence, $0.isContactless) = (.tag, false) }
                == "PC/SC, a card in it, probably not contactless"
        )
        #expect(
            summary { ($0.presence, $0.isContactless) = (.empty, false) }
                == "PC/SC, nothing on it, probably not contactless"
        )
        #expect(summary { ($0.presence, $0.isInUse) = (.tag, true) } == "PC/SC, a tag on it, used by another program")
        #expect(summary { ($0.presence, $0.isInUse) = (.tag, false) } == "PC/SC, a tag on it")
    }

    /// A report in which everything is known.
    private var full: ReaderReport {
        var report = bare
        report.presence = .tag
        report.isInUse = false
        report.isContactless = true
        report.answerToReset = [0x3B, 0x80]
        report.problem = "It is shy."
        report.usbIdentifier = "072f:2200"
        report.firmware = "F 1.0"
        report.chip = "PN532 1.6"
        report.takesExtendedAPDUs = false
        report.hasEscapeCommands = true
        report.transparentTechnologies = [.nfcV, .nfcA]
        report.capabilities = ["It can much."]
        report.calls = [SupportedAPI(name: "a()", support: .partly, reason: "Some.")]
        return report
    }

    @Test func `nfc readers --verbose: a line for each feature that is known`() {
        let lines = [
            "It is shy.", "ATR 3b80", "USB 072f:2200", "Firmware F 1.0", "Chip PN532 1.6, which accepts raw frames",
            "Transparent sessions for nfc-a, nfc-v", "Escape commands are allowed", "It can much.",
            "partly  a(): Some.",
        ]
        #expect(ReaderReportPrinter(report: full, verbose: true).lines == lines)
        #expect(ReaderReportPrinter(report: full, verbose: false).lines == [])
        #expect(ReaderReportPrinter(report: bare, verbose: true).lines == [])
        var report = bare
        (report.answerToReset, report.transparentTechnologies, report.hasEscapeCommands) = ([], [], false)
        #expect(ReaderReportPrinter(report: report, verbose: true).lines == ["Escape commands are not offered"])
    }

    @Test func `nfc readers --json: unknown values are null`() {
        let head = #"{"presence":"tag","in_use":false,"contactless":true,"atr":"3b80""#
        #expect(object(full, verbose: false) == head + "}")
        #expect(
            object(full, verbose: true) == head
                + #","problem":"It is shy.","usb":"072f:2200","firmware":"F 1.0","chip":"PN532 1.6","#
                + #""extended_apdus":false,"escape_commands":true,"transparent":["nfc-a","nfc-v"],"#
                + #""calls":[{"name":"a()","support":"partly","reason":"Some."}]}"#
        )
        #expect(object(bare, verbose: false) == #"{"presence":null,"in_use":null,"contactless":null,"atr":null}"#)
        #expect(
            object(bare, verbose: true)
                == #"{"presence":null,"in_use":null,"contactless":null,"atr":null,"problem":null,"usb":null,"#
                + #""firmware":null,"chip":null,"extended_apdus":null,"escape_commands":null,"transparent":null,"#
                + #""calls":null}"#
        )
    }
}
