// SPDX-License-Identifier: Apache-2.0

/// Takes in the answer to one request (RFC 9112), octet by octet, and keeps no more than it may.
package struct HTTPResponse: Sendable {
    /// The most octets of the head, and of each line of a chunk.
    static let maximumHead = 16 << 10

    private enum State {
        case head
        case counted(Int)
        case untilEnd
        case chunkSize
        case chunk(Int)
        case chunkEnd
        case trailer
        case done
    }

    /// What was received of the file.
    package private(set) var body: [UInt8] = []
    private let maximumBody: Int
    private var state = State.head
    private var line: [UInt8] = []
    private var lines: [String] = []
    private var headSize = 0

    /// Creates what waits for an answer.
    ///
    /// - Parameter maximumBody: the most octets of the file.
    package init(maximumBody: Int) { self.maximumBody = maximumBody }

    /// Whether the answer is whole.
    package var isDone: Bool { if case .done = state { true } else { false } }

    /// Takes octets.
    package mutating func take(_ octets: [UInt8]) throws(FetchError) {
        var index = 0
        while index < octets.count {
            switch state {
            case .done: return
            case .counted(let count), .chunk(let count):
                let end = min(index + count, octets.count)
                try keep(octets[index..<end])
                advance(count - (end - index))
                index = end
            case .untilEnd:
                try keep(octets[index...])
                return
            case .head, .chunkSize, .chunkEnd, .trailer:
                let octet = octets[index]
                index += 1
                headSize += 1
                guard headSize <= Self.maximumHead else {
                    throw FetchError(.tooLarge, "The head of the answer is larger than \(Self.maximumHead) bytes.")
                }
                guard octet == 0x0A else {
                    line.append(octet)
                    continue
                }
                if line.last == 0x0D { line.removeLast() }
                let text = String(decoding: line, as: UTF8.self)
                line = []
                try take(line: text)
            }
        }
    }

    /// Notes that the other side has ended the connection as it should.
    package mutating func end() throws(FetchError) {
        switch state {
        case .done: return
        case .untilEnd: state = .done
        default: throw FetchError(.truncated, "The connection ended within the answer.")
        }
    }

    private mutating func advance(_ left: Int) {
        if case .chunk = state {
            state = left == 0 ? .chunkEnd : .chunk(left)
            if left == 0 { headSize = 0 }
        } else {
            state = left == 0 ? .done : .counted(left)
        }
    }

    private mutating func keep(_ octets: ArraySlice<UInt8>) throws(FetchError) {
        guard body.count + octets.count <= maximumBody else { throw tooLarge }
        body += octets
    }

    private var tooLarge: FetchError {
        FetchError(.tooLarge, "The file is larger than \(maximumBody) bytes.")
    }

    private mutating func take(line text: String) throws(FetchError) {
        switch state {
        case .head:
            if text.isEmpty { try readHead() } else { lines.append(text) }
        case .chunkSize:
            let digits = text.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
            guard !digits.isEmpty, digits.utf8.count <= 8, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
                let size = Int(digits, radix: 16)
            else {
                throw FetchError(.badResponse, "The answer has a chunk without a size.")
            }
            guard body.count + size <= maximumBody else { throw tooLarge }
            headSize = 0
            state = size == 0 ? .trailer : .chunk(size)
        case .chunkEnd:
            guard text.isEmpty else { throw FetchError(.badResponse, "A chunk of the answer is longer than it says.") }
            state = .chunkSize
        case .trailer: if text.isEmpty { state = .done }
        default: break
        }
    }

    private mutating func readHead() throws(FetchError) {
        let parts = (lines.first ?? "").split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), parts[1].utf8.count == 3, let status = Int(parts[1])
        else {
            throw FetchError(.badResponse, "The answer is not HTTP/1.")
        }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else {
                throw FetchError(.badResponse, "The answer has a field without a name.")
            }
            let name = line[..<colon].lowercased()
            let value = String(line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
            if name == "content-length", let known = fields[name], known != value {
                throw FetchError(.badResponse, "The answer has two lengths.")
            }
            fields[name] = value
        }
        lines = []
        headSize = 0
        if (100..<200).contains(status), status != 101 { return }
        try check(status)
        try chooseBody(fields)
    }

    private func check(_ status: Int) throws(FetchError) {
        switch status {
        case 200: return
        case 300..<400:
            throw FetchError(
                .redirect,
                "The site redirects (status \(status)); an association file has to be at its place."
            )
        case 404, 410: throw FetchError(.missing, "The site has no association file (status \(status)).")
        default: throw FetchError(.status, "The site answers with status \(status).")
        }
    }

    private mutating func chooseBody(_ fields: [String: String]) throws(FetchError) {
        if let coding = fields["content-encoding"], coding.lowercased() != "identity" {
            throw FetchError(.badResponse, "The file is compressed, which was not asked for.")
        }
        if let coding = fields["transfer-encoding"] {
            guard coding.lowercased() == "chunked" else {
                throw FetchError(.badResponse, "The answer has an unknown transfer coding.")
            }
            state = .chunkSize
        } else if let length = fields["content-length"] {
            guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw FetchError(.badResponse, "The answer has no valid length.")
            }
            guard let count = Int(length), count <= maximumBody else { throw tooLarge }
            state = count == 0 ? .done : .counted(count)
        } else {
            state = .untilEnd
        }
    }
}
