// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// Encodes events as CloudEvents 1.0 in structured JSON.
package enum CloudEvent {
    /// Returns the event's JSON, with `late` set to false.
    package static func bytes(_ event: FleetEvent, at position: EventPosition) -> [UInt8] {
        var writer = JSONWriter()
        writer.text.reserveCapacity(640)
        writer.beginObject()
        writer.member("specversion", "1.0")
        writer.member("id", position.id)
        writer.member("source", position.source)
        writer.member("type", event.kind.type)
        if let subject = event.subject { writer.member("subject", subject) }
        writer.member("time", Timestamp.text(event.time))
        writer.member("datacontenttype", "application/json")
        writer.member("stream", position.stream)
        writer.member("sequence", sortable(position.sequence))
        writer.member("late", false)
        writer.key("data")
        let places: [JSONValue.Member] = [
            JSONValue.Member("node", .string(position.node.text)),
            JSONValue.Member("reader", .string(position.reader.text)),
            JSONValue.Member("stream", .string(position.stream)),
            JSONValue.Member("sequence", .integer(Int(position.sequence))),
        ]
        JSONValue.object(places + event.members).write(to: &writer)
        writer.endObject()
        return writer.text
    }

    /// Returns an event's JSON with `late` set to true. Nothing else changes.
    package static func late(_ bytes: [UInt8]) -> [UInt8] {
        // The members before `late` hold names, digits and times, so the first match is the member itself.
        // A manual search, because it is faster: after an outage, thousands of events are late.
        guard let first = punctual.first else { return bytes }
        var start = bytes.startIndex
        while let index = bytes[start...].firstIndex(of: first), bytes.count - index >= punctual.count {
            let end = index + punctual.count
            if bytes[index..<end].elementsEqual(punctual) {
                return Array(bytes[..<index]) + Array(#","late":true,"#.utf8) + bytes[end...]
            }
            start = index + 1
        }
        return bytes
    }

    /// Returns an event's age according to this machine's clock.
    package static func age(_ bytes: [UInt8]) -> Duration {
        // The members before `time` hold names and digits, so the first match is the member itself.
        guard let name = bytes.firstRange(of: Array(#""time":""#.utf8)), bytes.count >= name.upperBound + 24,
            let time = Timestamp.milliseconds(
                String(decoding: bytes[name.upperBound..<name.upperBound + 24], as: UTF8.self)
            )
        else { return .zero }
        return .milliseconds(Timestamp.now - time)
    }

    /// Returns an event's JSON with the tag message replaced by its size; nil if there is no message content.
    package static func shortened(_ bytes: [UInt8]) -> [UInt8]? {
        guard case .object(var members)? = try? JSONValue(parsing: bytes),
            let data = members.firstIndex(where: { $0.name == "data" }),
            case .object(var parts) = members[data].value,
            let message = parts.firstIndex(where: { $0.name == "message" }),
            let hex = parts[message].value["hex"]?.text
        else { return nil }
        parts[message].value = ["size": .integer(hex.utf8.count / 2)]
        members[data].value = .object(parts)
        return JSONValue.object(members).bytes
    }

    private static let punctual = Array(#","late":false,"#.utf8)

    /// Returns a zero-padded number, so that sorting the text sorts the numbers.
    package static func sortable(_ sequence: Int64) -> String {
        let digits = String(sequence)
        return String(repeating: "0", count: max(19 - digits.utf8.count, 0)) + digits
    }
}
