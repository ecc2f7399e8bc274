// SPDX-License-Identifier: Apache-2.0
package import LinuxSupport
import TagLink
import TextSafety

// Each line of a recording is a JSON object. Its values are strings, integers, Booleans and lists of strings.

private func recordingLine(_ members: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    members(&writer)
    writer.endObject()
    writer.newLine()
    return String(decoding: writer.text, as: UTF8.self)
}

// MARK: Header

extension Recording.Header {
    var line: String {
        recordingLine {
            $0.member("opencorenfc_recording", Recording.version)
            $0.member("reader", reader)
            $0.member("kind", isField ? "field" : "discovering")
            $0.key("technologies")
            $0.values(technologies.map(\.name))
            $0.member("maximum_frame_length", maximumFrameLength)
            $0.member("tells_presence", reportsPresence)
        }
    }

    init(_ line: JSONLine) throws(JSONLine.Failure) {
        guard let kind = line.string("kind"), kind == "field" || kind == "discovering",
            let reportsPresence = line.bool("tells_presence")
        else { throw JSONLine.Failure(reason: "The first line does not describe the reader.") }
        reader = line.string("reader") ?? ""
        isField = kind == "field"
        technologies = try line.technologies()
        maximumFrameLength = try line.number("maximum_frame_length", in: 1...1 << 20)
        self.reportsPresence = reportsPresence
    }
}

// MARK: Calls

extension Recording.Step {
    var line: String {
        recordingLine { line in
            line.begin(number, time)
            action.write(to: &line)
        }
    }

    /// The lines for the outcome; empty while it is unknown, and for events that the reader reported itself.
    var outcomeLines: String {
        guard let outcome, !action.isEvent else { return "" }
        var tags = ""
        if case .tags(let found) = outcome { tags = found.map(\.line).joined() }
        return tags
            + recordingLine { line in
                line.begin(number, endTime ?? time)
                outcome.write(to: &line)
            }
    }
}

extension Recording.Action {
    fileprivate func write(to line: inout JSONWriter) {
        func write(_ call: String, tag: Int) {
            line.member("do", call)
            line.member("tag", tag)
        }
        switch self {
        case .field(let isOn): line.member("do", isOn ? "field-on" : "field-off")
        case .discover(let technologies, let systems):
            line.member("do", "discover")
            line.key("technologies")
            line.values(technologies.map(\.name))
            line.key("systems")
            line.values(systems.map { $0.bigEndianBytes.hexText() })
        case .select(let tag): write("select", tag: tag)
        case .reactivate(let tag): write("wake", tag: tag)
        case .isPresent(let tag): write("is-present", tag: tag)
        case .isStillNear(let identifier):
            line.member("do", "is-still-near")
            line.member("uid", hex: identifier)
        case .release: line.member("do", "release")
        case .presence: line.member("do", "presence")
        case .arrival(let identifier, let number):
            line.member("do", "arrival")
            line.member("uid", hex: identifier)
            if let number { line.member("number", Int(clamping: number)) }
        case .exchange(let medium, let tag, let request, let timeout):
            line.member("do", "send")
            if let tag { line.member("tag", tag) }
            if case .frames(let technology) = medium {
                line.member("technology", technology.name)
                line.member("hex", request)
                line.member("timeout_us", Int(timeout.microseconds))
            } else {
                line.member("hex", hex: request.bytes)
            }
        }
    }

