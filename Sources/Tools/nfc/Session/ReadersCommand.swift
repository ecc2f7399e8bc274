// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCReaders
import NFCRuntime
import PCSCDriver
import PN532Driver
import TagLink

/// `nfc readers`.
struct ReadersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers",
        abstract: "Show the reader that sessions use, and the others.",
        discussion: """
            The first line is the reader that sessions use. With --reader or
            NFC_READER it is the only one. With --verbose, the list also shows what
            each PC/SC reader or PN532 can do. Put a tag on a reader to see more.

            Examples:
              nfc readers
              nfc readers --verbose
              nfc readers --reader virtual --json
              nfc readers --reader pn532:/dev/ttyUSB0

            Exit status: 0 when there is a reader, 3 when there is none.
            """
    )

    @OptionGroup var reader: ReaderOptions

    @Flag(help: "Show which Core NFC calls each reader supports.")
    var verbose = false

    @Flag(help: "Print one JSON object per reader.")
    var json = false

    func run() async throws {
        let environment = try await reportingFailure(json: json) { () throws(CommandFailure) in
            try reader.environment(recording: "")
        }
        guard let driver = environment.driver else { return }
        try await reportingFailure(json: json) { () throws(CommandFailure) in
            do throws(LinkError) {
                try await driver.prepare()
            } catch {
                throw .unusable(driver, error.reason)
            }
        }
        let isPCSC = driver is PCSCReader
        // If a reader was named, only that one is shown.
        let isNamed = reader.reader != nil || ReaderConfiguration.ofProcess.reader != nil
        let reports = isPCSC || !isNamed ? await PCSCReader.reports(askingReaders: verbose) : []
        let used = reports.first { isPCSC && $0.name == driver.name }
        print(driver, used)
        guard !isNamed else { return }
        for report in reports where report.name != used?.name { print(report) }
        if isPCSC { print(name: "virtual", technologies: Set(Technology.allCases), isUsed: false, nil) }
    }

    private func print(_ driver: any ReaderDriver, _ report: PCSCReaderReport?) {
        print(
            name: driver.name,
            technologies: report?.technologies ?? driver.technologies,
            isUsed: true,
            report,
            isPN532: driver is PN532Reader
        )
    }

    private func print(_ report: PCSCReaderReport) {
        print(name: report.name, technologies: report.technologies, isUsed: false, report)
    }

    private func print(
        name: String,
        technologies: Set<Technology>,
        isUsed: Bool,
        _ report: PCSCReaderReport?,
        isPN532: Bool = false
    ) {
        let showsChip = verbose && isPN532
        let technologies = Technology.allCases.filter(technologies.contains).map(Self.name)
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("name", name)
            writer.key("technologies")
            writer.beginArray()
            for technology in technologies { writer.value(technology) }
            writer.endArray()
            writer.member("kind", report != nil ? "pcsc" : isPN532 ? "pn532" : name == "virtual" ? "virtual" : nil)
            ReaderReportPrinter.write(report, verbose: verbose, calls: showsChip ? PN532Reader.calls : nil, to: &writer)
            writer.member("used", isUsed)
            writer.endObject()
            writer.printLine()
        } else {
            let what =
                report.map { ReaderReportPrinter($0, verbose: verbose).summary } ?? technologies.joined(separator: ", ")
            printLine("\(name)  \(what)\(isUsed ? "" : "  (not used)")")
            for line in report.map({ ReaderReportPrinter($0, verbose: verbose).lines }) ?? [] { printLine("  " + line) }
            guard showsChip else { return }
            for line in PN532Reader.capabilities + PN532Reader.calls.map(\.line) { printLine("  " + line) }
        }
    }

    static func name(_ technology: Technology) -> String {
        switch technology {
        case .nfcA: "nfc-a"
        case .nfcB: "nfc-b"
        case .nfcF: "nfc-f"
        case .nfcV: "nfc-v"
        }
    }
}

/// Prints the report on a PC/SC reader.
struct ReaderReportPrinter {
    private let report: PCSCReaderReport
    private let verbose: Bool

    init(_ report: PCSCReaderReport, verbose: Bool) {
        self.report = report
        self.verbose = verbose
    }

    /// What is on the reader, in a few words.
    var summary: String {
        let presence =
            switch report.presence {
            case .empty: "nothing on it"
            case .tag: report.isContactless ? "a tag on it" : "a card in it"
            case .mute: "something on it that does not answer"
            case .unplugged: "unplugged"
            }
        var words = "PC/SC, \(presence)"
        if !report.isContactless { words += ", probably not contactless" }
        return report.isInUse ? words + ", used by another program" : words
    }

    /// The reader's features for --verbose, one per line.
    var lines: [String] {
        guard verbose else { return [] }
        var lines: [String] = []
        if let problem = report.problem { lines.append(problem) }
        if !report.answerToReset.isEmpty { lines.append("ATR \(HexText.text(report.answerToReset))") }
        if let identifier = report.usbIdentifier { lines.append("USB \(identifier)") }
        if let firmware = report.firmware { lines.append("Firmware \(firmware)") }
        if let chip = report.chip { lines.append("Chip \(chip), which takes frames") }
        let sessions = technologies
        if !sessions.isEmpty { lines.append("Transparent sessions for \(sessions.joined(separator: ", "))") }
        lines.append(report.hasEscapeCommands ? "Escape commands are allowed" : "Escape commands are not offered")
        return lines + report.calls.map(\.line)
    }

    private var technologies: [String] {
        Technology.allCases.filter(report.transparentTechnologies.contains).map(ReadersCommand.name)
    }

    /// Writes the members after the reader's name and kind. Members that only PC/SC readers have are `null` for others.
    static func write(
        _ report: PCSCReaderReport?,
        verbose: Bool,
        calls: [ServedCall]?,
        to writer: inout JSONWriter
    ) {
        writer.member("presence", report?.presence.rawValue)
        writer.member("in_use", report?.isInUse)
        writer.member("contactless", report?.isContactless)
        writer.member("atr", (report?.answerToReset).map { HexText.text($0) })
        guard verbose else { return }
        writer.member("problem", report?.problem)
        writer.member("usb", report?.usbIdentifier)
        writer.member("firmware", report?.firmware)
        writer.member("chip", report?.chip)
        writer.member("extended_apdus", report?.takesExtendedAPDUs)
        writer.member("escape_commands", report?.hasEscapeCommands)
        writer.key("transparent")
        writer.values(report.map { ReaderReportPrinter($0, verbose: verbose).technologies })
        writer.member(calls: report?.calls ?? calls)
    }
}

extension ServedCall {
    /// The call as a line for people.
    var line: String { "\(support.rawValue)  \(name): \(reason)" }
}

extension JSONWriter {
    /// Writes the calls that a reader supports; `null` when they are not known.
    mutating func member(calls: [ServedCall]?) {
        guard let calls else { return member(null: "calls") }
        key("calls")
        beginArray()
        for call in calls {
            beginObject()
            member("name", call.name)
            member("support", call.support.rawValue)
            member("reason", call.reason)
            endObject()
        }
        endArray()
    }
}
