// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF
import NFCReaders
import NFCSessions
import TagProtocols
import TagTrace

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

    @OptionGroup var options: SessionOptions

    @Flag(help: "Continue after the first tag.")
    var many = false

    @Flag(help: "Print one JSON object per tag.")
    var json = false

    func run() async throws {
        let scan = try options.begin(
            many ? "Hold one tag after another near the reader." : "Hold a tag near the reader."
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
                // If the session's end interrupted the read, report why the session ended.
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

    /// Reads a tag and prints its message. With `--many`, also prints failures.
    private func read(_ tag: ConnectableTag, in scan: TagSession) async -> CommandFailure? {
        do throws(CommandFailure) {
            let findings = try await scan.work(with: tag) { tag throws(TagError) in try await tag.read() }
            // The command then fails with the recorder's error, whatever the tag contains.
            guard scan.environment.recorder?.failure == nil else { return nil }
            var report = TagReport(findings)
            report.showsCost = false
            if let failure = report.failure(findings.ndefStatus.error) { throw failure }
            scan.print { [report] in report.print(json: json) }
            return nil
        } catch {
            if many, !error.isCutOff { scan.print { error.print(json: json) } }
            return error
        }
    }
}

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

    @OptionGroup var options: SessionOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let bytes = try content.bytes()
        let (checks, locks) = (content.check, content.lock)
        let outcome = try await options.begin(MessageOptions.prompt, savesTags: true).withOneTag(
            doneMessage: content.doneMessage,
            failure: { $0.failure?.sheetMessage }
        ) { tag throws(TagError) in
            await tag.write(bytes, checks: checks, locks: locks, describing: .content)
        }
        var report = TagReport(outcome.findings)
        report.showsCost = false
        if let failure = outcome.failure { throw CommandFailure(failure).of(report) }
        report.print(json: json)
    }
}