    init(_ line: JSONLine, knownTags: Set<Int>) throws(JSONLine.Failure) {
        func tag() throws(JSONLine.Failure) -> Int {
            guard let tag = line.number("tag"), knownTags.contains(tag) else {
                throw JSONLine.Failure(reason: "\"tag\" is not the number of a found tag.")
            }
            return tag
        }
        switch line.string("do") {
        case "field-on": self = .field(isOn: true)
        case "field-off": self = .field(isOn: false)
        case "discover":
            var codes: [UInt16] = []
            for text in line.strings("systems") ?? [] {
                guard text.utf8.count == 4, let code = UInt16(text, radix: 16) else {
                    throw JSONLine.Failure(reason: "\"systems\" must have four hex digits for each system.")
                }
                codes.append(code)
            }
            self = .discover(try line.technologies(), systemCodes: codes)
        case "select": self = .select(tag: try tag())
        case "wake": self = .reactivate(tag: try tag())
        case "is-present": self = .isPresent(tag: try tag())
        case "is-still-near": self = .isStillNear(try line.bytes("uid", count: 0...10))
        case "release": self = .release
        case "presence": self = .presence
        case "arrival":
            let number = line["number"] == nil ? nil : UInt64(try line.number("number", in: 0...1 << 53))
            self = .arrival(try line.bytes("uid", count: 0...10), number: number)
        case "send":
            let tag = line["tag"] == nil ? nil : try tag()
            guard line["technology"] != nil else {
                self = .exchange(.commands, tag: tag, Frame(try line.bytes("hex")), timeout: .zero)
                return
            }
            let timeout = Airtime.microseconds(Int64(try line.number("timeout_us", in: 0...1 << 40)))
            self = .exchange(.frames(try line.technology()), tag: tag, try line.frame("hex"), timeout: timeout)
        default: throw JSONLine.Failure(reason: "\"do\" is not the name of a call.")
        }
    }
}

// MARK: Outcomes

extension Recording.Outcome {
    fileprivate func write(to line: inout JSONWriter) {
        switch self {
        case .done: line.member("done", true)
        case .isPresent(let isPresent): line.member("present", isPresent)
        case .frame(let frame): line.member("got", frame)
        case .tags(let tags): line.member("found", tags.count)
        case .failed(let error):
            line.member("failed", error.code.description)
            line.member("reason", error.reason)
            if let collision = error.collision {
                line.member("collision_bit", collision.bitIndex)
                line.member("collision_hex", hex: collision.bits)
            }
        }
    }

    /// Reads the outcome of a call. The kind of call determines the members.
    init(_ line: JSONLine, of action: Recording.Action, found: [Recording.Tag]) throws(JSONLine.Failure) {
        if let name = line.string("failed") {
            self = .failed(try line.error(name))
            return
        }
        switch action {
        case .exchange(.frames, _, _, _): self = .frame(try line.frame("got"))
        case .exchange: self = .frame(Frame(try line.bytes("got")))
        case .discover:
            guard line.number("found") == found.count else {
                throw JSONLine.Failure(reason: "\"found\" must be the number of tags.")
            }
            self = .tags(found)
        case .isPresent, .isStillNear:
            guard let isPresent = line.bool("present") else {
                throw JSONLine.Failure(reason: "\"present\" is missing.")
            }
            self = .isPresent(isPresent)
        default:
            guard line.bool("done") == true else {
                throw JSONLine.Failure(reason: "\"done\" or \"failed\" is missing.")
            }
            self = .done
        }
    }
}

// MARK: Tags

extension Recording.Tag {
    fileprivate var line: String {
        recordingLine { line in
            line.member("tag", number)
            line.member("technology", identity.technology.name)
            switch identity {
            case .nfcA(let atqa, let sak, let uid):
                line.member("atqa", hex: atqa.bigEndianBytes)
                if let sak { line.member("sak", hex: [sak]) }
                line.member("uid", hex: uid)
            case .nfcB(let answer): line.member("atqb", hex: answer)
            case .nfcF(let idm, let pmm, let system):
                line.member("idm", hex: idm)
                line.member("pmm", hex: pmm)
                if let system { line.member("system", hex: system.bigEndianBytes) }
            case .nfcV(let uid, let dsfid):
                line.member("uid", hex: uid)
                line.member("dsfid", hex: [dsfid])
            }
            switch port {
            case .frames(let length, let countsAir):
                line.member("maximum_frame_length", length)
                if !countsAir { line.member("counts_air", countsAir) }
            case .commands(let limits, let answerToSelect):
                line.member("maximum_command_length", limits.command)
                line.member("maximum_response_length", limits.response)
                line.member("block_command_length", limits.blockCommand)
                line.member("block_response_length", limits.blockResponse)
                if let answerToSelect { line.member("ats", hex: answerToSelect) }
            }
        }
    }

