// SPDX-License-Identifier: Apache-2.0
import TagImages
public import VirtualTags

/// Tags with a message on them.
public enum Samples {
    /// A link to https://example.com.
    public static let message: [UInt8] = [0xD1, 0x01, 0x0C, 0x55, 0x04] + Array("example.com".utf8)

    /// The bytes of a tag's image.
    public static func image(_ contents: TagContents) throws -> [UInt8] {
        Array(try TagImage(contents).encoded())
    }

    /// The UID of the Type 2 tags.
    public static let uid: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]

    /// A Type 2 tag.
    public static func type2(_ product: Type2Product = .ntag213) -> TagContents {
        var contents = Type2Contents(blank: product, uid: uid)
        let messageTLV = [0x03, UInt8(message.count)] + message + [0xFE]
        // Products that have a lock control TLV from the factory keep it.
        let start = contents.memory[16] == 0x01 ? 21 : 16
        contents.memory.replaceSubrange(start..<start + messageTLV.count, with: messageTLV)
        return .type2(contents)
    }

    /// The message of a Type 2 tag, found by its TLV.
    public static func message(of contents: TagContents) -> [UInt8]? {
        guard case .type2(let contents) = contents else { return nil }
        var position = 16
        while position + 1 < contents.memory.count {
            let length = Int(contents.memory[position + 1])
            switch contents.memory[position] {
            case 0x00: position += 1
            case 0x03:
                guard position + 2 + length <= contents.memory.count else { return nil }
                return Array(contents.memory[position + 2..<position + 2 + length])
            case 0xFE: return nil
            default: position += 2 + length
            }
        }
        return nil
    }

    /// A FeliCa Lite-S.
    public static func type3() -> TagContents {
        var contents = FeliCaLiteSContents(idm: [0x02, 0xFE, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55])
        var attribute: [UInt8] = [0x10, 4, 1, 0, 13, 0, 0, 0, 0, 0, 1, 0, 0, UInt8(message.count)]
        let checksum = attribute.reduce(UInt16(0)) { $0 + UInt16($1) }
        attribute += [UInt8(checksum >> 8), UInt8(checksum & 0xFF)]
        for (index, byte) in (attribute + message).enumerated() { contents.userMemory[index] = byte }
        return .type3(.liteS(contents))
    }

    /// The NDEF file of a Type 4 tag.
    public static var ndefFile: [UInt8] {
        let file = [0x00, UInt8(message.count)] + message
        return file + [UInt8](repeating: 0, count: 256 - file.count)
    }

    private static let container: [UInt8] = [0, 15, 0x20, 0, 0x3B, 0, 0x34, 4, 6, 0xE1, 0x04, 1, 0, 0, 0]

    /// A Type 4 tag of NFC-A, or of NFC-B.
    public static func type4(isTypeB: Bool = false) -> TagContents {
        let typeA = Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: [0x06, 0x75, 0x77, 0x81, 0x02, 0x80])
        let frontEnd = isTypeB ? .nfcB(pupi: [0x0A, 0x0B, 0x0C, 0x0D]) : typeA
        return .type4(Type4Contents(frontEnd: frontEnd, kind: .ndef(files: [0xE103: container, 0xE104: ndefFile])))
    }

    /// A MIFARE DESFire EV1 with the NDEF application.
    public static func desfire() -> TagContents {
        let uid: [UInt8] = [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66]
        let contents = DESFireContents(
            uid: uid,
            size: .kilobytes2,
            applications: [.ndef(container: container, ndef: ndefFile)]
        )
        return .type4(
            Type4Contents(
                frontEnd: .nfcA(uid: uid, ats: [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]),
                kind: .desfire(contents)
            )
        )
    }

    /// The second line of the travel document's machine readable zone, from which its keys are derived.
    public static let travelDocumentLine = "L898902C36UTO7408122F1204159ZE184226B<<<<<10"

    /// An electronic travel document with basic access control, the specimen of ICAO Doc 9303.
    public static func travelDocument() throws -> TagContents {
        let zone = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\\n" + travelDocumentLine
        let image = #"{"type": "T4T", "product": "eMRTD", "uid": "08c0ffee", "mrz": ""# + zone + #""}"#
        return try TagImage(parsing: Array(image.utf8)).contents
    }

    /// A Type 5 tag.
    public static func type5() -> TagContents {
        var contents = Type5Contents(blank: .icodeSLIX, uid: [0xE0, 0x04, 0x01, 0x50, 0x00, 0x11, 0x22, 0x33])
        let bytes = [0xE1, 0x40, 0x0D, 0x01, 0x03, UInt8(message.count)] + message + [0xFE]
        contents.memory.replaceSubrange(0..<bytes.count, with: bytes)
        return .type5(contents)
    }
}
