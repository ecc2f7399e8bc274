// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TagLink
import TagProtocols
import Testing

/// Calls on a tag's reader, and the exact exchanges that each of them makes:
///
///     detect: rw 46 0                                  a call and its result, or the code of its error
///     > 3003 < e1100600 0300fe00 {8}                   an exchange: the request and the answer
///     3x > a204 0301aafe < silence @20ms               three times, with the timeout that the reader must give
///
/// `{8}` are eight zero bytes and `{8*ab}` eight bytes ab. An answer may be `nak` or another 4-bit code (`nak 5`, `ack`), or
/// a failure: `silence`, `noise`, `collision` (with its bit and the bytes before it), `removed`, `cancelled`,
/// `unavailable`, `unsupported`, `violation`, `in-use`. `~` before a request is a frame without a checksum, `/7` one whose
/// last byte has seven bits, `+` puts the number of bytes in front, as FeliCa does, and `eof` is an empty frame. `;` is a new line.
struct Script {
    struct Call {
        var line: String
        var name: String
        var arguments: [String]
        var result: String
        var steps: [ScriptedLink.Step] = []

        func number(_ index: Int) -> Int { index < arguments.count ? Int(arguments[index]) ?? 0 : 0 }
        func bytes(_ index: Int = 0) -> [UInt8] {
            index < arguments.count ? TagProtocolsTests.bytes(arguments[index]) : []
        }
    }

    private(set) var calls: [Call] = []

    /// - Parameters:
    ///   - checksum: the checksum of all frames without another mark.
    ///   - times: timeouts with a name.
    init(_ text: String, checksum: Frame.Checksum = .automatic, times: [String: Airtime] = [:]) {
        for line in text.split(whereSeparator: { $0 == "\n" || $0 == ";" })
        where !line.allSatisfy(\.isWhitespace) {
            guard line.contains(">") else {
                let parts = line.split(separator: ":", maxSplits: 1)
                let words = parts[0].split(separator: " ").map(String.init)
                let result = parts.count > 1 ? parts[1].trimming : "ok"
                calls.append(
                    Call(line: line.trimming, name: words[0], arguments: Array(words.dropFirst()), result: result)
                )
                continue
            }
            let sides = line.split(separator: ">", maxSplits: 1, omittingEmptySubsequences: false)
            let count = Int(sides[0].trimming.dropLast()) ?? 1
            let pair = sides[1].split(separator: "<", maxSplits: 1)
            let answer = pair[1].split(separator: "@")
            let request = Self.frame(pair[0].trimming, checksum)
            // What has no checksum is answered without one.
            let isRaw = request.checksum == .none && !request.bytes.isEmpty
            var step = ScriptedLink.Step(
                request: request,
                result: Self.answer(answer[0].trimming, isRaw ? .none : checksum)
            )
            if answer.count > 1 {
                let name = answer[1].trimming
                step.timeout = times[name] ?? .milliseconds(Int64(name.dropLast(2)) ?? 0)
            }
            calls[calls.count - 1].steps += [ScriptedLink.Step](repeating: step, count: count)
        }
    }

    private static func frame(_ text: String, _ checksum: Frame.Checksum) -> Frame {
        if text == "eof" { return Frame([], checksum: .none) }
        if text.contains(where: \.isUppercase) { Issue.record("A word in a script stands for nothing: \(text)") }
        let parts = text.split(separator: "/")
        if parts.count == 2 { return Frame(bits: bytes(String(parts[0])), validBitsInLastByte: Int(parts[1]) ?? 8) }
        let content = bytes(text)
        return Frame(
            text.hasPrefix("+") ? [UInt8(content.count + 1)] + content : content,
            checksum: text.hasPrefix("~") ? .none : checksum
        )
    }

    private static let failures: [String: LinkError.Code] = [
        "silence": .timeout, "noise": .transmission, "collision": .collision, "removed": .tagRemoved,
        "cancelled": .cancelled, "unavailable": .readerUnavailable, "unsupported": .unsupported,
        "violation": .protocolViolation, "in-use": .inUse,
    ]

    private static func answer(_ text: String, _ checksum: Frame.Checksum) -> Result<Frame, LinkError> {
        let words = text.split(separator: " ").map(String.init)
        switch words.first ?? "" {
        case "ack": return .success(Frame(bits: [0x0A], validBitsInLastByte: 4))
        case "nak": return .success(Frame(bits: [UInt8(words.last ?? "") ?? 0], validBitsInLastByte: 4))
        case "empty": return .success(Frame([], checksum: checksum))
        case "collision" where words.count > 1:
            let place = LinkError.Collision(bitIndex: Int(words[1]) ?? 0, bits: bytes(words.dropFirst(2).joined()))
            return .failure(LinkError(.collision, "scripted", collision: place))
        case let word:
            if let code = failures[word] { return .failure(LinkError(code, "scripted")) }
            return .success(frame(text, checksum))
        }
    }

