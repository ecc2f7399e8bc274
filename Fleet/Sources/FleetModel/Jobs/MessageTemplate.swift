// SPDX-License-Identifier: Apache-2.0
import NDEF

/// A message to write, with placeholders for values known only once a tag arrives.
package enum MessageTemplate: Sendable, Hashable {
    case link(String)
    /// A text in a language.
    case text(String, language: String)
    /// The bytes of a whole message.
    case bytes([UInt8])

    /// The values for the placeholders.
    package struct Values: Sendable, Hashable {
        package var serial: Int64?
        package var uid: [UInt8]
        package var node: FleetName
        package var reader: FleetName

        package init(serial: Int64?, uid: [UInt8], node: FleetName, reader: FleetName) {
            self.serial = serial
            self.uid = uid
            self.node = node
            self.reader = reader
        }
    }

    /// Whether the template contains the placeholder for a serial number.
    package var needsSerial: Bool {
        switch self {
        case .link(let text), .text(let text, _): text.contains("{serial}")
        case .bytes: false
        }
    }

    /// Fills in the placeholders, and returns the encoded message.
    ///
    /// - Throws: ``JobRefusal`` with `badJob` if the message can't be encoded.
    package func message(_ values: Values) throws(JobRefusal) -> [UInt8] {
        do {
            switch self {
            case .bytes(let bytes):
                _ = try NDEFMessage(decoding: bytes)
                return bytes
            case .link(let link): return try NDEFMessage([.uri(Self.filled(link, values))]).encoded()
            case .text(let text, let language):
                return try NDEFMessage([.text(Self.filled(text, values), language: language)]).encoded()
            }
        } catch {
            throw JobRefusal(.badJob, "The job's message can't be created: \(error)")
        }
    }

    private static func filled(_ text: String, _ values: Values) -> String {
        var text =
            text
            .replacing("{uid}", with: Hex.text(values.uid))
            .replacing("{node}", with: values.node.text)
            .replacing("{reader}", with: values.reader.text)
        if let serial = values.serial { text = text.replacing("{serial}", with: String(serial)) }
        return text
    }
}
