// SPDX-License-Identifier: Apache-2.0
import NDEF
import NFCReaders
import NFCSessions
import TagLink
import TagProtocols
import TextSafety
import VirtualTags

struct TagReport {
    enum Status: String {
        case readWrite = "read-write"
        case readOnly = "read-only"
        case notNDEF = "not-ndef"

        init(_ access: NDEFDetection.Access) { self = access == .readWrite ? .readWrite : .readOnly }
    }

    var type: ForumTagType?
    var product: String?
    /// The UID, PUPI or IDm; empty if the reader does not report it.
    var uid: [UInt8]
    var status: Status?
    var capacity: Int?
    /// The tag's message; empty for an empty tag, nil if it was not read.
    var message: [UInt8]?
    /// The exchanges and airtime after activation.
    var cost: LinkStatistics?
    /// The exchanges and airtime of activation.
    var activation: LinkStatistics?
    var showsCost = true
    /// What writing needs besides the permission of the capability container; nil for nothing.
    private var condition: String?
    /// The target for an image; nil if none is written. If it is standard output, the report goes to standard error.
    var out: String?
    /// The name of the reader with the tag, which may not report exchanges and airtime; nil for an image.
    let reader: String?
    /// Whether it is known how long the tag made the reader wait.
    private var knowsTagWork = true

    /// Creates a report from a read result. Omit the environment for an image.
    init(_ findings: TagReadResult, on environment: NFCEnvironment? = nil) {
        reader = environment?.driver?.name
        if let environment { knowsTagWork = environment.knowsTagWork }
        type = findings.type
        product = findings.product
        uid = findings.identifier
        status = findings.ndefStatus.detection.map { Status($0.access) }
        // The contents of a read-protected tag are unknown.
        if let error = findings.ndefStatus.error { status = error.code == .readProtected ? nil : .notNDEF }
        capacity = findings.ndefStatus.detection?.capacity
        message = findings.ndefStatus.message
        cost = findings.cost
        activation = findings.activation
    }

    init(type: ForumTagType?, product: String?, uid: [UInt8], status: Status?) {
        reader = nil
        self.type = type
        self.product = product
        self.uid = uid
        self.status = status
    }

    /// Adapts the status of a tag that can be written by its capability container to its locks and its password.
    mutating func obey(_ barrier: TagContents.WriteBarrier?) {
        guard status == .readWrite else { return }
        switch barrier {
        case .locks: status = .readOnly
        case .partialLocks: condition = "only where it is not locked"
        case .password: condition = "with its password"
        case .key: condition = "with its key"
        case nil: break
        }
    }

    /// Returns the failure of a write, with this report. A lock can refuse what the capability container grants.
    func failure(ofWrite failure: TagWriteFailure) -> CommandFailure {
        var report = self
        if failure.error.code == .readOnly { report.obey(.partialLocks) }
        return CommandFailure(failure).of(report)
    }

    /// Explains why the tag's message can't be used; nil if it can, or if the tag is empty.
    func failure(_ error: TagError?) -> CommandFailure? {
        if let error { return CommandFailure(error).of(self) }
        guard let message, !message.isEmpty else { return nil }
        do throws(NDEFError) {
            _ = try NDEFMessage(decoding: message)
            return nil
        } catch {
            return CommandFailure(error).of(self)
        }
    }

    /// The documented JSON members. Unknown values are `null`, so that a command always prints the same members.
    var object: JSONObject {
        var object: JSONObject = [
            "reader": reader, "tag_type": type?.rawValue, "product": product, "uid": uid.isEmpty ? nil : uid.hexText(),
            "status": status?.rawValue, "capacity": capacity, "message_hex": message?.hexText(),
        ]
        if showsCost {
            let work = knowsTagWork ? cost?.tagWorkTime.microseconds : nil
            object =
                object + [
                    "exchanges": cost?.exchanges, "bytes_on_air": cost?.bytesOnAir,
                    "airtime_us": (cost?.airtime.microseconds).map { Int($0) }, "tag_work_us": work.map { Int($0) },
                    "activation_us": (activation?.airtime.microseconds).map { Int($0) },
                ]
        }
        // The records, in the format of `nfc ndef decode`.
        let decoded = message.flatMap { $0.isEmpty ? NDEFMessage([]) : try? NDEFMessage(decoding: $0) }
        return object + ["records": decoded?.records]
    }

    func print(json: Bool) { printResult(json: json, beside: out, ["ok": true] + object, lines) }

    var uidText: String { uid.isEmpty ? "unknown: the reader does not report it" : uid.hexText() }

    var lines: [String] {
        var lines: [String] = []
        let name = [product, type.map { "Type \($0.rawValue)" }].compactMap { $0 }.joined(separator: ", ")
        lines.append((name.isEmpty ? "Tag" : name) + ", UID " + uidText)
        switch status {
        case .readWrite:
            lines.append("Can be written\(condition.map { " \($0)" } ?? ""), holds up to \(capacity ?? 0) bytes")
        case .readOnly: lines.append("Read-only, holds up to \(capacity ?? 0) bytes")
        case .notNDEF: lines.append("Not formatted for messages")
        case nil: break
        }
        if let message { lines += Self.lines(for: message) }
        guard showsCost else { return lines }
        if let cost {
            var line =
                "\(RecordText.count(cost.exchanges, "exchange")), \(cost.bytesOnAir) bytes, \(cost.airtime.text) on the air"
            if cost.tagWorkTime > .zero { line += ", \(cost.tagWorkTime.text) of programming" }
            if let activation { line += ", after \(activation.airtime.text) of activation" }
            lines.append(line)
        } else if reader != nil {
            lines.append("This reader does not report airtime")
        }
        return lines
    }

    /// Describes a message, one line for its size and a paragraph per record.
    static func lines(for bytes: [UInt8]) -> [String] {
        if bytes.isEmpty { return ["No message"] }
        do throws(NDEFError) {
            let message = try NDEFMessage(decoding: bytes)
            let count = RecordText.count(message.records.count, "record")
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

extension Airtime {
    /// The duration in a suitable unit, as on the simulator's page.
    var text: String {
        let us = microseconds
        switch us {
        case ..<1000: return "\(us) µs"
        case ..<100_000: return "\(Self.decimal((us + 50) / 100, digits: 1)) ms"
        case ..<1_000_000: return "\((us + 500) / 1000) ms"
        default: return "\(Self.decimal((us + 5000) / 10000, digits: 2)) s"
        }
    }

    /// Writes a number of tenths or hundredths.
    private static func decimal(_ number: Int64, digits: Int) -> String {
        let text = String(number)
        return "\(text.dropLast(digits)).\(text.suffix(digits))"
    }
}
