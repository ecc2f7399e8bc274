// SPDX-License-Identifier: Apache-2.0

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
        if target.isNXP, try await dynamicLock() != nil,
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

        let readOnly = container.bytes[3] | Type2CapabilityContainer.noWriteAccess
        try await write(container.bytes[0..<3] + [readOnly], to: Type2Memory.capabilityContainerPage)
        try await write([fixed[0], fixed[1], 0xFF, 0xFF], to: Type2StaticLock.page)
        for step in dynamic { try await write(step.bytes, to: step.unit) }
    }

    /// Returns the pages of the dynamic lock bytes with every bit set. Other bytes in these pages keep their content.
    /// Where a product has a separate page for the lock bytes, its other bytes are reserved and are written as 0.
    private func lockSteps(_ lock: Type2DynamicLock) -> [TLVWritePlan.Step] {
        let isOwnPage = target.isNXP && lock.address % Type2Memory.pageSize == 0
        return lock.pages.map { page in
            let bytes = (0..<Type2Memory.pageSize).map { index -> UInt8 in
                let address = page * Type2Memory.pageSize + index
                let present = memory[byte: address] ?? 0
                guard lock.mask.indices.contains(address - lock.address) else { return isOwnPage ? 0 : present }
                return present | lock.mask[address - lock.address]
            }
            return TLVWritePlan.Step(unit: page, bytes: bytes)
        }
    }
}
