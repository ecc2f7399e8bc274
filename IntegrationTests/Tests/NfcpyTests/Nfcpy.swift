// SPDX-License-Identifier: Apache-2.0
import Foundation
import PeerSupport

/// nfcpy in its own process, connected to a virtual field.
final class Nfcpy: Sendable {
    private let process: LineProcess

    /// Starts it.
    ///
    /// - Parameters:
    ///   - field: the field with the tag.
    ///   - bitRate: the bit rate that it polls for: `106A`, `106B` or `212F`.
    init(_ field: DatagramField, bitRate: String) throws {
        guard let python = PythonInterpreter.path else { throw PeerError(PythonInterpreter.reason) }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "nfcpy_peer.py")
        process = try LineProcess(python, [script.path, String(field.port), bitRate])
    }

    /// Sends a request, which may fail.
    func attempt(_ request: Request) async throws -> Answer {
        let line = try JSONEncoder().encode(request)
        let answer = try await process.ask(String(decoding: line, as: UTF8.self))
        return try JSONDecoder().decode(Answer.self, from: Data(answer.utf8))
    }

    /// Sends a request that must succeed.
    func ask(_ request: Request) async throws -> Answer {
        let answer = try await attempt(request)
        guard answer.ok else { throw PeerError("nfcpy failed to \(request.do): \(answer.error ?? "no reason").") }
        return answer
    }

    /// Ends the input; the process must then end by itself.
    func finish() async throws {
        let status = try await process.finish()
        guard status == 0 else { throw PeerError("nfcpy ended with \(status).") }
    }
}

/// A request to nfcpy: a line of input of `nfcpy_peer.py`.
struct Request: Encodable {
    var `do`: String
    var bytes: String?
    var records: [RecordDescription]?

    static let read = Request(do: "read")
    static let format = Request(do: "format")
    static let protect = Request(do: "protect")

    static func write(_ bytes: [UInt8]) -> Request { Request(do: "write", bytes: bytes.hexadecimal) }
    static func write(_ records: [RecordDescription]) -> Request { Request(do: "write-records", records: records) }
    static func decode(_ bytes: [UInt8]) -> Request { Request(do: "decode", bytes: bytes.hexadecimal) }
    static func encode(_ records: [RecordDescription]) -> Request { Request(do: "encode", records: records) }
}

/// An answer of nfcpy: a line of output of `nfcpy_peer.py`.
struct Answer: Decodable {
    struct Message: Decodable, Equatable {
        /// The bytes on the tag.
        var bytes: String
        /// The records that ndeflib decodes from them.
        var records: [RecordDescription]
        /// The bytes that ndeflib encodes from those records.
        var again: String
    }

    var ok: Bool
    var error: String?
    var type: String?
    var product: String?
    var identifier: String?
    var capacity: Int?
    var readable: Bool?
    var writable: Bool?
    var message: Message?
    var done: Bool?
}

extension Sequence<UInt8> {
    /// The bytes in lower case, without separators.
    var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
