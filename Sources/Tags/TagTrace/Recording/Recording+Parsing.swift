// SPDX-License-Identifier: Apache-2.0
package import LinuxSupport
import TextSafety

extension Recording {
    /// The longest line: a response of 65,538 bytes in hex, and the text around it.
    static let maximumLineLength = 256 << 10
    /// The longest recording: days of reading tags. In memory it takes several times as much space.
    package static let maximumLength = 64 << 20

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
        func reading<Value>(_ work: () throws(StorageError) -> Value) throws(RecordingError) -> Value {
            do throws(StorageError) {
                return try work()
            } catch {
                throw RecordingError(error.code == .tooLarge ? .tooLarge : .unreadable, error.reason)
            }
        }
        var parser = RecordingParser(name: name)
        let file = try reading(open)
        var hasMore = true
        while hasMore {
            var bytes: [UInt8] = []
            hasMore = try reading { () throws(StorageError) in try file.read(into: &bytes) }
            try parser.take(bytes)
        }
        self = try parser.finish()
    }

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
    /// The source's name in messages.
    private let name: String?
    private var header: Recording.Header?
    private var steps: [Recording.Step] = []
    /// The tags that the current poll has found so far.
    private var tags: [Recording.Tag] = []
    /// The numbers of the tags of all polls.
    private var known: Set<Int> = []
    private var exchanges = 0
    /// The index of the step that has no outcome yet.
    private var open: Int?
    private var pending: [UInt8] = []
    private var lineNumber = 0

    init(name: String? = nil) { self.name = name }

    mutating func take(_ bytes: [UInt8]) throws(RecordingError) {
        var start = 0
        for index in bytes.indices where bytes[index] == 0x0A {
            if pending.isEmpty {
                try takeLine(bytes, start..<index)
            } else {
                pending += bytes[start..<index]
                try takeLine(pending, 0..<pending.count)
                pending = []
            }
            start = index + 1
        }
        pending += bytes[start...]
        guard pending.count <= Recording.maximumLineLength else { throw tooLong(lineNumber + 1) }
    }

    mutating func finish() throws(RecordingError) -> Recording {
        guard let header else { throw notARecording(pending.isEmpty ? "The file is empty." : nil) }
        return Recording(header: header, steps: steps, isCutOff: !pending.isEmpty)
    }

    private mutating func takeLine(_ text: [UInt8], _ range: Range<Int>) throws(RecordingError) {
        lineNumber += 1
        guard range.count <= Recording.maximumLineLength else { throw tooLong(lineNumber) }
        guard header != nil else {
            header = try header(text, range)
            return
        }
        do throws(JSONLine.Failure) {
            let line = try JSONLine(text, range)
            if line.string("do") != nil {
                try takeCall(line)
            } else if line["us"] == nil, line["tag"] != nil {
                try takeTag(line)
            } else {
                try takeOutcome(line)
            }
        } catch {
            let reason = "Line \(lineNumber) can't be used: \(error.reason) Record the flow again, or fix the line."
            throw failure(.malformed, reason, line: lineNumber)
        }
    }

    // MARK: Errors

    private func failure(_ code: RecordingError.Code, _ reason: String, line: Int) -> RecordingError {
        RecordingError(code, (name.map { "\($0): " } ?? "") + reason, line: line)
    }

    private func notARecording(_ reason: String? = nil) -> RecordingError {
        let reason = reason ?? "The file is not a recording."
        return failure(.notARecording, "\(reason) Record a flow with: nfc scan --record FILE", line: 1)
    }

    private func tooLong(_ line: Int) -> RecordingError {
        guard header != nil else { return notARecording("The file is not a recording: its first line is too long.") }
        let reason = "Line \(line) is longer than any line of a recording. Record the flow again."
        return failure(.tooLarge, reason, line: line)
    }

    // MARK: Lines

    private func header(_ text: [UInt8], _ range: Range<Int>) throws(RecordingError) -> Recording.Header {
        guard let line = try? JSONLine(text, range), let version = line.number("opencorenfc_recording") else {
            throw notARecording()
        }
        guard version == Recording.version else {
            let reason = """
                The recording has version \(version) of the format, and version \(Recording.version) is known here. \
                Record the flow again, or use the version of the tools that wrote it.
                """
            throw failure(.unknownVersion, reason, line: 1)
        }
        guard let header = try? Recording.Header(line) else { throw notARecording() }
        return header
    }

    private mutating func takeCall(_ line: JSONLine) throws(JSONLine.Failure) {
        let time = try line.time()
        let action = try Recording.Action(line, knownTags: known)
        if action.isEvent {
            // It may come between a call and its outcome.
            return steps.append(Recording.Step(time: time, action: action, endTime: time, outcome: .done))
        }
        guard open == nil else { throw JSONLine.Failure(reason: "The call before it has no outcome.") }
        var number: Int?
        if case .exchange = action {
            exchanges += 1
            number = exchanges
            guard line.number("n") == exchanges else {
                throw JSONLine.Failure(reason: "The number of the exchange has to be \(exchanges).")
            }
        }
        open = steps.count
        steps.append(Recording.Step(number: number, time: time, action: action))
    }

    private mutating func takeTag(_ line: JSONLine) throws(JSONLine.Failure) {
        guard let open, case .discover = steps[open].action, tags.count < 64 else {
            throw JSONLine.Failure(reason: "No call has found this tag.")
        }
        let tag = try Recording.Tag(line)
        guard known.insert(tag.number).inserted else {
            throw JSONLine.Failure(reason: "Tag \(tag.number) exists already.")
        }
        tags.append(tag)
    }

    private mutating func takeOutcome(_ line: JSONLine) throws(JSONLine.Failure) {
        guard let index = open else { throw JSONLine.Failure(reason: "No call is waiting for an outcome.") }
        let found = tags
        tags = []
        let outcome = try Recording.Outcome(line, of: steps[index].action, found: found)
        open = nil
        steps[index].endTime = try line.time()
        steps[index].outcome = outcome
    }
}
