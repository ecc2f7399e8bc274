// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dispatch
import Glibc
import LinuxSupport
import NFCSessions
import TagLink
import TagProtocols
import TagTrace

struct TagRawCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "raw",
        abstract: "Send commands to a tag by hand, and explain each answer.",
        discussion: """
            Commands are hex: an APDU for a card with ISO-DEP, otherwise a frame without
            its checksum. FeliCa packets have no length byte; ISO 15693 requests begin
            with their flags. The tag is already selected. The commands are the
            arguments, or the lines of standard input, where # begins a comment. In a
            terminal, it asks for one command after the other; Ctrl-D ends it. With
            rlwrap before the command, its prompt has a history. nfc raw and nfc shell
            are other names for it.

            A command can have the answer that it expects, after =. In it, .. is any
            byte, and one * stands for any bytes, as in *9000. It stops at the first
            command whose answer is another one, or that has none; at a prompt it goes
            on, and ends with 0. An expected answer of - is silence.

            Examples:
              nfc tag raw card.nfc 60 3004
              nfc tag raw --reader pcsc 00a4040007d2760000850101=9000
              nfc tag raw card.nfc "60 = 00 04 04 02 *"
              nfc tag raw card.nfc --out changed.nfc a204d1010c55
              nfc tag raw --reader pn532:/dev/ttyUSB0 < commands.txt
              rlwrap nfc tag raw --reader pcsc

            An image is changed only with --out. A reader's session lasts 60 seconds.
            Exit status: 0 when every command was answered as expected, 1 when one was
            not, the tag left, or no tag was found, 2 for wrong usage, 3 without a
            reader, 130 when cancelled.
            """,
        aliases: ["shell"]
    )

    @Argument(help: ArgumentHelp("The image of the tag, like --image; and commands.", valueName: "image-or-command"))
    var words: [String] = []

    @OptionGroup var source: NamedTagOptions

    @Option(help: ArgumentHelp("Save the image in this file afterwards.", valueName: "file"))
    var out: String?

    @Flag(help: "Print one JSON object per command.")
    var json = false

    /// The words that are commands. The first word is the image unless it is a command or another option selects the tag.
    private var commands: [String] {
        let isImage = source.reader == nil && !words.isEmpty && (try? RawCommand(words[0])) == nil
        return Array(words.dropFirst(isImage ? 1 : 0))
    }

    mutating func validate() throws {
        if commands.count < words.count { try source.use(image: words[0]) } else { try source.use(image: nil) }
        for word in commands {
            do { _ = try RawCommand(word) } catch { throw ValidationError(error.message) }
        }
        try source.checkImageOption("--out", isGiven: out != nil)
        try OutputTarget.check(image: source.image, out: out, json: json)
    }

    func run() async throws {
        let conversation = RawConversation(commands: try commands.map { try RawCommand($0) }, json: json, out: out)
        let failure: CommandFailure?
        switch try source.open() {
        case .image(let file):
            let tag = file.makeTag()
            failure = await conversation.run(with: try await ImageTagRunner(tag).tag) { $0() }
            if let out { try file.save(tag, to: out) }
        case .reader(let session):
            failure = try await session.withOneTag(doneMessage: "Done.", failure: { $0?.message }) {
                tag throws(TagError) in await conversation.run(with: tag) { session.print($0) }
            }
        }
        if let failure { throw failure }
    }
}

/// A command that a person typed, and the answer that it expects.
struct RawCommand: Sendable {
    enum Expectation: Sendable, Equatable {
        case anything
        case silence
        /// Nil stands for any byte. With an `end`, any bytes may be before it.
        case bytes([UInt8?], end: [UInt8?]?)
    }

    let bytes: [UInt8]
    let expectation: Expectation

    init(_ text: String) throws(CommandFailure) {
        guard let command = try RawCommand(line: text) else {
            throw CommandFailure(.usage, "bad-hex", "The command is empty. Give it in hex, such as 3004.")
        }
        self = command
    }

    /// Creates the command of a line; nil if the line is empty or a comment.
    init?(line: String) throws(CommandFailure) {
        let parts = line.prefix { $0 != "#" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.allSatisfy(\.isWhitespace) else { return nil }
        bytes = try Self.bytes(first)
        expectation = parts.count > 1 ? try Self.expectation(parts[1].filter { !$0.isWhitespace }) : .anything
    }

    private static func bytes(_ text: some StringProtocol) throws(CommandFailure) -> [UInt8] {
        guard case .success(let bytes) = HexText.bytes(Array(text.utf8)[...]) else {
            throw CommandFailure(
                .usage,
                "bad-hex",
                "'\(text)' is not hex. A command has two digits per byte, such as 3004."
            )
        }
        return bytes
    }

    private static func expectation(_ text: String) throws(CommandFailure) -> Expectation {
        if text == "-" { return .silence }
        var parts: [[UInt8?]] = []
        for part in text.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false).map(Array.init) {
            var bytes: [UInt8?] = []
            for start in stride(from: 0, to: part.count, by: 2) {
                let pair = String(part[start..<min(start + 2, part.count)])
                guard pair == ".." || pair.count == 2 && pair.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
                    let message =
                        "'\(text)' is not an answer. Give hex, .. for any byte, one * for any bytes, or - for silence."
                    throw CommandFailure(.usage, "bad-hex", message)
                }
                bytes.append(UInt8(pair, radix: 16))
            }
            parts.append(bytes)
        }
        return .bytes(parts[0], end: parts.count > 1 ? parts[1] : nil)
    }

    /// Whether an answer, or silence, is what the command expects.
    func expects(_ answer: [UInt8]?) -> Bool {
        guard case .bytes(let wanted, let end) = expectation else {
            return (answer == nil) == (expectation == .silence)
        }
        let count = wanted.count + (end?.count ?? 0)
        guard let answer, end == nil ? answer.count == count : answer.count >= count else { return false }
        return (Array(zip(wanted, answer)) + zip((end ?? []).reversed(), answer.reversed()))
            .allSatisfy { $0 == nil || $0 == $1 }
    }
}

