// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace

/// A row of the trace.
struct TraceRow: Sendable {
    /// What a row is about.
    enum Kind: String, Sendable {
        case exchange, carrier, presence, session, callback, sheet, background, log
    }

    /// What an exchange has beside the words.
    struct Exchange: Sendable {
        var medium: Trace.Medium
        var request: Frame
        var result: Result<Frame, LinkError>
        var timeout: Airtime
        /// What is shown: passwords and keys are concealed.
        var shownRequest: [UInt8]
        var shownResponse: [UInt8]?
        var concealed: [Range<Int>]
    }

    var number = 0
    /// Since the simulator started, in microseconds.
    var time: Int
    /// How long an exchange takes on the air, in microseconds.
    var airtime = 0
    var kind: Kind
    /// The program that caused it: an app's id, or `background`.
    var source: String?
    /// More about it than the words.
    var detail: String?
    /// Whether a tag came, rather than left.
    var isNear: Bool?
    /// Whether a program turned the field on or off; nil for other rows, and for a change that no program asked for.
    var isFieldOn: Bool?
    /// The tag that it is about, where that is one.
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

    /// Whether the row has a text, in its words, bytes, tag or source.
    func contains(_ text: String) -> Bool {
        if words.lowercased().contains(text) || kind.rawValue == text { return true }
        if tag?.contains(text) == true || source?.lowercased().contains(text) == true { return true }
        guard let exchange else { return false }
        let digits = text.filter { !$0.isWhitespace }
        guard !digits.isEmpty, digits.allSatisfy(\.isHexDigit) else { return false }
        return exchange.shownRequest.hex.contains(digits) || exchange.shownResponse?.hex.contains(digits) == true
    }
}
