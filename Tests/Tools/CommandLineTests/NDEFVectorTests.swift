// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProgramTesting
import TestThreads
import Testing

/// The conformance vectors of the codec, through the command line.
@Suite(.ownThreads) struct NDEFVectorTests {
    /// A vector with hex input, as a JSON object.
    private struct Vector {
        let members: NSDictionary
        var id: String { members["id"] as? String ?? "" }
        var hex: String { members["hex"] as? String ?? "" }
        var isGood: Bool { members["ok"] as? Bool ?? false }
        var isContested: Bool { members["contested"] as? Bool ?? false || members["rtd_contested"] as? Bool ?? false }
    }

    private let vectors: [Vector]
    private let nfc = TestProgram("nfc")

    init() throws {
        let file = repository.appending(path: "Tests/Tags/NDEFTests/Vectors/ndef.jsonl")
        vectors = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
            let vector = Vector(members: try Self.object(line))
            return vector.members["hex"] == nil ? nil : vector
        }
    }

    private static func object(_ line: some StringProtocol) throws -> NSDictionary {
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary ?? [:]
    }

    private func run(_ words: String..., lines: [String]) throws -> TestProgram.Outcome {
        try nfc.run(["ndef"] + words, input: lines.joined(separator: "\n") + "\n")
    }

    @Test func `nfc ndef decode: prints the records of every vector, or the name of its error`() throws {
        let outcome = try run("decode", "--json", lines: vectors.map(\.hex))
        #expect(outcome.status == 1 && outcome.error == "")
        try #require(outcome.lines.count == vectors.count)
        for (vector, line) in zip(vectors, outcome.lines) where !vector.isContested {
            let answer = try Self.object(line)
            #expect(answer["ok"] as? Bool == vector.isGood, "\(vector.id)")
            if vector.isGood {
                #expect(answer["records"] as? NSArray == vector.members["records"] as? NSArray, "\(vector.id)")
            } else {
                #expect(answer["error"] as? String == vector.members["error"] as? String, "\(vector.id)")
                #expect(answer["offset"] is NSNumber && answer["message"] is String, "\(vector.id)")
            }
        }
    }

    @Test func `nfc ndef encode: gives back a decoded message exactly if it was canonical`() throws {
        let good = vectors.filter(\.isGood)
        let decoded = try run("decode", "--json", lines: good.map(\.hex))
        let encoded = try run("encode", lines: decoded.lines)
        #expect(decoded.status == 0 && encoded.status == 0)
        try #require(encoded.lines.count == good.count)
        for (vector, line) in zip(good, encoded.lines) {
            #expect((line == vector.hex) == (vector.members["canonical"] as? Bool ?? false), "\(vector.id)")
        }
    }

    @Test func `nfc ndef encode: the content of a record alone is encoded as the message of its vector`() throws {
        let rows = vectors.compactMap { vector in (vector.members["encode_input"] as? NSDictionary).map { (vector, $0) }
        }
        let lines = try rows.map { try JSONSerialization.data(withJSONObject: $0.1) }
        let outcome = try run("encode", lines: lines.map { String(decoding: $0, as: UTF8.self) })
        #expect(outcome.status == 0)
        #expect(outcome.lines == rows.map(\.0.hex))
    }
}
