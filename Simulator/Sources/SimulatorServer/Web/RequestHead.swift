// SPDX-License-Identifier: Apache-2.0
import Foundation
import SimulatorModel

/// The request line and the headers of a request. Limits and checks them before the web server reads them.
struct RequestHead {
    /// Why a request is refused.
    struct Refusal: Error {
        var status: String
        var message: String
        /// The code in a JSON answer; nil for a plain text answer.
        var code: String?

        static let malformed = Refusal(status: "400 Bad Request", message: "This is not an HTTP request.")
        static let tooLong = Refusal(
            status: "431 Request Header Fields Too Large",
            message: """
                A line can have at most \(RequestHead.maximumLine) bytes, and all headers \(RequestHead.maximumSize).
                """
        )
        static let noLength = Refusal(
            status: "411 Length Required",
            message: "A body needs a Content-Length."
        )
        static let notFound = Refusal(status: "404 Not Found", message: "This page does not exist.")

        static func forbidden(_ refusal: PageGuard.Refusal) -> Refusal {
            Refusal(status: "403 Forbidden", message: refusal.message)
        }

        static let busy = Refusal(
            status: "503 Service Unavailable",
            message: "Too many connections are open. Close some, and try again."
        )
        static let tooLarge = Refusal(
            status: "400 Bad Request",
            message:
                """
                A file can have at most \(Limits.pageMessage) bytes, an action \(Limits.action), and each needs a \
                Content-Length.
                """,
            code: "too-large"
        )
    }

    /// The maximum size of a line, and of the whole head, in bytes.
    static let maximumLine = 16 << 10
    static let maximumSize = 32 << 10
    /// The maximum size of a URL in the session, of a URL outside it, and of a forwarded header, in bytes. The web
    /// server's time for a line is quadratic in the line's length.
    private static let maximumAddress = 2 << 10
    private static let maximumOpenAddress = 300
    private static let maximumHeader = 512
    /// The headers that are forwarded because the web server needs them.
    private static let passedOn: Set = [
        "host", "origin", "content-length", "content-type", "upgrade", "sec-websocket-key", "sec-websocket-version",
        "sec-websocket-protocol", "sec-websocket-extensions",
    ]

    /// Whether the request asks for a WebSocket.
    let isUpgrade: Bool
    /// Whether the client waits for `100 Continue` before it sends the body.
    let waitsForPermission: Bool
    /// The length of the body in bytes.
    let bodyLength: Int
    /// Whether the page asks to enter the session.
    let isEntry: Bool
    /// Whether the request is answered only within the session.
    private let needsSession: Bool
    /// The headers and the token that identify the sender.
    private let host: String?
    private let origin: String?
    private let site: String?
    private let cookies: String?
    private let token: String?
    /// The lines for the web server. Except for a WebSocket, they ask it to close the connection afterwards.
    private let lines: [String]

    /// The state of the search for the end of the head.
    struct Search {
        /// The index at which the current line begins.
        var line = 0
        /// The number of bytes searched so far.
        var count = 0
    }

    /// Returns the end of the head, as the index after its empty line; nil if the head is not complete.
    ///
    /// - Parameters:
    ///   - received: the bytes received so far.
    ///   - search: the state of the search. Continues where the last call stopped.
    static func end(of received: [UInt8], _ search: inout Search) throws(Refusal) -> Int? {
        while let newline = received[search.count...].firstIndex(of: 0x0A) {
            let line = search.line
            let length = newline - line - (newline > line && received[newline - 1] == 0x0D ? 1 : 0)
            guard length <= maximumLine, newline < maximumSize else { throw .tooLong }
            search = Search(line: newline + 1, count: newline + 1)
            if length == 0 { return search.line }
        }
        search.count = received.count
        guard received.count - search.line <= maximumLine, received.count <= maximumSize else { throw .tooLong }
        return nil
    }

