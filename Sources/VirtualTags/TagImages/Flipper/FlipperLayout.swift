// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// The positions of a Flipper file's pages in a tag's memory.
///
/// Files number the pages without gaps. Those of NTAG I2C leave out the gap after the lock page. Then follow the two
/// configuration pages and the two session registers, which are not memory.
struct FlipperLayout: Sendable {
    /// The number of memory pages for the file, including gaps.
    let memoryPages: Int
    private let gap: Range<Int>?

    /// Creates the layout of a file; nil when it has more pages than the product.
    init?(_ product: Type2Product, pages: Int) {
        let all = Self.pages(of: product)
        guard pages <= all else { return nil }
        if product.features.contains(.sectors), let lock = product.dynamicLock, pages > lock.page + 1 {
            gap = (lock.page + 1)..<(product.pageCount - 2)
            memoryPages = product.pageCount
        } else {
            gap = nil
            memoryPages = pages
        }
    }

    /// Returns the memory page for one of the file's pages; nil for a session register.
    func memoryPage(_ index: Int) -> Int? {
        guard let gap, index >= gap.lowerBound else { return index }
        let page = index + gap.count
        return page < memoryPages ? page : nil
    }

    /// Returns the number of pages in a file of a product.
    static func pages(of product: Type2Product) -> Int {
        guard product.features.contains(.sectors), let lock = product.dynamicLock else { return product.pageCount }
        return lock.page + 1 + 4
    }

    /// The names in files. The first name of each product is used for writing.
    static let products: [(name: String, product: Type2Product)] = Type2Product.all.flatMap { product in
        product.flipperNames.map { ($0, product) }
    }
}
