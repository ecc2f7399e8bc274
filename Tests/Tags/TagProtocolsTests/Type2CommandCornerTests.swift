// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Exact exchanges with Type 2 tags: how long each command waits, refusals that come again, and the change of sector
/// (NFC Forum T2T 1.2, 5).
@Suite struct `Type 2 tags, command by command` {
    typealias Step = ScriptedLink.Step

    private static let container = "e1100600 0300fe00 00000000 00000000"
    private static let page = String(repeating: "00", count: 16)

    @Test func `A read waits 5 ms, a write 20 ms, and the silence after a sector's number 1 ms`() async throws {
        let link = ScriptedLink([
            Step.exchange("3002", "72480000 e1100600 0300fe00 00000000").within(.milliseconds(5)),
            Step.exchange("a204 0301aafe", nibble: 0x0A).within(.milliseconds(20)),
            Step.exchange("c2ff", nibble: 0x0A).within(.milliseconds(5)),
            Step.exchange("01000000", .timeout).within(.milliseconds(1)),
            Step.exchange("3000", Self.page).within(.milliseconds(5)),
        ])
        let tag = makeTag(link)
        try await tag.writeNDEF([0xAA])
        try await tag.fetch(256..<260)
        #expect(link.remaining == 0)
    }

    @Test func `A READ begins with the first page that is missing, or ends with the data area`() async throws {
        let middle = ScriptedLink([
            Step.exchange("3003", "e1100600 03120102 03040506 0708090a"),
            Step.exchange("3007", "0b0c0d0e 0f101112 fe000000 00000000"),
        ])
        #expect(try await makeTag(middle).readNDEF() == [UInt8](1...18))
        let end = ScriptedLink([
            Step.exchange("3003", "e1100200 030e0102 03040506 0708090a"),
            Step.exchange("3004", "030e0102 03040506 0708090a 0b0c0d0e"),
        ])
        #expect(try await makeTag(end).readNDEF() == [UInt8](1...14))
        #expect(middle.remaining == 0 && end.remaining == 0)
    }

    @Test func `A tag that has refused FAST_READ is not asked for it again, though its memory is read anew`()
        async throws
    {
        let container = Step.exchange("3003", "e1103e00 03140102 03040506 0708090a")
        let rest = Step.exchange("3007", "0b0c0d0e 0f101112 1314fe00 00000000")
        let refusal = [Step.exchange("3a0709", nibble: 0)] + Step.reactivation
        let link = ScriptedLink([container] + refusal + [rest, container, rest])
        let tag = makeTag(link)
        #expect(try await tag.readNDEF() == [UInt8](1...20))
        tag.forgetMemory()
        #expect(try await tag.readNDEF() == [UInt8](1...20))
        #expect(link.remaining == 0)
    }

    @Test func `A command that arrives damaged is sent three times`() async throws {
        let damaged = [Step.exchange("3003", nibble: 1)]
        let again = damaged + Step.reactivation
        let good = ScriptedLink(again + again + [.exchange("3003", Self.container)])
        #expect(try await makeTag(good).detectNDEF().messageLength == 0)
        #expect(good.remaining == 0)
        let bad = ScriptedLink(again + again + damaged)
        #expect(await errorCode { () throws(TagError) in _ = try await makeTag(bad).detectNDEF() } == .refused)
        #expect(bad.remaining == 0)
    }

    @Test func `After a command that was cut off the tag is woken before the next`() async throws {
        for code: LinkError.Code in [.cancelled, .readerUnavailable] {
            let link = ScriptedLink(
                [.exchange("3003", code)] + Step.reactivation + [.exchange("3003", Self.container)]
            )
            let tag = makeTag(link)
            #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } != nil)
            #expect(try await tag.detectNDEF().messageLength == 0)
            #expect(link.remaining == 0)
        }
    }

    // MARK: Sectors

    private static let select = Step.exchange("c2ff", nibble: 0x0A)

    private static func fetch(_ steps: [Step]) async -> (TagError.Code?, left: Int) {
        let link = ScriptedLink(steps)
        let tag = makeTag(link)
        let code = await errorCode { () throws(TagError) in try await tag.fetch(256..<260) }
        return (code, link.remaining)
    }

    @Test func `A sector is selected again after its number arrived damaged, or noise came in place of silence`() async
    {
        let selected = [Self.select, Step.exchange("01000000", .timeout), .exchange("3000", Self.page)]
        for fault in [Step.exchange("01000000", nibble: 1), .exchange("01000000", .transmission)] {
            #expect(await Self.fetch([Self.select, fault] + Step.reactivation + selected) == (nil, 0))
        }
        let noise = [Self.select, Step.exchange("01000000", .transmission)]
        let thrice = noise + Step.reactivation + noise + Step.reactivation + noise
        #expect(await Self.fetch(thrice) == (.badAnswer, 0))
    }

    @Test func `A tag that refuses a sector, or has none, ends before it, and is not asked again`() async {
        #expect(await Self.fetch([Self.select, .exchange("01000000", nibble: 0)]) == (.lengthOverrun, 0))
        #expect(await Self.fetch([.exchange("c2ff", nibble: 0)]) == (.lengthOverrun, 0))
        #expect(await Self.fetch([Self.select, .exchange("01000000", .cancelled)]) == (.cancelled, 0))
    }

    // MARK: Words

    @Test(
        arguments: [
            (.read(5), "READ of page 5", "NFC Forum T2T 1.2, 5.2"),
            (.write(5, []), "WRITE of page 5", "NFC Forum T2T 1.2, 5.3"),
            (.sectorSelect, "SECTOR SELECT", "NFC Forum T2T 1.2, 5.4"),
            (.fastRead(first: 4, last: 9), "FAST_READ of pages 4 to 9", "NTAG213/215/216 data sheet, 10.3"),
            (.getVersion, "GET_VERSION", "NTAG213/215/216 data sheet, 10.1"),
            (.readCounter(2), "READ_CNT of counter 2", "NTAG213/215/216 data sheet, 10.6"),
            (.passwordAuthenticate([]), "PWD_AUTH", "NTAG213/215/216 data sheet, 10.7"),
            (.readSignature, "READ_SIG", "NTAG213/215/216 data sheet, 10.8"),
            (.checkTearing(1), "CHECK_TEARING_EVENT of counter 1", "MF0ULx1 data sheet"),
        ] as [(Type2Command, String, String)]
    )
    func `An error names the command and the section that it is in`(
        command: Type2Command,
        name: String,
        rule: String
    ) {
        #expect(command.name == name && command.rule == rule)
    }
}