    /// Parses a complete head.
    init(_ head: ArraySlice<UInt8>) throws(Refusal) {
        guard let text = String(validating: head, as: UTF8.self) else { throw .malformed }
        var lines = text.utf8.split(separator: 0x0A).map { line in
            String(Substring(line.last == 0x0D ? line.dropLast() : line))
        }
        lines.removeAll { $0.isEmpty }
        guard let first = lines.first, lines.allSatisfy(Self.isPlain) else { throw .malformed }
        let words = first.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words.allSatisfy({ !$0.isEmpty }), ["HTTP/1.1", "HTTP/1.0"].contains(words[2]) else {
            throw .malformed
        }
        var forwarded = [first]
        var values: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { throw .malformed }
            let name = line[..<colon].lowercased()
            guard !name.contains(" "), !name.contains("\t") else { throw .malformed }
            if name == "content-length" || name == "host", values[name] != nil { throw .malformed }
            values[name] = line[line.index(after: colon)...].trimmingSpaces
            guard Self.passedOn.contains(name) else { continue }
            guard line.utf8.count <= Self.maximumHeader else { throw .tooLong }
            forwarded.append(line)
        }
        guard words[1].utf8.count <= Self.maximumAddress, words[0].utf8.count <= 20 else { throw .notFound }
        guard values["transfer-encoding"] == nil else { throw .noLength }
        let digits = values["content-length"] ?? "0"
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .malformed }
        guard let length = Int(digits), length <= Limits.pageMessage else { throw .tooLarge }
        bodyLength = length
        host = values["host"]
        origin = values["origin"]
        site = values["sec-fetch-site"]
        cookies = values["cookie"]
        let path = words[1].prefix { $0 != "?" }
        isEntry = words[0] == "POST" && path == "/enter" && length == 0
        token = values["x-token"]
        isUpgrade =
            values["upgrade"]?.lowercased() == "websocket" && words[0] == "GET" && length == 0 && path == "/socket"
        // A body requires the session too, so that no other sender can occupy the server with a slow body.
        needsSession = length > 0 || isUpgrade || words[1].utf8.count > Self.maximumOpenAddress
        waitsForPermission = values["expect"]?.lowercased() == "100-continue"
        forwarded.append(isUpgrade ? "Connection: Upgrade" : "Connection: close")
        self.lines = forwarded
    }

    /// Checks where the request comes from, and whether it must be in the session.
    ///
    /// - Returns: the head for the web server. A header marks requests in the session.
    func checked(by guardian: PageGuard) throws(Refusal) -> [UInt8] {
        do throws(PageGuard.Refusal) {
            try guardian.check(host: host, origin: origin)
            let isInSession = isOwnSite && guardian.knows(cookies: cookies)
            guard isInSession || !needsSession else { throw .session }
            let access = isInSession ? ["\(PageAccess.header): \(PageAccess.page.rawValue)"] : []
            return Array(((lines + access).joined(separator: "\r\n") + "\r\n\r\n").utf8)
        } catch {
            throw .forbidden(error)
        }
    }

    /// Lets a page with a valid token into the session. For a page without a token, checks whether it already is in it.
    func enter(_ guardian: PageGuard) throws(Refusal) {
        do throws(PageGuard.Refusal) {
            try guardian.check(host: host, origin: origin)
            guard isOwnSite else { throw .origin }
            if let token {
                try guardian.take(token: token)
            } else if !guardian.knows(cookies: cookies) {
                throw .session
            }
        } catch {
            throw .forbidden(error)
        }
    }

    /// Whether the page's own site sent the request. All ports of a host share cookies, so they don't prove it.
    private var isOwnSite: Bool { site == nil || site == "same-origin" || site == "none" }

    /// Whether a line has no control characters, so that the web server splits the head into the same lines.
    private static func isPlain(_ line: String) -> Bool {
        line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        let start = drop { $0 == " " || $0 == "\t" }
        let count = start.reversed().prefix { $0 == " " || $0 == "\t" }.count
        return String(start.dropLast(count))
    }
}
