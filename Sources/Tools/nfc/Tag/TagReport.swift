// SPDX-License-Identifier: Apache-2.0
import NDEF
import NFCReaders
import NFCSessions
import TagLink
import TagProtocols
import TextSafety

/// The report on a tag that a command has read or written, with the airtime.
struct TagReport {
    /// Whether the message can be read and written.
    enum Status: String {
        case readWrite = "read-write"
        case readOnly = "read-only"
        case notNDEF = "not-ndef"

        init(_ access: NDEFDetection.Access) {
            self = access == .readWrite ? .readWrite : .readOnly
        }
    }

    var type: ForumTagType?
    var product: String?
    /// The UID, PUPI or IDm; empty when the reader does not report it.
    var uid: [UInt8]
    var status: Status?
    /// The longest message that fits.
    var capacity: Int?
    /// The message on the tag; empty for an empty tag, nil when it was not read.
    var message: [UInt8]?
    /// The exchanges and airtime from the end of activation.
    var cost: LinkStatistics?
    /// The exchanges and airtime of the activation.
    var activation: LinkStatistics?
    /// Whether the report shows exchanges and airtime.
    var showsCost = true
    /// Whether the tag is on a reader, which may not report exchanges and airtime.
    private(set) var isOnReader = false
    /// Whether the time that the tag made its reader wait is known.
    private var knowsTagWork = true

    /// Creates the report on what was found.
    ///
    /// - Parameters:
    ///   - findings: what was found.
    ///   - environment: the reader's environment; nil for an image, and for a command that does not report airtime.
    init(_ findings: TagReadResult, on environment: NFCEnvironment? = nil) {
        isOnReader = environment != nil
        if let environment { knowsTagWork = environment.knowsTagWork }
        type = findings.type
        product = findings.product
        uid = findings.identifier
        status = findings.survey.detection.map { Status($0.access) }
        // What a tag holds that keeps its memory back is not known.
        if let error = findings.survey.error { status = error.code == .readProtected ? nil : .notNDEF }
        capacity = findings.survey.detection?.capacity
        message = findings.survey.message
        cost = findings.cost
        activation = findings.activation
    }

    /// Creates the report on a tag without an exchange with it.
    init(type: ForumTagType?, product: String?, uid: [UInt8], status: Status?) {
        self.type = type
        self.product = product
        self.uid = uid
        self.status = status
    }

    /// Why the message on the tag is invalid; nil for a valid message, and for an empty tag.
    var messageError: NDEFError? {
        guard let message, !message.isEmpty else { return nil }
        do throws(NDEFError) {
            _ = try NDEFMessage(decoding: message)
            return nil
        } catch {
            return error
        }
    }

    /// Why the tag's message can't be used, as a failure of the command; nil when it can.
    ///
    /// - Parameter error: why the message could not be read.
    func failure(_ error: TagError?) -> CommandFailure? {
        (error.map { CommandFailure($0) } ?? messageError.map { CommandFailure($0) })?.of(self)
    }

    /// Writes the documented members of the object. Unknown values are `null`, so that a command always has the same
    /// members.
    func write(to writer: inout JSONWriter) {
        writer.member("tag_type", type?.rawValue)
        writer.member("product", product)
        if uid.isEmpty { writer.member(null: "uid") } else { writer.member("uid", hex: uid) }
        writer.member("status", status?.rawValue)
        writer.member("capacity", capacity)
        if let message { writer.member("message_hex", hex: message) } else { writer.member(null: "message_hex") }
        if showsCost {
            writer.member("exchanges", cost?.exchanges)
            writer.member("bytes_on_air", cost?.bytesOnAir)
            writer.member("airtime_us", (cost?.airtime.microseconds).map { Int($0) })
            let work = knowsTagWork ? cost?.tagWorkTime.microseconds : nil
            writer.member("tag_work_us", work.map { Int($0) })
            writer.member("activation_us", (activation?.airtime.microseconds).map { Int($0) })
        }
        writeRecords(to: &writer)
    }

    /// Writes the records of the message, as `nfc ndef decode` prints them.
    private func writeRecords(to writer: inout JSONWriter) {
        guard let message, let decoded = message.isEmpty ? NDEFMessage([]) : try? NDEFMessage(decoding: message) else {
            return writer.member(null: "records")
        }
        writer.key("records")
        writer.beginArray()
        for record in decoded.records { writer.record(record) }
        writer.endArray()
    }

    /// Prints the report.
    ///
    /// - Parameters:
    ///   - json: whether to print one JSON object.
    ///   - out: where the command writes an image; nil for nowhere.
    func print(json: Bool, beside out: String? = nil) {
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("ok", true)
            write(to: &writer)
            writer.endObject()
            writer.printLine()
        } else {
            for line in lines { printLine(line, beside: out) }
        }
    }

    /// The UID for people.
    var uidText: String { uid.isEmpty ? "not known: the reader does not report it" : HexText.text(uid) }

    /// The report for people.
    var lines: [String] {
        var lines: [String] = []
        let name = [product, type.map { "Type \($0.rawValue)" }].compactMap { $0 }.joined(separator: ", ")
        lines.append((name.isEmpty ? "Tag" : name) + ", UID " + uidText)
        switch status {
        case .readWrite: lines.append("Can be written, holds up to \(capacity ?? 0) bytes")
        case .readOnly: lines.append("Read-only, holds up to \(capacity ?? 0) bytes")
        case .notNDEF: lines.append("Not formatted for messages")
        case nil: break
        }
        if let message { lines += Self.lines(for: message) }
        guard showsCost else { return lines }
        if let cost {
            let exchanges = cost.exchanges == 1 ? "1 exchange" : "\(cost.exchanges) exchanges"
            var line = "\(exchanges), \(cost.bytesOnAir) bytes, \(cost.airtime.microseconds) us on the air"
            if cost.tagWorkTime > .zero { line += ", \(cost.tagWorkTime.microseconds) us of programming" }
            if let activation { line += ", after \(activation.airtime.microseconds) us of activation" }
            lines.append(line)
        } else if isOnReader {
            lines.append("This reader does not report airtime")
        }
        return lines
    }

    private static func lines(for bytes: [UInt8]) -> [String] {
        if bytes.isEmpty { return ["No message"] }
        do throws(NDEFError) {
            let message = try NDEFMessage(decoding: bytes)
            let count = message.records.count == 1 ? "1 record" : "\(message.records.count) records"
            let records = message.records.enumerated().flatMap { RecordText.lines($1, number: $0 + 1) }
            return ["Message: \(count), \(bytes.count) bytes"] + records
        } catch {
            return ["Message: \(bytes.count) bytes, not readable (\(error.code)). \(error.reason)"]
        }
    }
}

extension NFCEnvironment {
    /// Whether the reader measures how long a tag makes it wait. Only the virtual field does.
    fileprivate var knowsTagWork: Bool {
        guard case .field = reader else { return false }
        return replay == nil
    }
}
