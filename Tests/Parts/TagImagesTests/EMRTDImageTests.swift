// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Travel documents in files.
@Suite struct `Images of travel documents` {
    private static let machineReadableZone = """
        P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<
        L898902C36UTO7408122F1204159ZE184226B<<<<<10
        """
    private static let zone = machineReadableZone.replacing("\n", with: "\\n")

    @Test func `A zone and an identifier are enough`() throws {
        let text = #"{"type": "T4T", "product": "eMRTD", "uid": "08aabbcc", "mrz": "\#(Self.zone)"}"#
        let image = try TagImage(parsing: Array(text.utf8))
        #expect(image.product == "eMRTD" && image.uid == hex("08 aa bb cc"))
        let tag = try #require(image.makeTag() as? VirtualType4Tag)
        #expect(tag.frontEnd == .emrtd(uid: hex("08 aa bb cc")))
        let contents = try EMRTDContents(MachineReadableZone(Self.machineReadableZone), signer: .test)
        #expect(tag.contents?.kind == .emrtd(contents))
        #expect(try image.encoded() == Array(text.utf8))
    }

    @Test func `Over NFC-B, with other files`() throws {
        let text = """
            {"type": "T4T", "product": "eMRTD", "uid": "01020304", "application_data": "e1f35e11",
             "protocol_info": "778195", "mrz": "\(Self.zone)", "card_access": "3100", "files": {"011e": "6000"}}
            """
        let image = try TagImage(parsing: Array(text.utf8))
        let tag = try #require(image.makeTag() as? VirtualType4Tag)
        #expect(tag.frontEnd == .emrtd(pupi: [1, 2, 3, 4]))
        let card = try #require(tag.card as? EMRTDCard)
        #expect(card.contents.files == [0x011E: [0x60, 0]] && card.contents.cardAccess == [0x31, 0])
    }

    @Test(arguments: [true, false]) func `A new image holds the document whole`(hasCardAccess: Bool) throws {
        var contents = try EMRTDContents(MachineReadableZone(Self.machineReadableZone), signer: .test)
        if hasCardAccess { contents.cardAccess = hex("31 00") }
        let tag = TagContents.type4(Type4Contents(frontEnd: .randomEMRTD, kind: .emrtd(contents)))
        let again = try TagImage(parsing: TagImage(tag).encoded())
        #expect(again.contents == tag)
    }

    @Test(
        arguments: [
            (#""mrz": "P<UTO""#, TagImageError.Code.malformed), (#""note": """#, .missingField),
        ]
    )
    func `An invalid zone is refused`(member: String, code: TagImageError.Code) {
        let text = #"{"type": "T4T", "product": "eMRTD", "uid": "08aabbcc", \#(member)}"#
        let error = #expect(throws: TagImageError.self) { try TagImage(parsing: Array(text.utf8)) }
        #expect(error?.code == code)
    }
}
