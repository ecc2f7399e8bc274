// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type2Tag {
    /// Makes the tag permanently read-only (NFC Forum T2T 1.2, 6.5).
    ///
    /// First the capability container's write access is removed, then the static and then the dynamic lock bits are
    /// set, with the bits that lock the lock bits. A tag that is lost in between can still be read.
    ///
    /// - Throws: ``TagError`` with `readOnly` when it is read-only already; `unsupported` when page 3 is locked while
    ///   it grants writing, which can't be changed; `updateFailed`, `tagLost`, `cancelled`, and the errors of
    ///   ``detectNDEF()``.
    public func lock() async throws(TagError) {
        _ = try await locate(startingAt: Type2StaticLock.page)
        guard let container = capabilityContainer, container.isWritable else {
            throw TagError(.readOnly, "The tag is read-only already.")
        }
        // Everything is read before the first bit is set.
        try await fetch(Type2StaticLock.page..<Type2StaticLock.page + 1)
        let fixed = memory[page: Type2StaticLock.page] ?? [0, 0, 0, 0]
        guard !Type2StaticLock.locks(Type2Memory.capabilityContainerPage, in: fixed) else {
            throw TagError(
                .unsupported,
                "The capability container is locked and grants writing, which can't be taken back."
            )
        }
        // Locking is permanent, so one refusal of GET_VERSION is not enough. Without a version the product is guessed
        // by its size, and lock bits at a wrong address lock nothing and overwrite data.
        if target.manufacturer == Type2Product.manufacturer, try await dynamicLock() != nil,
            try await readVersion() == nil, canAskVersion
        {
            version = nil
        }
        var dynamic: [TLVWritePlan.Step] = []
        if let lock = try await dynamicLock() {
            var isThere = try await isReadable(lock)
            if !isThere { isThere = try await isReadable(lock) }
            if isThere { dynamic = lockSteps(lock) }
        }

        let readOnly = container.octets[3] | Type2CapabilityContainer.noWriteAccess
        try await write(container.octets[0..<3] + [readOnly], to: Type2Memory.capabilityContainerPage)
        try await write([fixed[0], fixed[1], 0xFF, 0xFF], to: Type2StaticLock.page)
        for step in dynamic { try await write(step.octets, to: step.unit) }
    }

    /// Returns the pages of the dynamic lock bytes with every bit set. Other bytes in these pages keep their content.
    /// Where a product has a separate page for the lock bytes, its other bytes are reserved and are written as 0.
    private func lockSteps(_ lock: Type2DynamicLock) -> [TLVWritePlan.Step] {
        let isOwnPage = target.manufacturer == Type2Product.manufacturer && lock.address % Type2Memory.pageSize == 0
        return lock.pages.map { page in
            let octets = (0..<Type2Memory.pageSize).map { index -> UInt8 in
                let address = page * Type2Memory.pageSize + index
                let present = memory[octet: address] ?? 0
                guard lock.mask.indices.contains(address - lock.address) else { return isOwnPage ? 0 : present }
                return present | lock.mask[address - lock.address]
            }
            return TLVWritePlan.Step(unit: page, octets: octets)
        }
    }
}

/// The restrictions on writing pages from 16 on: the dynamic lock bits (NFC Forum T2T 1.2, 4.2), and on products with a
/// password the first page that needs it (NTAG213/215/216 data sheet, 8.8).
struct Type2DynamicLock: Equatable {
    /// One lock bit, and the pages that it makes read-only.
    struct Bit: Equatable {
        /// The byte, counted from the first lock byte.
        var octet: Int
        var mask: UInt8
        var pages: Range<Int>
    }

    /// The address of the first lock byte.
    let address: Int
    /// The bits that lock pages.
    let bits: [Bit]
    /// The bits to set in the bytes from `address` on to lock everything permanently, including the lock bits
    /// themselves.
    let mask: [UInt8]
    /// The page whose last byte, AUTH0, is the number of the first protected page; nil for products without a password.
    var protectionPage: Int?

    /// The first page that dynamic lock bits apply to.
    static let firstPage = 16

    /// NTAG21x and related products: consecutive bits, each for the same number of pages. The third byte locks the lock
    /// bits.
    static func even(
        page: Int,
        pagesPerBit: Int,
        endPage: Int,
        blockLocks: UInt8,
        hasPassword: Bool = true
    ) -> Type2DynamicLock {
        let count = (endPage - firstPage + pagesPerBit - 1) / pagesPerBit
        let bits = (0..<count).map { index in
            let start = firstPage + index * pagesPerBit
            return Bit(octet: index / 8, mask: 1 << (index % 8), pages: start..<min(start + pagesPerBit, endPage))
        }
        return Type2DynamicLock(
            address: page * Type2Memory.pageSize,
            bits: bits,
            mask: Self.mask(of: bits, size: 2) + [blockLocks],
            protectionPage: hasPassword ? page + 1 : nil
        )
    }

