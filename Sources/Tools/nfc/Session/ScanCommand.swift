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
            the product is always null: nfc tag read asks the tag for it. Without a
            reader, it shows the demonstration tag of the virtual reader, and the first
            line says so; with --json it fails.

            Examples:
              nfc scan
              nfc scan card.nfc
              nfc scan --reader virtual
              nfc scan --many --timeout 10 --json
              nfc scan --record card.jsonl
              nfc scan --reader replay:card.jsonl

            Exit status: 0 when a tag was read, 1 when no tag was found, it could not be
            read, or its content is not a valid message, 2 for wrong usage, 3 without a
            reader, 130 when cancelled.
            """
    )

    @Argument(help: ArgumentHelp("An image, or a folder of them, to read instead, like --tags.", valueName: "image"))
    var image: String?

    @OptionGroup var options: SessionOptions

    @Flag(help: "Continue after the first tag.")
    var many = false

    @Flag(help: "Print one JSON object per tag.")
    var json = false

    mutating func validate() throws { try options.reader.use(image: image) }

    func run() async throws {
        let scan = try options.begin(
            many ? "Hold one tag after another near the reader." : "Hold a tag near the reader.",
            withoutReader: json ? .fails : .showsDemonstrationTag
        )
        try await scan.naming { try await run(scan) }
    }

    private func run(_ scan: TagSession) async throws {
        var visit = TagVisit.none
        var hasTimedOut = false
        var failure: CommandFailure?
        for await event in scan.events {
            switch event {
            case .becameActive: break
            case .detected(let tags):
                for tag in tags {
                    failure = await read(tag, in: scan)
                    await scan.signal(isSuccess: failure == nil)
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
            var report = TagReport(findings, on: scan.environment)
            report.showsCost = false
            if let failure = report.failure(findings.ndefStatus.error) { throw failure }
            scan.print { [report] in report.print(json: json) }
            return nil
        } catch {
            if many, !error.isCutOff { scan.print { error.on(scan.readerName).print(json: json) } }
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

            Several links and options make a message of several records, in the order
            of the options below. Without a reader it fails, and nothing is written.

            With --batch, it writes one tag after the other, one for each line of a
            table (CSV). The first line names the columns; {name} in a link or an option
            is the line's value, percent-encoded in a link, {row} its number, and {uid}
            the tag's UID. Hold one tag at a time near the reader. The log has a line
            for each tag that was written: number, UID, message in hex. The same command
            continues after an end, and fails if the rows that are written have changed.
            No tag in the log is written again; tags with random UIDs can't be told
            apart.

            Examples:
              nfc write https://example.com
              nfc write --text "Room 12" --language en
              nfc write card.nfc https://example.com
              nfc write --wifi Guests --password "a long one"
              nfc write --contact "Ada Lovelace" --phone +441234567
              nfc write https://example.com --app com.example.app --lock
              nfc write --batch seats.csv "https://example.com/{seat}?tag={uid}"

            Exit status: 0 when the message was written, 1 when the tag refused it, no
            tag was found, or --message is not a valid message, 2 for wrong usage, 3
            without a reader, 130 when cancelled.
            """
    )

    @Argument(
        help: ArgumentHelp("Links to write; and the image of the tag, like --tags.", valueName: "link-or-image")
    )
    var words: [String] = []

    @OptionGroup var content: MessageOptions

    @OptionGroup var writing: WriteOptions

    @Option(help: ArgumentHelp("Write one tag for each line of this table.", valueName: "file"))
    var batch: String?

    @Option(help: ArgumentHelp("The log of --batch. Default: the table's name with .log.", valueName: "file"))
    var log: String?

    @OptionGroup var options: SessionOptions

    @Flag(help: "Print one JSON object; with --batch, one for each tag.")
    var json = false

    mutating func validate() throws {
        try options.reader.use(image: writing.split(words, content).image)
        if batch == "-", log == nil { throw ValidationError("Name a log for a table from standard input: --log FILE.") }
        guard batch == nil else { return }
        guard log == nil else { throw ValidationError("--log works only with --batch. Leave it out.") }
    }

    func run() async throws {
        if let batch {
            let links = try writing.split(words, content).links
            let table = try BatchWriting(
                table: batch,
                log: log,
                links: links,
                content: content,
                writing: writing,
                options: options,
                json: json
            )
            return try await table.run()
        }
        let bytes = try content.bytes(writing.split(words, content).links)
        let (checks, locks) = (writing.check, writing.lock)
        let session = try options.begin(WriteOptions.prompt, savesTags: true)
        let outcome = try await session.withOneTag(
            doneMessage: writing.doneMessage,
            failure: { $0.failure?.sheetMessage }
        ) { tag throws(TagError) in
            await tag.write(bytes, checks: checks, locks: locks, describing: .content)
        }
        var report = TagReport(outcome.findings, on: session.environment)
        report.showsCost = false
        if let failure = outcome.failure { throw report.failure(ofWrite: failure) }
        report.print(json: json)
    }
}
