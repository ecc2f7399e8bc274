// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The conformance vectors of the codec, as JSON objects.
struct NDEFVector: @unchecked Sendable {
    // Plist values are never changed after they were read, so they can be shared.
    let members: NSDictionary

    var id: String { members["id"] as? String ?? "" }
    var hex: String { members["hex"] as? String ?? "" }
    var isGood: Bool { members["ok"] as? Bool ?? false }
    var isContested: Bool { members["contested"] as? Bool ?? false || members["rtd_contested"] as? Bool ?? false }
    var isCanonical: Bool { members["canonical"] as? Bool ?? false }
    var error: String? { members["error"] as? String }
    var records: NSArray { members["records"] as? NSArray ?? [] }
    var encodeInput: NSDictionary? { members["encode_input"] as? NSDictionary }

    /// The vectors with hex input.
    static func all() throws -> [NDEFVector] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = tests.appending(path: "Contract/NDEFTests/Vectors/ndef.jsonl")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
            let vector = NDEFVector(members: try object(String(line)))
            return vector.members["hex"] == nil ? nil : vector
        }
    }

    /// The JSON object of a line.
    static func object(_ line: String) throws -> NSDictionary {
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary ?? [:]
    }

    /// A JSON object as a line.
    static func line(_ object: NSDictionary) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
    }
}
