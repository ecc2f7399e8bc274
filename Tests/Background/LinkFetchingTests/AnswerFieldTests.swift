// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LinkFetching

@Suite struct `A status or a field of an answer` {
    /// The error for lines; nil when they are taken.
    private static func error(_ lines: String...) -> FetchError? {
        var head = AnswerHead()
        do throws(FetchError) {
            for line in lines { try head.take(Array((line + "\r\n").utf8)) }
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            (100, nil), (101, .status), (102, nil), (103, nil), (199, nil), (200, nil), (201, .status), (204, .status),
            (206, .status), (299, .status), (300, .redirect), (301, .redirect), (399, .redirect), (400, .status),
            (403, .status), (404, .missing), (405, .status), (410, .missing), (411, .status), (500, .status),
            (999, .status),
        ] as [(Int, FetchError.Code?)]
    )
    func `A status has its own error, which names it`(status: Int, code: FetchError.Code?) {
        let error = Self.error("HTTP/1.1 \(status) X")
        #expect(error?.code == code && error?.reason.contains("\(status)") != false)
    }

    @Test func `Only an answer with the status 200 can be complete`() throws {
        for (status, isComplete) in [(100, false), (103, false), (200, true)] {
            var head = AnswerHead()
            #expect(!head.isComplete)
            try head.take(Array("HTTP/1.1 \(status) X\r\n".utf8))
            try head.take(Array("\r\n".utf8))
            #expect(head.isComplete == isComplete, "\(status)")
            // Trailers, which may say anything.
            if isComplete {
                try head.take(Array("Content-Encoding: gzip\r\n".utf8))
                #expect(head.isComplete)
            }
        }
    }

    @Test func `A length may be said twice, if it is the same`() {
        let status = "HTTP/1.1 200 OK"
        #expect(Self.error(status, "Content-Length: 5", "content-length:5") == nil)
        #expect(Self.error(status, "Content-Length: 5", "CONTENT-LENGTH: \t5") == nil)
        #expect(Self.error(status, "Content-Length: 5", "Content-Length: 5 \t") == nil)
        let two = Self.error(status, "Content-Length: 5", "Content-Length: 6")
        #expect(two?.code == .badResponse && two?.reason == "The answer has two lengths.")
        // A name ends at the first colon.
        #expect(Self.error(status, "Content-Length: 5", "Content-Length: 5:5")?.code == .badResponse)
        #expect(Self.error(status, "Content-Length: 5", "Server: Content-Length: 6") == nil)
    }

    @Test(
        arguments: [
            ("Content-Encoding: identity", nil), ("content-encoding:IDENTITY", nil),
            ("Content-Encoding: identity \t", nil), ("Transfer-Encoding: chunked ", nil),
            ("Content-Encoding: gzip", "The file is compressed, which was not asked for."),
            ("Content-Encoding:", "The file is compressed, which was not asked for."),
            ("Transfer-Encoding: chunked", nil), ("transfer-encoding: \tChunked", nil),
            ("Transfer-Encoding: gzip, chunked", "The answer has an unknown transfer coding."),
            ("Server", "The answer has a field without a name."), ("Server:", nil), (":", nil),
        ] as [(String, String?)]
    )
    func `A coding is one that was asked for`(line: String, reason: String?) {
        let error = Self.error("HTTP/1.1 200 OK", line)
        #expect(error?.reason == reason && (error == nil || error?.code == .badResponse))
    }

    @Test func `All heads before the answer, and all trailers after it, have 16 KiB together`() throws {
        for isTrailer in [false, true] {
            var head = AnswerHead()
            var taken = 0
            func take(_ line: String) throws(FetchError) {
                try head.take(Array((line + "\r\n").utf8))
                taken += line.utf8.count + 2
            }
            if isTrailer { for line in ["HTTP/1.1 200 OK", ""] { try take(line) } }
            let failure = #expect(throws: FetchError.self) {
                for _ in 0..<20 {
                    let status = isTrailer ? [] : ["HTTP/1.1 103 Early Hints"]
                    for line in status + ["a:" + String(repeating: "b", count: 1000), ""] { try take(line) }
                }
            }
            #expect(failure?.code == .tooLarge && taken > 15_000 && taken <= 16_384, "\(taken)")
            #expect(head.isComplete == isTrailer)
        }
    }

    @Test func `An answer may follow others, and is judged by its own status`() throws {
        var head = AnswerHead()
        for line in ["HTTP/1.1 103 Early Hints", "Link: </x>", "", "HTTP/1.1 100 Continue", ""] {
            try head.take(Array((line + "\r\n").utf8))
            #expect(!head.isComplete)
        }
        // What follows a head is the status of the next one.
        var other = head
        let failure = #expect(throws: FetchError.self) { try other.take(Array("Link: </x>\r\n".utf8)) }
        #expect(failure?.code == .badResponse)
        for line in ["HTTP/1.1 200 OK", "Content-Length: 5", ""] { try head.take(Array((line + "\r\n").utf8)) }
        #expect(head.isComplete)
    }

    @Test func `A head of 16 KiB is taken, and one byte more is not`() throws {
        var head = AnswerHead()
        try head.take(Array("HTTP/1.1 200 OK\n".utf8))
        for _ in 0..<2 { try head.take(Array(("a:" + String(repeating: "b", count: 8182)).utf8)) }
        let failure = #expect(throws: FetchError.self) { try head.take([0x61]) }
        #expect(failure?.reason == "The head of the answer is larger than 16384 bytes.")
    }
}

