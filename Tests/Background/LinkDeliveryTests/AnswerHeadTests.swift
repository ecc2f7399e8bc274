// SPDX-License-Identifier: Apache-2.0
import LinkDelivery
import Testing

/// Heads of HTTP answers (RFC 9112).
struct AnswerHeadTests {
    /// The code of the error for lines; nil when they are taken.
    private func code(_ lines: String...) -> FetchError.Code? {
        var head = AnswerHead()
        do throws(FetchError) {
            for line in lines { try head.take(Array((line + "\r\n").utf8)) }
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `Answer: each status has its error`() {
        let rows: [(Int, FetchError.Code?)] = [
            (100, nil), (101, .status), (102, nil), (199, nil), (200, nil), (201, .status), (206, .status),
            (299, .status), (300, .redirect), (301, .redirect), (399, .redirect), (400, .status), (404, .missing),
            (405, .status), (410, .missing), (411, .status), (500, .status), (999, .status),
        ]
        for (status, expected) in rows { #expect(code("HTTP/1.1 \(status) X") == expected, "\(status)") }
    }

    @Test func `Answer: a line that is not a status is badResponse`() {
        for line in [
            "HTTP/1.1", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 2x0 OK", "HTTP/2 200 OK", "ICY 200 OK", "",
        ] {
            #expect(code(line) == .badResponse, "\(line)")
        }
        for line in ["HTTP/1.1 200", "HTTP/1.0 200 OK", "HTTP/1.1 200 A long reason"] { #expect(code(line) == nil) }
    }

    @Test func `Answer: lengths have to agree, and codings are those that were asked for`() {
        let rows: [(String, FetchError.Code?)] = [
            ("content-length: \t5 \t", nil), ("Content-Length: 6", .badResponse), ("Content-Length: 5:5", .badResponse),
            ("Server: Content-Length: 6", nil), ("Content-Encoding: identity \t", nil),
            ("content-encoding:IDENTITY", nil), ("Content-Encoding: gzip", .badResponse),
            ("Content-Encoding:", .badResponse), ("transfer-encoding: \tChunked", nil),
            ("Transfer-Encoding: gzip, chunked", .badResponse), ("Server", .badResponse), ("Server:", nil), (":", nil),
        ]
        for (line, expected) in rows {
            #expect(code("HTTP/1.1 200 OK", "Content-Length: 5", line) == expected, "\(line)")
        }
    }

    @Test func `Answer: it is complete after the empty line of status 200, not of one before it`() throws {
        var head = AnswerHead()
        for line in ["HTTP/1.1 103 Early Hints", "Link: </x>", "", "HTTP/1.1 100 Continue", ""] {
            try head.take(Array((line + "\r\n").utf8))
            #expect(!head.isComplete)
        }
        // A head is followed by a status, not by a field.
        var other = head
        #expect(throws: FetchError.self) { try other.take(Array("Link: </x>\r\n".utf8)) }
        for line in ["HTTP/1.1 200 OK", "Content-Length: 5"] { try head.take(Array((line + "\r\n").utf8)) }
        #expect(!head.isComplete)
        // A trailer after it may be any field.
        for line in ["", "Content-Encoding: gzip"] {
            try head.take(Array((line + "\r\n").utf8))
            #expect(head.isComplete)
        }
    }

    @Test func `Answer: all heads and trailers together have at most 16 KiB`() throws {
        for isTrailer in [false, true] {
            var head = AnswerHead()
            if isTrailer { for line in ["HTTP/1.1 200 OK\r\n", "\r\n"] { try head.take(Array(line.utf8)) } }
            let start = isTrailer ? 19 : 0
            let lines = ["HTTP/1.1 103 Early Hints\r\n", "a:" + String(repeating: "b", count: 1000) + "\r\n", "\r\n"]
            let block = isTrailer ? [lines[1]] : lines
            let size = block.map(\.utf8.count).reduce(0, +)
            for _ in 0..<(16_384 - start) / size { for line in block { try head.take(Array(line.utf8)) } }
            let error = #expect(throws: FetchError.self) { for line in block { try head.take(Array(line.utf8)) } }
            #expect(error?.code == .tooLarge)
        }
        var full = AnswerHead()
        try full.take(Array("HTTP/1.1 200 OK\n".utf8))
        for _ in 0..<2 { try full.take(Array(("a:" + String(repeating: "b", count: 8182)).utf8)) }
        #expect(throws: FetchError.self) { try full.take([0x61]) }
    }
}

/// Addresses of the public internet (IANA's special-purpose registries), and others.
struct NetworkAddressTests {
    @Test(arguments: [
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
        "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
        "192.168.1.1", "198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
        "240.0.0.1", "255.255.255.255", "::", "::1", "::8.8.8.8", "::ffff:10.0.0.1", "::fffe:8.8.8.8",
        "0:0:0:0:1:ffff:8.8.8.8", "64:ff9b::a00:1", "64:ff9b:1::808:808", "64:ff9b::1:808:808", "1fff::1", "2001::1",
        "2001:1ff::1", "2001:db8::1", "2002::1", "3fff:fff::1", "4000::1", "fc00::1", "fe80::1", "ff02::1",
    ])
    func `Address: it is not public`(_ text: String) throws {
        #expect(try #require(NetworkAddress(text)).isPublic == false)
    }

    @Test(arguments: [
        "1.0.0.0", "9.255.255.255", "11.0.0.1", "99.255.255.255", "100.63.255.255", "100.128.0.1", "126.1.1.1",
        "128.0.0.1", "169.253.1.1", "169.255.1.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "192.0.3.1",
        "192.88.98.1", "192.88.100.1", "192.167.1.1", "192.169.1.1", "198.17.255.255", "198.20.0.1", "198.51.99.1",
        "198.51.101.1", "203.0.112.255", "203.0.114.1", "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::808:808",
        "2000::1", "2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "3ffe::1", "3fff:1000::1",
    ])
    func `Address: it is public`(_ text: String) throws {
        #expect(try #require(NetworkAddress(text)).isPublic)
    }

    @Test func `Address: it is read strictly and written as people write it`() {
        let rows: [(String, String?)] = [
            ("2001:DB8:0::1", "2001:db8::1"), ("::ffff:1.2.3.4", "1.2.3.4"), ("64:ff9b::102:304", "64:ff9b::102:304"),
            ("", nil), ("1.2.3", nil), ("1.2.3.4.5", nil), ("1.2.3.256", nil), ("::g", nil), ("1.2.3.4:80", nil),
            ("[::1]", nil), (" 1.2.3.4", nil),
        ]
        for (text, expected) in rows { #expect(NetworkAddress(text)?.description == expected, "\(text)") }
    }
}
