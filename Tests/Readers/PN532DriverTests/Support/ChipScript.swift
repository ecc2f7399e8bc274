// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import TagLink
import Testing

@testable import PN532Driver  // the limits for tests and the links are internal

/// The answers of a chip, a line for each command: `4a 0100: 01 01 0044 00 04 01020304 | 00`.
///
/// On the left are a command's code and the beginning of its data. On the right are its replies, one after the other;
/// the last one repeats. A reply is the data behind its code in hex, `error` (a syntax error frame), `silence` (the
/// acknowledgement alone), `hang up`, or `usual`. Other commands are answered as by a chip in an empty field.
struct ChipScript: Sendable {
    private let replies: Locked<[(command: [UInt8], replies: [ScriptedChip.Reply?])]>

    init(_ text: String) {
        let lines = text.split(separator: "\n").map {
            $0.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        }
        replies = Locked(
            lines.map { line in
                let replies = line[1].split(separator: "|", omittingEmptySubsequences: false)
                return (Self.bytes(line[0]), replies.map(Self.reply))
            }
        )
    }

    private static func reply(_ text: Substring) -> ScriptedChip.Reply? {
        switch text.filter({ $0 != " " }) {
        case "error": .syntaxError
        case "silence": .silence
        case "hangup": .hangUp
        case "usual": nil
        default: .answer(bytes(text))
        }
    }

    private static func bytes(_ text: Substring) -> [UInt8] {
        let digits = text.utf8.filter { $0 != 0x20 }
        return [UInt8](hexadecimal: digits) ?? { fatalError("no hex: \(text)") }()
    }

    func reply(_ code: UInt8, _ data: [UInt8]) -> ScriptedChip.Reply? {
        replies.withLock { lines in
            guard let index = lines.firstIndex(where: { ([code] + data).starts(with: $0.command) }) else { return nil }
            return lines[index].replies.count > 1 ? lines[index].replies.removeFirst() : lines[index].replies[0]
        }
    }

    /// A Type 2 tag, a Type 1 tag, a card of ISO-DEP, a FeliCa tag and a card of NFC-B, each with its line in a list.
    static let type2 = "4a 0200: 01 01 0044 00 07 04010203040506"
    static let type1 = "4a 0104: 01 01 0c00 01020304"
    static let card = "4a 0200: 01 01 0044 20 04 01020304"
    static let feliCa = "4a 0201: 01 01 12 01 0102030405060708 090a0b0c0d0e0f10"
    static let atqB = "50 01020304 00000000 008171"
    static let nfcB = "4a 0103: 01 01 \(atqB) 01 00"
}

extension ScriptedChip {
    convenience init(on kind: ChipLineKind = .serial, script: String) throws {
        let script = ChipScript(script)
        try self.init(on: kind) { script.reply($0, $1) }
    }

    /// The commands of the host from one of them on: each its code and its data in hex.
    func log(from start: Int = 0) -> [String] {
        received.dropFirst(start).map { received in
            switch received {
            case .command(let code, []): [code].hexText()
            case .command(let code, let data): [code].hexText() + " " + data.hexText()
            case .acknowledge: "ACK"
            case .negativeAcknowledge: "NACK"
            }
        }
    }

    /// What the host sends during some work.
    func log(of work: () async throws -> Void) async rethrows -> [String] {
        let before = received.count
        try await work()
        return log(from: before)
    }

    /// Expects that the host sends exactly these commands during some work.
    func expects(
        _ commands: [String],
        _ location: SourceLocation = #_sourceLocation,
        of work: () async throws -> Void
    ) async rethrows {
        let log = try await log(of: work)
        #expect(log == commands, sourceLocation: location)
    }

    /// A driver's first commands. They wake and identify the chip, and disable its automatic commands.
    static let start = ["14 011400", "02", "12 00", "32 0400", "32 05010001"]
    /// A field that is turned off and on.
    static let restart = ["32 0100", "32 0101"]
}

/// A reader on a scripted chip.
func withReader(
    on kind: ChipLineKind = .serial,
    _ script: String,
    _ body: (ScriptedChip, PN532Reader) async throws -> Void
) async throws {
    let chip = try ScriptedChip(on: kind, script: script)
    defer { chip.end() }
    try await body(chip, try chip.reader())
}

/// A reader on a scripted chip, and the link to the first tag that it finds of a technology.
func withTag(
    on kind: ChipLineKind = .serial,
    _ script: String,
    _ technology: Technology = .nfcA,
    _ body: (ScriptedChip, PN532Reader, any SelfActivatingLink) async throws -> Void
) async throws {
    try await withReader(on: kind, script) { chip, reader in
        let tag = try #require(try await reader.discover([technology], systemCodes: [0x12FC]).first)
        try await body(chip, reader, try tag.link)
    }
}

/// The code of the link error that some work throws; nil when it succeeds.
func code(of work: () async throws -> Void) async -> LinkError.Code? {
    do {
        try await work()
        return nil
    } catch {
        #expect(error is LinkError)
        return (error as? LinkError)?.code
    }
}

extension DiscoveredTag {
    /// The link of a tag that takes frames.
    var link: any SelfActivatingLink {
        get throws(LinkError) {
            guard case .frames(let link) = port else { throw LinkError(.unsupported, "no frames") }
            return link
        }
    }
}

extension FrameLink {
    /// Sends a frame with the time of most commands.
    @discardableResult
    func send(_ bytes: [UInt8], checksum: Frame.Checksum = .automatic) async throws(LinkError) -> Frame {
        try await transceive(Frame(bytes, checksum: checksum), timeout: .milliseconds(5))
    }
}
