// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Which procedures a target gets, and which errors mean that a tag works and holds no NDEF.
@Suite struct `Forum tags of any technology` {
    private static let uid = bytes("e002240800112233")

    @Test func `A target of any technology gets the procedures of its type, or none`() throws {
        let link = ScriptedLink([])
        func kind(_ target: TagTarget) -> ForumTagType? { makeForumTag(for: target, link: link)?.type }
        func nfcA(_ sak: UInt8?, atqa: UInt16 = 0x0044) -> TagTarget {
            .nfcA(NFCATarget(atqa: atqa, sak: sak, uid: [4, 1, 2, 3, 4, 5, 6]))
        }
        #expect(kind(nfcA(nil, atqa: 0x0C00)) == .type1 && kind(nfcA(0x00)) == .type2)
        #expect(kind(nfcA(0x20)) == .type4 && kind(nfcA(0x28)) == .type4 && kind(nfcA(0x60)) == .type4)
        #expect(kind(nfcA(0x08)) == nil && kind(nfcA(0x40)) == nil && kind(nfcA(0x10)) == nil)
        #expect(kind(nfcA(nil)) == nil)
        let card = try NFCBTarget(bytes("50 11223344 00000000 008171"))
        #expect(kind(.nfcB(card)) == .type4)
        // A memory card of NFC-B, without ISO-DEP.
        let memory = try NFCBTarget(bytes("50 11223344 00000000 008071"))
        #expect(kind(.nfcB(memory)) == nil)
        #expect(kind(.nfcF(NFCFTarget(idm: Self.uid, pmm: Self.uid, systemCode: nil))) == .type3)
        #expect(kind(.nfcV(NFCVTarget(uid: Self.uid))) == .type5)
    }

    @Test func `A Type 5 tag by itself is called without its UID`() throws {
        let target = TagTarget.nfcV(NFCVTarget(uid: Self.uid))
        let tag = try #require(makeForumTag(for: target, link: ScriptedLink([], technology: .nfcV)) as? Type5Tag)
        #expect(tag.isAlone)
    }

    @Test(
        arguments: [
            (.noCapabilityContainer, true), (.badVersion, true), (.noMessageTLV, true), (.lengthOverrun, true),
            (.badChecksum, true), (.writeInProgress, true), (.readProtected, true),
            (.tagLost, false), (.readOnly, false),
            (.messageTooLong, false), (.authenticationFailed, false), (.keyNeeded, false), (.refused, false),
            (.updateFailed, false), (.badAnswer, false), (.unsupported, false), (.cancelled, false),
            (.readerUnavailable, false),
        ] as [(TagError.Code, Bool)]
    )
    func `An error means that a tag works without NDEF, or that it was not found out`(
        code: TagError.Code,
        isNotNDEF: Bool
    ) {
        #expect(TagError(code, "").meansNotNDEF == isNotNDEF)
    }

    private static func survey(_ steps: [ScriptedLink.Step]) async throws(TagError) -> NDEFSurvey {
        try await makeTag(ScriptedLink(steps)).surveyNDEF()
    }

    @Test func `A survey has what was found, or the reason why it is nothing`() async throws {
        let zeros = String(repeating: "00", count: 8)
        let found = try await Self.survey([.exchange("3003", "e1100600 0301aafe" + zeros)])
        let detection = NDEFDetection(access: .readWrite, capacity: 46, messageLength: 1)
        #expect(found == NDEFSurvey(detection: detection, message: [0xAA]) && found.error == nil)
        let none = try await Self.survey([.exchange("3003", "00000000 00000000" + zeros)])
        #expect(none.detection == nil && none.message == nil && none.error?.code == .noCapabilityContainer)
        // A tag that keeps its memory back was found all the same.
        let guarded = try await Self.survey([.exchange("3003", nibble: 0)])
        #expect(guarded.detection == nil && guarded.error?.code == .readProtected)
        await #expect(throws: TagError(.cancelled, "")) { try await Self.survey([.exchange("3003", .cancelled)]) }
    }
}
