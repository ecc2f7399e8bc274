// SPDX-License-Identifier: Apache-2.0

/// What has been read of a Type 2 tag's memory, page by page.
///
/// Pages are counted through all sectors: page 256 is page 0 of sector 1. An octet's address is four times its page
/// plus its place in it.
struct Type2Memory {
    static let pageSize = 4
    /// Two sectors, the most that an area of 255 times 8 octets can reach.
    static let maximumPageCount = 1024
    /// The page of the capability container (NFC Forum T2T 1.2, 4.1).
    static let capabilityContainerPage = 3
    /// The octet at which the data area starts.
    static let dataAreaStart = 16

    private var pages: [[UInt8]?] = []

    /// Whether a page has been read.
    func contains(_ page: Int) -> Bool {
        page < pages.count && pages[page] != nil
    }

    /// The four octets of a page, or nil when it has not been read.
    subscript(page page: Int) -> [UInt8]? {
        page < pages.count ? pages[page] : nil
    }

    /// The octet at an address, or nil when its page has not been read.
    subscript(octet address: Int) -> UInt8? {
        self[page: address / Self.pageSize]?[address % Self.pageSize]
    }

    /// Remembers whole pages.
    mutating func store(_ octets: some RandomAccessCollection<UInt8>, at page: Int) {
        let octets = Array(octets)
        for index in 0..<(octets.count / Self.pageSize) where page + index < Self.maximumPageCount {
            while pages.count <= page + index { pages.append(nil) }
            pages[page + index] = Array(octets[index * Self.pageSize..<(index + 1) * Self.pageSize])
        }
    }

    /// Forgets a page whose content is uncertain.
    mutating func forget(_ page: Int) {
        if page < pages.count { pages[page] = nil }
    }

    /// The first pages of a range that have not been read, up to the next one that has or the end of the sector.
    func firstUnknownRun(in range: Range<Int>) -> Range<Int>? {
        guard let start = range.first(where: { !contains($0) }) else { return nil }
        let limit = min(range.upperBound, (start / 256 + 1) * 256)
        let end = (start..<limit).first(where: { contains($0) }) ?? limit
        return start..<end
    }
}