    init(_ line: JSONLine) throws(JSONLine.Failure) {
        func length(_ key: String) throws(JSONLine.Failure) -> Int { try line.number(key, in: 1...1 << 20) }
        number = try line.number("tag", in: 1...1 << 31)
        switch try line.technology() {
        case .nfcA:
            identity = .nfcA(
                atqa: UInt16(bytes: try line.bytes("atqa", count: 2...2)),
                sak: try line.optionalBytes("sak", count: 1...1)?[0],
                uid: try line.bytes("uid", count: 0...10)
            )
        case .nfcB: identity = .nfcB(answer: try line.bytes("atqb", count: 0...64))
        case .nfcF:
            identity = .nfcF(
                idm: try line.bytes("idm", count: 8...8),
                pmm: try line.bytes("pmm", count: 8...8),
                systemCode: try line.optionalBytes("system", count: 2...2).map { UInt16(bytes: $0) }
            )
        case .nfcV:
            let uid = try line.bytes("uid", count: 8...8)
            identity = .nfcV(uid: uid, dsfid: try line.bytes("dsfid", count: 1...1)[0])
        }
        guard line["maximum_command_length"] != nil else {
            let length = try length("maximum_frame_length")
            port = .frames(maximumLength: length, countsAir: line.bool("counts_air") ?? true)
            return
        }
        let limits = Limits(
            command: try length("maximum_command_length"),
            response: try length("maximum_response_length"),
            blockCommand: try length("block_command_length"),
            blockResponse: try length("block_response_length")
        )
        port = .commands(limits: limits, answerToSelect: try line.optionalBytes("ats", count: 0...255))
    }
}

// MARK: Members

extension JSONWriter {
    fileprivate mutating func begin(_ number: Int?, _ time: Duration) {
        if let number { member("n", number) }
        member("us", Int(time.wholeMicroseconds))
    }

    fileprivate mutating func member(_ key: StaticString, _ frame: Frame) {
        member(key, hex: frame.bytes)
        if frame.validBitsInLastByte != 8 { member("bits", frame.validBitsInLastByte) }
        switch frame.checksum {
        case .automatic: break
        case .crcB: member("checksum", "crc-b")
        case .none: member("checksum", "none")
        }
    }
}

extension JSONLine {
    func time() throws(Failure) -> Duration { .microseconds(try number("us", in: 0...1 << 53)) }

