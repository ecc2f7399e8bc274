// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace

/// A row of the trace.
struct TraceRow: Sendable {
    /// The subject of a row.
    enum Kind: String, Sendable {
        case exchange, carrier, presence, session, callback, sheet, background, log
    }

    /// Details of an exchange.
    struct Exchange: Sendable {
        var medium: Trace.Medium
        var request: Frame
        var result: Result<Frame, LinkError>
        var timeout: Airtime
        /// The bytes to show. Passwords and keys are concealed.
        var shownRequest: [UInt8]
        var shownResponse: [UInt8]?
        var concealed: [Range<Int>]

        var byteCount: Int { request.byteCountOnAir + ((try? result.get())?.byteCountOnAir ?? 0) }
    }

    var number = 0
    /// The time since the simulator started, in microseconds.
    var time: Int
    /// The airtime of an exchange, in microseconds.
    var airtime = 0
    var kind: Kind
    /// The program that caused the row: an app's id, or `background`.
    var source: String?
    /// Additional text for the row.
    var detail: String?
    /// Whether a tag arrived; false if it left.
    var isNear: Bool?
    /// Whether a program turned the field on or off; nil for other rows, and for a change that no program asked for.
    var isFieldOn: Bool?
    /// The id of the tag, if the row is about one.
    var tag: String?
    var words: String
    var exchange: Exchange?
    var isWrite = false

    var json: JSON {
        var members: [String: JSON] = [
            "n": .int(number), "t_us": .int(time), "airtime_us": .int(airtime), "kind": .string(kind.rawValue),
            "words": .string(words), "tag": JSON(tag), "app": JSON(source), "write": .bool(isWrite), "technology": nil,
            "request": nil, "response": nil, "error": nil,
        ]
        if let detail { members["detail"] = .string(detail) }
        if let isNear { members["near"] = .bool(isNear) }
        guard let exchange else { return .object(members) }
        if case .frames(let technology) = exchange.medium { members["technology"] = .string(technology.name) }
        members["request"] = .string(exchange.shownRequest.hex)
        if exchange.request.validBitsInLastByte != 8 {
            members["request_bits"] = .int(exchange.request.validBitsInLastByte)
        }
        if !exchange.concealed.isEmpty {
            members["concealed"] = .array(exchange.concealed.map { [.int($0.lowerBound), .int($0.upperBound)] })
        }
        switch exchange.result {
        case .success(let frame):
            members["response"] = JSON(exchange.shownResponse?.hex)
            if frame.validBitsInLastByte != 8 { members["response_bits"] = .int(frame.validBitsInLastByte) }
        case .failure(let error): members["error"] = .string("\(error.code)".kebab)
        }
        return .object(members)
    }

    /// Whether a text occurs in the row's words, bytes, tag or source.
    func contains(_ text: String) -> Bool {
        if words.lowercased().contains(text) || kind.rawValue == text { return true }
        if tag?.contains(text) == true || source?.lowercased().contains(text) == true { return true }
        guard let exchange else { return false }
        let digits = text.filter { !$0.isWhitespace }
        guard !digits.isEmpty, digits.allSatisfy(\.isHexDigit) else { return false }
        return exchange.shownRequest.hex.contains(digits) || exchange.shownResponse?.hex.contains(digits) == true
    }
}
