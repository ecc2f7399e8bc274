// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCReaders
import NFCSessions
import TagLink
import TextSafety

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
        // If a reader was named, only that one is shown.
        let isNamed = reader.isNamed(beside: .ofProcess)
        let inventory = await ReaderInventory(using: driver, isAlone: isNamed, askingReaders: verbose)
        print(inventory.used, isUsed: true)
        for report in inventory.others { print(report, isUsed: false) }
    }

    private func print(_ report: ReaderReport, isUsed: Bool) {
        let printer = ReaderReportPrinter(report, verbose: verbose)
        guard json else {
            printLine("\(report.name)  \(printer.summary)\(isUsed ? "" : "  (not used)")")
            for line in printer.lines { printLine("  " + line) }
            return
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("name", report.name)
        writer.key("technologies")
        writer.values(Technology.allCases.filter(report.technologies.contains).map(Self.name))
        writer.member("kind", report.kind)
        printer.write(to: &writer)
        writer.member("used", isUsed)
        writer.endObject()
        writer.printLine()
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