@Suite struct `A message of libcurl` {
    @Test func `Only its printable letters are shown, and all of them`() {
        let all = SiteDownload.printable(Array(0...255))
        #expect(Array(all.utf8) == Array(0x20...0x7E))
        #expect(SiteDownload.printable(Array("\u{1B}[31m a\u{E9}~\u{7F}\r\n".utf8)) == "[31m a~")
    }
}

@Suite struct `The time limit of a download` {
    @Test func `Is whole milliseconds, no shorter than asked for, and never none`() {
        let limits: [(Duration, Int)] = [
            (.zero, 1), (.seconds(-1), 1), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
            (.milliseconds(2), 2), (.milliseconds(1500), 1500), (.seconds(20), 20_000),
        ]
        for (limit, milliseconds) in limits { #expect(SiteDownload.milliseconds(limit) == milliseconds, "\(limit)") }
    }
}

@Suite struct `The borders of the public internet` {
    @Test(arguments: [
        ("2001:1ff::1", false), ("2001:200::1", true), ("2001:db7::1", true), ("2001:db9::1", true),
        ("2001:d00::1", true), ("2000::1", true), ("2003::1", true), ("2002::1", false), ("3fff:fff::1", false),
        ("3fff:1000::1", true), ("3ffe::1", true), ("1fff::1", false), ("3fff:ffff::1", true), ("4000::1", false),
        ("64:ff9b:1::808:808", false), ("64:ff9b::7f00:1", false), ("64:ff9b::1:808:808", false),
        ("::fffe:8.8.8.8", false), ("::8.8.8.8", false), ("0:0:0:0:1:ffff:8.8.8.8", false),
        ("99.255.255.255", true), ("100.64.0.0", false), ("101.64.0.1", true), ("169.253.1.1", true),
        ("169.255.1.1", true), ("170.254.1.1", true), ("173.16.0.1", true), ("192.167.1.1", true),
        ("192.169.1.1", true), ("193.168.1.1", true), ("198.18.0.0", false), ("199.18.0.1", true),
        ("192.0.3.1", true), ("192.88.100.1", true), ("192.87.99.1", true), ("198.51.99.1", true),
        ("198.51.101.1", true), ("198.50.100.1", true), ("203.0.114.1", true), ("203.1.113.1", true),
        ("11.0.0.1", true), ("9.255.255.255", true), ("126.1.1.1", true), ("128.0.0.1", true), ("1.0.0.0", true),
        ("0.255.255.255", false), ("10.255.255.255", false), ("127.255.255.255", false), ("240.0.0.1", false),
    ])
    func `An address on either side is known`(text: String, isPublic: Bool) throws {
        #expect(try #require(NetworkAddress(text)).isPublic == isPublic)
    }

    @Test func `An IPv4 address within another one is the same address`() {
        #expect(NetworkAddress("::ffff:1.2.3.4") == NetworkAddress("1.2.3.4"))
        #expect(NetworkAddress("::1.2.3.4") != NetworkAddress("1.2.3.4"))
        #expect(NetworkAddress("64:ff9b::102:304")?.description == "64:ff9b::102:304")
        #expect(NetworkAddress("2001:db8:1:2:3:4:5:6")?.description == "2001:db8:1:2:3:4:5:6")
        for text in ["", "1.2.3.4.5", "1.2.3.256", "::g", "1.2.3.4:80", "[::1]", " 1.2.3.4"] {
            #expect(NetworkAddress(text) == nil, "\(text)")
        }
    }
}

@Suite struct `The place that a test of a site connects to` {
    private static func reason(_ place: String) async -> String {
        var options = AssociationFetcher.Options()
        options.connectTo = place
        options.timeout = .seconds(20)
        do throws(FetchError) {
            _ = try await AssociationFetcher(options).fetch("good.site.example")
            return "no error"
        } catch {
            return error.description
        }
    }

    @Test(arguments: ["", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "a:1", "[::1]", ":1"])
    func `What is no address with a port is refused`(place: String) async {
        #expect(
            await Self.reason(place)
                == "bad-domain: '\(place)' is no address with a port, such as 127.0.0.1:8443."
        )
    }

    @Test func `An address that nobody listens at is named, of either kind`() async {
        // Port 1 is free: only the administrator may listen there.
        #expect(await Self.reason("127.0.0.1:1").hasPrefix("no-connection: 127.0.0.1 can't be reached: "))
        for place in ["[::1]:1", "::1:1"] {
            #expect(await Self.reason(place).hasPrefix("no-connection: "), "\(place)")
        }
    }
}
