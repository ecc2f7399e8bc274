// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import VirtualCards
import VirtualTags

extension ProductModel {
    /// Generic tags of the three mapping versions over NFC-A and NFC-B, DESFire EV1 and NTAG 424 DNA.
    static let type4: [ProductModel] =
        NDEFApplication.Mapping.allCases.map { mapping in
            generic4("generic Type 4, mapping \(mapping.rawValue >> 4).0", mapping, size: 2048, limit: 255)
        } + [
            generic4("generic Type 4, MLe 59 and MLc 52", .version2, size: 1024, limit: 59, write: 52),
            generic4("generic Type 4, MLe 15 and MLc 13", .version2, size: 400, limit: 15, write: 13),
            generic4(
                "generic Type 4B",
                .version2,
                size: 2048,
                limit: 255,
                frontEnd: .nfcB(pupi: [1, 2, 3, 4])
            ),
        ]
        + DESFireContents.Size.allCases.map { size in
            let blank = DESFireContents.ndef(size: size)
            let fileSize = [DESFireContents.Size.kilobytes2: 0x800, .kilobytes4: 0x1000][size] ?? 0x1E00
            return ProductModel(
                name: "DESFire EV1 \(1 << (Int(size.rawValue >> 1) - 10))K",
                technology: .nfcA,
                capacity: fileSize - 2,
                isStateless: false,
                minimum: { AirtimeMinimum.type4($0, maximumRead: 59, lengthSize: 2, technology: .nfcA) },
                make: { message in
                    var contents = blank
                    contents.applications[0].files[1].kind = .standard(file(message, lengthSize: 2, size: fileSize))
                    return VirtualType4Tag(contents)
                },
                copy: copy4
            )
        } + [
            ProductModel(
                name: "NTAG 424 DNA",
                technology: .nfcA,
                capacity: 254,
                isStateless: false,
                minimum: { AirtimeMinimum.type4($0, maximumRead: 256, lengthSize: 2, technology: .nfcA) },
                make: { message in
                    var contents = NTAG424Contents()
                    contents.ndefFile = file(message, lengthSize: 2, size: 256)
                    return VirtualType4Tag(contents)
                },
                copy: copy4
            )
        ]

    private static let copy4: @Sendable (any VirtualTag) -> any VirtualTag = { tag in
        guard let contents = (tag as? VirtualType4Tag)?.contents else { return tag }
        return VirtualType4Tag(contents)
    }

    private static func generic4(
        _ name: String,
        _ mapping: NDEFApplication.Mapping,
        size: Int,
        limit: UInt16,
        write: UInt16? = nil,
        frontEnd: Type4FrontEnd = .nfcA(uid: VirtualType4Tag.defaultUID, ats: bytes("0578807002"))
    ) -> ProductModel {
        let lengthSize = mapping == .version3 ? 4 : 2
        var technology = Technology.nfcA
        if case .nfcB = frontEnd { technology = .nfcB }
        let measured = technology
        return ProductModel(
            name: name,
            technology: technology,
            capacity: size - lengthSize,
            isStateless: false,
            minimum: {
                AirtimeMinimum.type4(
                    $0,
                    maximumRead: Int(limit),
                    lengthSize: lengthSize,
                    isFirst: mapping == .version1,
                    technology: measured
                )
            },
            make: { message in
                var application = NDEFApplication(
                    mapping: mapping,
                    size: size,
                    maximumRead: limit,
                    maximumWrite: write ?? limit
                )
                application.files[0xE104] = file(message, lengthSize: lengthSize, size: size)
                return VirtualType4Tag(card: ApplicationCard([application]), frontEnd: frontEnd)
            },
            copy: copy4
        )
    }

    /// The bytes of an NDEF file.
    private static func file(_ message: [UInt8], lengthSize: Int, size: Int) -> [UInt8] {
        let length = (0..<lengthSize).reversed().map { UInt8(message.count >> (8 * $0) & 0xFF) }
        return length + message + [UInt8](repeating: 0, count: size - lengthSize - message.count)
    }

    /// ICODE, ST25TV, ST25DV, a Fujitsu tag with blocks of 8 bytes, and generic tags with larger ones.
    static let type5: [ProductModel] =
        (Type5Product.all + [
            Type5Product(
                name: "Fujitsu",
                uidPrefix: [0xE0, 0x08],
                blockCount: 250,
                blockSize: 8,
                icReference: 0,
                features: []
            ),
            .generic(blockCount: 40, blockSize: 16), .generic(blockCount: 40, blockSize: 32),
        ]).map { product in
            let size = product.blockSize
            let blank = Type5Contents(blank: product)
            let start = blank.memory[2] == 0 ? 8 : 4
            let end = start + (product.dataBlockCount * size - start) / 8 * 8
            let room = end - start
            return ProductModel(
                name: size == 4 ? product.name : "\(product.name), blocks of \(size)",
                technology: .nfcV,
                capacity: room - 2 <= 254 ? room - 2 : max(254, room - 4),
                minimum: {
                    // How large blocks are shows in the first answer; by its UID a tag of Fujitsu's has 8 bytes.
                    AirtimeMinimum.type5($0, start: start, blockSize: size, first: size == 8 ? 2 : 4)
                },
                make: { message in
                    var contents = blank
                    contents.memory = contents.memory.placing(messageTLV(message), at: start, end: end)
                    return VirtualType5Tag(contents)
                },
                copy: { VirtualType5Tag(($0 as? VirtualType5Tag)?.contents ?? blank) }
            )
        }
}
