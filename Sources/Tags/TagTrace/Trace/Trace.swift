// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The exchanges between a reader and its tags, in order. People can read a trace, and tests can compare it.
///
/// `description` is a table that also describes each exchange in words. Equal traces have equal tables, so two traces
/// can be compared line by line.
///
/// ```
///   1     0.000 A > 26/7                                             REQA
///         0.086 A < 44 00                                            ATQA: UID of 7 bytes
/// ```
public struct Trace: Sendable, Hashable {
    /// The medium of an exchange.
    public enum Medium: Sendable, Hashable {
        /// Raw frames in a technology.
        case frames(Technology)
        /// APDUs, or other commands, for a card whose transport protocol the reader handles.
        case commands
    }

    /// A request and its answer.
    public struct Exchange: Sendable, Hashable {
        /// The medium of the exchange.
        public var medium: Medium
        /// The frame that was sent.
        public var request: Frame
        /// The answer, or the reason why it is missing; nil when unknown.
        public var answer: Result<Frame, LinkError>?
        /// The time until the answer was received; nil when unknown.
        public var duration: Duration?

        /// Creates an exchange.
        public init(_ medium: Medium, request: Frame, answer: Result<Frame, LinkError>?, duration: Duration? = nil) {
            self.medium = medium
            self.request = request
            self.answer = answer
            self.duration = duration
        }
    }

    /// An event.
    public enum Event: Sendable, Hashable {
        /// An exchange with a tag.
        indirect case exchange(Exchange)
        /// The field was turned on or off. Tags lose their state.
        case field(isOn: Bool)
        /// Any other event, in a few words.
        case note(String)
    }

    /// An event with its time.
    public struct Entry: Sendable, Hashable {
        /// The time since the trace started; nil when unknown.
        public var time: Duration?
        /// The event.
        public var event: Event
        /// The reader's own action before this entry, which no frame in the trace shows.
        var renewal = Renewal.nothing

        /// The reader's own action before an entry, which invalidates the state known from earlier frames.
        enum Renewal: Sendable, Hashable {
            case nothing
            /// The reader woke the tag, so the tag's protocol starts again.
            case tag
            /// The reader polled for tags or selected a tag, so the tag may have changed.
            case field
        }

        /// Creates an entry.
        public init(at time: Duration? = nil, _ event: Event) {
            self.time = time
            self.event = event
        }
    }

    /// The events, in order. The first exchange is number 1.
    public var entries: [Entry]

    /// Creates a trace.
    public init(_ entries: [Entry] = []) { self.entries = entries }

    /// The exchanges, in order.
    public var exchanges: [Exchange] {
        entries.compactMap { if case .exchange(let exchange) = $0.event { exchange } else { nil } }
    }
}

// MARK: Lines

/// One line of a trace: one direction of an exchange, or another event.
public struct TraceLine: Sendable, Hashable {
    /// The direction of the bytes.
    public enum Direction: String, Sendable, Hashable {
        /// From the reader to the tag.
        case request = ">"
        /// From the tag to the reader.
        case answer = "<"
        /// The line is not part of an exchange.
        case none = " "
    }

    /// The number of the exchange, starting at 1; nil for other events.
    public var number: Int?
    /// The time since the trace started; nil when unknown.
    public var time: Duration?
    /// The medium of the exchange; nil for other events.
    public var medium: Trace.Medium?
    /// The direction of the bytes.
    public var direction: Direction
    /// The frame, with passwords, PINs and keys replaced by zeros; nil for no frame.
    public var frame: Frame?
    /// The byte ranges replaced by zeros.
    public var concealed: [Range<Int>] = []
    /// The exchange, described in words.
    public var meaning: String
}

/// Describes the entries of a trace in words. Pass them in order.
public struct TraceLineWriter: Sendable {
    private var interpreter = ExchangeInterpreter()
    private(set) var finder = SecretFinder()
    private var number = 0

    /// Creates a writer for the first entry.
    public init() {}

    /// Returns the lines of the next entry: two for an exchange, one for any other event.
    public mutating func lines(of entry: Trace.Entry) -> [TraceLine] {
        if entry.renewal != .nothing { interpreter.fieldChanged() }
        if entry.renewal == .field { finder.fieldChanged() }
        switch entry.event {
        case .exchange(let exchange):
            number += 1
            return lines(of: exchange, at: entry.time)
        case .field(let isOn):
            interpreter.fieldChanged()
            finder.fieldChanged()
            return [TraceLine(time: entry.time, direction: .none, meaning: isOn ? "field on" : "field off")]
        case .note(let text): return [TraceLine(time: entry.time, direction: .none, meaning: text)]
        }
    }

    private mutating func lines(of exchange: Trace.Exchange, at time: Duration?) -> [TraceLine] {
        let bare = exchange.request.withoutChecksum(over: exchange.medium)
        let secrets = finder.secrets(in: exchange.request, over: exchange.medium)
        let frame = exchange.request.concealing(secrets)
        interpreter.hidesData = !secrets.isEmpty
        let count = secrets.map(\.count).reduce(0, +)
        let note = secrets.isEmpty ? "" : ", \(counted(count, "byte")) not shown"
        let request = TraceLine(
            number: number,
            time: time,
            medium: exchange.medium,
            direction: .request,
            frame: frame,
            concealed: secrets,
            meaning: interpreter.meaning(of: bare.concealing(secrets), over: exchange.medium) + note
        )
        guard let result = exchange.answer else { return [request] }
        var answer = request
        answer.direction = .answer
        answer.time = time.flatMap { time in exchange.duration.map { time + $0 } }
        switch result {
        case .success(let frame):
            let bare = frame.withoutChecksum(over: exchange.medium)
            answer.concealed = finder.secrets(inAnswer: bare.bytes)
            answer.frame = frame.concealing(answer.concealed)
            answer.meaning = interpreter.meaning(ofAnswer: bare)
        case .failure(let error):
            answer.frame = nil
            answer.concealed = []
            answer.meaning = error.code == .timeout ? "no answer" : "no answer: \(error.code.words)"
        }
        return [request, answer]
    }
}

