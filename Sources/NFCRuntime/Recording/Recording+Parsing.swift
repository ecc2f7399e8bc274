// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

extension Recording {
    /// Reads a recording from a file, a piece at a time: a file that is none is noticed at its first line.
    ///
    /// - Parameter path: the file's path.
    /// - Throws: ``RecordingError``, whose reason names the file.
    public init(path: String) throws(RecordingError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.systemError(path, "can't be read") }
        defer { close(descriptor) }
        var parser = RecordingParser()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var total = 0
        do throws(RecordingError) {
            while true {
                let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw Self.systemError(path, "can't be read") }
                if count == 0 { break }
                total += count
                guard total <= Self.maximumLength else {
                    throw RecordingError(.tooLarge, "The file is longer than any recording. Record a shorter flow.")
                }
                try parser.take(buffer[..<count])
            }
            self = try parser.finish()
        } catch {
            if error.code == .unreadable { throw error }
            throw RecordingError(error.code, "\(path): \(error.reason)", line: error.line)
        }
    }

    static func systemError(_ path: String, _ what: String) -> RecordingError {
        RecordingError(.unreadable, "\(path) \(what): \(unsafe String(cString: strerror(errno))).")
    }

    // MARK: Parsing

    /// No line is longer: a response of 65,538 octets, in hex, and what is around it.
    static let maximumLineLength = 256 << 10
    /// No recording is longer: weeks of reading tags.
    static let maximumLength = 256 << 20

    /// Reads a recording.
    ///
    /// A last line that does not end is left out: what wrote it was cut off. So is the answer to a last call.
    ///
    /// - Parameter octets: the file's octets.
    /// - Throws: ``RecordingError``.
    public init(parsing octets: some Sequence<UInt8>) throws(RecordingError) {
        var parser = RecordingParser()
        try parser.take(Array(octets)[...])
        self = try parser.finish()
    }
}

/// Takes a recording piece by piece, and keeps no more than one line of its text.
struct RecordingParser {
    private var header: Recording.Header?
    private var steps: [Recording.Step] = []
    /// The tags that a look has found so far.
    private var tags: [Recording.Tag] = []
    /// The tags of all looks.
    private var known: Set<Int> = []
    private var exchanges = 0
    /// The step whose outcome is awaited.
    private var open: Int?
    private var pending: [UInt8] = []
    private var lineNumber = 0

    /// Takes a piece of the text.
    mutating func take(_ octets: ArraySlice<UInt8>) throws(RecordingError) {
        var rest = octets
        while let end = rest.firstIndex(of: 0x0A) {
            let line = pending.isEmpty ? rest[..<end] : (pending + rest[..<end])[...]
            pending = []
            rest = rest[(end + 1)...]
            try takeLine(line)
        }
        pending += rest
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

    private mutating func takeLine(_ text: ArraySlice<UInt8>) throws(RecordingError) {
        lineNumber += 1
        guard text.count <= Recording.maximumLineLength else { throw tooLong(lineNumber) }
        do throws(RecordingLine.Failure) {
            let line = try RecordingLine(text)
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
                "Line \(lineNumber) can't be used: \(error.reason) Record the flow anew, or put the line right.",
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
            "Line \(line) is longer than any line of a recording. Record the flow anew.",
            line: line
        )
    }

    // MARK: Lines

    /// Set when the first line is one of another version.
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
                Record the flow anew, or use the version of the tools that wrote it.
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
