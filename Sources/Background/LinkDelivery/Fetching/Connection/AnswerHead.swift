// SPDX-License-Identifier: Apache-2.0

/// Parses the head of a site's answer line by line, and rejects what is not allowed for an association file.
package struct AnswerHead: Sendable {
    /// The maximum size of all heads and trailers of one answer, in bytes.
    package static let maximumSize = 16 << 10

    /// Whether the head of the final answer is complete.
    package private(set) var isComplete = false
    private var size = 0
    /// The status of the current head; nil between heads.
    private var status: Int?
    private var length: String?

    package init() {}

    /// Parses a line, with or without its line end.
    package mutating func take(_ bytes: [UInt8]) throws(FetchError) {
        size += bytes.count
        guard size <= Self.maximumSize else {
            throw FetchError(.tooLarge, "The head of the answer is larger than \(Self.maximumSize) bytes.")
        }
        // Lines after the file are trailers, which are not needed.
        guard !isComplete else { return }
        let line = String(decoding: bytes.filter { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        guard let status else { return try takeStatus(line) }
        if line.isEmpty {
            isComplete = status == 200
            self.status = nil
        } else {
            try takeField(line)
        }
    }

    private mutating func takeStatus(_ line: String) throws(FetchError) {
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), parts[1].utf8.count == 3, let status = Int(parts[1])
        else {
            throw FetchError(.badResponse, "The answer is not HTTP/1.")
        }
        switch status {
        // Statuses such as 103 are followed by the final answer. 101 would change the protocol.
        case 100, 102..<200, 200: break
        case 300..<400:
            throw FetchError(
                .redirect,
                "The site redirects (status \(status)); an association file has to be at its place."
            )
        case 404, 410: throw FetchError(.missing, "The site has no association file (status \(status)).")
        default: throw FetchError(.status, "The site answers with status \(status).")
        }
        self.status = status
    }

    private mutating func takeField(_ line: String) throws(FetchError) {
        guard let colon = line.firstIndex(of: ":") else {
            throw FetchError(.badResponse, "The answer has a field without a name.")
        }
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var text = line[line.index(after: colon)...].drop(while: isSpace)
        while text.last.map(isSpace) == true { text.removeLast() }
        let value = text.lowercased()
        switch line[..<colon].lowercased() {
        case "content-length":
            guard length == nil || length == value else {
                throw FetchError(.badResponse, "The answer has two lengths.")
            }
            length = value
        case "content-encoding" where value != "identity":
            throw FetchError(.badResponse, "The file is compressed, which was not asked for.")
        case "transfer-encoding" where value != "chunked":
            throw FetchError(.badResponse, "The answer has an unknown transfer coding.")
        default: break
        }
    }
}