    /// Makes each call, and checks its result and that all its exchanges were made.
    func run(
        on link: ScriptedLink,
        _ place: SourceLocation = #_sourceLocation,
        _ perform: (Call) async throws -> String
    ) async {
        for call in calls {
            link.load(call.steps, call.line, place)
            var result: String
            do { result = try await perform(call) } catch let error as TagError {
                result = error.code.description
            } catch let error as LinkError { result = error.code.description } catch { result = "\(error)" }
            if result.isEmpty { result = "-" }
            var wanted = call.result
            if wanted.contains("{") {
                wanted = hex(bytes(wanted))
                result.removeAll(where: \.isWhitespace)
            }
            #expect(result == wanted, "\(call.line)", sourceLocation: place)
            #expect(link.remaining == 0, "\(call.line): exchanges are left", sourceLocation: place)
        }
    }
}

/// A part of a file of scripts, which has a title and any number of scripts, each for another tag:
///
///     # Type 2 read: a NAK has its code          the title: subject, condition and result
///     -- a comment
///     let WAKE = > 52/7 < 4400; > 93... < 04     a word in capitals that stands for a text, up to the end of the file
///     with uid 02a1b2c3d4e580, frame 64          what is special about the tag or the reader, for one script
///     detect: CODE
///     > 3003 < ANSWER
///     | ANSWER | CODE |                          the script is run once for each row, with its cells
///     | nak 0  | read-protected |
///
/// A blank line ends a script.
struct Scenario: Sendable, CustomTestStringConvertible {
    struct Case: Sendable {
        var text = ""
        var options: [String: String] = [:]

        func number(_ name: String) -> Int? { options[name].flatMap { Int($0) } }
    }

    let title: String
    private(set) var cases: [Case] = []
    var testDescription: String { title }

    /// The scenarios of a file in the folder `Vectors`.
    static func all(in file: String) throws -> [Scenario] {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors/\(file)")
        let text = try String(contentsOf: url, encoding: .utf8)
        var scenarios: [Scenario] = []
        var definitions: [String: String] = [:]
        var (draft, rows) = (Case(), [[String]]())
        func finish() {
            guard !draft.text.isEmpty else { return }
            for row in rows.isEmpty ? [[]] : rows.dropFirst() {
                let cells = Dictionary(zip(rows.first ?? [], row)) { first, _ in first }
                let filled = Self.fill(Self.fill(Self.fill(draft.text, definitions), cells), definitions)
                let options = draft.options.mapValues { Self.fill($0, cells) }
                scenarios[scenarios.count - 1].cases.append(Case(text: filled, options: options))
            }
            (draft, rows) = (Case(), [])
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(\.trimming) + [""] {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            switch words.first {
            case nil: finish()
            case "--": break
            case "#": scenarios.append(Scenario(title: String(line.dropFirst(2))))
            case "let": definitions[words[1]] = Self.fill(words[3], definitions)
            case "with":
                for option in line.dropFirst(5).split(separator: ",") {
                    let pair = option.split(separator: " ").map(String.init)
                    draft.options[pair[0]] = pair.count > 1 ? pair[1] : ""
                }
            case "|": rows.append(line.split(separator: "|").map(\.trimming))
            default: draft.text += line + "\n"
            }
        }
        return scenarios
    }

    /// Puts texts in the place of words in capitals.
    private static func fill(_ text: String, _ texts: [String: String]) -> String {
        text.replacing(#/[A-Z]+/#) { texts[String($0.output)] ?? String($0.output) }
    }
}

/// Makes a call that the readers of all types have.
func callForumTag(_ tag: any ForumTag, _ call: Script.Call) async throws -> String {
    switch call.name {
    case "detect":
        let found = try await tag.detectNDEF()
        return "\(found.access == .readWrite ? "rw" : "ro") \(found.capacity) \(found.messageLength)"
    case "read": return hex(try await tag.readNDEF())
    case "write": try await tag.writeNDEF(call.bytes())
    case "lock": try await tag.lock()
    case "check-lock": try await tag.checkLocking()
    case "prepare": try await tag.prepare()
    case "present": return await tag.isPresent() ? "yes" : "no"
    case "activated": tag.wasActivated()
    case "forget": tag.forgetMemory()
    case "format": try await format(tag)
    default: return "no such call"
    }
    return "ok"
}

/// A link whose reader selects its tag by itself. In a script that is a request of one bit, `00/1`.
final class SelfSelectingLink: SelfActivatingLink {
    let script: ScriptedLink

    init(_ script: ScriptedLink) { self.script = script }

    var technology: Technology { script.technology }
    var maximumFrameLength: Int { script.maximumFrameLength }
    var statistics: LinkStatistics { script.statistics }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        try await script.transceive(frame, timeout: timeout)
    }

    func reactivate() async throws(LinkError) {
        _ = try await script.transceive(Frame(bits: [0], validBitsInLastByte: 1), timeout: .zero)
    }
}

/// Formats a tag, as the reader of its type does.
func format(_ tag: any ForumTag) async throws {
    switch tag {
    case let tag as Type1Tag: try await tag.format()
    case let tag as Type2Tag: try await tag.format()
    case let tag as Type3Tag: try await tag.format()
    case let tag as Type4Tag: try await tag.format()
    case let tag as Type5Tag: try await tag.format()
    default: throw TagError(.unsupported, "no such type")
    }
}

/// A link to a tag, or to a card behind ISO-DEP, that answers an exact list of requests and records an issue for any other.
final class ScriptedLink: FrameLink, APDULink {
    /// One exchange: the expected request, and the answer.
    struct Step: Sendable {
        var request: Frame
        var result: Result<Frame, LinkError>
        /// The expected timeout, if the test checks it.
        var timeout: Airtime?
    }

