// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import Testing

@testable import SimulatorServer  // the stored name of the host is internal

@Suite struct PageGuardTests {
    private let guardian = PageGuard(name: "own", port: 8080)

    @Test(
        "Request with the simulator's host, and the same or no origin: accepted",
        arguments: ["own.localhost:8080", "OWN.localhost:8080"]
    )
    func ownHost(_ host: String) throws {
        try guardian.check(host: host, origin: nil)
        try guardian.check(host: host, origin: "http://\(host)")
    }

    @Test("Host name of the page: random, and the same for the same folder; a damaged one is replaced")
    func names() throws {
        let folders = try (0..<2).map { _ in try PrivateFolder.random("page-name") }
        defer { for folder in folders { try? FileManager.default.removeItem(atPath: folder.path) } }
        let names = try folders.map { try PageGuard.name(in: $0) }
        #expect(Set(names).count == 2 && names.allSatisfy { $0.utf8.count >= 16 })
        #expect(try folders.map { try PageGuard.name(in: $0) } == names)
        for damaged in ["", "short", "example.com/aaaaaaaaaaaaaaaa"] {
            try folders[0].replace("page.name", with: Array(damaged.utf8), mode: 0o600)
            #expect(try PageGuard.name(in: folders[0]).utf8.count >= 16)
        }
    }

    @Test(
        "Request with another Host header: refused, as in DNS rebinding",
        arguments: [
            nil, "", "example.com:8080", "127.0.0.1:8080", "localhost:8080", ".localhost:8080", "x.localhost:8080",
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
        #expect(throws: PageGuard.Refusal.origin) { try guardian.check(host: guardian.host, origin: origin) }
    }

    @Test("Token of the page's address: works once; 16 are kept, so the oldest of 17 is refused")
    func tokens() throws {
        let addresses = (0..<17).map { _ in guardian.makeAddress() }
        let tokens = addresses.map { String($0.split(separator: "/#token=")[1]) }
        #expect(Set(tokens).count == 17)
        #expect(
            tokens.allSatisfy {
                $0.utf8.count == 22 && $0.allSatisfy { $0.isLetter || $0.isNumber || "-_".contains($0) }
            }
        )
        for wrong in [nil, "", String(tokens[1].dropLast()), tokens[1] + " ", tokens[0]] {
            #expect(throws: PageGuard.Refusal.token) { try guardian.take(token: wrong) }
        }
        for token in tokens.dropFirst() {
            try guardian.take(token: token)
            #expect(throws: PageGuard.Refusal.token) { try guardian.take(token: token) }
        }
    }

    @Test("Cookie: only this session's is accepted, and scripts and other sites can't read or send it")
    func cookies() {
        let cookie = String(guardian.cookie.prefix { $0 != ";" })
        #expect(guardian.cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        #expect(guardian.knows(cookies: cookie))
        for index in cookie.indices {
            var changed = cookie
            changed.replaceSubrange(index...index, with: cookie[index] == "x" ? "y" : "x")
            #expect(!guardian.knows(cookies: changed))
        }
        #expect(guardian.knows(cookies: "a=b; \(cookie); nfc-simulator=old"))
        for wrong in [nil, "", "nfc-simulator=", "x\(cookie)", cookie + "x", PageGuard(name: "own", port: 8080).cookie]
        {
            #expect(!guardian.knows(cookies: wrong))
        }
    }
}
