// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import NDEF
import NFCReaders
import NFCSessions
import TagProtocols
import TagTrace

/// `nfc scan`.
struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Read the next tag near the reader, and print its message.",
        discussion: """
            The scanning sheet appears in the terminal, or where NFC_SHEET says. Esc or
            Ctrl-C cancels. If several tags are near, it reads the first that can be
            read. With --many it reads every tag until the time is over. With --json
            the product is always null: nfc tag read asks the tag for it.

            Examples:
              nfc scan
              nfc scan --reader virtual --tags card.nfc
              nfc scan --many --timeout 10 --json
              nfc scan --record card.jsonl
              nfc scan --reader replay:card.jsonl

            Exit status: 0 when a tag was read, 1 when no tag came, it could not be
            read, or its content is not a valid message, 2 for wrong usage, 3 without
            a reader, 130 when cancelled.
            """
    )

    @OptionGroup var reader: ReaderOptions

    @Flag(help: "Continue after the first tag.")
    var many = false

    @Option(
        help: ArgumentHelp(
            "Record the session in this file, in place of an older recording; see nfc trace.",
            valueName: "file"
        )
    )
    var record: String?

    @Option(help: "Give up after this many seconds, up to 60.")
    var timeout: SecondsArgument?

    @Flag(help: "Print one JSON object per tag.")
    var json = false

    func validate() throws {
        if let timeout { try checkTimeout(timeout) }
        try checkRecord(record)
    }

    func run() async throws {
        try await reportingFailure(json: json, scan)
    }

    private func scan() async throws(CommandFailure) {
        let scan = try TagSession(
            environment: try reader.environment(recording: record, seconds: timeout?.value, imageOption: "--tags"),
            prompt: many ? "Hold one tag after the other near the reader." : "Hold a tag near the reader.",
            seconds: timeout?.value
        )
        var visit = TagVisit.none
        var hasTimedOut = false
        var failure: CommandFailure?
        for await event in scan.events {
            switch event {
            case .becameActive: break
            case .detected(let tags):
                for tag in tags {
                    failure = await read(tag, in: scan)
                    if failure == nil {
                        visit = .used
                        if !many { break }
                    } else if visit == .none {
                        visit = .failed
                    }
                }
                if StandardOutput.isBroken {
                    scan.session.fail(.userCanceled)
                } else if let failure = scan.environment.recorder?.failure {
                    scan.session.invalidate(errorMessage: failure.reason)
                } else if many {
                    scan.session.alertMessage = "Hold the next tag near the reader."
                    scan.session.restartPolling(skippingReported: true)
                } else if let failure {
                    scan.session.invalidate(errorMessage: failure.message)
                } else {
                    scan.session.alertMessage = "The message was read."
                    scan.session.endAfterFirstMessage()
                }
            case .ended(let end):
                hasTimedOut = end == .timeout
                // The end that cut a read off is the reason of the failure.
                if many || failure?.isCutOff ?? true {
                    failure = CommandFailure(end, after: visit, on: scan.environment.driver)
                }
            }
        }
        await scan.close()
        try scan.checkFiles()
        if StandardOutput.isBroken { return }
        if hasTimedOut, visit != .used { try await scan.checkReader() }
        if let failure { throw failure }
    }

    /// Reads a tag and prints its message; with `--many` a failure is printed too.
    private func read(_ tag: ConnectableTag, in scan: TagSession) async -> CommandFailure? {
        do throws(CommandFailure) {
            let findings = try await scan.work(with: tag) { tag throws(TagError) in try await tag.read() }
            // The command then fails with that error, whatever the tag holds.
            guard scan.environment.recorder?.failure == nil else { return nil }
            var report = TagReport(findings)
            report.showsCost = false
            if let failure = report.failure(findings.survey.error) { throw failure }
            scan.print { [report] in report.print(json: json) }
            return nil
        } catch {
            if many, !error.isCutOff { scan.print { error.print(json: json) } }
            return error
        }
    }
}

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
