// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

/// A virtual product, and how nfcpy recognizes it.
struct Product: Sendable, CustomTestStringConvertible {
    var name: String
    /// The bit rate that nfcpy polls for.
    var bitRate: String
    /// The type of tag that nfcpy sees.
    var type: String
    /// The product that nfcpy recognises.
    var recognized: String
    var make: @Sendable () -> any VirtualTag

    var testDescription: String { name }

    static let all = type1 + type2 + type3 + type4

    static let type1 = [
        Product(name: "Topaz 96", bitRate: "106A", type: "Type1Tag", recognized: "Topaz (BCM20203T96)") {
            VirtualType1Tag(.topaz96)
        },
        Product(name: "Topaz 512", bitRate: "106A", type: "Type1Tag", recognized: "Topaz 512 (BCM20203T512)") {
            VirtualType1Tag(.topaz512)
        },
    ]

    static let type2 = Type2Product.all.map { product in
        Product(
            name: product.name,
            bitRate: "106A",
            type: "Type2Tag",
            recognized: type2Names[product.name] ?? "Type2Tag"
        ) {
            VirtualType2Tag(product, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
        }
    }

    private static let type2Names = [
        "MIFARE Ultralight": "Mifare Ultralight (MF01CU1)",
        "MIFARE Ultralight C": "Mifare Ultralight C (MF01CU2)",
        // nfcpy asks for an authentication, which all three answer.
        "MIFARE Ultralight AES": "Mifare Ultralight C (MF01CU2)", "NTAG 224 DNA": "Mifare Ultralight C (MF01CU2)",
        "MIFARE Ultralight EV1 UL11": "Mifare Ultralight EV1 (MF0UL11)",
        "MIFARE Ultralight EV1 UL21": "Mifare Ultralight EV1 (MF0UL21)",
        "NTAG203": "NXP NTAG203", "NTAG210": "NXP NTAG210", "NTAG212": "NXP NTAG212", "NTAG213": "NXP NTAG213",
        "NTAG215": "NXP NTAG215", "NTAG216": "NXP NTAG216",
        "NTAG I2C 1K": "NTAG I2C 1K (NT3H1101)", "NTAG I2C 2K": "NTAG I2C 2K (NT3H1201)",
    ]

    private static let idm: [UInt8] = [0x02, 0xFE, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55]

    static let type3 = [
        Product(name: "FeliCa Lite-S", bitRate: "212F", type: "Type3Tag", recognized: "FeliCa Lite-S (RC-S966)") {
            VirtualType3Tag(FeliCaLiteSContents(idm: idm))
        },
        Product(
            name: "FeliCa Standard, a transit card with NDEF in its second system",
            bitRate: "212F",
            type: "Type3Tag",
            recognized: "FeliCa Standard (RC-S962)"
        ) {
            var contents = FeliCaStandardContents.transitCard(idm: idm, balance: 1234)
            contents.pmm = [0x01, 0x20, 0x22, 0x04, 0x27, 0x67, 0x4E, 0xFF]
            contents.systems.append(FeliCaSystem(ndefBlocks: 64, maximumRead: 12, maximumWrite: 10))
            return VirtualType3Tag(contents)
        },
        Product(
            name: "generic Type 3, more than 256 blocks",
            bitRate: "212F",
            type: "Type3Tag",
            recognized: "Type3Tag"
        ) {
            VirtualType3Tag(
                FeliCaStandardContents(
                    idm: idm,
                    systems: [FeliCaSystem(ndefBlocks: 300, maximumRead: 12, maximumWrite: 8)]
                )
            )
        },
    ]

    static let type4 = [
        type4A("generic Type 4A, mapping 1.0", NDEFApplication(mapping: .version1, size: 600)),
        type4A("generic Type 4A, mapping 2.0", NDEFApplication(size: 2048)),
        type4A("generic Type 4A, mapping 3.0", NDEFApplication(mapping: .version3, size: 4096)),
        type4A(
            "generic Type 4A with short frames, which asks for more time",
            NDEFApplication(size: 700, maximumRead: 59, maximumWrite: 52),
            // Frames of 32 bytes, FWI 4: programming takes longer than that frame waiting time.
            ats: [0x05, 0x72, 0x80, 0x40, 0x02]
        ),
        desfire("DESFire EV1 2K", .kilobytes2),
        desfire("DESFire EV1 4K", .kilobytes4),
        desfire("DESFire EV1 8K", .kilobytes8),
        Product(name: "NTAG 424 DNA", bitRate: "106A", type: "Type4Tag", recognized: "Type4Tag") {
            VirtualType4Tag(NTAG424Contents())
        },
        Product(name: "generic Type 4B", bitRate: "106B", type: "Type4Tag", recognized: "Type4Tag") {
            VirtualType4Tag(
                card: ApplicationCard([NDEFApplication(size: 1024)]),
                frontEnd: .nfcB(pupi: [0x01, 0x02, 0x03, 0x04])
            )
        },
        Product(
            name: "generic Type 4B with short frames",
            bitRate: "106B",
            type: "Type4Tag",
            recognized: "Type4Tag"
        ) {
            VirtualType4Tag(
                card: ApplicationCard([NDEFApplication(size: 600)]),
                frontEnd: .nfcB(pupi: [0x05, 0x06, 0x07, 0x08], protocolInfo: [0x00, 0x21, 0x40])
            )
        },
    ]

    private static func type4A(_ name: String, _ application: NDEFApplication, ats: [UInt8]? = nil) -> Product {
        Product(name: name, bitRate: "106A", type: "Type4Tag", recognized: "Type4Tag") {
            let frontEnd = ats.map { Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: $0) }
            return VirtualType4Tag(card: ApplicationCard([application]), frontEnd: frontEnd)
        }
    }

    private static func desfire(_ name: String, _ size: DESFireContents.Size) -> Product {
        Product(name: name, bitRate: "106A", type: "Type4Tag", recognized: "Type4Tag") {
            VirtualType4Tag(DESFireContents.ndef(size: size))
        }
    }
}
