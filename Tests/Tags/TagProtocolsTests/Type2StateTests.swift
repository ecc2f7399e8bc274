// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// What a Type 2 tag is known to have selected, and what that is worth after another activation, a refusal or a fault.
@Suite struct `The state of a Type 2 tag` {
    typealias Step = ScriptedLink.Step

    private static let page = String(repeating: "00", count: 16)
    private static let container = Step.exchange("3003", "e1100600 0300fe00 00000000 00000000")
    private static let select = Step.exchange("c2ff", nibble: 0x0A)
    private static let sector = [select, .exchange("01000000", .timeout), .exchange("3000", page)]

    // MARK: Another activation

    @Test func `A tag that was activated again has its sector selected again`() async throws {
        let link = ScriptedLink(Self.sector + Self.sector)
        let tag = makeTag(link)
        try await tag.fetch(256..<260)
        tag.wasActivated()
        tag.forgetMemory()
        try await tag.fetch(256..<260)
        #expect(link.remaining == 0)
    }

    @Test func `A tag that was activated again after a refusal is not activated once more`() async throws {
        let link = ScriptedLink([.exchange("3003", nibble: 0), Self.container])
        let tag = makeTag(link)
        #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } == .readProtected)
        tag.wasActivated()
        #expect(try await tag.detectNDEF().messageLength == 0)
        #expect(link.remaining == 0)
    }

    @Test func `A tag that is lost is asked nothing until it was activated again`() async throws {
        let link = ScriptedLink([.exchange("3003", .tagRemoved), Self.container])
        let tag = makeTag(link)
        for _ in 0..<2 {
            #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } == .tagLost)
        }
        #expect(await !tag.isPresent() && link.remaining == 1)
        tag.wasActivated()
        #expect(try await tag.detectNDEF().messageLength == 0)
        #expect(link.remaining == 0)
    }

    @Test func `What was read before stays known after another activation, until it is forgotten`() async throws {
        let other = Step.exchange("3003", "e110060f 0301aafe 00000000 00000000")
        let link = ScriptedLink([Self.container, other])
        let tag = makeTag(link)
        #expect(try await tag.detectNDEF().access == .readWrite)
        tag.wasActivated()
        #expect(try await tag.detectNDEF().access == .readWrite)
        tag.forgetMemory()
        #expect(try await tag.detectNDEF().access == .readOnly)
        #expect(try await tag.readNDEF() == [0xAA])
        #expect(link.remaining == 0)
    }

    // MARK: Presence

    @Test func `A tag is looked for in the sector that is selected`() async throws {
        let link = ScriptedLink(Self.sector + [.exchange("3003", Self.page), .exchange("3010", Self.page)])
        let tag = makeTag(link)
        try await tag.fetch(256..<260)
        #expect(await tag.isPresent())
        try await tag.fetch(272..<276)
        #expect(link.remaining == 0)
    }

    @Test func `A tag that refuses is there, and is awake afterwards`() async throws {
        let link = ScriptedLink([.exchange("3003", nibble: 0)] + Step.reactivation + [Self.container])
        let tag = makeTag(link)
        #expect(await tag.isPresent())
        #expect(try await tag.detectNDEF().messageLength == 0)
        #expect(link.remaining == 0)
        let gone = ScriptedLink([
            .exchange("3003", nibble: 0), .raw("52", bits: 7, LinkError(.tagRemoved, "scripted")),
        ])
        #expect(await !makeTag(gone).isPresent())
        #expect(gone.remaining == 0)
    }

    // MARK: Faults

    @Test func `A damaged answer leaves the tag awake: the command is sent again at once`() async throws {
        let link = ScriptedLink([.exchange("3003", .transmission), .exchange("3003", .collision), Self.container])
        #expect(try await makeTag(link).detectNDEF().messageLength == 0)
        #expect(link.remaining == 0)
    }

    @Test func `A sector whose number arrives damaged three times is given up`() async {
        let damaged = [Self.select, Step.exchange("01000000", nibble: 1)]
        let link = ScriptedLink(damaged + Step.reactivation + damaged + Step.reactivation + damaged)
        let tag = makeTag(link)
        #expect(await errorCode { () throws(TagError) in try await tag.fetch(256..<260) } == .lengthOverrun)
        #expect(link.remaining == 0)
    }

    @Test func `A tag that went to sleep in another sector is read in the first one after it was woken`() async throws {
        let link = ScriptedLink(
            Self.sector + [.exchange("3010", nibble: 0)] + Step.reactivation + [.exchange("60", nibble: 0)]
                + Step.reactivation + [Self.container]
        )
        let tag = makeTag(link)
        try await tag.fetch(256..<260)
        #expect(await errorCode { () throws(TagError) in try await tag.fetch(272..<276) } == .refused)
        #expect(try await tag.detectNDEF().messageLength == 0)
        #expect(link.remaining == 0)
    }

    @Test func `A page that the tag refused to write is read again before it is trusted`() async throws {
        let rest = "00000000 00000000 00000000"
        for (stored, found): (String, [UInt8]) in [("0300fe00", []), ("0301aafe", [0xAA])] {
            let link = ScriptedLink(
                [.exchange("3002", "72480000 e1100600 0300fe00 00000000"), .exchange("a204 0301aafe", nibble: 0)]
                    + Step.reactivation + [.exchange("3004", stored + rest)]
            )
            let tag = makeTag(link)
            #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF([0xAA]) } == .updateFailed)
            #expect(try await tag.readNDEF() == found)
            #expect(link.remaining == 0)
        }
    }

    @Test(
        arguments: [(.transmission, 3, .updateFailed), (.tagRemoved, 1, .tagLost), (.cancelled, 1, .cancelled)]
            as [(LinkError.Code, Int, TagError.Code)]
    )
    func `A page whose write was not confirmed is read again before it is trusted, also once the tag is back`(
        failure: LinkError.Code,
        attempts: Int,
        code: TagError.Code
    ) async throws {
        let start = Step.exchange("3002", "72480000 e1100600 0300fe00 00000000")
        let write = Step.exchange("a204 0301aafe", failure)
        for (stored, found): (String, [UInt8]) in [("0300fe00", []), ("0301aafe", [0xAA])] {
            let again = Step.exchange("3004", stored + "00000000 00000000 00000000")
            let link = ScriptedLink([start] + [Step](repeating: write, count: attempts) + [again])
            let tag = makeTag(link)
            #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF([0xAA]) } == code)
            tag.wasActivated()
            #expect(try await tag.readNDEF() == found)
            #expect(link.remaining == 0)
        }
    }

    @Test func `A capability container that the tag refused to write is read again before it is trusted`() async throws
    {
        let last = String(repeating: "00", count: 12)
        for (access, found): (String, NDEFDetection.Access) in [("00", .readWrite), ("0f", .readOnly)] {
            let link = ScriptedLink(
                [
                    .exchange("3002", "72480000 e1100600 0300fe00 00000000"),
                    // There is no page 16: the answer continues at page 0.
                    .exchange("300d", last + "04a1b29f"), .exchange("a203 e110060f", nibble: 0),
                ] + Step.reactivation + [.exchange("3003", "e11006" + access + "0301aafe 00000000 00000000")]
            )
            let tag = makeTag(link)
            #expect(await errorCode { () throws(TagError) in try await tag.lock() } == .updateFailed)
            #expect(try await tag.detectNDEF().access == found)
            #expect(try await tag.readNDEF() == [0xAA])
            #expect(link.remaining == 0)
        }
    }
}
