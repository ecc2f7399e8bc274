// SPDX-License-Identifier: Apache-2.0

/// What has been read of a Type 2 tag's memory, page by page.
///
/// Pages are counted through all sectors: page 256 is page 0 of sector 1. An octet's address is four times its page
/// plus its place in it.
struct Type2Memory: TLVSource {
    static let pageSize = 4
    /// Two sectors, the most that an area of 255 times 8 octets can reach.
    static let maximumPageCount = 1024
    /// The page of the capability container (NFC Forum T2T 1.2, 4.1).
    static let capabilityContainerPage = 3
    /// The octet at which the data area starts.
    static let dataAreaStart = 16

    /// The octets from address 0 on; those of unknown pages are 0.
    private var octets: [UInt8] = []
    /// Which pages have been read.
    private var isKnown: [Bool] = []

    /// Whether a page has been read.
    func contains(_ page: Int) -> Bool {
        page < isKnown.count && isKnown[page]
    }

    /// The four octets of a page, or nil when it has not been read.
    subscript(page page: Int) -> [UInt8]? {
        contains(page) ? Array(octets[page * Self.pageSize..<(page + 1) * Self.pageSize]) : nil
    }

    /// The four octets of a page, for a write plan.
    func unit(_ unit: Int) -> [UInt8]? { self[page: unit] }

    /// The octet at an address, or nil when its page has not been read.
    subscript(octet address: Int) -> UInt8? {
        contains(address / Self.pageSize) ? octets[address] : nil
    }

    /// Remembers whole pages.
    mutating func store(_ content: some RandomAccessCollection<UInt8>, at page: Int) {
        let count = min(content.count / Self.pageSize, Self.maximumPageCount - page)
        guard count > 0 else { return }
        let missing = page + count - isKnown.count
        if missing > 0 {
            isKnown += repeatElement(false, count: missing)
            octets += repeatElement(0, count: missing * Self.pageSize)
        }
        octets.replaceSubrange(
            page * Self.pageSize..<(page + count) * Self.pageSize,
            with: content.prefix(count * Self.pageSize)
        )
        for index in page..<page + count { isKnown[index] = true }
    }

    /// Forgets a page whose content is uncertain.
    mutating func forget(_ page: Int) {
        if page < isKnown.count { isKnown[page] = false }
    }

    /// The first pages of a range that have not been read, up to the next one that has or the end of the sector.
    func firstUnknownRun(in range: Range<Int>) -> Range<Int>? {
        guard let start = range.first(where: { !contains($0) }) else { return nil }
        let limit = min(range.upperBound, (start / 256 + 1) * 256)
        let end = (start..<limit).first(where: { contains($0) }) ?? limit
        return start..<end
    }
}