    /// Ultralight C and NTAG203: two groups of three bits for four pages each. The first bit of a group locks the
    /// group. The second byte is for the counter and the keys, which don't matter for NDEF.
    static let grouped: Type2DynamicLock = {
        let places: [(bit: Int, page: Int)] = [(1, 16), (2, 20), (3, 24), (5, 28), (6, 32), (7, 36)]
        let bits = places.map { Bit(octet: 0, mask: 1 << $0.bit, pages: $0.page..<$0.page + 4) }
        return Type2DynamicLock(address: 0x28 * Type2Memory.pageSize, bits: bits, mask: [0xFF])
    }()

    /// Creates the lock bits that a lock control TLV describes (NFC Forum T2T 1.2, 4.3).
    init(_ control: TLVControl) {
        self.init(address: control.address, count: control.count, octetsPerBit: control.octetsPerLockBit)
    }

    /// Creates the default lock bits: after the data area, one bit for 8 bytes (NFC Forum T2T 1.2, 4.2). Nil for an
    /// area that the static lock bits cover.
    init?(behind area: Range<Int>) {
        guard area.count > 48 else { return nil }
        self.init(address: area.upperBound, count: (area.count - 48 + 7) / 8, octetsPerBit: 8)
    }

    private init(address: Int, count: Int, octetsPerBit: Int) {
        let bits = (0..<count).map { index in
            let start = Self.firstPage * Type2Memory.pageSize + index * octetsPerBit
            let end = (start + octetsPerBit + Type2Memory.pageSize - 1) / Type2Memory.pageSize
            return Bit(octet: index / 8, mask: 1 << (index % 8), pages: start / Type2Memory.pageSize..<end)
        }
        self.init(address: address, bits: bits, mask: Self.mask(of: bits, size: (count + 7) / 8))
    }

    private init(address: Int, bits: [Bit], mask: [UInt8], protectionPage: Int? = nil) {
        self.address = address
        self.bits = bits
        self.mask = mask
        self.protectionPage = protectionPage
    }

    private static func mask(of bits: [Bit], size: Int) -> [UInt8] {
        bits.reduce(into: [UInt8](repeating: 0, count: size)) { $0[$1.octet] |= $1.mask }
    }

    /// The pages that contain the lock bytes.
    var pages: Range<Int> {
        address / Type2Memory.pageSize..<(address + mask.count - 1) / Type2Memory.pageSize + 1
    }

    /// The pages to read before a write.
    var pagesToCheck: Range<Int> {
        pages.lowerBound..<max(pages.upperBound, (protectionPage ?? 0) + 1)
    }

    /// Returns whether nothing is locked or protected up to a page.
    func isOpen(through page: Int, in memory: Type2Memory) -> Bool {
        mask.indices.allSatisfy { mask[$0] & (memory[octet: address + $0] ?? 0) == 0 }
            && !isProtected(page, in: memory)
    }

    /// Returns whether a page can't be written any more.
    func locks(_ page: Int, in memory: Type2Memory) -> Bool {
        bits.contains { $0.pages.contains(page) && (memory[octet: address + $0.octet] ?? 0) & $0.mask != 0 }
    }

    /// Returns whether writing a page needs the password. FF turns the protection off. With 0 the tag refuses the very
    /// first write, so no check is needed before.
    func isProtected(_ page: Int, in memory: Type2Memory) -> Bool {
        guard let start = protectionPage.flatMap({ memory[page: $0]?.last }), start != 0xFF, start != 0 else {
            return false
        }
        return page >= Int(start)
    }
}

/// The lock bits for pages 3 to 15, in page 2 (NFC Forum T2T 1.2, 4.2).
enum Type2StaticLock {
    static let page = 2

    /// Returns whether a page can't be written any more, by the four bytes of page 2.
    static func locks(_ page: Int, in octets: [UInt8]) -> Bool {
        guard octets.count == 4 else { return false }
        return switch page {
        case 3...7: octets[2] >> page & 1 != 0
        case 8...15: octets[3] >> (page - 8) & 1 != 0
        default: false
        }
    }
}
