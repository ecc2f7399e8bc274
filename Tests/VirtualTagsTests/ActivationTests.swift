// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@Suite struct `Activation of NFC-A tags` {
    @Test func `A tag with seven octets of UID goes through two cascade levels`() async throws {
        let script = try Script(Type2Tag(.ntag213, uid: Script.uid))
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.sendRaw("93 20") == "88 04 a1 b2 9f")
        #expect(await script.send("93 70 88 04 a1 b2 9f") == "04")
        #expect(await script.sendRaw("95 20") == "c3 d4 e5 80 72")
        #expect(await script.send("95 70 c3 d4 e5 80 72") == "00")
        #expect(await script.send("60") == "00 04 04 02 01 00 0f 03")
        #expect(await script.send("30 03") == "e1 10 12 00 01 03 a0 0c 34 03 00 fe 00 00 00 00")
        #expect(await script.send("3a 04 05") == "01 03 a0 0c 34 03 00 fe")
        #expect(await script.send("a2 06 01 02 03 04") == "ACK")
        #expect(await script.send("30 06") == "01 02 03 04" + String(repeating: " 00", count: 12))
    }
}
