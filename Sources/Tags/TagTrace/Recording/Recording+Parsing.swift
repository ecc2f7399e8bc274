// SPDX-License-Identifier: Apache-2.0
package import LinuxSupport
import TextSafety

extension Recording {
    /// Reads a recording from a file, piece by piece. A file that is not a recording is detected at its first line.
    ///
    /// - Parameter path: the file's path. A pipe or a device is refused, because a replay must not wait for its
    ///   recording.
    /// - Throws: ``RecordingError``, whose reason names the file.
    public init(path: String) throws(RecordingError) {
        try self.init(name: path) { () throws(StorageError) in try InputFile(path, limit: Self.maximumLength) }
    }

    /// Reads a recording from a source that may not be a file, such as standard input.
    ///
    /// - Parameters:
    ///   - name: its name in messages.
    ///   - open: opens it.
    package init(name: String, open: () throws(StorageError) -> InputFile) throws(RecordingError) {
        var parser = RecordingParser()
        var isMore = true
        let file = try Self.reading(open)
        while isMore {
            var bytes: [UInt8] = []
            isMore = try Self.reading { () throws(StorageError) in try file.read(into: &bytes) }
            try Self.naming(name) { () throws(RecordingError) in try parser.take(bytes) }
        }
        self = try Self.naming(name) { () throws(RecordingError) in try parser.finish() }
    }

    private static func reading<Value>(
        _ work: () throws(StorageError) -> Value
    ) throws(RecordingError) -> Value {
        do throws(StorageError) {
            return try work()
        } catch {
            throw RecordingError(error.code == .tooLarge ? .tooLarge : .unreadable, error.reason)
        }
    }

    private static func naming<Value>(
        _ name: String,
        _ work: () throws(RecordingError) -> Value
    ) throws(RecordingError) -> Value {
        do throws(RecordingError) {
            return try work()
        } catch {
            throw RecordingError(error.code, "\(name): \(error.reason)", line: error.line)
        }
    }

    // MARK: Parsing

    /// The longest line: a response of 65,538 bytes in hex, and the text around it.
    static let maximumLineLength = 256 << 10
    /// The longest recording: days of reading tags. In memory it takes several times as much space.
    package static let maximumLength = 64 << 20

    /// Reads a recording.
    ///
    /// An incomplete last line is ignored, because the writer was interrupted. The last call may have no outcome.
    ///
    /// - Parameter bytes: the file's bytes.
    /// - Throws: ``RecordingError``.
    public init(parsing bytes: some Sequence<UInt8>) throws(RecordingError) {
        var parser = RecordingParser()
        try parser.take(Array(bytes))
        self = try parser.finish()
    }
}

/// Parses a recording piece by piece. It keeps at most one line of the text.
struct RecordingParser {
    private var header: Recording.Header?
    private var steps: [Recording.Step] = []
    /// The tags that the current look has found so far.
    private var tags: [Recording.Tag] = []
    /// The numbers of the tags of all looks.
    private var known: Set<Int> = []
    private var exchanges = 0
    /// The index of the step that has no outcome yet.
    private var open: Int?
    private var pending: [UInt8] = []
    private var lineNumber = 0

