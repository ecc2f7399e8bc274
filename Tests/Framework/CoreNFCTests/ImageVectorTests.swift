// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// Checks the status, capacity and message that a session's delegate gets for every image of the conformance vectors.
@Suite(.timeLimit(.minutes(2))) struct `Images of tags through a session` {
    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        var id: String
        var state: String
        var ndefHex: String?
        var capacity: Int?
        var readonly: Bool?
        var line = Data()
        var testDescription: String { id }

        private enum CodingKeys: String, CodingKey {
            case id, state, capacity, readonly
            case ndefHex = "ndef_hex"
        }
    }

    static let vectors: [Vector] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Parts/TagImagesTests/Vectors/tag-images.jsonl")
        let lines = (try? Data(contentsOf: file))?.split(separator: 0x0A) ?? []
        return lines.compactMap { line in
            var vector = try? JSONDecoder().decode(Vector.self, from: Data(line))
            vector?.line = Data(line)
            return vector
        }
    }()

    @Test func `All vectors are there`() {
        #expect(Self.vectors.count == 34)
    }

    @Test(arguments: vectors) func `Status, capacity and message are the expected ones`(_ vector: Vector) async throws {
        let image = try TagImage(parsing: Array(vector.line))
        try await withVirtualField { field in
            field.tags.bring(image.makeTag())
            let found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            try await session.connect(to: tag)
            let (status, capacity) = try await tag.queryNDEFStatus()
            switch vector.state {
            case "ok", "empty":
                #expect(status == (vector.readonly == true ? .readOnly : .readWrite))
                #expect(capacity == vector.capacity)
            default:
                #expect(status == .notSupported)
            }
            if vector.state == "ok" {
                let message = try await tag.readNDEF()
                let expected = try #require(NFCNDEFMessage(data: Data(Self.bytes(vector.ndefHex ?? ""))))
                let isExpected = message.records.elementsEqual(expected.records) { one, other in
                    one.typeNameFormat == other.typeNameFormat && one.type == other.type
                        && one.identifier == other.identifier && one.payload == other.payload
                }
                #expect(isExpected)
            } else {
                await #expect(throws: NFCReaderError.self) { try await tag.readNDEF() }
            }
            session.invalidate()
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
}
