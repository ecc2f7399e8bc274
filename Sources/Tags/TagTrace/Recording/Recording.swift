// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// What went on at a reader while something worked with it: every exchange, and what came of it.
///
/// `nfc scan --record FILE` makes one, and so does any app with `NFC_RECORD`; ``RecordingReplay`` plays it. The file has a line for
/// each thing, a JSON object; the first says `opencorenfc_recording` and the version of the format.
public struct Recording: Sendable, Hashable {
    /// The version of the format that is written and read.
    public static let version = 1

    /// What the reader was.
    package struct Header: Sendable, Hashable {
        /// The reader's name.
        package var reader: String
        /// Whether the host sent every frame; otherwise the reader found tags by itself.
        package var isField: Bool
        package var technologies: [Technology]
        /// The longest answer that the reader's links take.
        package var maximumFrameLength: Int
        /// Whether the reader told when a tag came or left.
        package var tellsPresence: Bool
    }

    /// A call to the reader, and what came of it; or what the reader told by itself.
    package struct Step: Sendable, Hashable {
        /// The number of the exchange, from 1; nil for another call.
        package var number: Int?
        /// When the call was made, since the recording began.
        package var time: Duration
        package var action: Action
        /// When it ended.
        package var endTime: Duration?
        /// What came of it; nil when the recording breaks off before.
        package var outcome: Outcome?
    }

    /// A call to the reader.
    package indirect enum Action: Sendable, Hashable {
        case field(isOn: Bool)
        case discover([Technology], systemCodes: [UInt16])
        case select(tag: Int)
        case reactivate(tag: Int)
        case isPresent(tag: Int)
        /// The reader was asked whether the tag with an identifier has stayed near.
        case isStillNear([UInt8])
        case release
        /// Tags have numbers where the reader finds them by itself. The timeout is for people: a replay does not compare it.
        case exchange(Trace.Medium, tag: Int?, Frame, timeout: Airtime)
        /// The reader told that a tag may have come or gone.
        case presence
        /// The tag with an identifier is near by its arrival of this number. Written once for each arrival.
        case arrival([UInt8], number: UInt64)

        /// Whether the reader tells it by itself, so that it has no outcome.
        var isTold: Bool {
            switch self {
            case .presence, .arrival: true
            default: false
            }
        }
    }

    /// What came of a call.
    package indirect enum Outcome: Sendable, Hashable {
        case done
        case frame(Frame)
        case tags([Tag])
        case isPresent(Bool)
        case failed(LinkError)
    }

    /// A tag that the reader found by itself.
    package struct Tag: Sendable, Hashable {
        package enum Port: Sendable, Hashable {
            case frames(maximumLength: Int, countsAir: Bool)
            case commands(limits: Limits, answerToSelect: [UInt8]?)
        }

        /// How long commands and responses may be, at all and in one block.
        package struct Limits: Sendable, Hashable {
            package var command: Int
            package var response: Int
            package var blockCommand: Int
            package var blockResponse: Int
        }

        package var number: Int
        package var identity: DiscoveredTag.Identity
        package var port: Port
    }

    package var header: Header
    package var steps: [Step]
    /// Whether the file ends in the middle of a line.
    package var isCutOff = false

    /// The name of the reader that was recorded.
    public var readerName: String { header.reader }

    /// The number of exchanges.
    public var exchangeCount: Int { steps.count { $0.number != nil } }

    /// What went on, to be looked at.
    public var trace: Trace {
        var entries = steps.map(\.traceEntry)
        if isCutOff || steps.last.map({ $0.outcome == nil && !$0.action.isTold }) == true {
            entries.append(Trace.Entry(.note("the recording breaks off")))
        }
        return Trace(entries)
    }
}

extension Recording.Step {
    fileprivate var traceEntry: Trace.Entry {
        if case .exchange(let medium, _, let request, _) = action {
            let answer: Result<Frame, LinkError>? =
                switch outcome {
                case .frame(let frame): .success(frame)
                case .failed(let error): .failure(error)
                default: nil
                }
            let duration = endTime.map { $0 - time }
            let exchange = Trace.Exchange(medium, request: request, answer: answer, duration: duration)
            return Trace.Entry(at: time, .exchange(exchange))
        }
        if case .field(let isOn) = action, outcome == .done { return Trace.Entry(at: time, .field(isOn: isOn)) }
        if action.isTold { return Trace.Entry(at: time, .note(action.words)) }
        return Trace.Entry(at: time, .note(action.words + (outcome.map { ": " + $0.words } ?? "")))
    }
}

