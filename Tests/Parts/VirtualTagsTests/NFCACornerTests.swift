// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Checks when NFC-A tags without a protocol of their own go back to IDLE.
@Suite struct `NFC-A tags that can only be activated` {
    private func activatedCard() async throws -> (Script, ClassicTag) {
        let card = ClassicTag(ClassicContents(blank: .classic1K, uid: hex("9c 0c 37 01")))
        let script = try Script(card)
        try await script.activate(card.identifier, atqa: 0x0004, sak: 0x08)
        return (script, card)
    }

    @Test func `A nonce that was sent is forgotten without power`() async throws {
        let (script, card) = try await activatedCard()
        #expect(hex(await script.sendRaw("60 04 d1 3d")).count == 4)
        card.losePower()
        try await script.activate(card.identifier, atqa: 0x0004, sak: 0x08)
    }

    @Test func `MIFARE Classic refuses a damaged frame with code 5, and goes back to IDLE`() async throws {
        let (script, card) = try await activatedCard()
        #expect(await script.sendRaw("30 00 00 00") == "NAK 5")
        #expect(await script.send("60 04") == "timeout")
        try await script.activate(card.identifier, atqa: 0x0004, sak: 0x08)
    }

    @Test func `A fault makes MIFARE Classic refuse an authentication`() async throws {
        let (script, _) = try await activatedCard()
        script.field.arm(.effect(.refusal(1), atExchange: 0))
        #expect(await script.send("60 04") == "NAK 1")
    }

    @Test(arguments: ["30 00", "60", "e0 80"])
    func `A tag without commands leaves each unanswered, and goes back to IDLE`(command: String) async throws {
        let tag = NFCATag(NFCAContents(uid: Script.uid, atqa: 0x0044, sak: 0x00))
        let script = try Script(tag)
        try await script.activate()
        #expect(await script.send(command) == "timeout")
        try await script.activate(wake: 0x26)
        #expect(await script.sendRaw("30 00 00 00") == "timeout")
        try await script.activate(wake: 0x26)
    }

    @Test func `A few bits that are no request send a tag back to IDLE`() async throws {
        let tag = NFCATag(NFCAContents(uid: Script.uid, atqa: 0x0044, sak: 0x00))
        let script = try Script(tag)
        #expect(await script.sendShort(0x27) == "timeout")
        try await script.activate(wake: 0x26)
        #expect(await script.exchange(Frame(bits: [0x0A], validBitsInLastByte: 4)) == "timeout")
        try await script.activate(wake: 0x26)
    }

    @Test func `A card waits for no reader before it has sent a nonce`() {
        let card = ClassicTag(ClassicContents(blank: .classic1K, uid: hex("9c 0c 37 01")))
        let request = Frame(bits: [0x26], validBitsInLastByte: 7)
        #expect(card.answer(request, disturbance: nil)?.frame?.bytes == [0x04, 0x00])
    }

    @Test func `A tag without commands halts, and begins anew without power`() async throws {
        let tag = NFCATag(NFCAContents(uid: Script.uid, atqa: 0x0044, sak: 0x00))
        let script = try Script(tag)
        try await script.activate()
        #expect(await script.send("50 00") == "timeout")
        #expect(await script.sendShort(0x26) == "timeout")
        try await script.activate(wake: 0x52)
        #expect(await script.send("50 00") == "timeout")
        tag.losePower()
        try await script.activate(wake: 0x26)
    }
}
