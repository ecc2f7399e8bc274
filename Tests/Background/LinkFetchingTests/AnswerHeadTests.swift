// SPDX-License-Identifier: Apache-2.0
import LinkFetching
import Testing

@Suite struct `The head of an answer` {
    private func head(_ lines: String...) throws(FetchError) -> AnswerHead {
        var head = AnswerHead()
        for line in lines { try head.take(Array((line + "\r\n").utf8)) }
        return head
    }

    @Test func `It has 16 KiB at most, with all trailers`() throws {
        var head = try head("HTTP/1.1 200 OK", "")
        try head.take([UInt8](repeating: 0x41, count: 16_384 - 19))
        #expect(head.isComplete)
        let failure = #expect(throws: FetchError.self) { try head.take([0x0A]) }
        #expect(failure?.code == .tooLarge)
    }

    @Test(arguments: ["HTTP/1.1 200", "HTTP/1.0 200 OK", "HTTP/1.1 200 A long reason"])
    func `It is complete after its empty line`(status: String) throws {
        #expect(try !head(status, "Server: a").isComplete)
        #expect(try head(status, "Server: a", "").isComplete)
    }

    @Test(arguments: [
        "HTTP/1.1", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 2x0 OK", "HTTP/2 200 OK", "ICY 200 OK", "",
    ])
    func `One of another protocol is an error`(status: String) {
        let failure = #expect(throws: FetchError.self) { _ = try head(status) }
        #expect(failure?.code == .badResponse)
    }

    @Test func `One that announces the final one is not complete`() throws {
        #expect(try !head("HTTP/1.1 100 Continue", "").isComplete)
        #expect(try head("HTTP/1.1 100 Continue", "", "HTTP/1.1 200 OK", "").isComplete)
    }
}
