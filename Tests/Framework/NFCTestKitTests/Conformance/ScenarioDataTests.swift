// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import NFCTestKit

/// What the conformance suite writes to tags.
@Suite struct `The data of the scenarios` {
    @Test func `The messages are links, of which the longer one needs several commands`() {
        #expect(TagMessage(octets: ReaderConformance.message) == .uri("https://example.com/one"))
        let long = "https://" + String(repeating: "a", count: 84)
        #expect(TagMessage(octets: ReaderConformance.longMessage) == .uri(long))
    }

    @Test func `A tag is the one that is asked for, or one beside it with another last byte`() throws {
        for tag in ConformanceTag.all {
            let (own, other) = (try tag.make(), try tag.make(last: 0x77))
            #expect(own.technology == tag.technology && own.identifier.starts(with: tag.identifier))
            // Of a Type 1 tag a reader knows only the beginning.
            let known = other.identifier.prefix(tag.identifier.count)
            #expect(known.elementsEqual(tag.identifier.dropLast() + [0x77]), "\(tag.name)")
        }
        #expect(ConformanceTag.all.filter { !$0.canLock }.map(\.name) == ["DESFire"])
    }
}
