// SPDX-License-Identifier: Apache-2.0

/// How the pages of a Flipper NFC file lie in a tag's memory.
///
/// Files number pages through. Those of NTAG I2C leave out the gap behind the lock page and go on with the two
/// configuration pages, then with the two session registers, which are no memory.
struct FlipperLayout: Sendable {
    /// How many pages of memory the file has, gaps included.
    let memoryPages: Int
    private let filePages: Int
    private let gap: Range<Int>?

    /// Creates the layout of a file, or nil when it has more pages than the product.
    init?(_ product: Type2Product, pages: Int) {
        let all = Self.pages(of: product)
        guard pages <= all else { return nil }
        filePages = pages
        if product.features.contains(.sectors), let lock = product.dynamicLock, pages > lock.page + 1 {
            gap = (lock.page + 1)..<(product.pageCount - 2)
            memoryPages = product.pageCount
        } else {
            gap = nil
            memoryPages = pages
        }
    }

    /// The page of the memory for a page of the file; nil for a session register.
    func memoryPage(_ index: Int) -> Int? {
        guard index < filePages else { return nil }
        guard let gap, index >= gap.lowerBound else { return index }
        let page = index + gap.count
        return page < memoryPages ? page : nil
    }

    /// How many pages a file of a product has.
    static func pages(of product: Type2Product) -> Int {
        guard product.features.contains(.sectors), let lock = product.dynamicLock else { return product.pageCount }
        return lock.page + 1 + 4
    }

    /// The names that files use; the first one for a product is the one to write.
    static let products: [(name: String, product: Type2Product)] = [
        ("Mifare Ultralight", .ultralight),
        ("Mifare Ultralight C", .ultralightC),
        ("Mifare Ultralight 11", .ultralightEV1UL11),
        ("Mifare Ultralight 21", .ultralightEV1UL21),
        ("Mifare Ultralight EV1 11", .ultralightEV1UL11),
        ("Mifare Ultralight EV1 21", .ultralightEV1UL21),
        ("NTAG203", .ntag203),
        ("NTAG210", .ntag210),
        ("NTAG212", .ntag212),
        ("NTAG213", .ntag213),
        ("NTAG215", .ntag215),
        ("NTAG216", .ntag216),
        ("NTAG I2C 1K", .ntagI2C1K),
        ("NTAG I2C 2K", .ntagI2C2K),
    ]
}