extension Frame {
    /// Returns the frame without the checksum at its end, which a host adds itself that sends frames as they are; the
    /// frame itself if there is none, or a wrong one.
    package func withoutChecksum(over medium: Trace.Medium) -> Frame {
        guard case .frames(let technology) = medium, checksum == .none, validBitsInLastByte == 8, bytes.count > 2,
            technology.checksum(bytes.dropLast(2)) == bytes.suffix(2)
        else { return self }
        return Frame(bytes.dropLast(2), checksum: .none)
    }
}

extension LinkError.Code {
    /// A short description of the code.
    package var words: String {
        switch self {
        case .timeout: "timed out"
        case .tagRemoved: "the tag left"
        case .transmission: "damaged"
        case .collision: "several tags at once"
        case .frameTooLong: "too long"
        case .readerUnavailable: "the reader is missing"
        case .cancelled: "cancelled"
        case .unsupported: "the reader can't send it"
        case .protocolViolation: "protocol violation"
        case .inUse: "in use by another program"
        default: description
        }
    }
}

// MARK: Tables

extension Trace: CustomStringConvertible {
    /// The lines of the trace, each with a description.
    public var lines: [TraceLine] {
        var writer = TraceLineWriter()
        return entries.flatMap { writer.lines(of: $0) }
    }

    /// The trace as a table; see ``table(showsTimes:)``.
    public var description: String { table() }

    /// Returns the trace as a table with these columns: number, time in milliseconds, medium and direction, bytes,
    /// meaning.
    ///
    /// Each row has up to 16 bytes. Bytes of passwords, PINs and keys are shown as stars (`SecretFinder`). If the last
    /// byte is incomplete, its number of bits follows a slash.
    ///
    /// - Parameter showsTimes: whether times are shown. Without times, traces of two runs on the same reader are equal.
    /// - Returns: the rows, without a line feed at the end.
    public func table(showsTimes: Bool = true) -> String { rows(showsTimes: showsTimes).joined(separator: "\n") }

    /// Returns the rows of ``table(showsTimes:)``, each created on demand.
    package func rows(showsTimes: Bool = true) -> some Sequence<String> {
        let lines = lines
        let width = lines.map(\.firstRowWidth).max() ?? 0
        return lines.lazy.flatMap { $0.rows(showsTime: showsTimes, widthOfBytes: width) }
    }
}

extension TraceLine {
    /// Returns the line as a row of a table, with further rows for bytes beyond the 16th.
    ///
    /// - Parameters:
    ///   - showsTime: whether to show the time.
    ///   - widthOfBytes: the width of the bytes column; 47 always suffices.
    /// - Returns: the text, without a line feed at the end.
    public func text(showsTime: Bool = true, widthOfBytes: Int = 47) -> String {
        rows(showsTime: showsTime, widthOfBytes: widthOfBytes).joined(separator: "\n")
    }

    func rows(showsTime: Bool, widthOfBytes: Int) -> [String] {
        var text = Self.right(number.flatMap { direction == .answer ? nil : String($0) } ?? "", 4)
        if showsTime { text += " " + Self.right(time.map(Self.milliseconds) ?? "", 10) }
        text += " " + (medium?.letter ?? " ") + " " + direction.rawValue + " "
        let margin = String(repeating: " ", count: text.utf8.count)
        let bytes = byteRows
        let first = bytes.first ?? ""
        text += first + String(repeating: " ", count: max(0, widthOfBytes - first.utf8.count)) + "  " + meaning
        return [text] + bytes.dropFirst().map { margin + $0 }
    }

    fileprivate var firstRowWidth: Int { frame == nil ? 0 : byteRow(at: 0).utf8.count }

    private var byteRows: [String] {
        guard let frame else { return [] }
        return stride(from: 0, to: max(frame.bytes.count, 1), by: 16).map(byteRow)
    }

    /// Returns up to 16 bytes, and the number of bits in the frame's last byte if that is incomplete.
    private func byteRow(at start: Int) -> String {
        guard let frame, !frame.bytes.isEmpty else { return "-" }
        let end = min(start + 16, frame.bytes.count)
        let bytes = (start..<end).map { index in
            concealed.contains { $0.contains(index) } ? "**" : CollectionOfOne(frame.bytes[index]).hexText()
        }
        let bits = frame.validBitsInLastByte
        return bytes.joined(separator: " ") + (bits == 8 || end < frame.bytes.count ? "" : "/\(bits)")
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.utf8.count)) + text
    }

    /// Returns a time in milliseconds with three decimal places.
    private static func milliseconds(_ time: Duration) -> String {
        let microseconds = time.wholeMicroseconds
        let rest = String(String(1000 + microseconds.magnitude % 1000).dropFirst())
        return (microseconds < 0 ? "-" : "") + "\(microseconds.magnitude / 1000).\(rest)"
    }
}

extension Duration {
    /// The microseconds, rounded to the nearest.
    package var wholeMicroseconds: Int64 {
        let half: Int128 = 500_000_000_000
        return Int64(clamping: (attoseconds + (attoseconds < 0 ? -half : half)) / (2 * half))
    }
}

extension Trace.Medium {
    fileprivate var letter: String {
        switch self {
        case .frames(.nfcA): "A"
        case .frames(.nfcB): "B"
        case .frames(.nfcF): "F"
        case .frames(.nfcV): "V"
        case .commands: "C"
        }
    }
}
