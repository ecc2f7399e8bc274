// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCRuntime
import TagLink

/// `nfc readers`.
struct ReadersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers",
        abstract: "Show the reader that sessions use.",
        discussion: """
            Examples:
              nfc readers
              nfc readers --reader virtual --json
              nfc readers --reader pn532:/dev/ttyUSB0

            Exit status: 0 when there is a reader, 3 when there is none.
            """
    )

    @OptionGroup var reader: ReaderOptions

    @Flag(help: "Print one JSON object a reader.")
    var json = false

    func run() async throws {
        let environment = try await reportingFailure(json: json) { () throws(CommandFailure) in
            try reader.environment()
        }
        guard let driver = environment.driver else { return }
        try await reportingFailure(json: json) { () throws(CommandFailure) in
            do throws(LinkError) {
                try await driver.prepare()
            } catch {
                throw CommandFailure(.noReader, "reader-unavailable", error.reason)
            }
        }
        let technologies = Technology.allCases.filter(driver.technologies.contains).map(Self.name)
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("name", driver.name)
            writer.key("technologies")
            writer.beginArray()
            for technology in technologies { writer.value(technology) }
            writer.endArray()
            writer.endObject()
            writer.printLine()
        } else {
            printLine("\(RecordText.printable(driver.name))  \(technologies.joined(separator: ", "))")
        }
    }

    private static func name(_ technology: Technology) -> String {
        switch technology {
        case .nfcA: "nfc-a"
        case .nfcB: "nfc-b"
        case .nfcF: "nfc-f"
        case .nfcV: "nfc-v"
        }
    }
}
