// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// A product that VirtualTags has a model of, formatted for NDEF: tags with any message on them, and readers for them.
struct ProductModel: Sendable, CustomTestStringConvertible {
    let name: String
    let technology: Technology
    /// The longest message.
    let capacity: Int
    /// Whether the tag programs a unit whole or not at all, so that no cut of a write is a window.
    var isProtected = false
    /// A tag with a message on it.
    let make: @Sendable ([UInt8]) -> any VirtualTag
    /// A tag with what another one keeps without power.
    let copy: @Sendable (any VirtualTag) -> any VirtualTag

    var testDescription: String { name }

    /// All products of all types.
    static let all: [ProductModel] = stateless + type4
    /// The products without a block protocol that counts blocks: a command that is sent twice does the same twice.
    static let stateless: [ProductModel] = type1 + type2 + type3 + type5
    /// One product of each memory and command set.
    static let samples: [ProductModel] = [
        "Topaz 96", "Topaz 512", "MIFARE Ultralight", "NTAG213", "NTAG216", "FeliCa Lite-S", "generic Type 3",
        "generic Type 4, mapping 2.0", "generic Type 4B", "DESFire EV1 4K", "ICODE SLIX2", "ST25DV04K",
    ].compactMap { name in all.first { $0.name == name } }

    /// The product of a name.
    static func named(_ name: String) throws -> ProductModel { try #require(all.first { $0.name == name }) }
}

/// A field with one tag, activated, and its reader.
struct ProductBench {
    let field: VirtualField
    let link: any FrameLink
    let reader: any ForumTag

    /// Brings a tag near and activates it.
    init(_ tag: any VirtualTag, in field: VirtualField = VirtualField()) async throws {
        self.field = field
        field.bring(tag)
        link = try #require(field.link(for: tag.technology))
        reader = try #require(try await Self.activate(link))
        try await reader.prepare()
    }

    private static func activate(_ link: any FrameLink) async throws -> (any ForumTag)? {
        switch link.technology {
        case .nfcA:
            try await NFCAActivation(link: link).activateAll().last.flatMap { makeForumTag(for: $0, link: link) }
        case .nfcB: try await NFCBActivation(link: link).findAll().last.flatMap { makeForumTag(for: $0, link: link) }
        case .nfcF:
            try await NFCFPolling(link: link).poll(systemCode: NFCFTarget.ndefSystemCode).first.map {
                makeForumTag(for: $0.target, link: link)
            }
        case .nfcV:
            try await NFCVInventory(link: link).findAll().last.map { makeForumTag(for: $0, link: link, isAlone: true) }
        }
    }
}

/// The bytes of an NDEF message TLV, with a terminator.
func messageTLV(_ message: [UInt8]) -> [UInt8] {
    let length =
        message.count <= 254 ? [UInt8(message.count)] : [0xFF, UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
    return [0x03] + length + message + [0xFE]
}

/// A message of so many bytes, in which each byte depends on its place.
func message(_ count: Int, seed: UInt8 = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 0x61) ^ seed ^ UInt8(truncatingIfNeeded: $0 >> 8) }
}

/// Which of so many steps to cut or disturb: all of up to 12, else the first 5, the last 5 and every 17th between them.
///
/// The steps in the middle of a long write or read are alike, so one in seventeen stands for its neighbours.
func cutSample(of count: Int) -> [Int] {
    (0..<max(0, count)).filter { count <= 12 || $0 < 5 || $0 >= count - 5 || $0 % 17 == 0 }
}

extension [UInt8] {
    /// The same bytes with others in their place from an offset on, as far as there is room, around bytes that are
    /// not for data.
    func placing(_ bytes: [UInt8], at offset: Int, end: Int, around reserved: Range<Int> = 0..<0) -> [UInt8] {
        var result = self
        var address = offset
        for byte in bytes {
            if reserved.contains(address) { address = reserved.upperBound }
            guard address < end else { break }
            result[address] = byte
            address += 1
        }
        return result
    }
}

extension ProductModel {
    /// New Topaz 96 and Topaz 512 tags.
    static let type1: [ProductModel] = Type1Product.allCases.map { product in
        let isLarge = product == .topaz512
        let start = isLarge ? 22 : 12
        return ProductModel(
            name: product.rawValue,
            technology: .nfcA,
            capacity: isLarge ? 462 : 90,
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
            make: { message in
                var contents = Type2Contents(blank: product, uid: uid)
                contents.memory.replaceSubrange(12..<16, with: [0xE1, 0x10, product.capabilitySize, 0x00])
                contents.memory = contents.memory.placing(lockControl + messageTLV(message), at: 16, end: 16 + area)
                return VirtualType2Tag(contents)
            },
            copy: { VirtualType2Tag(($0 as? VirtualType2Tag)?.contents ?? .init(blank: product, uid: uid)) }
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

extension ProductModel {
    /// Generic tags of the three mapping versions over NFC-A and NFC-B, DESFire EV1 and NTAG 424 DNA.
    static let type4: [ProductModel] =
        NDEFApplication.Mapping.allCases.map { mapping in
            generic4("generic Type 4, mapping \(mapping.rawValue >> 4).0", mapping, size: 2048, limit: 255)
        } + [
            generic4("generic Type 4, MLe 59 and MLc 52", .version2, size: 1024, limit: 59, write: 52),
            generic4("generic Type 4, MLe 15 and MLc 13", .version2, size: 400, limit: 15, write: 13),
            generic4("generic Type 4B", .version2, size: 2048, limit: 255, frontEnd: .nfcB(pupi: [1, 2, 3, 4])),
        ]
        + DESFireContents.Size.allCases.map { size in
            let blank = DESFireContents.ndef(size: size)
            let fileSize = [DESFireContents.Size.kilobytes2: 0x800, .kilobytes4: 0x1000][size] ?? 0x1E00
            return ProductModel(
                name: "DESFire EV1 \(1 << (Int(size.rawValue >> 1) - 10))K",
                technology: .nfcA,
                capacity: fileSize - 2,
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
        return ProductModel(
            name: name,
            technology: technology,
            capacity: size - lengthSize,
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
        var file = [UInt8](repeating: 0, count: size)
        for index in 0..<lengthSize {
            file[lengthSize - 1 - index] = UInt8(truncatingIfNeeded: message.count >> (8 * index))
        }
        file.replaceSubrange(lengthSize..<lengthSize + message.count, with: message)
        return file
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
            ), .generic(blockCount: 40, blockSize: 16), .generic(blockCount: 40, blockSize: 32),
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
                make: { message in
                    var contents = blank
                    contents.memory = contents.memory.placing(messageTLV(message), at: start, end: end)
                    return VirtualType5Tag(contents)
                },
                copy: { VirtualType5Tag(($0 as? VirtualType5Tag)?.contents ?? blank) }
            )
        }
}
