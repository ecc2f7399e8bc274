// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetModel

/// `nfc fleet write`.
struct WriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a link, a text or a whole NDEF message to the next tag at a node.",
        discussion: """
            In a link or a text, {serial} becomes the node's next serial number, {uid}
            the tag's UID, {node} and {reader} the names.

            Examples:
              nfc fleet write kiosk-7 https://example.com
              nfc fleet write kiosk-7 "https://example.com/t/{serial}?u={uid}" --lock
              nfc fleet write kiosk-7 --text "Room 12" --reader entrance

            Exit status: 0 when the tag was written, 1 when it was not, 2 for wrong
            usage, 3 without a broker, 130 when cancelled. Cancelling only stops the
            wait: the node keeps the job until its deadline. To cancel the job itself,
            use nfc fleet cancel.
            """
    )

    @OptionGroup var options: JobOptions

    @Argument(help: "The link.")
    var link: String?

    @Option(help: "The text to write instead of a link.")
    var text: String?

    @Option(help: "The language of the text. Default: en.")
    var language: String?

    @Option(help: ArgumentHelp("The whole NDEF message to write instead, in hexadecimal digits.", valueName: "hex"))
    var message: String?

    @Flag(help: "Make the tag read-only afterwards. This can't be undone.")
    var lock = false

    func validate() throws {
        guard [link, text, message].compactMap(\.self).count == 1 else {
            throw ValidationError("Use exactly one of a link, --text and --message.")
        }
        guard language == nil || text != nil else {
            throw ValidationError("--language works only with --text. Leave it out.")
        }
        if let message, Hex.bytes(message) == nil { throw ValidationError("--message must be hexadecimal digits.") }
        do throws(JobRefusal) {
            try template.check()
        } catch {
            throw ValidationError(error.reason)
        }
    }

    func run() async throws { try await options.send(.write(template, locks: lock)) }

    private var template: MessageTemplate {
        if let link { return .link(link) }
        if let text { return .text(text, language: language ?? "en") }
        return .bytes(message.flatMap(Hex.bytes) ?? [])
    }
}
