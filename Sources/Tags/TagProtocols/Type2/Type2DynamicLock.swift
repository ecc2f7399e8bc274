// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProducts

/// The restrictions on writing pages from 16 on: the dynamic lock bits (NFC Forum T2T 1.2, 4.2), and on products with a
/// password the first page that needs it (NTAG213/215/216 data sheet, 8.8).
struct Type2DynamicLock: Equatable {
    /// One lock bit, and the pages that it makes read-only.
    struct Bit: Equatable {
        /// The bit's number, counted from the least significant bit of the first lock byte.
        var number: Int
        var pages: Range<Int>
        /// The block-lock bit that freezes it; nil when none is known.
        var frozenBy: Int?
    }

    /// The address of the first lock byte.
    let address: Int
    let bits: [Bit]
    /// The bits to set in the bytes from `address` on to lock everything permanently, including the lock bits
    /// themselves.
    let mask: [UInt8]
    /// The page with AUTH0, the number of the first protected page; nil for products without a password.
    var protectionPage: Int?
    /// The index of AUTH0 in its page.
    var protectionByte = 3

    /// The first page that dynamic lock bits apply to.
    static let firstPage = 16

    /// Creates the lock bits for the data of a product, and the page with its AUTH0. A product without dynamic lock bits
    /// has AUTH0 right after its data.
    ///
    /// A reader can't always distinguish NTAG203, which has no AUTH0, from Ultralight C, which has it in the first byte of
    /// page 42 (MF0ICU2 data sheet). It looks for it in both.
    init(_ product: Type2Product) {
        let locks = product.dynamicLock?.locks.filter { $0.pages.upperBound <= product.userPages.upperBound } ?? []
        let isLikeUltralightC = product.features.contains(.pageCounter)
        self.init(
            address: product.endPage * Type2Tag.pageSize,
            bits: locks.map { Bit(number: $0.bit, pages: Range($0.pages), frozenBy: $0.frozenBy) },
            protectionPage: isLikeUltralightC ? 42 : product.configurationPage
        )
        if isLikeUltralightC { protectionByte = 0 }
    }

    /// Creates the lock bits that a lock control TLV describes (NFC Forum T2T 1.2, 4.3).
    init(_ control: TLVControl) {
        self.init(address: control.address, count: control.count, bytesPerBit: control.bytesPerLockBit)
    }

    /// Creates the default lock bits: after the data area, one bit for 8 bytes (NFC Forum T2T 1.2, 4.2). Nil for an
    /// area that the static lock bits cover.
    init?(behind area: Range<Int>) {
        guard area.count > 48 else { return nil }
        self.init(address: area.upperBound, count: (area.count - 48 + 7) / 8, bytesPerBit: 8)
    }

    private init(address: Int, count: Int, bytesPerBit: Int) {
        let bits = (0..<count).map { index in
            let start = Self.firstPage * Type2Tag.pageSize + index * bytesPerBit
            let end = (start + bytesPerBit + Type2Tag.pageSize - 1) / Type2Tag.pageSize
            return Bit(number: index, pages: start / Type2Tag.pageSize..<end)
        }
        self.init(address: address, bits: bits)
    }

    private init(address: Int, bits: [Bit], protectionPage: Int? = nil) {
        let numbers = bits.flatMap { [$0.number, $0.frozenBy ?? $0.number] }
        var mask = [UInt8](repeating: 0, count: numbers.map { $0 / 8 + 1 }.max() ?? 0)
        for number in numbers { mask[number / 8] |= 1 << (number % 8) }
        self.address = address
        self.bits = bits
        self.mask = mask
        self.protectionPage = protectionPage
    }

    /// The pages that contain the lock bytes.
    var pages: Range<Int> { address / Type2Tag.pageSize..<(address + mask.count - 1) / Type2Tag.pageSize + 1 }

    /// The pages to read before a write.
    var pagesToCheck: Range<Int> { pages.lowerBound..<max(pages.upperBound, (protectionPage ?? 0) + 1) }

    /// Returns whether nothing is locked or protected up to a page.
    func isOpen(through page: Int, in memory: TagMemory) -> Bool {
        mask.indices.allSatisfy { mask[$0] & (memory[byte: address + $0] ?? 0) == 0 }
            && !isProtected(page, in: memory)
    }

    private func isSet(_ number: Int, in memory: TagMemory) -> Bool {
        [memory[byte: address + number / 8] ?? 0].hasBit(number % 8)
    }

    /// Returns whether a page can't be written any more.
    func locks(_ page: Int, in memory: TagMemory) -> Bool {
        bits.contains { $0.pages.contains(page) && isSet($0.number, in: memory) }
    }

    /// Returns a page of a data area whose lock bit is not set and can't be set any more; nil when there is none.
    func frozenPage(before end: Int, in memory: TagMemory) -> Int? {
        bits.first { bit in
            let isFrozen = bit.frozenBy.map { isSet($0, in: memory) } ?? false
            return isFrozen && bit.pages.lowerBound < end && !locks(bit.pages.lowerBound, in: memory)
        }?.pages.lowerBound
    }

    /// Returns whether writing a page needs the password. FF turns the protection off. With 0 the tag refuses the very
    /// first write, so no check is needed before.
    func isProtected(_ page: Int, in memory: TagMemory) -> Bool {
        guard let start = protectionPage.flatMap({ memory[unit: $0] })?[protectionByte], start != 0xFF, start != 0
        else { return false }
        return page >= Int(start)
    }
}

extension Type2Product {
    /// Its dynamic lock bits and its AUTH0; nil when it has neither.
    var writeRestrictions: Type2DynamicLock? {
        dynamicLock == nil && !features.contains(.password) ? nil : Type2DynamicLock(self)
    }

    /// The page after the last one for data.
    var endPage: Int { userPages.upperBound + 1 }
}
