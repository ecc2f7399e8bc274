// SPDX-License-Identifier: Apache-2.0

extension Type2Tag {
    /// Makes the tag read-only, for ever (NFC Forum T2T 1.2, 6.5).
    ///
    /// The capability container's write access goes first, then the static lock bits, then the dynamic ones, each with
    /// the bits that lock the lock bits. A tag that is lost on the way can be read as before.
    ///
    /// - Throws: ``TagError`` with `readOnly` when it is already; `unsupported` when page 3 is locked and says that
    ///   writing is free, which nothing can change; `updateFailed`, `tagLost`, `cancelled`, and as ``detectNDEF()`` does.
    public func lock() async throws(TagError) {
        _ = try await locate(startingAt: Type2StaticLock.page)
        guard let container = capabilityContainer, container.isWritable else {
            throw TagError(.readOnly, "The tag is read-only already.")
        }
        // Everything that has to be read is read before the first bit is set.
        try await fetch(Type2StaticLock.page..<Type2StaticLock.page + 1)
        let fixed = memory[page: Type2StaticLock.page] ?? [0, 0, 0, 0]
        guard !Type2StaticLock.locks(Type2Memory.capabilityContainerPage, in: fixed) else {
            throw TagError(
                .unsupported,
                "The capability container is locked and grants writing, which can't be taken back."
            )
        }
        var dynamic: [TLVWritePlan.Step] = []
        if let lock = try await dynamicLock(), try await isReadable(lock) {
            dynamic = lockSteps(lock)
        }

        let readOnly = container.octets[3] | Type2CapabilityContainer.noWriteAccess
        try await write(container.octets[0..<3] + [readOnly], to: Type2Memory.capabilityContainerPage)
        try await write([fixed[0], fixed[1], 0xFF, 0xFF], to: Type2StaticLock.page)
        for step in dynamic { try await write(step.octets, to: step.unit) }
    }

    /// The pages of the dynamic lock octets with every bit set. Octets beside them are written as they are, but where a
    /// product has a page of its own for them the rest is reserved and is written as 0.
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
