// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// The data, apart from the pages, that the Proxmark3 client stores for a MIFARE Ultralight or NTAG.
struct ProxmarkHeader {
    var version = [UInt8](repeating: 0, count: 8)
    /// The answer to READ_SIG; zeros if unknown.
    var signature = [UInt8](repeating: 0, count: 32)
    var counters: [UInt32] = [0, 0, 0]
    var tearingFlags: [UInt8] = [0, 0, 0]

    init() {}

    init(_ contents: Type2Contents) {
        version = contents.version ?? version
        signature = contents.signature
        counters = contents.counters
        tearingFlags = contents.tearingFlags
    }

    /// Returns the tag with this header and the given pages. ATQA and SAK are the family's usual values.
    func contents(memory: [UInt8]) throws(TagImageError) -> Type2Contents {
        let hasVersion = version.contains { $0 != 0 }
        guard let product = Type2Product(version: hasVersion ? version : nil, pageCount: memory.count / 4) else {
            let reason =
                hasVersion
                ? "A tag with the version \(version.hexText()) is not supported yet."
                : "The file has \(memory.count / 4) pages, which match no tag without GET_VERSION."
            throw TagImageError(.unsupported, reason)
        }
        guard memory.count >= 16, memory.count <= product.pageCount * 4 else {
            let reason = "The file has \(memory.count / 4) pages instead of the \(product.pageCount) of the \(product)."
            throw TagImageError(.inconsistent, reason)
        }
        var contents = Type2Contents(blank: product, uid: product.uid(inMemory: memory))
        contents.memory = memory
        if product.version != nil, hasVersion { contents.version = version }
        contents.signature = signature
        contents.counters = counters
        contents.tearingFlags = tearingFlags
        return contents
    }
}

/// The data that the Proxmark3 client stores for an ISO 15693 tag, in JSON and binary files.
struct ProxmarkTag15 {
    /// The maximum number of pages in versions with a one-byte count.
    static let version4Pages = 0xA0
    /// The maximum size of the data, in bytes.
    static let maximumSize = 2048

    /// The UID, starting with E0.
    var uid: [UInt8] = [0xE0, 0, 0, 0, 0, 0, 0, 0]
    var dsfid: UInt8 = 0
    var isDSFIDLocked = false
    var afi: UInt8 = 0
    var isAFILocked = false
    var blockSize = 4
    /// The number of blocks; nil to derive it from the data.
    private var count: Int?
    var icReference: UInt8 = 0
    /// One byte per block; nonzero for a locked block.
    var locks: [UInt8] = []
    var data: [UInt8] = []
    /// The password in transmission order, low byte first; nil if the file lacks it.
    var privacyPassword: [UInt8]? = [0, 0, 0, 0]

    var blockCount: Int {
        get { count ?? data.count / blockSize }
        set { count = newValue }
    }

    init() {}

    init?(_ contents: Type5Contents) {
        let product = contents.product
        guard product.blockCount <= 256, product.blockCount * product.blockSize <= Self.maximumSize else { return nil }
        uid = contents.uid
        dsfid = contents.dsfid
        isDSFIDLocked = contents.isDSFIDLocked
        afi = contents.afi
        isAFILocked = contents.isAFILocked
        blockSize = product.blockSize
        icReference = product.icReference
        count = product.blockCount
        locks = (0..<product.blockCount).map { contents.lockedBlocks.contains($0) ? 1 : 0 }
        data = contents.memory + contents.counterBlock
        privacyPassword = [UInt8](littleEndian: Int(contents.passwords[0x04] ?? 0), count: 4)
    }

    /// Returns the tag. A product without a model becomes a generic tag.
    func contents() throws(TagImageError) -> Type5Contents {
        guard (1...32).contains(blockSize), (1...256).contains(blockCount), data.count == blockCount * blockSize else {
            let reason = "The file has \(data.count) bytes instead of \(blockCount) blocks of \(blockSize)."
            throw TagImageError(.inconsistent, reason)
        }
        let product =
            Type5Product(uid: uid, blockCount: blockCount, blockSize: blockSize)
            ?? .generic(blockCount: blockCount, blockSize: blockSize, icReference: icReference)
        var contents = Type5Contents(blank: product, uid: uid)
        contents.memory = Array(data.prefix(contents.memory.count))
        contents.readCounterBlock(data)
        contents.dsfid = dsfid
        contents.isDSFIDLocked = isDSFIDLocked
        contents.afi = afi
        contents.isAFILocked = isAFILocked
        contents.lockedBlocks = Type5Contents.blocks(lockedBy: locks[...])
        if let privacyPassword, contents.passwords[0x04] != nil {
            contents.passwords[0x04] = UInt32(bytes: privacyPassword.reversed())
        }
        return contents
    }
}

extension Type2Product {
    /// Finds the product by the 8 bytes of GET_VERSION, or by the number of pages if the product lacks this command;
    /// nil for a product without a model.
    init?(version: [UInt8]?, pageCount: Int) {
        let product: Type2Product?
        if var version, version.count == 8 {
            // Mikron's MIFARE Ultralight EV1 answers with Mikron's vendor byte 34 and type 21.
            if version[1] == 0x34, version[2] == 0x21 { version.replaceSubrange(1...2, with: [0x04, 0x03]) }
            // Vendor, type and size identify a product. All its subtypes and versions share one model.
            let isSame = { (other: [UInt8]) in
                version[1] == other[1] && version[2] == other[2] && version[6] == other[6]
            }
            product =
                Self.all.first { $0.version == version }
                ?? Self.all.first { $0.version.map { isSame($0) && $0[4] == version[4] } ?? false }
        } else {
            switch pageCount {
            case 16: product = .ultralight
            case 44, 48: product = .ultralightC
            case 42: product = .ntag203
            default: product = nil
            }
        }
        guard let product else { return nil }
        self = product
    }

    /// Returns the 7-byte UID at the start of a memory. Except on NTAG I2C, a check byte follows its third byte.
    func uid(inMemory memory: [UInt8]) -> [UInt8] {
        features.contains(.sectors) ? Array(memory.prefix(7)) : Array(memory.prefix(3) + memory.dropFirst(4).prefix(4))
    }
}

extension Sequence<UInt8> {
    /// Whether the bytes start like the memory of a Type 2 tag: a 7-byte UID with its two check bytes.
    var beginsAsType2Memory: Bool {
        let head = Array(prefix(9))
        guard head.count == 9 else { return false }
        return head[3] == head[..<3].reduce(0x88, ^) && head[8] == head[4..<8].reduce(0, ^)
    }
}
