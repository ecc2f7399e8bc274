// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// Checks the conformance vectors: which app opens a URL, and which entry of an app's domains applies.
struct LinkVectorTests {
    struct LinkVector: Decodable, Sendable, CustomTestStringConvertible {
        var id: String
        var aasa: String
        var domain: String
        var entitlement: String
        var url: String
        var installed: [String]
        var expect: String?
        var reason: String
        var testDescription: String { id }
    }

    struct DomainVector: Decodable, Sendable, CustomTestStringConvertible {
        var id: String
        var entries: [String]
        var service: String
        var host: String
        var expect: String?
        var testDescription: String { id }
    }

    static let links: [LinkVector] = load("aasa.jsonl")
    static let domains: [DomainVector] = load("associated-domains.jsonl")

    private static func load<Vector: Decodable>(_ name: String) -> [Vector] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Vectors/\(name)")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Vector.self, from: Data($0.utf8))
        }
    }

    @Test func `Vectors: all 95 links and 10 domains are read`() {
        #expect(Self.links.count == 95)
        #expect(Self.domains.count == 10)
    }

    @Test(arguments: links) func `Vectors: the expected app opens the URL`(_ vector: LinkVector) throws {
        let answer: LinkAnswer
        do throws(AssociationFileError) {
            let matcher = LinkMatcher(try AssociationFile(parsing: Data(vector.aasa.utf8)))
            answer = matcher.answer(
                vector.url,
                domain: vector.domain,
                entries: [vector.entitlement],
                installed: Set(vector.installed)
            )
        } catch {
            answer = LinkAnswer(app: nil, rule: nil, why: error.reason)
        }
        #expect(answer.app == vector.expect, "\(answer.why) Expected because \(vector.reason).")
        #expect(!answer.why.isEmpty)
    }

    @Test(arguments: domains) func `Vectors: the expected entry applies to the host`(_ vector: DomainVector) {
        let entry = AssociatedDomain.applying(vector.entries, service: vector.service, host: vector.host)
        #expect(entry?.entry == vector.expect)
    }
}