/// Sends commands to a tag, and prints them with their answers.
private struct RawConversation: Sendable {
    /// The commands; none for those of standard input.
    let commands: [RawCommand]
    let json: Bool
    let out: String?

    /// Sends the commands until one fails, and returns why. At a prompt, only a lost tag ends it.
    func run(with tag: ActivatedTag, printing: (() -> Void) -> Void) async -> CommandFailure? {
        var interpreter = ExchangeInterpreter()
        do throws(CommandFailure) {
            for command in commands { try await send(command, to: tag, &interpreter, printing) }
            guard commands.isEmpty else { return nil }
            let asks = isatty(STDIN_FILENO) == 1
            let lines = Locked(LineReader(maximumLength: 1 << 18))
            var number = 0
            while !StandardOutput.isBroken {
                if asks { printing { OutputDescriptor.standardError.write("raw> ") } }
                guard let block = try await Self.nextBlock(of: lines) else { break }
                for line in block {
                    number += 1
                    do throws(CommandFailure) {
                        guard let command = try RawCommand(line: String(decoding: line, as: UTF8.self)) else {
                            continue
                        }
                        try await send(command, to: tag, &interpreter, printing)
                    } catch {
                        guard asks, !["tag-lost", "reader-lost", "cancelled"].contains(error.name) else {
                            let place = asks ? "" : "Line \(number): "
                            throw CommandFailure(error.status, error.name, place + error.message)
                        }
                        printing { error.print(json: json) }
                    }
                }
            }
            return Task.isCancelled ? CommandFailure(.cancelled, "cancelled", "Cancelled.") : nil
        } catch {
            return error
        }
    }

    /// Waits for the next lines; nil at the end. Unlike the read, the wait ends when the session does.
    private static func nextBlock(of lines: Locked<LineReader>) async throws(CommandFailure) -> [ArraySlice<UInt8>]? {
        let (results, continuation) = AsyncStream.makeStream(of: Result<[ArraySlice<UInt8>]?, CommandFailure>.self)
        DispatchQueue.global().async {
            continuation.yield(
                lines.withLock { lines in Result { () throws(CommandFailure) in try lines.nextBlock() } }
            )
            continuation.finish()
        }
        return try await results.first { _ in true }?.get()
    }

    private func send(
        _ command: RawCommand,
        to tag: ActivatedTag,
        _ interpreter: inout ExchangeInterpreter,
        _ printing: (() -> Void) -> Void
    ) async throws(CommandFailure) {
        var answer: [UInt8]?
        var failure: CommandFailure?
        do throws(TagError) {
            // Half a second is more than a tag of any type takes, to write its memory too.
            let packet = TagPacket(command.bytes, answer: .within(.milliseconds(500)), deliversRefusals: true)
            answer = try await tag.send(packet)
        } catch {
            // The reader waits in vain for a command that the tag does not know, too.
            let isSilent = error.code == .badAnswer && error.link?.code == .timeout
            let silence = CommandFailure(
                "no-answer",
                "The tag is present, but did not answer \(command.bytes.hexText())."
            )
            if !isSilent || command.expectation != .silence { failure = isSilent ? silence : CommandFailure(error) }
        }
        if failure == nil, !command.expects(answer) {
            let message = "The answer to \(command.bytes.hexText()) is not the one that the command expects."
            failure = CommandFailure("unexpected-answer", message)
        }
        let (words, answerWords) = Self.meanings(command.bytes, answer, tag, &interpreter)
        printing {
            printResult(
                json: json,
                beside: out,
                [
                    "ok": failure == nil, "command": command.bytes.hexText(), "meaning": words,
                    "answer": answer?.hexText(), "answer_meaning": answerWords,
                ],
                [
                    "> \(command.bytes.hexText())  \(words)",
                    "< \(answer.map { $0.hexText() + "  " } ?? "")\(answerWords)",
                ]
            )
        }
        if let failure { throw failure }
    }

    /// What a command and its answer mean, read as they are on air.
    private static func meanings(
        _ command: [UInt8],
        _ answer: [UInt8]?,
        _ tag: ActivatedTag,
        _ interpreter: inout ExchangeInterpreter
    ) -> (command: String, answer: String) {
        let technology = tag.target.technology
        func frame(_ bytes: [UInt8]) -> Frame {
            let length = technology == .nfcF ? [UInt8(truncatingIfNeeded: bytes.count + 1)] : []
            return Frame(length + bytes, checksum: tag.packetChecksum)
        }
        let words = interpreter.meaning(of: frame(command), over: tag.card == nil ? .frames(technology) : .commands)
        guard let answer else { return (words, "no answer") }
        // Of a four-bit answer, the byte has these bits alone.
        let isAcknowledgement = technology == .nfcA && tag.card == nil && answer.count == 1 && answer[0] <= 0x0F
        let answerFrame = isAcknowledgement ? Frame(bits: answer, validBitsInLastByte: 4) : frame(answer)
        return (words, interpreter.meaning(ofAnswer: answerFrame))
    }
}
