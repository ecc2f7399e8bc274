// SPDX-License-Identifier: Apache-2.0
import TagProtocols
import Testing

@Suite struct `Tags without NDEF, in words` {
    @Test(arguments: [
        (0x08, "MIFARE Classic 1K"), (0x88, "MIFARE Classic 1K"), (0x18, "MIFARE Classic 4K"),
        (0x09, "MIFARE Classic Mini"),
        (0x19, "MIFARE Classic 2K"), (0x28, "smart card with a MIFARE Classic 1K"), (0x01, "MIFARE Classic"),
    ])
    func `A MIFARE Classic is named by its SAK`(sak: Int, name: String) {
        let target = NFCATarget(atqa: 0x0004, sak: UInt8(sak), uid: [0x9C, 0x0C, 0x37, 0x01])
        #expect(target.classicProductName == name)
        #expect(
            target.reasonWithoutNDEF
                == "The tag answers as a \(name): its memory is behind a cipher of its own, and phones do not read it as NDEF."
        )
    }

    @Test func `Other tags have no such name`() {
        for sak: UInt8 in [0x00, 0x20, 0x40] {
            let target = NFCATarget(atqa: 0x0044, sak: sak, uid: [4, 1, 2, 3, 4, 5, 6])
            #expect(target.classicProductName == nil)
            #expect(target.reasonWithoutNDEF.hasPrefix("This is a"))
        }
    }

    @Test(
        arguments: [
            (0x0044, 0x40, "This is another NFC device, which holds no NDEF."),
            (
                0x0044, 0x20,
                "This is a Type 4 tag or other ISO/IEC 14443-4 card, for which there is no way to hold NDEF."
            ),
            (0x0044, 0x00, "This is a Type 2 tag, for which there is no way to hold NDEF."),
            (0x0004, nil, "This is an NFC-A tag of an unknown kind, for which there is no way to hold NDEF."),
        ] as [(UInt16, UInt8?, String)]
    )
    func `Each kind of tag has its own sentence`(atqa: UInt16, sak: UInt8?, sentence: String) {
        let target = NFCATarget(atqa: atqa, sak: sak, uid: [4, 1, 2, 3, 4, 5, 6])
        #expect(target.reasonWithoutNDEF == sentence)
    }
}