    fileprivate func number(_ key: String, in range: ClosedRange<Int>) throws(Failure) -> Int {
        guard let number = number(key), range.contains(number) else {
            throw Failure(reason: "\"\(key)\" must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    fileprivate func bytes(_ key: String, count: ClosedRange<Int> = 0...Int.max) throws(Failure) -> [UInt8] {
        guard case .string(let digits)? = self[key], let bytes = [UInt8](hexadecimal: digits) else {
            throw Failure(reason: "\"\(key)\" is missing, or is not hex.")
        }
        guard count.contains(bytes.count) else { throw Failure(reason: "\"\(key)\" has a wrong length.") }
        return bytes
    }

    fileprivate func optionalBytes(_ key: String, count: ClosedRange<Int>) throws(Failure) -> [UInt8]? {
        self[key] == nil ? nil : try bytes(key, count: count)
    }

    fileprivate func technology() throws(Failure) -> Technology {
        guard let technology = string("technology").flatMap(Technology.init(recordedName:)) else {
            throw Failure(reason: "\"technology\" must be nfc-a, nfc-b, nfc-f or nfc-v.")
        }
        return technology
    }

    fileprivate func technologies() throws(Failure) -> [Technology] {
        let names = strings("technologies")
        let technologies = names?.compactMap(Technology.init(recordedName:))
        guard let technologies, technologies.count == names?.count else {
            throw Failure(reason: "\"technologies\" must be a list of nfc-a, nfc-b, nfc-f and nfc-v.")
        }
        return technologies
    }

    /// Returns a frame from the bytes in `key`, with its bit count and checksum from other members.
    fileprivate func frame(_ key: String) throws(Failure) -> Frame {
        let bytes = try bytes(key)
        let checksum: Frame.Checksum
        switch string("checksum") {
        case nil: checksum = .automatic
        case "crc-b": checksum = .crcB
        case "none": checksum = .none
        default: throw Failure(reason: "\"checksum\" must be crc-b or none.")
        }
        guard self["bits"] != nil else { return Frame(bytes, checksum: checksum) }
        var frame = Frame(bits: bytes, validBitsInLastByte: try number("bits", in: 1...8))
        frame.checksum = checksum
        return frame
    }

    fileprivate func error(_ name: String) throws(Failure) -> LinkError {
        let codes: [LinkError.Code] = [
            .timeout, .tagRemoved, .transmission, .collision, .frameTooLong, .readerUnavailable, .cancelled,
            .unsupported, .protocolViolation, .inUse,
        ]
        guard let code = codes.first(where: { $0.description == name }) else {
            throw Failure(reason: "\"failed\" is not a kind of failure.")
        }
        var collision: LinkError.Collision?
        if self["collision_bit"] != nil {
            let index = try number("collision_bit", in: 0...1 << 16)
            let count = (index + 7) / 8
            collision = LinkError.Collision(bitIndex: index, bits: try bytes("collision_hex", count: count...count))
        }
        return LinkError(code, string("reason") ?? "", collision: collision)
    }
}

extension Technology {
    fileprivate init?(recordedName name: String) {
        guard let technology = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = technology
    }
}

extension Recording {
    /// The longest line: a response of 65,538 bytes in hex, plus the text around it.
    static let maximumLineLength = 256 << 10
    /// The longest recording, enough for days of reading tags. It takes several times as much space in memory.
    package static let maximumLength = 64 << 20

    /// Reads a recording from a file, piece by piece. A file that is not a recording is rejected at its first line.
    ///
    /// - Parameter path: the file's path. A pipe or a device is refused, because a replay must not wait for data.
    /// - Throws: ``RecordingError``, whose reason names the file.
    public init(path: String) throws(RecordingError) {
        try self.init(name: path) { () throws(StorageError) in try InputFile(path, limit: Self.maximumLength) }
    }

    /// Reads a recording from a source that may not be a file, such as standard input.
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
    /// An incomplete last line, left by an interrupted writer, is ignored. The last call may lack an outcome.
    ///
    /// - Throws: ``RecordingError``.
    public init(parsing bytes: some Sequence<UInt8>) throws(RecordingError) {
        var parser = RecordingParser()
        try parser.take(Array(bytes))
        self = try parser.finish()
    }
}

/// Parses a recording piece by piece. It buffers at most one line.
struct RecordingParser {
    private let name: String?
    private var header: Recording.Header?
    private var steps: [Recording.Step] = []
    /// The tags found so far by the current poll.
    private var tags: [Recording.Tag] = []
    private var tagNumbers: Set<Int> = []
    private var exchanges = 0
    /// The index of the step that still lacks an outcome; nil for none.
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
                try parseAction(line)
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
                The recording has version \(version) of the format, but only version \(Recording.version) is supported. \
                Record the flow again, or use the version of the tools that wrote it.
                """
            throw failure(.unknownVersion, reason, line: 1)
        }
        guard let header = try? Recording.Header(line) else { throw notARecording() }
        return header
    }

    private mutating func parseAction(_ line: JSONLine) throws(JSONLine.Failure) {
        let time = try line.time()
        let action = try Recording.Action(line, knownTags: tagNumbers)
        if action.isEvent {
            // An event may be recorded between a call and its outcome.
            return steps.append(Recording.Step(time: time, action: action, endTime: time, outcome: .done))
        }
        guard open == nil else { throw JSONLine.Failure(reason: "The previous call has no outcome.") }
        var number: Int?
        if case .exchange = action {
            exchanges += 1
            number = exchanges
            guard line.number("n") == exchanges else {
                throw JSONLine.Failure(reason: "The number of the exchange must be \(exchanges).")
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
        guard tagNumbers.insert(tag.number).inserted else {
            throw JSONLine.Failure(reason: "Tag \(tag.number) already exists.")
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
