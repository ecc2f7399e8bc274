// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// A chip or a reader, as the host of a script uses it.
protocol ScriptedDevice {
    /// The answer to a request: bytes as hexadecimal text, or words for another outcome.
    mutating func answer(to request: String) async -> String
}

/// Scripts of a host's requests and of the answers that the manual gives to them, a line each, or more with semicolons.
///
///     + ntag                          # Brings a tag. `- ntag` takes it away, and `-` takes all away.
///     4A 01 00 -> 01 01 0044 .. *     # A request and its answer.
///     44 01 -> 00 | 50 00             # Also the frames that went to tags meanwhile, with commas between them;
///                                     # `...` for more of them.
///
/// In an answer, `..` is any byte, `..16` are sixteen of them, `*` is any rest, and `$a` is a byte that is the same in
/// all lines. A request may have it too. Without `->`, any answer will do.
struct HostScript<Device: ScriptedDevice> {
    let field: VirtualField
    var device: Device
    private var tags: [String: any VirtualTag] = [:]
    private var captured: [Substring: UInt8] = [:]

    init(
        _ field: VirtualField = VirtualField(),
        tags: [String: any VirtualTag] = [:],
        _ device: (VirtualField) -> Device
    ) {
        (self.field, self.tags, self.device) = (field, tags, device(field))
    }

    mutating func tag(_ name: String) -> any VirtualTag {
        if let tag = tags[name] { return tag }
        let tag = SampleTag.named(name)
        tags[name] = tag
        return tag
    }

    /// Runs a script. Each line whose answer is another one is a failure.
    mutating func run(_ script: String, _ comment: String = "", at location: SourceLocation = #_sourceLocation) async {
        for step in script.split(separator: "\n").flatMap({ $0.prefix { $0 != "#" }.split(separator: ";") }) {
            let text = step.trimmed
            if text.isEmpty { continue }
            if text.hasPrefix("+") || text.hasPrefix("-") {
                change(text)
            } else if let failure = await play(text) {
                Issue.record("\(text): \(failure) \(comment)", sourceLocation: location)
            }
        }
    }

    private mutating func change(_ line: Substring) {
        let names = line.dropFirst().split(separator: " ")
        if names.isEmpty { field.removeAll() }
        for name in names {
            if line.hasPrefix("+") { field.bring(tag(String(name))) } else { field.remove(tag(String(name))) }
        }
    }

    /// What is wrong with the answer to a line; nil when it is right.
    private mutating func play(_ line: Substring) async -> String? {
        let sides = line.split(separator: "->").map(\.trimmed)
        let words = sides[0].split(separator: " ").map { word in
            captured[word].map { [$0].hex } ?? String(word)
        }
        field.startRecording()
        let answer = await device.answer(to: words.joined(separator: " "))
        let frames = field.stopRecording().map(\.request.bytes.hex)
        guard sides.count == 2 else { return nil }
        let wanted = sides[1].split(separator: "|").map(\.trimmed)
        guard matches(answer, wanted[0]) else { return "was \(answer)" }
        guard wanted.count == 2 else { return nil }
        var expected = wanted[1] == "nothing" ? [] : wanted[1].split(separator: ",").map(\.trimmed)
        let hasMore = expected.last == "..."
        if hasMore { expected.removeLast() }
        guard hasMore ? frames.count >= expected.count : frames.count == expected.count else { return "sent \(frames)" }
        for (frame, pattern) in zip(frames, expected) where !matches(frame, pattern) { return "sent \(frames)" }
        return nil
    }

    private mutating func matches(_ answer: String, _ pattern: Substring) -> Bool {
        if answer == pattern { return true }
        var rest = [UInt8](hex: answer)[...]
        guard answer.allSatisfy({ $0.isHexDigit || $0 == " " }) else { return false }
        for token in pattern.split(separator: " ") {
            if token == "*" { return true }
            let isAny = token.hasPrefix("..")
            let count = token.hasPrefix("$") ? 1 : isAny ? Int(token.dropFirst(2)) ?? 1 : token.count / 2
            guard rest.count >= count else { return false }
            let found = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            if isAny { continue }
            if token.hasPrefix("$"), captured[token] == nil { captured[token] = found[0] }
            let wanted = captured[token].map { [$0] } ?? [UInt8](hex: String(token))
            if found != wanted { return false }
        }
        return rest.isEmpty
    }
}

extension HostScript<PN53xChip> {
    /// A chip that has just been powered on.
    static func chip(_ tags: [String: any VirtualTag] = [:], in field: VirtualField = VirtualField()) -> Self {
        HostScript(field, tags: tags) { PN53xChip(field: $0) }
    }

    /// A chip on its own.
    static func run(_ script: String, at location: SourceLocation = #_sourceLocation) async {
        var host = chip()
        await host.run(script, at: location)
    }
}

extension HostScript<EmulatedReader> {
    static func reader(_ profile: ReaderProfile, _ tags: [String: any VirtualTag] = [:]) -> Self {
        HostScript(tags: tags) { EmulatedReader(profile, field: $0) }
    }

    /// A reader on its own.
    static func run(_ profile: ReaderProfile, _ script: String, at location: SourceLocation = #_sourceLocation) async {
        var host = reader(profile)
        await host.run(script, at: location)
    }
}

extension PN53xChip: ScriptedDevice {
    /// The request is the bytes after D4, or `reset`.
    mutating func answer(to request: String) async -> String {
        guard request != "reset" else {
            await reset()
            return ""
        }
        switch await receive([UInt8](hex: request)) {
        case .answer(let bytes): return bytes.isEmpty ? "empty" : bytes.hex
        case .waiting: return "waiting"
        case .syntaxError: return "syntax error"
        }
    }
}