    /// Parses the next piece of the text.
    mutating func take(_ bytes: [UInt8]) throws(RecordingError) {
        var start = 0
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x0A {
                if pending.isEmpty {
                    try takeLine(bytes, start..<index)
                } else {
                    pending += bytes[start..<index]
                    try takeLine(pending, 0..<pending.count)
                    pending = []
                }
                start = index + 1
            }
            index += 1
        }
        pending += bytes[start...]
        guard pending.count <= Recording.maximumLineLength else { throw tooLong(lineNumber + 1) }
    }

    mutating func finish() throws(RecordingError) -> Recording {
        guard let header else {
            throw RecordingError(
                .notARecording,
                pending.isEmpty
                    ? "The file is empty. Record a flow with: nfc scan --record FILE"
                    : "The file is no recording. Record a flow with: nfc scan --record FILE",
                line: 1
            )
        }
        return Recording(header: header, steps: steps, isCutOff: !pending.isEmpty)
    }

    private mutating func takeLine(_ text: [UInt8], _ range: Range<Int>) throws(RecordingError) {
        lineNumber += 1
        guard range.count <= Recording.maximumLineLength else { throw tooLong(lineNumber) }
        do throws(RecordingLine.Failure) {
            let line = try RecordingLine(text, range)
            guard header != nil else {
                header = try self.header(of: line)
                return
            }
            if line.string("do") != nil {
                try takeCall(line)
            } else if line["us"] == nil, line["tag"] != nil {
                try takeTag(line)
            } else {
                try takeOutcome(line)
            }
        } catch {
            guard header != nil else {
                if let failure = versionFailure { throw failure }
                throw RecordingError(
                    .notARecording,
                    "The file is no recording. Record a flow with: nfc scan --record FILE",
                    line: 1
                )
            }
            throw RecordingError(
                .malformed,
                "Line \(lineNumber) can't be used: \(error.reason) Record the flow again, or fix the line.",
                line: lineNumber
            )
        }
    }

    private func tooLong(_ line: Int) -> RecordingError {
        if header == nil {
            return RecordingError(
                .notARecording,
                "The file is no recording: its first line is too long. Record a flow with: nfc scan --record FILE",
                line: line
            )
        }
        return RecordingError(
            .tooLarge,
            "Line \(line) is longer than any line of a recording. Record the flow again.",
            line: line
        )
    }

    // MARK: Lines

    /// The error for a first line with another version.
    private var versionFailure: RecordingError?

    private mutating func header(of line: RecordingLine) throws(RecordingLine.Failure) -> Recording.Header {
        guard let version = line.number("opencorenfc_recording") else {
            throw RecordingLine.Failure(reason: "The first line names no version.")
        }
        guard version == Recording.version else {
            versionFailure = RecordingError(
                .unknownVersion,
                """
                The recording has version \(version) of the format, and version \(Recording.version) is known here. \
                Record the flow again, or use the version of the tools that wrote it.
                """,
                line: 1
            )
            throw RecordingLine.Failure(reason: "")
        }
        guard let kind = line.string("kind"), kind == "field" || kind == "discovering",
            let presence = line.bool("tells_presence")
        else { throw RecordingLine.Failure(reason: "The first line does not say what the reader is.") }
        return Recording.Header(
            reader: line.string("reader") ?? "",
            isField: kind == "field",
            technologies: try line.technologies(),
            maximumFrameLength: try line.number("maximum_frame_length", in: 1...1 << 20),
            tellsPresence: presence
        )
    }

    private mutating func takeCall(_ line: RecordingLine) throws(RecordingLine.Failure) {
        let time = try line.time()
        let action = try line.action(knownTags: known)
        if action.isTold {
            // It may come between a call and its outcome.
            return steps.append(Recording.Step(time: time, action: action, endTime: time, outcome: .done))
        }
        guard open == nil else { throw RecordingLine.Failure(reason: "The call before it has no outcome.") }
        var number: Int?
        if case .exchange = action {
            exchanges += 1
            number = exchanges
            guard line.number("n") == exchanges else {
                throw RecordingLine.Failure(reason: "The number of the exchange has to be \(exchanges).")
            }
        }
        open = steps.count
        steps.append(Recording.Step(number: number, time: time, action: action))
    }

    private mutating func takeTag(_ line: RecordingLine) throws(RecordingLine.Failure) {
        guard let open, case .discover = steps[open].action, tags.count < 64 else {
            throw RecordingLine.Failure(reason: "A tag is found by no look.")
        }
        let tag = try line.foundTag()
        guard known.insert(tag.number).inserted else {
            throw RecordingLine.Failure(reason: "There is a tag \(tag.number) already.")
        }
        tags.append(tag)
    }

    private mutating func takeOutcome(_ line: RecordingLine) throws(RecordingLine.Failure) {
        guard let index = open else { throw RecordingLine.Failure(reason: "It is the outcome of no call.") }
        let found = tags
        tags = []
        let outcome = try line.outcome(of: steps[index].action, found: found)
        open = nil
        steps[index].endTime = try line.time()
        steps[index].outcome = outcome
    }
}
