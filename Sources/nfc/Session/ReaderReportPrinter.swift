// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink

/// Prints what is known of a PC/SC reader.
struct ReaderReportPrinter {
    private let report: PCSCReaderReport
    private let verbose: Bool

    init(_ report: PCSCReaderReport, verbose: Bool) {
        self.report = report
        self.verbose = verbose
    }

    /// What is in the reader, in a few words.
    var summary: String {
        let presence =
            switch report.presence {
            case .empty: "nothing on it"
            case .tag: report.isContactless ? "a tag on it" : "a card in it"
            case .mute: "something on it that does not answer"
            case .unplugged: "unplugged"
            }
        var words = "PC/SC, \(presence)"
        if !report.isContactless { words += ", not contactless as far as can be told" }
        return report.isInUse ? words + ", used by another program" : words
    }

    /// With --verbose, what the reader can do, a line each.
    var lines: [String] {
        guard verbose else { return [] }
        var lines: [String] = []
        if let problem = report.problem { lines.append(RecordText.printable(problem)) }
        if !report.answerToReset.isEmpty { lines.append("ATR \(HexText.text(report.answerToReset))") }
        if let identifier = report.usbIdentifier { lines.append("USB \(identifier)") }
        if let firmware = report.firmware { lines.append("Firmware \(RecordText.printable(firmware))") }
        if let chip = report.chip { lines.append("Chip \(chip), which takes frames") }
        let sessions = technologies
        if !sessions.isEmpty { lines.append("Transparent sessions for \(sessions.joined(separator: ", "))") }
        lines.append(report.hasEscapeCommands ? "Escape commands are allowed" : "Escape commands are not offered")
        return lines + report.calls.map(\.line)
    }

    private var technologies: [String] {
        Technology.allCases.filter(report.transparentTechnologies.contains).map(ReadersCommand.name)
    }

    /// The members that a PC/SC reader has besides its name.
    func write(to writer: inout JSONWriter) {
        writer.member("kind", "pcsc")
        writer.member("presence", report.presence.rawValue)
        writer.member("in_use", report.isInUse)
        writer.member("contactless", report.isContactless)
        writer.member("atr", HexText.text(report.answerToReset))
        guard verbose else { return }
        if let problem = report.problem { writer.member("problem", problem) }
        if let identifier = report.usbIdentifier { writer.member("usb", identifier) }
        if let firmware = report.firmware { writer.member("firmware", firmware) }
        if let chip = report.chip { writer.member("chip", chip) }
        if let extended = report.takesExtendedAPDUs { writer.member("extended_apdus", extended) }
        writer.member("escape_commands", report.hasEscapeCommands)
        writer.key("transparent")
        writer.beginArray()
        for technology in technologies { writer.value(technology) }
        writer.endArray()
        writer.member(calls: report.calls)
    }
}

extension ServedCall {
    /// The call as a line for people.
    var line: String { "\(support.rawValue)  \(name): \(reason)" }
}

extension JSONWriter {
    /// Which calls a reader serves.
    mutating func member(calls: [ServedCall]) {
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
