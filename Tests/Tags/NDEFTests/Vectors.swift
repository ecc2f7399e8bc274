// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF
import Testing

/// One line of the conformance vectors.
struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    struct Record: Decodable, Sendable {
        var tnf: UInt8
        var type_hex: String
        var id_hex: String
        var payload_hex: String
        var decoded: JSONValue

        var record: NDEFRecord {
            NDEFRecord(
                TypeNameFormat(rawValue: tnf) ?? .reserved,
                type: Hex.bytes(type_hex),
                identifier: Hex.bytes(id_hex),
                payload: Hex.bytes(payload_hex)
            )
        }
    }

    struct Generator: Decodable, Sendable {
        var head: String
        var fill: String
        var count: Int
        var tail: String
    }

    var id: String
    var group: String
    var hex: String?
    var gen: Generator?
    var ok: Bool
    var error: String?
    var records: [Record]
    var canonical: Bool
    var contested: Bool
    var rtd_contested: Bool
    var note: String?
    var encode_input: JSONValue?

    var testDescription: String { "\(id) \(note ?? "")" }

    var bytes: [UInt8] {
        if let hex { return Hex.bytes(hex) }
        guard let gen else { return [] }
        let fill = Hex.bytes(gen.fill)
        return Hex.bytes(gen.head) + (0..<gen.count).flatMap { _ in fill } + Hex.bytes(gen.tail)
    }

    /// The lines of a file with vectors.
    static func lines(of name: String) throws -> [Substring] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Vectors/\(name)")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    }

    /// All vectors, in the file's order.
    static let all: [Vector] = {
        do {
            return try lines(of: "ndef.jsonl").map { try JSONDecoder().decode(Vector.self, from: Data($0.utf8)) }
        } catch {
            Issue.record("The vectors can't be read: \(error)")
            return []
        }
    }()
}

enum Hex {
    /// Bytes from hexadecimal digits; other characters don't count.
    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map { UInt8($0) } }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// A well-known record with this type and payload.
func wellKnown(_ type: String, _ payload: [UInt8]) -> NDEFRecord {
    NDEFRecord(.wellKnown, type: Array(type.utf8), payload: payload)
}

/// A JSON value, to compare decoded content with the expected content.
enum JSONValue: Hashable, Sendable, Decodable {
    case null
    case bool(Bool)
    case number(Int)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }
}
