// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `FeliCa cards from dumps` {
    /// Sends a FeliCa command with its length byte.
    private func send(_ script: LinkScript, _ command: String) async -> String {
        let body = hex(command)
        return await script.send(hexText([UInt8(body.count + 1)] + body))
    }

    @Test func `Areas and the versions of keys are those of the dump`() async throws {
        let image = try Files.image("felica-keys.nfc")
        guard case .type3(.standard(let card)) = image.contents else { return }
        #expect(card.systems.map(\.code) == [0x0003, 0xFE00])
        #expect(card.systems[0].key == hex("a0 a1 a2 a3 a4 a5 a6 a7"))
        #expect(card.systems[0].nodeKeys.keys.sorted() == [0x0000, 0x008B])
        // Services with one number share their blocks, except for those with different blocks.
        #expect(card.systems[0].files.map(\.serviceCodes) == [[0x0048, 0x004A], [0x008B]])
        #expect(card.systems[1].files.map(\.serviceCodes) == [[0x0050], [0x1009], [0x100B]])
        let script = try LinkScript(.nfcF, image.makeTag())
        let idm = "01 2e 3d 12 34 56 78 9a"
        #expect(
            await send(script, "02 \(idm) 06 ff ff 00 00 40 00 c0 0f 4a 00 8b 00")
                == "17 03 \(idm) 06 11 00 12 00 13 00 00 00 14 00 15 00"
        )
        #expect(await send(script, "02 \(idm) 01 80 00") == "0d 03 \(idm) 01 ff ff")
        // All areas and services in the order of their codes.
        var found: [String] = []
        for index in 0..<7 {
            let answer = await send(script, "0a \(idm) 0\(index) 00")
            found.append(String(answer.dropFirst(30)))
        }
        #expect(found == ["00 00 fe ff", "40 00 ff 07", "48 00", "4a 00", "8b 00", "c0 0f ff 1f", "ff ff"])
        // The second system counts up in the first digit of the IDm.
        let second = "11 2e 3d 12 34 56 78 9a"
        let ones = Array(repeating: "01", count: 16).joined(separator: " ")
        #expect(await send(script, "06 \(second) 01 09 10 01 80 00") == "1d 07 \(second) 00 00 01 \(ones)")
        #expect(await send(script, "02 \(second) 02 ff ff 0b 10") == "0f 03 \(second) 02 21 00 25 00")
    }

    @Test func `A system has the limits of its first block when it has the services of NDEF, and no others`() throws {
        let text = try Files.text("felica-standard.nfc").replacing("System 00: 0003", with: "System 00: 12FC")
            .replacing("Code 0048", with: "Code 0009").replacing("Service code 090F", with: "Service code 0009")
        guard case .type3(.standard(let card)) = try TagImage(parsing: Array(text.utf8)).contents else {
            Issue.record("no FeliCa")
            return
        }
        let system = card.systems[0]
        #expect(system.code == 0x12FC)
        #expect(system.files.map(\.serviceCodes) == [[0x0009], [0x004A], [0x008B], [0x090F]])
        #expect(Array(system.files[0].memory.prefix(3)) == hex("16 01 00"))
        #expect(system.maximumRead == 15 && system.maximumWrite == 13)
    }
}
