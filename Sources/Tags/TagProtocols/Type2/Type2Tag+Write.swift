// SPDX-License-Identifier: Apache-2.0

extension Type2Tag {
    /// Writes an NDEF message. A tag that is lost in between holds the old message, no message, or the new one (NFC
    /// Forum T2T 1.2, 6.4).
    ///
    /// Access, capacity and the lock bits of every page to write are checked before the first write.
    ///
    /// - Parameter message: the message's bytes; none to empty the tag.
    /// - Throws: ``TagError`` with `readOnly` when the capability container or a lock bit forbids it and
    ///   `messageTooLong`, both before anything is written; `updateFailed` when the tag refused a write; `tagLost`,
    ///   `cancelled`, and the errors of ``detectNDEF()``.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let layout = try await locate(startingAt: Type2StaticLock.page, isForWriting: true)
        guard let container = capabilityContainer, container.isWritable else {
            throw TagError(.readOnly, "The tag's capability container forbids writing (NFC Forum T2T 1.2, 4.5).")
        }
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

    /// Checks that no lock bit forbids a write.
    ///
    /// - Throws: ``TagError`` with `readOnly`.
    func checkLocks(_ pages: [Int]) async throws(TagError) {
        if pages.contains(where: { $0 < Type2DynamicLock.firstPage }) {
            try await fetch(Type2StaticLock.page..<Type2StaticLock.page + 1)
            let bytes = memory[page: Type2StaticLock.page] ?? []
            if let page = pages.first(where: { Type2StaticLock.locks($0, in: bytes) }) {
                throw Self.locked(page)
            }
        }
        // Lock bits at the suggested address can prove that nothing is locked. For the opposite the product must be
        // known.
        guard let last = pages.max(), last >= Type2DynamicLock.firstPage,
            let suggested = suggestedDynamicLock(), try await isReadable(suggested),
            !suggested.isOpen(through: last, in: memory),
            let lock = try await dynamicLock(), try await isReadable(lock)
        else { return }
        if let page = pages.first(where: { lock.locks($0, in: memory) }) { throw Self.locked(page) }
        if let page = pages.first(where: { lock.isProtected($0, in: memory) }) {
            throw TagError(
                .readOnly,
                "Page \(page) of the tag is protected by a password (NTAG213/215/216 data sheet, 8.8)."
            )
        }
    }

    private static func locked(_ page: Int) -> TagError {
        TagError(.readOnly, "Page \(page) of the tag is locked (NFC Forum T2T 1.2, 4.2).")
    }

    /// Reads lock bytes.
    ///
    /// - Returns: false when the tag has no such pages. That does not forbid writing.
    func isReadable(_ lock: Type2DynamicLock) async throws(TagError) -> Bool {
        guard lock.pagesToCheck.upperBound <= Type2Memory.maximumPageCount else { return false }
        do throws(TagError) {
            try await fetch(lock.pagesToCheck)
            return true
        } catch {
            guard error.code == .refused || error.code == .lengthOverrun else { throw error }
            return false
        }
    }

    /// Returns the probable position of the dynamic lock bits, without an exchange.
    func suggestedDynamicLock() -> Type2DynamicLock? {
        guard let container = capabilityContainer else { return nil }
        let control = controls.first { $0.isLock }
        if target.isNXP {
            if let product = NXPType2Product.inferred(sizeByte: container.sizeByte, lockControl: control?.value) {
                return product.dynamicLock
            }
            // NTAG213, NTAG203 and Ultralight C have them in the same page. Only the first has a password page after
            // them.
            if container.sizeByte == NXPType2Product.ntag213.sizeByte {
                var lock = NXPType2Product.ntag213.dynamicLock
                lock?.protectionPage = nil
                return lock
            }
        }
        return control.map(Type2DynamicLock.init) ?? Type2DynamicLock(behind: container.area)
    }

    /// Returns the position of the dynamic lock bits: by the product, whose version is requested, then by the lock
    /// control TLV, then by the specification's default.
    func dynamicLock() async throws(TagError) -> Type2DynamicLock? {
        guard let container = capabilityContainer else { return nil }
        let control = controls.first { $0.isLock }
        if target.isNXP {
            if container.sizeByte <= NXPType2Product.ultralight.sizeByte { return nil }
            if let version = try await readVersion() {
                if let product = NXPType2Product(version) { return product.dynamicLock }
            } else if container.sizeByte == NXPType2Product.ntag203.sizeByte {
                return .grouped
            }
        }
        return control.map(Type2DynamicLock.init) ?? Type2DynamicLock(behind: container.area)
    }
}
