// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// The Proxmark3 client's data of an ISO 15693 tag, in JSON and binary files.
struct ProxmarkTag15 {
    /// The maximum number of pages in versions with a one-byte count.
    static let version4Pages = 0xA0
    /// The maximum size of the data, in bytes.
    static let maximumSize = 2048

    /// The UID, E0 first.
    var uid: [UInt8] = [0xE0, 0, 0, 0, 0, 0, 0, 0]
    var dsfid: UInt8 = 0
    var isDSFIDLocked = false
    var afi: UInt8 = 0
    var isAFILocked = false
    var blockSize = 4
    /// The number of blocks; nil to derive it from the data.
    private var count: Int?
    var icReference: UInt8 = 0
    /// One byte per block, not 0 when it is locked.
    var locks: [UInt8] = []
    /// All blocks.
    var data: [UInt8] = []
    /// As on the air, low byte first.
    var privacyPassword: [UInt8] = [0, 0, 0, 0]

    var blockCount: Int {
        get { count ?? data.count / blockSize }
        set { count = newValue }
    }

    init() {}

    /// Stores the data that the format has a place for; nil when the memory is too large.
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

    /// Returns the tag. If there is no model of its product, it is a generic one.
    func contents() throws(TagImageError) -> Type5Contents {
        guard (1...32).contains(blockSize), (1...256).contains(blockCount), data.count == blockCount * blockSize else {
            throw TagImageError(
                .inconsistent,
                "\(data.count) bytes are not \(blockCount) blocks of \(blockSize)."
            )
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
        if contents.passwords[0x04] != nil {
            contents.passwords[0x04] = UInt32(privacyPassword.littleEndian(at: 0, count: 4))
        }
        return contents
    }
}
