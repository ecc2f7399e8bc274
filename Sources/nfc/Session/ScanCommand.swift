// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF
import NFCRuntime
import TagProtocols

/// `nfc scan`.
struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Read the next tag near the reader, and print its message.",
        discussion: """
            The scanning sheet is shown in the terminal, or as NFC_SHEET says;
            Esc or Ctrl-C cancels. With --many it goes on until the time is over.

            Examples:
              nfc scan
              nfc scan --reader virtual --tags card.nfc,badge.nfc
              nfc scan --many --timeout 10 --json
              nfc scan --record card.jsonl
              nfc scan --reader replay:card.jsonl

            Exit status: 0 when a tag was read, 1 when it could not be or none
            came, 2 for wrong usage, 3 without a reader, 130 when cancelled.
            """
    )

    @OptionGroup var reader: ReaderOptions

    @Flag(help: "Go on after the first tag.")
    var many = false

    @Option(help: ArgumentHelp("Keep all that goes on at the reader in this file; see nfc trace.", valueName: "file"))
    var record: String?

    @Option(help: "Give up after so many seconds, 60 at most.")
    var timeout: Double?

    @Flag(help: "Print one JSON object a tag.")
    var json = false

    func validate() throws {
        if let timeout { try checkTimeout(timeout) }
    }

    func run() async throws {
        try await reportingFailure(json: json, scan)
    }

    private func scan() async throws(CommandFailure) {
        let scan = try TagSession(
            environment: try reader.environment(recording: record),
            prompt: many ? "Hold one tag after the other near the reader." : "Hold a tag near the reader.",
            seconds: timeout
        )
        var found = false
        var failure: CommandFailure?
        for await event in scan.events {
            switch event {
            case .becameActive: break
            case .detected(let tags):
                failure = nil
                for tag in tags {
                    if let error = await read(tag, in: scan) { failure = error } else { found = true }
                }
                if many {
                    scan.session.alertMessage = "Hold the next tag near the reader."
                    scan.session.restartPolling(skippingReported: true)
                } else if let failure {
                    scan.session.invalidate(errorMessage: failure.message)
                } else {
                    scan.session.alertMessage = "The message was read."
                    scan.session.endAfterFirstMessage()
                }
            case .ended(let end):
                if failure == nil || many { failure = CommandFailure(end, found: found) }
            }
        }
        await scan.close()
        try scan.checkRecording()
        if let failure { throw failure }
    }

    /// Reads a tag and prints what it says; with `--many` a failure is printed too.
    private func read(_ tag: DetectedTag, in scan: TagSession) async -> CommandFailure? {
        do throws(CommandFailure) {
            let findings = try await scan.work(with: tag) { hand throws(TagError) in
                let findings = try await hand.read()
                if let error = findings.survey.error { throw error }
                return findings
            }
            var report = TagReport(findings)
            report.cost = nil
            report.activation = nil
            scan.print { [report] in report.print(json: json, decodes: true) }
            return nil
        } catch {
            if many { scan.print { try? error.report(json: json) } }
            return error
        }
    }
}
