// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite("What an image would lose")
struct LossTests {
    private func reason(_ contents: TagContents, _ format: TagImage.Format) -> String? {
        do throws(TagImageError) {
            _ = try TagImage(contents, format: format).encoded()
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("An error is printed with its code, and with its line if it has one")
    func descriptions() {
        #expect(TagImageError(.missingField, "\"a\" is missing.").description == "missing-field: \"a\" is missing.")
        #expect(TagImageError(.tooLarge, "Much.", line: 7).description == "too-large, line 7: Much.")
        let codes: [TagImageError.Code] = [.unknownFormat, .malformed, .inconsistent, .unsupported, .lossy]
        #expect(codes.map(\.description) == ["unknown-format", "malformed", "inconsistent", "unsupported", "lossy"])
        #expect(TagImageError(.lossy, "A", line: 1) == TagImageError(.lossy, "B"))
        #expect(TagImageError(.lossy, "A") != TagImageError(.malformed, "A"))
    }

    @Test("Of a Type 2 tag, each thing that is lost has its name")
    func type2() throws {
        let losses: [((inout Type2Contents) -> Void, String)] = [
            ({ $0.atqa = 0x0004 }, "ATQA and SAK"), ({ $0.sak = 0x08 }, "ATQA and SAK"),
            ({ $0.version = [0, 4, 4, 2, 2, 0, 0x0F, 3] }, "the version"), ({ $0.signature[31] = 1 }, "the signature"),
            ({ $0.counters[0] = 1 }, "the counters"), ({ $0.tearingFlags[0] = 1 }, "the counters"),
            ({ $0.failedAuthentications = 1 }, "the failed passwords"), ({ $0.uid[6] ^= 1 }, "the UID"),
        ]
        for (change, words) in losses {
            var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
            change(&contents)
            let sentence = "An .mfd file can't hold this NTAG213 without losing \(words)."
            #expect(reason(.type2(contents), .mfd) == sentence)
        }
        // A memory of this size is that of another product.
        var other = Type2Contents(blank: .ntag210, uid: Script.uid)
        #expect(
            reason(.type2(other), .mfd)?.hasPrefix("An .mfd file can't hold this NTAG210 without losing the product, ")
                == true
        )
        other.uid[6] ^= 1
        #expect(reason(.type2(other), .mfd)?.contains(" losing the product, the UID, ") == true)
    }

    @Test("Of a MIFARE Classic, each thing that is lost has its name")
    func classic() {
        let losses: [((inout ClassicContents) -> Void, String)] = [
            ({ $0.atqa = 0x0044 }, "ATQA and SAK"), ({ $0.sak = 0x88 }, "ATQA and SAK"),
            ({ $0.unknownBytes = [20] }, "which bytes are unknown"), ({ $0.signature = [1] }, "the signature"),
            (
                {
                    $0.unknownBytes = [20]
                    $0.signature = [1]
                }, "which bytes are unknown, the signature"
            ),
        ]
        for (change, words) in losses {
            var contents = ClassicContents(blank: .classic1K, uid: [1, 2, 3, 4])
            change(&contents)
            let sentence = "An .mfd file can't hold this MIFARE Classic 1K without losing \(words)."
            #expect(reason(.classic(contents), .mfd) == sentence)
        }
    }

    @Test("Of a DESFire, what its configuration has changed is lost in a Flipper file")
    func desfire() throws {
        guard case .type4(var type4) = try Files.image("desfire.nfc").contents, case .desfire(var card) = type4.kind
        else { throw TagImageError(.unsupported, "") }
        card.configuration.isFormatDisabled = true
        type4.kind = .desfire(card)
        let contents = TagContents.type4(type4)
        let sentence =
            "A Flipper file can't hold this \(contents.product) without losing what SET CONFIGURATION has changed."
        #expect(reason(contents, .flipper) == sentence)
        // Keys are lost too, and have no name.
        card.configuration.isFormatDisabled = false
        card.masterKey = .zero(.aes)
        type4.kind = .desfire(card)
        #expect(reason(.type4(type4), .flipper)?.hasSuffix(" without losing a part of what it holds.") == true)
    }
}
