// SPDX-License-Identifier: Apache-2.0

extension Type2Contents {
    /// The pages that lock bits make read-only, static and dynamic ones, from 3 on. Pages of the second sector count from
    /// 256.
    public var lockedPages: [Int] {
        let memory = Type2Silicon(self).contents.memory
        let fields = [LockField.statically] + (product.dynamicLock.map { [$0] } ?? [])
        let bits = fields.map { $0.bits(in: memory) }
        return (3..<product.pageCount).filter { page in
            zip(fields, bits).contains { $0.locks(page, bits: $1) }
        }
    }

    /// The first page that needs the password, or nil when none does.
    public var firstProtectedPage: Int? {
        let start = Type2Silicon(self).latched.protectionStart
        return start < product.pageCount ? start : nil
    }

    /// The counters that the product has, by the number with which they are read: all three, the third, or none.
    public var countersOfProduct: [Int] {
        if product.features.contains(.counters) { return [0, 1, 2] }
        return product.features.contains(.readingCounter) ? [2] : []
    }
}

extension Type2Product {
    /// Whether the product has READ_SIG.
    package var hasSignature: Bool { features.contains(.signature) }

    /// How many pages a reader without keys can read: not the key of Ultralight C.
    package var readablePageCount: Int { features.contains(.tripleDES) ? 44 : pageCount }

    /// The page with the dynamic lock octets, or nil.
    public var dynamicLockPage: Int? { dynamicLock?.page }

    /// The first of the configuration pages, with the password among them, or nil.
    public var firstConfigurationPage: Int? { configurationPage ?? (features.contains(.tripleDES) ? 42 : nil) }
}
