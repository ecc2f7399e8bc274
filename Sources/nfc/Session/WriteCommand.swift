// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCRuntime
import TagProtocols

/// `nfc write`.
struct WriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a link, a text or a message to the next tag near the reader.",
        discussion: """
            A message that does not fit, and a tag that is read-only, are told
            before anything is written. Images that --tags names are saved.

            Examples:
              nfc write https://example.com
              nfc write --text "Room 12" --language en
              nfc write --message d1010c55046578616d706c652e636f6d --lock

            Exit status: 0 when it was written, 1 when the tag said no or none
            came, 2 for wrong usage, 3 without a reader, 130 when cancelled.
            """
    )

    @OptionGroup var content: MessageOptions

    @OptionGroup var reader: ReaderOptions

    @Flag(help: "Make the tag read-only afterwards, for ever.")
    var lock = false

    @Flag(help: "Read the message from the tag afterwards, and compare.")
    var check = false

    @Option(help: ArgumentHelp("Keep all that goes on at the reader in this file; see nfc trace.", valueName: "file"))
    var record: String?

    @Option(help: "Give up after so many seconds, 60 at most.")
    var timeout: Double?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if let timeout, !(timeout > 0 && timeout <= 60) {
            throw ValidationError("--timeout takes more than 0 and at most 60 seconds.")
        }
    }

    func run() async throws {
        let report = try await reportingFailure(json: json, write)
        report.print(json: json)
    }

    private func write() async throws(CommandFailure) -> TagReport {
        let octets = try content.octets()
        let work = try TagSession(
            environment: try reader.environment(savesTags: true, recording: record),
            prompt: "Hold the tag to write near the reader.",
            seconds: timeout
        )
        var result: Result<TagReport, CommandFailure>?
        for await event in work.events {
            switch event {
            case .becameActive: break
            case .detected(let tags):
                guard let tag = tags.first, tags.count == 1 else {
                    work.session.alertMessage = "There is more than one tag. Take away all but one."
                    _ = work.environment.clock.schedule(after: .milliseconds(500)) { [session = work.session] in
                        session.restartPolling()
                    }
                    continue
                }
                do throws(CommandFailure) {
                    result = .success(try await write(octets, to: tag, in: work))
                    work.session.alertMessage = lock ? "Written and locked." : "Written."
                    work.session.endAfterFirstMessage()
                } catch {
                    result = .failure(error)
                    work.session.invalidate(errorMessage: error.message)
                }
            case .ended(let end):
                result = result ?? CommandFailure(end, found: false).map { .failure($0) }
            }
        }
        await work.close()
        try work.checkRecording()
        guard let result else { throw CommandFailure(.cancelled, "cancelled", "Cancelled.") }
        return try result.get()
    }

    private func write(
        _ octets: [UInt8],
        to tag: DetectedTag,
        in work: TagSession
    ) async throws(CommandFailure) -> TagReport {
        let uid = tag.target.identifier
        let locks = lock
        let checks = check
        return try await work.perform(on: tag) { forumTag throws(TagError) in
            let detection = try await forumTag.detectNDEF()
            try await forumTag.writeNDEF(octets)
            if checks { try await forumTag.checkNDEF(octets) }
            if locks { try await forumTag.lock() }
            return TagReport(
                type: forumTag.type,
                uid: uid,
                status: locks ? .readOnly : TagReport.Status(detection.access),
                capacity: detection.capacity,
                message: octets
            )
        }
    }
}
