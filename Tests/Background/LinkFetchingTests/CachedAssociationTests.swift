// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LinkFetching

@Suite struct `An association file that is kept` {
    private static let minute: Int64 = 60

    private func fresh(asked: Int64 = 1000) -> CachedAssociation {
        CachedAssociation(domain: "a.example", asked: asked)
    }

    @Test func `is asked for again after a week, and after a failure ever later, up to six hours`() {
        var kept = fresh()
        kept.take(.success([1]), at: 1000)
        #expect(kept.nextTry(at: 1000) == 1000 + 7 * 24 * 3600 && kept.failureCount == 0)
        #expect(!kept.isDue(at: 1000 + 7 * 24 * 3600 - 1) && kept.isDue(at: 1000 + 7 * 24 * 3600))
        var waits: [Int64] = []
        for _ in 0..<14 {
            kept.take(.failure(FetchError(.timeout, "Late.")), at: 5000)
            waits.append((kept.nextTry(at: 5000) ?? 0) - 5000)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360, 360, 360, 360].map { $0 * Self.minute })
        // A clock that was set back.
        #expect(kept.nextTry(at: 4999) == 4999 && kept.isDue(at: 4999))
        #expect(kept.file == [1] && kept.answered == 1000 && kept.failureCount == 14)
        kept.take(.success([2]), at: 9000)
        #expect(kept.file == [2] && kept.answered == 9000 && kept.failure == nil && kept.failureCount == 0)
        kept.take(.failure(FetchError(.missing, "It is gone.")), at: 9999)
        #expect(kept.file == nil && kept.answered == 9999 && kept.failureCount == 1)
        let local = CachedAssociation(domain: "a.example", local: [3])
        #expect(local.isLocal && local.nextTry(at: 5) == nil && !local.isDue(at: .max) && local.file == [3])
    }

    @Test func `is written and read again unchanged, and damaged text is not read`() {
        var kept = fresh()
        for change in 0..<4 {
            switch change {
            case 1: kept.take(.success([]), at: 7)
            case 2: kept.take(.success([0x0A, 0, 0xFF]), at: 8)
            case 3: kept.take(.failure(FetchError(.tls, "One line\nand\r\nanother: two")), at: 9)
            default: break
            }
            let bytes = kept.bytes
            let again = CachedAssociation(domain: "a.example", bytes: bytes)
            #expect(again?.file == kept.file && again?.answered == kept.answered && again?.asked == kept.asked)
            #expect(again?.failureCount == kept.failureCount)
            for count in 0..<bytes.count - 1 where kept.file?.isEmpty == false {
                #expect(CachedAssociation(domain: "a.example", bytes: Array(bytes[..<count])) == nil, "\(count)")
            }
            #expect(CachedAssociation(domain: "a.example", bytes: bytes + [1]) == nil)
        }
        #expect(CachedAssociation(domain: "a.example", bytes: kept.bytes)?.failureParts?.code == "tls")
        for text in [
            "nfc-links 3 1 - - 0 \n", "nfc-links 2 x - - 0 \n", "nfc-links 2 1 - - x \n", "nfc-links 2 1 - - -1 \n",
            "nfc-links 2 1 - - 0\n",
            "nfc-links 2 1 - 2 0 \nx", "nfc-links 2 1 - - 0 \nx", "nfc-links 2 1 -\n", "other 2 1 - - 0 \n",
        ] { #expect(CachedAssociation(domain: "a", bytes: Array(text.utf8)) == nil, "\(text)") }
        let first = CachedAssociation(domain: "a", bytes: Array("nfc-links 1 5 4 1 timeout: Late.\nx".utf8))
        #expect(first?.failureCount == 1 && first?.file == [0x78] && first?.answered == 4 && first?.asked == 5)
        #expect(CachedAssociation(domain: "a", bytes: Array("nfc-links 1 5 4 1 \nx".utf8))?.failureCount == 0)
    }

    @Test func `A site that has failed as often as can be counted may fail again`() throws {
        let bytes = Array("nfc-links 2 1000 - - \(Int.max) timeout: Late.\n".utf8)
        var kept = try #require(CachedAssociation(domain: "a.example", bytes: bytes))
        kept.take(.failure(FetchError(.timeout, "Late.")), at: 5000)
        #expect(kept.failureCount == .max && kept.nextTry(at: 5000) == 5000 + 360 * Self.minute)
        #expect(CachedAssociation(domain: "a.example", bytes: kept.bytes) == kept)
    }

    @Test func `A failure is a code and a reason`() {
        var kept = fresh()
        #expect(kept.failureParts == nil)
        for (text, code, reason) in [
            ("tls: No: way.", "tls", "No: way."), ("timeout", "timeout", "timeout"), ("a:  b", "a", "b"),
        ] {
            kept.failure = text
            #expect(kept.failureParts?.code == code && kept.failureParts?.reason == reason)
        }
        var long = fresh()
        long.failure = "tls: " + String(repeating: "x", count: 9000)
        let again = CachedAssociation(domain: "a", bytes: long.bytes)
        #expect(again?.failure?.count == 500 && again?.failureParts?.code == "tls")
    }

    @Test func `Errors are equal by their code, and say it`() {
        let codes: [(FetchError.Code, String)] = [
            (.badDomain, "bad-domain"), (.notFound, "host-not-found"), (.privateAddress, "private-address"),
            (.noConnection, "no-connection"), (.timeout, "timeout"), (.certificate, "certificate"), (.tls, "tls"),
            (.libraryMissing, "library-missing"), (.redirect, "redirect"), (.missing, "missing"), (.status, "status"),
            (.badResponse, "bad-response"), (.tooLarge, "too-large"), (.truncated, "truncated"), (.badFile, "bad-file"),
        ]
        for (code, name) in codes {
            #expect(
                FetchError(code, "Why.").description == "\(name): Why."
                    && FetchError(code, "a") == FetchError(code, "b")
            )
        }
        #expect(
            Set(codes.map { FetchError($0.0, "") }).count == codes.count
                && FetchError(.tls, "") != FetchError(.status, "")
        )
        #expect(
            AssociationFetcher.Options().timeout == .seconds(20) && !AssociationFetcher.Options().allowsPrivateAddresses
        )
    }

    @Test func `A long file with many lines is read again, and a first line without an end is not`() {
        var kept = fresh()
        let file = Array(String(repeating: "{}\n", count: 10_000).utf8)
        kept.take(.success(file), at: 7)
        #expect(CachedAssociation(domain: "a.example", bytes: kept.bytes)?.file == file)
        let mark = Array("nfc-links 2 1 - - 0 ".utf8)
        for (count, isRead) in [(4095, true), (4096, false), (5000, false)] {
            let line = mark + [UInt8](repeating: 0x78, count: count - mark.count) + [0x0A]
            #expect((CachedAssociation(domain: "a.example", bytes: line) != nil) == isRead, "\(count)")
        }
    }
}
