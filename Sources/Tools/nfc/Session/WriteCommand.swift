// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCSessions
import TagProtocols

/// `nfc write`.
struct WriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a link, a text or a message to the next tag near the reader.",
        discussion: """
            If the message does not fit, the tag is read-only, or --lock would need a
            key or a password, it fails before it writes anything. Images from --tags
            are saved. With --json the product is always null: nfc tag write asks the
            tag for it.

            Examples:
              nfc write https://example.com
              nfc write --text "Room 12" --language en
              nfc write --message d1010c55046578616d706c652e636f6d --lock

            Exit status: 0 when the message was written, 1 when the tag refused it, no
            tag came, or --message is not a valid message, 2 for wrong usage, 3 without
            a reader, 130 when cancelled.
            """
    )

    @OptionGroup var content: MessageOptions

    @OptionGroup var reader: ReaderOptions

    @Flag(help: "Then make the tag read-only. This can't be undone.")
    var lock = false

    @Flag(help: "Then read the message back and compare it.")
    var check = false

    @Option(
        help: ArgumentHelp(
            "Record the session in this file, in place of an older recording; see nfc trace.",
            valueName: "file"
        )
    )
    var record: String?

    @Option(help: "Give up after this many seconds, up to 60.")
    var timeout: SecondsArgument?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if let timeout { try checkTimeout(timeout) }
        try checkRecord(record)
    }

    func run() async throws {
        let report = try await reportingFailure(json: json, write)
        report.print(json: json)
    }

    private func write() async throws(CommandFailure) -> TagReport {
        let bytes = try content.bytes()
        let work = try TagSession(
            environment: try reader.environment(
                savesTags: true,
                recording: record,
                seconds: timeout?.value,
                imageOption: "--tags"
            ),
            prompt: "Hold the tag to write near the reader.",
            seconds: timeout?.value
        )
        return try await work.withOneTag(
            doneMessage: lock ? "The message is written, and the tag locked." : "The message is written."
        ) {
            work,
            tag throws(CommandFailure) in
            try await write(bytes, to: tag, in: work)
        }
    }

    private func write(
        _ bytes: [UInt8],
        to tag: ConnectableTag,
        in work: TagSession
    ) async throws(CommandFailure) -> TagReport {
        let (checks, locks) = (check, lock)
        let outcome = try await work.work(with: tag) { tag throws(TagError) in
            await tag.writeAndDescribe(bytes, checks: checks, locks: locks, asksProduct: false)
        }
        var report = TagReport(outcome.findings)
        report.showsCost = false
        if let failure = outcome.failure { throw CommandFailure(failure).of(report) }
        return report
    }
}
