// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCReaders
import NFCSessions
import TagLink
import TextSafety

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
              nfc readers --reader pn532:/dev/i2c-1

            Exit status: 0 when there is a reader, 3 when there is none.
            """
    )

    @OptionGroup var reader: ReaderOptions

    @Flag(help: "Show which Core NFC calls each reader supports.")
    var verbose = false

    @Flag(help: "Print one JSON object per reader.")
    var json = false

    func run() async throws {
        guard let driver = try reader.environment(recording: "", withoutReader: .usesVirtualReader).driver else {
            return
        }
        do throws(LinkError) {
            try await driver.prepare()
        } catch {
            throw CommandFailure.unusable(driver, error.reason)
        }
        // If a specific reader was chosen, only that reader is shown.
        let isNamed = reader.isNamed(beside: .ofProcess)
        let inventory = await ReaderInventory(using: driver, isAlone: isNamed, askingReaders: verbose)
        print(inventory.used, isUsed: true)
        for report in inventory.others { print(report, isUsed: false) }
    }

    private func print(_ report: ReaderReport, isUsed: Bool) {
        let printer = ReaderReportPrinter(report: report, verbose: verbose)
        printResult(
            json: json,
            [
                "name": report.name,
                "technologies": Technology.allCases.filter(report.technologies.contains).map(\.name),
                "kind": report.kind,
            ] + printer.object + ["used": isUsed],
            ["\(report.name)  \(printer.summary)\(isUsed ? "" : "  (not used)")"] + printer.lines.map { "  \($0)" }
        )
    }
}

struct ReaderReportPrinter {
    let report: ReaderReport
    let verbose: Bool

    /// A short description of what is on the reader. If the reader does not report it, the supported technologies.
    var summary: String {
        guard let presence = report.presence else { return Self.names(report.technologies).joined(separator: ", ") }
        let what =
            switch presence {
            case .empty: "nothing on it"
            case .tag: report.isContactless == false ? "a card in it" : "a tag on it"
            case .mute: "something on it that does not answer"
            case .unplugged: "unplugged"
            }
        var words = [report.title, what].compactMap(\.self).joined(separator: ", ")
        if report.isContactless == false { words += ", probably not contactless" }
        return report.isInUse == true ? words + ", used by another program" : words
    }

    var lines: [String] {
        guard verbose else { return [] }
        var lines: [String] = []
        if let problem = report.problem { lines.append(problem) }
        if let answer = report.answerToReset, !answer.isEmpty { lines.append("ATR \(answer.hexText())") }
        if let identifier = report.usbIdentifier { lines.append("USB \(identifier)") }
        if let firmware = report.firmware { lines.append("Firmware \(firmware)") }
        if let chip = report.chip { lines.append("Chip \(chip), which accepts raw frames") }
        let sessions = Self.names(report.transparentTechnologies ?? [])
        if !sessions.isEmpty { lines.append("Transparent sessions for \(sessions.joined(separator: ", "))") }
        if let hasEscape = report.hasEscapeCommands {
            lines.append(hasEscape ? "Escape commands are allowed" : "Escape commands are not offered")
        }
        return lines + report.capabilities + (report.calls ?? []).map(\.line)
    }

    private static func names(_ technologies: Set<Technology>) -> [String] {
        Technology.allCases.filter(technologies.contains).map(\.name)
    }

    /// The JSON members after the reader's name and kind. Unknown values are `null`.
    var object: JSONObject {
        let object: JSONObject = [
            "presence": report.presence?.rawValue, "in_use": report.isInUse, "contactless": report.isContactless,
            "atr": report.answerToReset?.hexText(),
        ]
        guard verbose else { return object }
        let calls = report.calls?.map { call -> JSONObject in
            ["name": call.name, "support": call.support.rawValue, "reason": call.reason]
        }
        return object + [
            "problem": report.problem, "usb": report.usbIdentifier, "firmware": report.firmware, "chip": report.chip,
            "extended_apdus": report.takesExtendedAPDUs, "escape_commands": report.hasEscapeCommands,
            "transparent": report.transparentTechnologies.map(Self.names), "calls": calls,
        ]
    }
}

extension SupportedAPI {
    fileprivate var line: String { "\(support.rawValue)  \(name): \(reason)" }
}