    private struct State {
        var steps: [Step] = []
        var statistics = LinkStatistics()
        var line = ""
        var place: SourceLocation?
    }

    private let state = Mutex(State())
    let technology: Technology
    let maximumFrameLength: Int
    let countsAir = true
    let (maximumCommandLength, maximumResponseLength) = (65544, 65538)
    let singleBlockCommandLength: Int
    let singleBlockResponseLength: Int

    init(_ technology: Technology = .nfcA, maximumFrameLength: Int = 256, block: Int = 253) {
        self.technology = technology
        self.maximumFrameLength = maximumFrameLength
        singleBlockCommandLength = block
        singleBlockResponseLength = block
    }

    /// A link whose exchanges belong to one call.
    convenience init(_ technology: Technology = .nfcA, exchanges: String, place: SourceLocation = #_sourceLocation) {
        self.init(technology)
        load(Script("exchanges\n" + exchanges).calls[0].steps, "exchanges", place)
    }

    func load(_ steps: [Step], _ line: String, _ place: SourceLocation) {
        state.withLock {
            $0.steps = steps
            $0.line = line
            $0.place = place
        }
    }

    var statistics: LinkStatistics { state.withLock { $0.statistics } }
    /// How many exchanges of the script were not made.
    var remaining: Int { state.withLock { $0.steps.count } }

    func isPresent() async -> Bool { true }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        try await transceive(Frame(apdu), timeout: .zero).bytes
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let result = state.withLock { state -> Result<Frame, LinkError> in
            let place = state.place ?? #_sourceLocation
            guard let step = state.steps.first else {
                Issue.record("\(state.line): unexpected request \(hex(frame.bytes))", sourceLocation: place)
                return .failure(LinkError(.readerUnavailable, "The script is over."))
            }
            state.steps.removeFirst()
            if step.request != frame {
                let text = "request \(hex(frame.bytes)) in place of \(hex(step.request.bytes))"
                Issue.record("\(state.line): \(text)", sourceLocation: place)
            }
            if let wanted = step.timeout, wanted != timeout {
                let text = "\(hex(frame.bytes)) waits \(timeout) in place of \(wanted)"
                Issue.record("\(state.line): \(text)", sourceLocation: place)
            }
            state.statistics.count(
                request: frame,
                response: try? step.result.get(),
                timing: FrameTiming(technology),
                timeout: timeout
            )
            return step.result
        }
        return try result.get()
    }
}

/// Returns the code of the error with which a procedure fails; nil when it does not fail.
func errorCode(_ body: () async throws -> Void) async -> TagError.Code? {
    do { try await body() } catch { return (error as? TagError)?.code ?? .unsupported }
    return nil
}

/// Bytes from hexadecimal digits, and from runs such as `{16}` and `{16*ab}`; other characters don't count.
func bytes(_ text: String) -> [UInt8] {
    var digits: [UInt8] = []
    for (index, part) in text.split(separator: "{", omittingEmptySubsequences: false).enumerated() {
        var rest = part
        if index > 0, let end = part.firstIndex(of: "}") {
            let run = part[..<end].split(separator: "*")
            let unit = run.count > 1 ? Array(run[1].compactMap(\.hexDigitValue)) : [0, 0]
            for _ in 0..<(Int(run[0]) ?? 0) { digits += unit.map { UInt8($0) } }
            rest = part[part.index(after: end)...]
        }
        digits += rest.compactMap { $0.hexDigitValue.map { UInt8($0) } }
    }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// Hexadecimal digits of bytes.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

extension StringProtocol {
    fileprivate var trimming: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