extension Recording.Action {
    /// The call in a few words; an exchange by its octets alone.
    package var words: String {
        switch self {
        case .field(let isOn): return isOn ? "field on" : "field off"
        case .discover(let technologies, let systems):
            let names = technologies.map(\.recordedName).joined(separator: ", ")
            let codes = systems.map { $0.bigEndianOctets.hexText() }.joined(separator: ", ")
            return "look for \(names)" + (codes.isEmpty ? "" : ", system \(codes)")
        case .select(let tag): return "select tag \(tag)"
        case .reactivate(let tag): return "wake tag \(tag)"
        case .isPresent(let tag): return "is tag \(tag) there"
        case .isStillNear(let identifier): return "is \(identifier.hexText()) still near"
        case .release: return "release"
        case .exchange(_, _, let frame, _): return "send \(frame.bytes.hexText())"
        case .presence: return "a tag came or left"
        case .arrival(let identifier, let number): return "\(identifier.words) is near, arrival \(number)"
        }
    }
}

extension Recording.Outcome {
    fileprivate var words: String {
        switch self {
        case .done: "done"
        case .frame(let frame): frame.bytes.hexText()
        case .tags(let tags): tags.isEmpty ? "nothing" : tags.map(\.words).joined(separator: "; ")
        case .isPresent(let isPresent): isPresent ? "yes" : "no"
        case .failed(let error): error.code.words
        }
    }
}

extension Recording.Tag {
    fileprivate var words: String {
        switch identity {
        case .nfcA(_, let sak, let uid):
            "tag \(number), nfc-a \(uid.words)" + (sak.map { ", SAK \(CollectionOfOne($0).hexText())" } ?? "")
        case .nfcB(let answer): "tag \(number), nfc-b \(answer.dropFirst().prefix(4).hexText())"
        case .nfcF(let idm, _, let system):
            "tag \(number), nfc-f \(idm.hexText())" + (system.map { ", system \(String($0, radix: 16))" } ?? "")
        case .nfcV(let uid, _): "tag \(number), nfc-v \(uid.hexText())"
        }
    }
}

extension [UInt8] {
    /// An identifier, which may be unknown.
    fileprivate var words: String { isEmpty ? "of unknown UID" : hexText() }
}

extension Technology {
    /// The name in a recording.
    package var recordedName: String {
        switch self {
        case .nfcA: "nfc-a"
        case .nfcB: "nfc-b"
        case .nfcF: "nfc-f"
        case .nfcV: "nfc-v"
        }
    }
}

/// Why a recording can't be used or made. Equal by code.
public struct RecordingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        private init(_ name: String) { self.name = name }

        /// The file can't be read.
        public static let unreadable = Code("unreadable-recording")
        /// The file can't be written.
        public static let unwritable = Code("unwritable-file")
        /// The file is something else.
        public static let notARecording = Code("not-a-recording")
        /// The file has a version of the format that is not known here.
        public static let unknownVersion = Code("unknown-version")
        /// A line of the file is none of a recording.
        public static let malformed = Code("bad-recording")
        /// The file, or a line of it, is longer than any recording.
        public static let tooLarge = Code("recording-too-large")

        public var description: String { name }
    }

    private final class Contents: Sendable {
        let code: Code
        let reason: String
        let line: Int?

        init(_ code: Code, _ reason: String, _ line: Int?) {
            self.code = code
            self.reason = reason
            self.line = line
        }
    }

    private let contents: Contents

    /// The kind of failure.
    public var code: Code { contents.code }
    /// What is wrong, and what to do, as sentences for people.
    public var reason: String { contents.reason }
    /// The line that is wrong, from 1; nil when it is no single one.
    public var line: Int? { contents.line }

    init(_ code: Code, _ reason: String, line: Int? = nil) {
        contents = Contents(code, reason, line)
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: RecordingError, rhs: RecordingError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
