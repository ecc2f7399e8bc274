// SPDX-License-Identifier: Apache-2.0
import TagScripts
import Testing
import VirtualTags

@testable import VirtualCards

/// Checks keys, front ends and data objects in each of their forms.
@Suite struct `Keys and data objects in their forms` {
    @Test(arguments: [UInt8(0), 1, 0x55, 0x80, 0xA5, 0xFF])
    func `A DES key has its version in the lowest bits of its bytes`(
        version: UInt8
    ) throws {
        for kind in [DESFireKey.Kind.des, .tripleDES] {
            let key = DESFireKey.zero(kind, version: version)
            #expect(key.bytes.count == kind.length && key.bytes.allSatisfy { $0 < 2 })
            #expect(try #require(DESFireKey(kind, key.bytes)).version == version)
            #expect(Array(key.bytes[..<8]) == Array(key.bytes[8..<16]))
            #expect(key.bytes.dropFirst(16).allSatisfy { $0 == 0 })
        }
        let aes = DESFireKey.zero(.aes, version: version)
        #expect(aes.bytes == [UInt8](repeating: 0, count: 16) && aes.version == version)
    }

    @Test func `A DES key of eight bytes counts twice, and other keys have their whole length`() throws {
        let half = Array(UInt8(0x11)...0x18)
        #expect(try #require(DESFireKey(.des, half)).bytes == half + half)
        #expect(DESFireKey(.des, half + half) == DESFireKey(.des, half))
        for (kind, count) in [
            (DESFireKey.Kind.aes, 8), (.aes, 24), (.tripleDES, 8), (.tripleDES, 16), (.des, 24), (.des, 0),
        ] {
            #expect(DESFireKey(kind, [UInt8](repeating: 1, count: count)) == nil)
        }
    }

    @Test func `A document's ATQA says how long its UID is`() {
        for (uid, atqa) in [([8, 1, 2, 3], 0x0008), ([4, 1, 2, 3, 4, 5, 6], 0x0048)] as [([UInt8], UInt16)] {
            guard case .nfcA(_, let found, _, _) = Type4FrontEnd.emrtd(uid: uid) else {
                Issue.record("It is of NFC-A.")
                continue
            }
            #expect(found == atqa)
        }
    }

    @Test(arguments: [0, 1, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x1_0000])
    func `A data object's length has as many bytes as it needs, and one that is cut is none`(count: Int) {
        for tag in [0x04, 0x5F1F] as [UInt16] {
            let object = DataObject(tag, [UInt8](repeating: 0xAB, count: count))
            let bytes = object.bytes
            var rest = (bytes + [0x55])[...]
            #expect(DataObject(takingFrom: &rest) == object && rest == [0x55])
            let head = bytes.count - count
            for cut in [0, 1, head - 1, head, bytes.count - 1] where cut < bytes.count {
                var short = bytes[..<cut]
                #expect(DataObject(takingFrom: &short) == nil && short.count == cut)
            }
        }
    }

    @Test(arguments: ["04 80", "04 84 00 00 00 00", "1f 80 00", "1f", "04", "04 81"])
    func `Another form of a data object is none`(text: String) {
        #expect(DataObject.sequence(hex(text)) == nil)
    }

    @Test func `A long form may have more bytes than it needs`() {
        #expect(
            DataObject.sequence(hex("04 81 01 aa 04 83 00 00 01 bb")) == [DataObject(4, [0xAA]), DataObject(4, [0xBB])]
        )
        #expect(DataObject.sequence(hex("04 81 00")) == [DataObject(4, [UInt8]())])
        #expect(DataObject.sequence([]) == [])
        #expect(DataObject(0x30, [DataObject(2, [1]), DataObject(4, [UInt8]())]).bytes == hex("30 05 02 01 01 04 00"))
    }

    @Test func `The objects of a document's signature have the names of ICAO and of CMS`() {
        #expect(DER.securityObject.bytes == hex("06 06 67 81 08 01 01 01"))
        #expect(DER.signedData.bytes == hex("06 09 2a 86 48 86 f7 0d 01 07 02"))
        #expect(DER.contentType.bytes == hex("06 09 2a 86 48 86 f7 0d 01 09 03"))
        #expect(DER.messageDigest.bytes == hex("06 09 2a 86 48 86 f7 0d 01 09 04"))
        #expect(DER.sha256.bytes == hex("30 0b 06 09 60 86 48 01 65 03 04 02 01"))
        #expect(DER.sha256WithRSA.bytes == hex("30 0d 06 09 2a 86 48 86 f7 0d 01 01 0b 05 00"))
        #expect(DER.context(3) == 0xA3 && DER.number(5).bytes == hex("02 01 05"))
    }

    @Test func `Errors of documents are equal by their codes, and a version comes in three frames`() {
        #expect(EMRTDError(.malformedZone, "One.") == EMRTDError(.malformedZone, "Another."))
        #expect(EMRTDError(.malformedZone, "One.") != EMRTDError(.wrongCheckDigit, "One."))
        let version = (1...29).map { UInt8($0) }
        let frames = VersionCardContents(.ntag4xx, version: Array(version.prefix(28))).frames
        #expect(frames == [Array(version[0..<7]), Array(version[7..<14]), Array(version[14..<28])])
        #expect(VersionCardContents(.ntag4xx, version: Array(version.prefix(27))).frames.isEmpty)
        #expect(VersionCardContents(.ntag4xx, version: [UInt8](repeating: 0, count: 28)).frames.isEmpty)
    }
}
