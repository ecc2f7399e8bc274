// SPDX-License-Identifier: Apache-2.0
import NDEF
import NFCRuntime
import TagLink
import TagProtocols

/// What a command found on a tag, or did to it, and what it cost.
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
    var uid: [UInt8]
    var status: Status?
    /// The longest message that fits.
    var capacity: Int?
    /// The message on the tag; empty for an empty tag, nil when there is none to tell of.
    var message: [UInt8]?
    /// What it cost from the end of activation on.
    var cost: LinkStatistics?
    /// What activation cost.
    var activation: LinkStatistics?
    /// Whether the tag is on a reader: what it keeps to itself is `null` then, and never made up.
    private(set) var isOnReader = false
    /// Whether it is known for how long the tag made its reader wait.
    private var knowsTagWork = true

    /// Says what was found.
    ///
    /// - Parameters:
    ///   - findings: what was found.
    ///   - environment: the reader's; nil for an image, and for a command that says nothing of the air.
    init(_ findings: TagFindings, on environment: NFCEnvironment? = nil) {
        isOnReader = environment != nil
        if let environment { knowsTagWork = environment.knowsTagWork }
        type = findings.type
        product = findings.product
        uid = findings.identifier
        status = findings.survey.detection.map { Status($0.access) }
        if findings.survey.error != nil { status = .notNDEF }
        capacity = findings.survey.detection?.capacity
        message = findings.survey.message
        cost = findings.cost
        activation = findings.activation
    }

    /// Says what is known without having talked to the tag.
    init(type: ForumTagType?, product: String?, uid: [UInt8], status: Status) {
        self.type = type
        self.product = product
        self.uid = uid
        self.status = status
    }

    /// Writes the members of the object that the contract names.
    func write(to writer: inout JSONWriter) {
        if let type { writer.member("tag_type", type.rawValue) }
        if let product {
            writer.member("product", product)
        } else if isOnReader {
            writer.member(null: "product")
        }
        writer.member("uid", hex: uid)
        if let status { writer.member("status", status.rawValue) }
        if let capacity { writer.member("capacity", capacity) }
        if let message { writer.member("message_hex", hex: message) }
        if let cost {
            writer.member("exchanges", cost.exchanges)
            writer.member("bytes_on_air", cost.bytesOnAir)
            writer.member("airtime_us", Int(cost.airtime.microseconds))
            if knowsTagWork { writer.member("tag_work_us", Int(cost.tagWorkTime.microseconds)) }
        } else if isOnReader {
            for key: StaticString in ["exchanges", "bytes_on_air", "airtime_us"] { writer.member(null: key) }
        }
        if let activation {
            writer.member("activation_us", Int(activation.airtime.microseconds))
        } else if isOnReader {
            writer.member(null: "activation_us")
        }
    }

    /// Prints the report of something that was done.
    ///
    /// - Parameters:
    ///   - json: as one JSON object.
    ///   - decodes: adds the `records` of the message to the object, as `nfc ndef decode` prints them.
    func print(json: Bool, decodes: Bool = false) {
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("ok", true)
            write(to: &writer)
            if decodes, let message, let decoded = try? NDEFMessage(decoding: message) {
                writer.key("records")
                writer.beginArray()
                for record in decoded.records { writer.record(record) }
                writer.endArray()
            }
            writer.endObject()
            writer.printLine()
        } else {
            for line in lines { printLine(line) }
        }
    }

    /// The report as people read it.
    var lines: [String] {
        var lines: [String] = []
        let name = [product, type.map { "Type \($0.rawValue)" }].compactMap { $0 }.joined(separator: ", ")
        lines.append((name.isEmpty ? "Tag" : name) + ", UID " + HexText.text(uid))
        switch status {
        case .readWrite: lines.append("Can be written, holds up to \(capacity ?? 0) octets")
        case .readOnly: lines.append("Read-only, holds up to \(capacity ?? 0) octets")
        case .notNDEF: lines.append("Not formatted for messages")
        case nil: break
        }
        if let message { lines += Self.lines(for: message) }
        if let cost {
            let exchanges = cost.exchanges == 1 ? "1 exchange" : "\(cost.exchanges) exchanges"
            var line = "\(exchanges), \(cost.bytesOnAir) octets, \(cost.airtime.microseconds) us on the air"
            if cost.tagWorkTime > .zero { line += ", \(cost.tagWorkTime.microseconds) us of programming" }
            if let activation { line += ", after \(activation.airtime.microseconds) us of activation" }
            lines.append(line)
        } else if isOnReader {
            lines.append("This reader does not show what goes on the air")
        }
        return lines
    }

    private static func lines(for octets: [UInt8]) -> [String] {
        if octets.isEmpty { return ["No message"] }
        do throws(NDEFError) {
            let message = try NDEFMessage(decoding: octets)
            let count = message.records.count == 1 ? "1 record" : "\(message.records.count) records"
            let records = message.records.enumerated().flatMap { RecordText.lines($1, number: $0 + 1) }
            return ["Message: \(count), \(octets.count) octets"] + records
        } catch {
            return ["Message: \(octets.count) octets, not readable (\(error.code)). \(error.reason)"]
        }
    }
}

extension NFCEnvironment {
    /// Whether its reader counts for how long a tag made it wait, as the virtual field alone does.
    fileprivate var knowsTagWork: Bool {
        guard case .field = reader else { return false }
        return replay == nil
    }
}
