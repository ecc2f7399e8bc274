// SPDX-License-Identifier: Apache-2.0

extension Type2Tag {
    /// Makes the tag permanently read-only (NFC Forum T2T 1.2, 6.5).
    ///
    /// First the capability container's write access is removed, then the static and then the dynamic lock bits are
    /// set, with the bits that lock the lock bits. A tag that is lost in between can still be read.
    ///
    /// - Throws: ``TagError`` with `readOnly` when it is read-only already; `unsupported` when page 3 is locked while
    ///   it grants writing, or the lock bit of a page was frozen, which can't be changed; `keyNeeded` when a password
    ///   protects a page with these bits. Then nothing has changed. `updateFailed`, `tagLost`, `cancelled`, and the errors of
    ///   ``detectNDEF()``.
    public func lock() async throws(TagError) {
        for step in try await lockSteps() { try await write(step.bytes, to: step.unit) }
    }

    /// Reads the bits that ``lock()`` will set, and checks that nothing keeps it from setting them.
    ///
    /// - Throws: ``TagError`` with `readOnly`, `unsupported` and `keyNeeded` as ``lock()`` does, `tagLost`, `cancelled`, and
    ///   the errors of ``detectNDEF()``, except the one for a broken length.
    public func checkLocking() async throws(TagError) {
        // Later procedures start as if nothing was read, and take the same time.
        defer { forgetMemory() }
        _ = try await lockSteps(isForWriting: true)
    }

    /// Reads and checks everything before the first bit is set.
    ///
    /// - Parameter isForWriting: whether a message with a broken length is no error, since it will be replaced.
    /// - Returns: the writes, in order.
    private func lockSteps(isForWriting: Bool = false) async throws(TagError) -> [TLVWritePlan.Step] {
        let containerPage = Type2Memory.capabilityContainerPage
        _ = try await locate(startingAt: Type2StaticLock.page, isForWriting: isForWriting)
        guard let container = capabilityContainer, container.isWritable else {
            throw TagError(.readOnly, "The tag is read-only already.")
        }
        try await fetch(Type2StaticLock.page..<Type2StaticLock.page + 1)
        let fixed = memory[page: Type2StaticLock.page] ?? [0, 0, 0, 0]
        guard !Type2StaticLock.locks(containerPage, in: fixed) else {
            throw TagError(
                .unsupported,
                "The capability container is locked and grants writing, which can't be taken back."
            )
        }
        let staticEnd = min(container.endPage, Type2DynamicLock.firstPage)
        if let page = (containerPage..<max(containerPage, staticEnd)).first(where: {
            Type2StaticLock.isFrozen($0, in: fixed)
        }) {
            throw Self.frozen(page)
        }

        let readOnly = container.bytes[3] | Type2CapabilityContainer.noWriteAccess
        var steps = [
            TLVWritePlan.Step(unit: containerPage, bytes: container.bytes[0..<3] + [readOnly]),
            TLVWritePlan.Step(unit: Type2StaticLock.page, bytes: [fixed[0], fixed[1], 0xFF, 0xFF]),
        ]
        if let lock = try await certainDynamicLock() {
            var isThere = try await isReadable(lock)
            if !isThere { isThere = try await isReadable(lock) }
            if isThere {
                if let page = lock.frozenPage(before: container.endPage, in: memory) { throw Self.frozen(page) }
                steps += dynamicLockSteps(lock)
            } else if lock.protectionPage != nil {
                throw Self.keyNeeded(lock.pages.lowerBound)
            }
            if let step = steps.first(where: { isProtected($0.unit, by: lock) }) {
                throw Self.keyNeeded(step.unit)
            }
        }
        return steps
    }

    /// Returns the position of the dynamic lock bits and AUTH0.
    ///
    /// Locking is permanent, so one refusal of GET_VERSION is not enough. Without a version the product is guessed by its
    /// size, and lock bits at a wrong address lock nothing and overwrite data.
    private func certainDynamicLock() async throws(TagError) -> Type2DynamicLock? {
        // What the lock bits' page and the page after the data hold is needed to tell products without a version apart.
        if target.isNXP, let place = suggestedDynamicLock() { _ = try await isReadable(place) }
        let lock = try await dynamicLock()
        guard target.isNXP, lock != nil, try await readVersion() == nil, canAskVersion else { return lock }
        version = nil
        return try await dynamicLock()
    }

    private static func frozen(_ page: Int) -> TagError {
        TagError(
            .unsupported,
            """
            Page \(page) can't be locked any more: its lock bit was frozen before it was set (NFC Forum T2T 1.2, 4.2). So the \
            tag can't be made read-only.
            """
        )
    }

    private static func keyNeeded(_ page: Int) -> TagError {
        TagError(
            .keyNeeded,
            """
            The password is needed to make this tag read-only: it protects page \(page) (NTAG213/215/216 data sheet, 8.8).
            """
        )
    }

    /// Returns the pages of the dynamic lock bytes with every bit set. Other bytes in these pages keep their content.
    /// Where a product has a separate page for the lock bytes, its other bytes are reserved and are written as 0.
    private func dynamicLockSteps(_ lock: Type2DynamicLock) -> [TLVWritePlan.Step] {
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
