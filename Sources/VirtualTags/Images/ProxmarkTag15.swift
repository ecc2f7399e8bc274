// SPDX-License-Identifier: Apache-2.0

/// What the Proxmark3 client keeps of an ISO 15693 tag, in JSON and in binary files alike.
struct ProxmarkTag15 {
    /// The most pages of versions that count them in one octet.
    static let version4Pages = 0xA0
    /// The most octets of data.
    static let maximumSize = 2048

    /// The UID, E0 first.
    var uid: [UInt8] = [0xE0, 0, 0, 0, 0, 0, 0, 0]
    var dsfid: UInt8 = 0
    var isDSFIDLocked = false
    var afi: UInt8 = 0
    var isAFILocked = false
    var blockSize = 4
    /// How many blocks there are; nil when the data say it.
    private var count: Int?
    var icReference: UInt8 = 0
    /// An octet a block, not 0 when it is locked.
    var locks: [UInt8] = []
    /// All blocks.
    var data: [UInt8] = []
    /// As on the air, low octet first.
    var privacyPassword: [UInt8] = [0, 0, 0, 0]

    var blockCount: Int {
        get { count ?? data.count / blockSize }
        set { count = newValue }
    }

    init() {}

    /// Takes over what the format has a place for, or nil when the memory is too large.
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
        data = contents.memory
        if product.features.contains(.counter) { data += [UInt8](littleEndian: Int(contents.counter), count: 4) }
        privacyPassword = [UInt8](littleEndian: Int(contents.passwords[0x04] ?? 0), count: 4)
    }

    /// The tag; one of a product that there is no model of is a generic one.
    func contents() throws(TagImageError) -> Type5Contents {
        guard (1...32).contains(blockSize), (1...256).contains(blockCount), data.count == blockCount * blockSize else {
            throw TagImageError(
                .inconsistent,
                "\(data.count) octets are not \(blockCount) blocks of \(blockSize)."
            )
        }
        let product =
            Type5Product(uid: uid, blockCount: blockCount, blockSize: blockSize)
            ?? .generic(blockCount: blockCount, blockSize: blockSize, icReference: icReference)
        var contents = Type5Contents(blank: product, uid: uid)
        contents.memory = Array(data.prefix(contents.memory.count))
        if product.features.contains(.counter) {
            contents.counter = UInt16(data.littleEndian(at: data.count - 4, count: 2))
        }
        contents.dsfid = dsfid
        contents.isDSFIDLocked = isDSFIDLocked
        contents.afi = afi
        contents.isAFILocked = isAFILocked
        contents.lockedBlocks = Set(zip(0..., locks).filter { $0.1 != 0 }.map { $0.0 })
        if contents.passwords[0x04] != nil {
            contents.passwords[0x04] = UInt32(privacyPassword.littleEndian(at: 0, count: 4))
        }
        return contents
    }
}
