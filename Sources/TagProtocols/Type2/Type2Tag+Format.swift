// SPDX-License-Identifier: Apache-2.0

extension Type2Tag {
    /// Formats a blank tag of a product that is known: an empty message, then the capability container.
    ///
    /// A tag that is formatted already stays as it is. The capability container comes last, so that a tag that is lost
    /// on the way is blank still, or formatted.
    ///
    /// - Throws: ``TagError`` with `unsupported` when the product isn't known or its one-time programmable page 3 holds
    ///   something else; `readOnly` when the pages are locked; `updateFailed`, `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        do throws(TagError) {
            _ = try await locate()
            return
        } catch {
            guard error.code == .noCapabilityContainer || error.code == .noMessageTLV else { throw error }
        }
        guard let product = try await product() else {
            throw TagError(.unsupported, "The tag's product isn't known, so neither is how to format it.")
        }
        let page = Type2Memory.capabilityContainerPage
        try await fetch(page..<page + 1)
        let present = memory[page: page] ?? []
        let container = [Type2CapabilityContainer.magicNumber, 0x10, product.sizeOctet, 0x00]
        let isFormatted = capabilityContainer != nil
        guard isFormatted || zip(present, container).allSatisfy({ $0 | $1 == $1 }) else {
            throw TagError(
                .unsupported,
                "Page 3 of the tag can be programmed only once, and holds something other than a capability container."
            )
        }
        let first = page + 1
        let count = product.factoryTLVs.count / Type2Memory.pageSize
        try await checkLocks(Array(isFormatted ? first..<first + count : page..<first + count))
        for index in 0..<count {
            let start = index * Type2Memory.pageSize
            try await write(Array(product.factoryTLVs[start..<start + Type2Memory.pageSize]), to: first + index)
        }
        if !isFormatted { try await write(container, to: page) }
    }
}
