// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import VirtualTags

extension ProductModel {
    /// New Topaz 96 and Topaz 512 tags.
    static let type1: [ProductModel] = Type1Product.allCases.map { product in
        let isLarge = product == .topaz512
        let start = isLarge ? 22 : 12
        return ProductModel(
            name: product.rawValue,
            technology: .nfcA,
            capacity: isLarge ? 462 : 90,
            minimum: { AirtimeMinimum.type1($0, start: start, isLarge: isLarge) },
            make: { message in
                var contents = Type1Contents(blank: product, uid: VirtualType1Tag.defaultUID)
                contents.memory = contents.memory.placing(
                    messageTLV(message),
                    at: start,
                    end: isLarge ? 512 : 104,
                    around: 104..<128
                )
                return VirtualType1Tag(contents)
            },
            copy: { VirtualType1Tag(($0 as? VirtualType1Tag)?.contents ?? .init(product, memory: [])) }
        )
    }

    /// MIFARE Ultralight and NTAG. Ultralight C has the lock control TLV that NXP AN1303 wants of one with NDEF.
    static let type2: [ProductModel] = Type2Product.all.map { product in
        let uid = bytes("04a1b2c3d4e580")
        let lockControl: [UInt8]
        switch product.name {
        case "MIFARE Ultralight C", "NTAG203": lockControl = bytes("0103a01044")
        case "NTAG213": lockControl = bytes("0103a00c34")
        case "NTAG212": lockControl = bytes("0103900a34")
        default: lockControl = []
        }
        let area = Int(product.capabilitySize) * 8
        let room = area - lockControl.count
        return ProductModel(
            name: product.name,
            technology: .nfcA,
            capacity: room - 2 <= 254 ? room - 2 : max(254, room - 4),
            minimum: {
                AirtimeMinimum.type2(
                    $0,
                    start: 16 + lockControl.count,
                    hasFastRead: product.version != nil && product.capabilitySize > 6
                )
            },
            make: { message in
                var contents = Type2Contents(blank: product, uid: uid)
                contents.memory.replaceSubrange(12..<16, with: [0xE1, 0x10, product.capabilitySize, 0x00])
                contents.memory = contents.memory.placing(
                    lockControl + messageTLV(message),
                    at: 16,
                    end: 16 + area
                )
                return VirtualType2Tag(contents)
            },
            copy: {
                VirtualType2Tag(($0 as? VirtualType2Tag)?.contents ?? .init(blank: product, uid: uid))
            }
        )
    }

    static let idm = bytes("02fe001122334455")

    /// FeliCa Lite-S, and a generic tag of FeliCa Standard.
    static let type3: [ProductModel] = [
        type3("FeliCa Lite-S", blocks: 13, read: 4) { memory in
            var contents = FeliCaLiteSContents(idm: idm)
            contents.userMemory = memory
            return .liteS(contents)
        },
        type3("generic Type 3", blocks: 256, read: 12) { memory in
            .standard(FeliCaStandardContents(idm: idm, systems: [FeliCaSystem(ndef: memory)]))
        },
    ]

    private static func type3(
        _ name: String,
        blocks: Int,
        read: Int,
        _ contents: @escaping @Sendable ([UInt8]) -> VirtualType3Tag.Contents
    ) -> ProductModel {
        ProductModel(
            name: name,
            technology: .nfcF,
            capacity: blocks * 16,
            isProtected: true,
            minimum: { AirtimeMinimum.type3($0, blocksPerRead: read) },
            make: { message in
                var attributes: [UInt8] = [0x10, UInt8(read), read == 4 ? 1 : 8, UInt8(blocks >> 8)]
                attributes += [UInt8(blocks & 0xFF), 0, 0, 0, 0, 0, 1, 0]
                attributes += [UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
                let sum = attributes.reduce(0) { $0 + Int($1) }
                attributes += [UInt8(sum >> 8), UInt8(sum & 0xFF)]
                let rest = [UInt8](repeating: 0, count: blocks * 16 - message.count)
                return VirtualType3Tag(contents(attributes + message + rest))
            },
            copy: { VirtualType3Tag(($0 as? VirtualType3Tag)?.contents ?? contents([])) }
        )
    }
}
