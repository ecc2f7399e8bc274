// SPDX-License-Identifier: Apache-2.0
import TagProducts

/// What forbids writing: lock bits, a password, and the end of the memory.
extension Type2Tag {
    /// Checks that no lock bit and no password forbids a write, and that the tag has the pages.
    ///
    /// A write of one page of the first 16 is checked for its lock bit alone: when the tag refuses it, nothing has changed.
    ///
    /// - Throws: ``TagError`` with `readOnly`, or with `messageTooLong` when the tag ends before the last page.
    func checkLocks(_ pages: [Int]) async throws(TagError) {
        if pages.contains(where: { $0 < Type2DynamicLock.firstPage }) {
            try await fetch(Type2StaticLock.page..<Type2StaticLock.page + 1)
            let bytes = memory[page: Type2StaticLock.page] ?? []
            if let page = pages.first(where: { Type2StaticLock.locks($0, in: bytes) }) {
                throw Self.locked(page)
            }
        }
        guard let last = pages.max(), last >= Type2DynamicLock.firstPage || pages.count > 1 else { return }
        if try await isProbablyOpen(through: last) { return }
        let lock = try await dynamicLock()
        if let lock, try await isReadable(lock) {
            if let page = pages.first(where: { lock.locks($0, in: memory) }) { throw Self.locked(page) }
            if let page = pages.first(where: { isProtected($0, by: lock) }) { throw Self.protected(page) }
        }
        try await checkEnd(last)
    }

    /// Returns whether writing a page needs a password that the tag was not given.
    func isProtected(_ page: Int, by lock: Type2DynamicLock) -> Bool {
        !mayBeAuthenticated && lock.isProtected(page, in: memory)
    }

    /// Returns whether the lock bits and AUTH0 at their probable place prove that nothing is locked or protected up to a
    /// page. For the opposite the product must be known.
    private func isProbablyOpen(through last: Int) async throws(TagError) -> Bool {
        guard let place = suggestedDynamicLock() else { return last < Type2DynamicLock.firstPage }
        guard last >= Type2DynamicLock.firstPage || place.protectionPage != nil else { return true }
        // NXP's products have areas of some sizes only. With another one the container may be wrong.
        let hasUsualSize = Type2Product.all.contains { $0.capabilitySize == capabilityContainer?.sizeByte }
        if target.isNXP, last >= Type2DynamicLock.firstPage, !hasUsualSize { return false }
        guard try await isReadable(place), var lock = suggestedDynamicLock() else { return false }
        // Asking for the version could cost the tag's state, with the password that it was given.
        if mayBeAuthenticated { lock.protectionPage = nil }
        return lock.isOpen(through: last, in: memory) && memory.reaches(last)
    }

    /// Checks that a page is one for data, and that the tag lets it be read: what needs a password for reading needs it for
    /// writing too.
    private func checkEnd(_ last: Int) async throws(TagError) {
        if target.isNXP, let end = try await productEnd(), last >= end, try await !isUnknownProduct() {
            throw TagError(
                .messageTooLong,
                """
                The message would reach page \(last), but the tag's data ends before page \(end): its capability container \
                gives a wrong size (NFC Forum T2T 1.2, 4.5).
                """
            )
        }
        guard !memory.reaches(last) else { return }
        do throws(TagError) {
            try await fetch(last..<last + 1)
        } catch {
            guard error.isRefusedRead else { throw error }
            if error.code == .readProtected { throw Self.protected(last) }
            // Every tag has the first 16 pages. One that does not show them needs its password, also for the others.
            let page = Type2DynamicLock.firstPage - 1
            guard try await answersRead(page) else { throw Self.protected(page) }
            throw TagError(.messageTooLong, error.reason)
        }
    }

    /// Returns the page after the last one for data of an NXP product; nil when the product is not known.
    func productEnd() async throws(TagError) -> Int? {
        if let version = try await readVersion() { return Type2Product(version: version)?.endPage }
        // None of the products without a version has more data than NTAG203 and Ultralight C.
        return canAskVersion ? Type2Product.ntag203.endPage : nil
    }

    /// Returns whether a tag without a version has a page behind the last one of Ultralight C: then it is a copy of a larger
    /// product, or did not answer when it was asked for its version.
    private func isUnknownProduct() async throws(TagError) -> Bool {
        guard try await readVersion() == nil else { return false }
        return try await answersRead(48)
    }

    static var forbiddenByContainer: TagError {
        TagError(.readOnly, "The tag's capability container forbids writing (NFC Forum T2T 1.2, 4.5).")
    }

    private static func locked(_ page: Int) -> TagError {
        TagError(.readOnly, "Page \(page) of the tag is locked (NFC Forum T2T 1.2, 4.2).")
    }

    private static func protected(_ page: Int) -> TagError {
        TagError(.readOnly, "Page \(page) of the tag is protected by a password (NTAG213/215/216 data sheet, 8.8).")
    }

    /// Reads lock bytes, and AUTH0 where the tag has it: one READ returns both.
    ///
    /// - Returns: false when the tag has no such pages, or does not let them be read. That does not forbid writing.
    func isReadable(_ lock: Type2DynamicLock) async throws(TagError) -> Bool {
        guard lock.pagesToCheck.upperBound <= Type2Memory.maximumPageCount else { return false }
        do throws(TagError) {
            if let page = lock.protectionPage, !memory.contains(page) { try await performRead(page - 3) }
            try await fetch(lock.pages)
            return true
        } catch {
            guard error.isRefusedRead else { throw error }
            return false
        }
    }

    /// Returns the probable position of the dynamic lock bits and AUTH0, without an exchange.
    func suggestedDynamicLock() -> Type2DynamicLock? {
        guard let container = capabilityContainer else { return nil }
        let control = controls.first { $0.isLock }
        if target.isNXP {
            if container.sizeByte <= Type2Product.ultralight.capabilitySize { return Type2DynamicLock(.ntag210) }
            if let product = Type2Product(capabilitySize: container.sizeByte, lockControl: control?.value) {
                return product.writeRestrictions
            }
            if container.sizeByte == Type2Product.ntag213.capabilitySize { return dynamicLockByMark }
        }
        return control.map(Type2DynamicLock.init) ?? Type2DynamicLock(behind: container.area)
    }

    /// The lock bits of NTAG213, NTAG203 and Ultralight C, which are in the same page: of an NTAG213 when it was read and
    /// has BD in its last byte (NTAG213/215/216 data sheet, 8.5.3).
    private var dynamicLockByMark: Type2DynamicLock? {
        Type2DynamicLock(memory[page: 0x28]?.last == 0xBD ? .ntag213 : .ultralightC)
    }

    /// Returns the position of the dynamic lock bits and AUTH0: by the product, whose version is requested, then by the
    /// lock control TLV, then by the specification's default.
    func dynamicLock() async throws(TagError) -> Type2DynamicLock? {
        guard let container = capabilityContainer else { return nil }
        let control = controls.first { $0.isLock }
        if target.isNXP {
            // A tag without a page after these 48 bytes has neither.
            let isSmall = container.sizeByte <= Type2Product.ultralight.capabilitySize
            if isSmall, !memory.contains(Type2DynamicLock.firstPage) { return nil }
            if let version = try await readVersion() {
                if let product = Type2Product(version: version) { return product.writeRestrictions }
            } else if container.sizeByte == Type2Product.ntag203.capabilitySize {
                return dynamicLockByMark
            }
            if isSmall { return nil }
        }
        return control.map(Type2DynamicLock.init) ?? Type2DynamicLock(behind: container.area)
    }
}
