// SPDX-License-Identifier: Apache-2.0
import TagLink
import TextSafety

enum SimulatorRequest {
    static func hello(program: String, process: Int32) -> [UInt8] {
        line { writer in
            writer.member("hello", 1)
            writer.member("client", "app")
            writer.member("name", program)
            writer.member("pid", Int(process))
        }
    }

    /// Creates a request. Its answer repeats the id. A request without an id has no answer.
    static func line(_ name: String, id: Int?, _ members: (inout JSONWriter) -> Void) -> [UInt8] {
        line { writer in
            if let id { writer.member("id", id) }
            writer.member("do", name)
            members(&writer)
        }
    }

    private static func line(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        // Reserved, because every exchange sends a request.
        writer.text.reserveCapacity(128)
        writer.beginObject()
        members(&writer)
        writer.endObject()
        writer.newLine()
        return writer.text
    }
}

extension Frame.Checksum {
    var simulatorName: String {
        switch self {
        case .automatic: "automatic"
        case .crcB: "crc-b"
        case .none: "none"
        }
    }
}

struct SimulatorAnswer: Sendable {
    private let line: JSONLine

    init(_ line: JSONLine) { self.line = line }

    func check() throws(LinkError) {
        guard let name = line.string("error") else { return }
        let message = VisibleText.escaped(line.string("message") ?? name)
        throw LinkError(Self.codes[name] ?? .readerUnavailable, message, collision: try collision())
    }

    private static let codes: [String: LinkError.Code] = [
        "timeout": .timeout, "tag-removed": .tagRemoved, "transmission": .transmission, "collision": .collision,
        "frame-too-long": .frameTooLong, "reader-unavailable": .readerUnavailable, "cancelled": .cancelled,
        "unsupported": .unsupported, "protocol-violation": .protocolViolation, "in-use": .inUse,
    ]

    private func collision() throws(LinkError) -> LinkError.Collision? {
        guard line["collision_bit"] != nil else { return nil }
        guard let index = line.number("collision_bit"), (0...4096).contains(index), let bits = bytes("collision_bits"),
            bits.count == (index + 7) / 8
        else { throw SimulatorError.invalid("The position of a collision is invalid.") }
        return LinkError.Collision(bitIndex: index, bits: bits)
    }

    /// Returns a tag's frame and the time that the exchange took; nil when the simulator does not report the time.
    func frame() throws(LinkError) -> (Frame, elapsed: Airtime?) {
        let bits = line["bits"] == nil ? 8 : line.number("bits")
        guard let bytes = bytes("bytes"), bytes.count <= 4096, let bits, (1...8).contains(bits) else {
            throw SimulatorError.invalid("A frame is invalid.")
        }
        var frame = Frame(bits: bytes, validBitsInLastByte: bits)
        switch line.string("checksum") {
        case "none": frame.checksum = .none
        case "crc-b": frame.checksum = .crcB
        case "automatic": frame.checksum = .automatic
        case nil: frame.checksum = bits == 8 ? .automatic : .none
        default: throw SimulatorError.invalid("A frame has an unknown checksum.")
        }
        let elapsed = line.number("elapsed_us").flatMap { (0...1 << 40).contains($0) ? $0 : nil }
        return (frame, elapsed.map { .microseconds(Int64($0)) })
    }

    /// Returns the number of a tag's arrival; nil when the tag is not near.
    func arrival() -> UInt64? { line.number("arrival").flatMap { UInt64(exactly: $0) } }

    private func bytes(_ key: String) -> [UInt8]? {
        guard case .string(let digits)? = line[key] else { return nil }
        return [UInt8](hexadecimal: digits)
    }
}

/// The problems that a simulator creates for the sessions of an app.
package struct SimulatorSwitches: Sendable, Hashable {
    package var hasRadio = true
    /// Whether another program uses the reader.
    package var isBusy = false
    package var hasEntitlement = true
    package var hasUsageText = true

    package init() {}

    /// Reads the switches from a greeting or an event. A missing switch means no problem.
    init(_ line: JSONLine) {
        hasRadio = line.bool("radio") ?? true
        isBusy = line.bool("busy") ?? false
        hasEntitlement = line.bool("entitlement") ?? true
        hasUsageText = line.bool("usage_text") ?? true
    }
}

/// A link that the phone's background reading opens in this app.
package struct SimulatorLinkEvent: Sendable, Hashable {
    package var activityType: String
    package var url: String
    package var message: [UInt8]

    /// Parses an event; nil when it is incomplete.
    init?(_ line: JSONLine) {
        guard let type = line.string("activity_type"), let url = line.string("url"),
            case .string(let digits)? = line["message_hex"], let message = [UInt8](hexadecimal: digits)
        else { return nil }
        (activityType, self.url, self.message) = (type, url, message)
    }
}

/// The reasons why a simulator can't be used.
enum SimulatorError {
    private static let start = "Start it with: nfc simulator"

    static var cancelled: LinkError { LinkError(.cancelled, "The task was cancelled.") }

    static func missing(_ path: String) -> LinkError {
        LinkError(.readerUnavailable, "No simulator runs at \(VisibleText.escaped(path)). \(start)")
    }

    static var gone: LinkError { LinkError(.readerUnavailable, "The simulator has ended. \(start)") }

    static var silent: LinkError {
        LinkError(.readerUnavailable, "The simulator does not answer. Stop it, and start it again with: nfc simulator")
    }

    static func invalid(_ reason: String) -> LinkError {
        LinkError(
            .readerUnavailable,
            """
            The simulator sent invalid data: \(VisibleText.escaped(reason)) Use the same version of the simulator and \
            this program.
            """
        )
    }

    static func refused(_ reason: String) -> LinkError {
        LinkError(.readerUnavailable, "The simulator refused this program: \(VisibleText.escaped(reason))")
    }
}
