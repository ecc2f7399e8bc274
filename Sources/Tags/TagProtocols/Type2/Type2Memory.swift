// SPDX-License-Identifier: Apache-2.0

/// The cached memory of a Type 2 tag, page by page.
///
/// Pages are counted across all sectors: page 256 is page 0 of sector 1. A byte's address is four times its page, plus
/// its index in the page.
struct Type2Memory: TLVSource {
    static let pageSize = 4
    /// Two sectors: an area of 255 times 8 bytes reaches no further.
    static let maximumPageCount = 1024
    /// The page of the capability container (NFC Forum T2T 1.2, 4.1).
    static let capabilityContainerPage = 3
    /// The address of the data area's first byte.
    static let dataAreaStart = 16

    /// The bytes from address 0 on. The bytes of pages that were not read are 0.
    private var bytes: [UInt8] = []
    /// Whether each page was read.
    private var isKnown: [Bool] = []

    /// Returns whether a page was read.
    func contains(_ page: Int) -> Bool {
        page < isKnown.count && isKnown[page]
    }

    /// Returns whether a page or one behind it was read.
    func reaches(_ page: Int) -> Bool {
        isKnown.dropFirst(page).contains(true)
    }

    /// The four bytes of a page; nil when it was not read.
    subscript(page page: Int) -> [UInt8]? {
        contains(page) ? Array(bytes[page * Self.pageSize..<(page + 1) * Self.pageSize]) : nil
    }

    /// Returns the four bytes of a page, for a write plan.
    func unit(_ unit: Int) -> [UInt8]? { self[page: unit] }

    /// The byte at an address; nil when its page was not read.
    subscript(byte address: Int) -> UInt8? {
        contains(address / Self.pageSize) ? bytes[address] : nil
    }

    /// Stores whole pages.
    mutating func store(_ content: some RandomAccessCollection<UInt8>, at page: Int) {
        let count = min(content.count / Self.pageSize, Self.maximumPageCount - page)
        guard count > 0 else { return }
        let missing = page + count - isKnown.count
        if missing > 0 {
            isKnown += repeatElement(false, count: missing)
            bytes += repeatElement(0, count: missing * Self.pageSize)
        }
        bytes.replaceSubrange(
            page * Self.pageSize..<(page + count) * Self.pageSize,
            with: content.prefix(count * Self.pageSize)
        )
        for index in page..<page + count { isKnown[index] = true }
    }

    /// Forgets a page whose content is uncertain.
    mutating func forget(_ page: Int) {
        if page < isKnown.count { isKnown[page] = false }
    }

    /// Returns the first run of pages that were not read, up to the next one that was, or to the end of the sector.
    func firstUnknownRun(in range: Range<Int>) -> Range<Int>? {
        guard let start = range.first(where: { !contains($0) }) else { return nil }
        let limit = min(range.upperBound, (start / 256 + 1) * 256)
        let end = (start..<limit).first(where: { contains($0) }) ?? limit
        return start..<end
    }
}