extension EmulatedReader: ScriptedDevice {
    /// The request is an APDU, or a word: `up`, `down`, `reset`, `look`, `anew`; or with bytes: `escape`, `control`,
    /// `attribute`; `pn532` for a command to the chip in an APDU; `manage`, `exchange`, `switch` for the data objects
    /// of the three commands of a transparent session.
    mutating func answer(to request: String) async -> String {
        let words = request.split(separator: " ")
        let bytes = [UInt8](hex: words.dropFirst().joined())
        let code = words.count > 1 ? UInt32(words[1], radix: 16) ?? 0 : 0
        switch words[0] {
        case "up": return Self.text(await setPower(.up))
        case "down": return Self.text(await setPower(.down))
        case "reset": return Self.text(await setPower(.reset))
        case "look": return Self.text(await look())
        case "anew": return Self.text(await hostConnected())
        case "escape": return Self.text(await control(0x4200_0001, bytes))
        case "control": return Self.text(await control(code, Array(bytes.dropFirst(4))))
        case "attribute": return Self.text(attribute(code))
        case "pn532": return Self.text(await transmit([0xFF, 0, 0, 0, UInt8(bytes.count + 1), 0xD4] + bytes))
        case "manage": return Self.text(await transmit([0xFF, 0xC2, 0, 0, UInt8(bytes.count)] + bytes))
        case "exchange": return Self.text(await transmit([0xFF, 0xC2, 0, 1, UInt8(bytes.count)] + bytes))
        case "switch": return Self.text(await transmit([0xFF, 0xC2, 0, 2, UInt8(bytes.count)] + bytes))
        default: return Self.text(await transmit([UInt8](hex: request)))
        }
    }

    private static func text(_ reply: Reply) -> String {
        switch reply {
        case .done(let bytes): bytes.isEmpty ? "empty" : bytes.hex
        case .noCard: "no card"
        case .unsupported: "unsupported"
        case .failed: "failed"
        }
    }

    private static func text(_ change: Change) -> String {
        let words = [change.hasLost ? "lost" : nil, change.hasFound ? "found" : nil].compactMap(\.self)
        return words.isEmpty ? "same" : words.joined(separator: " ")
    }
}

/// Tags by the names that scripts give them.
enum SampleTag {
    static let ntagUID: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]
    static let idm: [UInt8] = [0x02, 0xFE, 1, 2, 3, 4, 5, 6]
    /// A card of Type A that begins ISO-DEP with ATS 05 78 80 70 02.
    static let ats: [UInt8] = [0x05, 0x78, 0x80, 0x70, 0x02]

    static func ntag(_ last: UInt8 = 0x80) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: ntagUID.dropLast() + [last])
    }

    static func card(_ frontEnd: Type4FrontEnd? = nil) -> VirtualType4Tag {
        VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]), frontEnd: frontEnd)
    }

    static func nfcA(_ uid: [UInt8]) -> VirtualType4Tag { card(.nfcA(uid: uid, ats: ats)) }
    static func nfcB(_ pupi: [UInt8]) -> VirtualType4Tag { card(.nfcB(pupi: pupi)) }
    /// A card of Type B without ISO-DEP.
    static func plainB(_ pupi: [UInt8]) -> VirtualType4Tag {
        card(.nfcB(pupi: pupi, protocolInfo: [0x00, 0x80, 0x71]))
    }

    static func felica(_ last: UInt8 = 6) -> VirtualType3Tag {
        VirtualType3Tag(FeliCaLiteSContents(idm: idm.dropLast() + [last]))
    }

    static func vicinity(_ last: UInt8) -> VirtualType5Tag {
        VirtualType5Tag(Type5Contents(blank: .icodeSLIX, uid: [0xE0, 4, 1, 0x10, 1, 2, 3, last]))
    }

    /// A card that answers 01 with bytes of this count, 02 with the first 262 of them, and 03 with 09.
    static func talkative(_ count: Int) -> VirtualType4Tag {
        var card = ScriptedCard()
        card.answer([1], with: longAnswer(count))
        card.answer([2], with: longAnswer(262))
        card.answer([3], with: [9])
        return VirtualType4Tag(card: card, frontEnd: .nfcA(uid: VirtualType4Tag.defaultUID, ats: ats))
    }

    static func longAnswer(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }

    static func named(_ name: String) -> any VirtualTag {
        switch name {
        case "ntag": ntag()
        case "ntag81": ntag(0x81)
        case "ntag82": ntag(0x82)
        case "classic": NFCATag(NFCAContents(uid: [1, 2, 3, 4], atqa: 0x0004, sak: 0x08))
        case "topaz": VirtualType1Tag(.topaz512)
        case "felica": felica()
        case "typeA": card()
        case "typeB":
            card(
                .nfcB(pupi: [1, 2, 3, 4], applicationData: [0x21, 0, 0, 0], protocolInfo: [0x00, 0x81, 0x75])
            )
        case "plainB": plainB([1, 2, 3, 4])
        case "slix": VirtualType5Tag(.icodeSLIX)
        default: preconditionFailure("no sample tag \(name)")
        }
    }
}

extension [UInt8] {
    /// Bytes from hexadecimal text; spaces do not count.
    init(hex text: String) {
        let digits = text.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    var hex: String { self[...].hex }
}

extension ArraySlice<UInt8> {
    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined() }
}

extension Substring {
    /// Without the spaces at its ends.
    fileprivate var trimmed: Substring {
        let start = drop { $0 == " " }
        return start.prefix(start.count - start.reversed().prefix { $0 == " " }.count)
    }
}
