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
    var rtd_error: Bool
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

    /// All of them, in the file's order.
    static let all: [Vector] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Vectors/ndef.jsonl")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            do {
                return try JSONDecoder().decode(Vector.self, from: Data(line.utf8))
            } catch {
                Issue.record("A vector can't be read: \(error)")
                return nil
            }
        }
    }()
}

enum Hex {
    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.utf8.map { UInt8(Character(Unicode.Scalar($0)).hexDigitValue ?? 0) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }
}

extension NDEFRecord {
    init(_ record: Vector.Record) {
        self.init(
            TypeNameFormat(rawValue: record.tnf) ?? .reserved,
            type: Hex.bytes(record.type_hex),
            identifier: Hex.bytes(record.id_hex),
            payload: Hex.bytes(record.payload_hex)
        )
    }
}
