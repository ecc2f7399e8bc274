// SPDX-License-Identifier: Apache-2.0
import SimulatorServer
import Testing

@Suite struct PageGuardTests {
    private let guardian = PageGuard(token: "right", port: 8080)

    @Test(
        "Request with one of the simulator's hosts, and the same or no origin: accepted",
        arguments: ["127.0.0.1:8080", "LOCALHOST:8080"]
    )
    func ownHosts(_ host: String) throws {
        try guardian.check(host: host, origin: nil)
        try guardian.check(host: host, origin: "http://\(host)")
    }

    @Test(
        "Request with another host: refused, so that a foreign name for this address does not help",
        arguments: [
            nil, "", "example.com", "example.com:8080", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8080.example.com",
        ]
    )
    func otherHosts(_ host: String?) {
        #expect(throws: PageGuard.Refusal.host) { try guardian.check(host: host, origin: nil) }
    }

    @Test(
        "Request with another origin: refused",
        arguments: [
            "null", "http://example.com", "https://127.0.0.1:8080", "http://127.0.0.1:8081", "http://localhost:8080",
            "",
        ]
    )
    func otherOrigins(_ origin: String) {
        #expect(throws: PageGuard.Refusal.origin) { try guardian.check(host: "127.0.0.1:8080", origin: origin) }
    }

    @Test("Request without the right token: refused", arguments: [nil, "", "righ", "right ", "Right", "rightright"])
    func wrongTokens(_ token: String?) throws {
        #expect(throws: PageGuard.Refusal.token) { try guardian.check(token: token) }
        try guardian.check(token: "right")
    }

    @Test("Tokens: 22 characters that are safe in a URL, each time others")
    func tokens() {
        let tokens = (0..<100).map { _ in PageGuard.makeToken() }
        #expect(Set(tokens).count == 100)
        #expect(
            tokens.allSatisfy {
                $0.utf8.count == 22 && !$0.contains { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "_" }
            }
        )
    }
}
