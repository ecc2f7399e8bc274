// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// Everything that happened at a reader during a flow: every exchange and its outcome.
///
/// `nfc scan --record FILE` writes a recording, and so does any app with `NFC_RECORD`. ``RecordingReplay`` replays it.
/// Each line of the file is a JSON object. The first line contains `opencorenfc_recording` with the format's version.
public struct Recording: Sendable, Hashable {
    /// The version of the format.
    public static let version = 1

    package struct Header: Sendable, Hashable {
        package var reader: String
        /// Whether the host sent every frame. If not, the reader found tags itself.
        package var isField: Bool
        package var technologies: [Technology]
        /// The longest answer that the reader's links accept.
        package var maximumFrameLength: Int
        /// Whether the reader reported when a tag arrived or left.
        package var reportsPresence: Bool
    }

    /// A call to the reader with its outcome, or an event that the reader reported itself.
    package struct Step: Sendable, Hashable {
        /// The number of the exchange, starting at 1; nil for other calls.
        package var number: Int?
        /// The time of the call, since the start of the recording.
        package var time: Duration
        package var action: Action
        package var endTime: Duration?
        /// The outcome; nil if the recording ends before it.
        package var outcome: Outcome?
    }

    package indirect enum Action: Sendable, Hashable {
        case field(isOn: Bool)
        case discover([Technology], systemCodes: [UInt16])
        case select(tag: Int)
        case reactivate(tag: Int)
        case isPresent(tag: Int)
        /// Asks whether the tag with this identifier has stayed near.
        case isStillNear([UInt8])
        case release
        /// `tag` is the tag's number, if the reader finds tags itself. A replay ignores the timeout.
        case exchange(Trace.Medium, tag: Int?, Frame, timeout: Airtime)
        /// The reader reported that a tag may have arrived or left.
        case presence
        /// The tag with this identifier is near and has this arrival number, or has left (nil). Written once per
        /// arrival and once per departure.
        case arrival([UInt8], number: UInt64?)

        /// Whether this is an event that the reader reported itself. Such an event has no outcome.
        var isEvent: Bool {
            switch self {
            case .presence, .arrival: true
            default: false
            }
        }
    }

    package indirect enum Outcome: Sendable, Hashable {
        case done
        case frame(Frame)
        case tags([Tag])
        case isPresent(Bool)
        case failed(LinkError)
    }

    package struct Tag: Sendable, Hashable {
        package enum Port: Sendable, Hashable {
            case frames(maximumLength: Int, countsAir: Bool)
            case commands(limits: Limits, answerToSelect: [UInt8]?)
        }

        /// The longest commands and responses, in total and in one block.
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

    /// The name of the recorded reader.
    public var readerName: String { header.reader }

    /// The number of exchanges.
    public var exchangeCount: Int { steps.count { $0.number != nil } }

    /// The recording as a trace, for display.
    public var trace: Trace {
        var entries = steps.map(\.traceEntry)
        if isCutOff || steps.last.map({ $0.outcome == nil && !$0.action.isEvent }) == true {
            entries.append(Trace.Entry(.note("the recording breaks off")))
        }
        return Trace(entries)
    }
}

extension Recording.Step {
    var traceEntry: Trace.Entry {
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
        if action.isEvent { return Trace.Entry(at: time, .note(action.words)) }
        var entry = Trace.Entry(at: time, .note(action.words + (outcome.map { ": " + $0.words } ?? "")))
        switch action {
        case .field, .discover, .select: entry.renewal = .field
        case .reactivate: entry.renewal = .tag
        default: break
        }
        return entry
    }
}

extension Recording.Action {
    /// A short description of the call. For an exchange, only its bytes.
    package var words: String {
        switch self {
        case .field(let isOn): return isOn ? "field on" : "field off"
        case .discover(let technologies, let systems):
            let names = technologies.map(\.name).joined(separator: ", ")
            let codes = systems.map { $0.bigEndianBytes.hexText() }.joined(separator: ", ")
            return "look for \(names)" + (codes.isEmpty ? "" : ", system \(codes)")
        case .select(let tag): return "select tag \(tag)"
        case .reactivate(let tag): return "wake tag \(tag)"
        case .isPresent(let tag): return "is tag \(tag) present"
        case .isStillNear(let identifier): return "is \(identifier.hexText()) still near"
        case .release: return "release"
        case .exchange(_, _, let frame, _): return "send \(frame.bytes.hexText())"
        case .presence: return "a tag arrived or left"
        case .arrival(let identifier, let number):
            return "\(identifier.words) is " + (number.map { "near, arrival \($0)" } ?? "gone")
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
    fileprivate var words: String { isEmpty ? "of unknown UID" : hexText() }
}

/// The reason why a recording can't be read or written. Two errors with the same code are equal.
public struct RecordingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: String, Sendable, CustomStringConvertible {
        /// The file can't be read.
        case unreadable = "unreadable-recording"
        /// The file can't be written.
        case unwritable = "unwritable-file"
        /// The file is not a recording.
        case notARecording = "not-a-recording"
        /// The file has an unknown version of the format.
        case unknownVersion = "unknown-version"
        /// A line of the file is not valid.
        case malformed = "bad-recording"
        /// The file, or one of its lines, exceeds the size limit.
        case tooLarge = "recording-too-large"

        public var description: String { rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// Sentences that explain the failure and what to do.
    public let reason: String
    /// The number of the invalid line, starting at 1; nil when the failure does not concern a single line.
    public let line: Int?

    package init(_ code: Code, _ reason: String, line: Int? = nil) {
        self.code = code
        self.reason = reason
        self.line = line
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: RecordingError, rhs: RecordingError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
