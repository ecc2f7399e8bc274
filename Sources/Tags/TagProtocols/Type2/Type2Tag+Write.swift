// SPDX-License-Identifier: Apache-2.0

extension Type2Tag {
    /// Writes an NDEF message. A tag that is lost in between holds the old message, no message, or the new one (NFC
    /// Forum T2T 1.2, 6.4).
    ///
    /// Access, capacity, the lock bits of every page to write and the password are checked before the first write, and so
    /// is whether the tag is as large as its capability container says.
    ///
    /// - Parameter message: the message's bytes; none to empty the tag.
    /// - Throws: ``TagError`` with `readOnly` when the capability container, a lock bit or a password forbids it and
    ///   `messageTooLong`, both before anything is written; `updateFailed` when the tag refused a write; `tagLost`,
    ///   `cancelled`, and the errors of ``detectNDEF()``.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let layout = try await locate(startingAt: Type2StaticLock.page, isForWriting: true)
        guard let container = capabilityContainer, container.isWritable else { throw Self.forbiddenByContainer }
        try layout.checkCapacity(for: message)
        let plan = TLVWritePlan(message, layout: layout, unitSize: Type2Memory.pageSize)
        for page in plan.unitsToPreserve { try await fetch(page..<page + 1) }
        try await checkLocks(plan.units)

        for step in plan.steps(memory) { try await write(step.bytes, to: step.unit) }
        self.layout = layout.holding(message)
    }

    /// Writes a page. Writing it twice does no harm, so when an ACK is lost the write is repeated.
    ///
    /// - Throws: ``TagError`` with `updateFailed` when the tag refused; then the page's content is uncertain.
    func write(_ bytes: [UInt8], to page: Int) async throws(TagError) {
        // Until the tag confirms, this page and the message in it are uncertain.
        memory.forget(page)
        layout = nil
        if page == Type2Memory.capabilityContainerPage { capabilityContainer = nil }
        let refusal: UInt8
        do throws(TagError) {
            switch try await exchange(.write(page, bytes)) {
            case .bytes:
                memory.store(bytes, at: page)
                return
            case .refused(let nibble): refusal = nibble
            }
        } catch {
            guard error.code == .badAnswer else { throw error }
            throw TagError(.updateFailed, error.reason, link: error.link)
        }
        throw TagError(
            .updateFailed,
            "The tag refused to write page \(page) (NAK \(refusal); NFC Forum T2T 1.2, 5.3)."
        )
    }
}
