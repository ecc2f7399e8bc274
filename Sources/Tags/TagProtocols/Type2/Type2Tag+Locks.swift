// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProducts

/// The checks before writing and locking: lock bits, a password, and the end of the memory.
extension Type2Tag {
    /// Reads and checks everything before the first bit is set, and returns the writes in order. With `isForWriting`,
    /// an invalid message length is accepted, because a new message will replace it.
    func lockSteps(isForWriting: Bool = false) async throws(TagError) -> [TLVWritePlan.Step] {
        let containerPage = Self.containerPage
        _ = try await locate(startingAt: Type2LockBits.staticPage, isForWriting: isForWriting)
        guard let container = capabilityContainer else { throw .alreadyReadOnly }
        let fixed = Type2LockBits.ofPage2
        try await fetch(fixed.pages)
        guard !container.isWritable || !fixed.locks(containerPage, in: memory) else {
            throw TagError(.unsupported, "The locked capability container grants writing permanently.")
        }
        if let page = fixed.frozenPage(before: container.endPage, in: memory) { throw Self.frozen(page) }
        let readOnly = container.bytes[3] | Type2CapabilityContainer.noWriteAccess
        var steps = [TLVWritePlan.Step(unit: containerPage, bytes: container.bytes[0..<3] + [readOnly])]
        steps += lockSteps(fixed) { fixed.mask[$0] }
        let lock = try await certainDynamicLock()
        if let lock {
            var canRead = try await isReadable(lock)
            if !canRead { canRead = try await isReadable(lock) }
            if canRead {
                if let page = lock.frozenPage(before: container.endPage, in: memory) { throw Self.frozen(page) }
                steps += lockSteps(lock) { lock.mask[$0] }
            } else if lock.protectionPage != nil {
                throw Self.keyNeeded(lock.pages.lowerBound)
            }
        }
        if !container.isWritable {
            // An earlier call may have lost the tag before all locks were set.
            steps.removeAll { step in
                memory[unit: step.unit].map { zip($0, step.bytes).allSatisfy { $0 & $1 == $1 } } == true
            }
            if steps.isEmpty { throw .alreadyReadOnly }
        }
        if let lock, let step = steps.first(where: { isProtected($0.unit, by: lock) }) {
            throw Self.keyNeeded(step.unit)
        }
        return steps
    }

    package func lock(blocks pages: ClosedRange<Int>, performs: Bool) async throws(TagError) -> [Int] {
        _ = try await locate(startingAt: Type2LockBits.staticPage)
        try checkBehindContainer(pages, endingIn: Self.containerPage)
        var fields = [Type2LockBits.ofPage2]
        try await fetch(fields[0].pages)
        let lock = try await certainDynamicLock()
        if let lock {
            // Also for lock bits of page 2, which a password can protect.
            let isKnown = try await isReadable(lock)
            if pages.upperBound >= Type2LockBits.firstDynamicPage {
                guard isKnown else { throw Self.keyNeeded(lock.pages.lowerBound) }
                fields.append(lock)
            }
        }
        var open: [Int] = []
        var rest = Set(pages)
        var steps: [TLVWritePlan.Step] = []
        for field in fields {
            let bits = field.bits.filter { pages.overlaps($0.pages) }
            if let bit = bits.first(where: { !$0.pages.allSatisfy(pages.contains) }) {
                let reason =
                    "Pages \(bit.pages.lowerBound) to \(bit.pages.upperBound - 1) have one lock bit. Lock all of them."
                throw TagError(.unsupported, reason)
            }
            rest.subtract(bits.flatMap(\.pages))
            let unset = bits.filter { !field.locks($0.pages.lowerBound, in: memory) }
            guard !unset.isEmpty else { continue }
            let numbers = Set(unset.map(\.number))
            if let page = unset.first(where: { field.isFrozen($0, in: memory) })?.pages.lowerBound {
                throw Self.frozen(page)
            }
            open += unset.flatMap(\.pages)
            steps += lockSteps(field) { index in numbers.reduce(0) { $0 | ($1 / 8 == index ? 1 << ($1 % 8) : 0) } }
        }
        if let page = rest.min() { throw TagError(.unsupported, "Page \(page) has no lock bit.") }
        if let lock, let step = steps.first(where: { isProtected($0.unit, by: lock) }) {
            throw Self.keyNeeded(step.unit)
        }
        if performs { for step in steps { try await write(step.bytes, to: step.unit) } }
        return open
    }

    /// Returns the position of the dynamic lock bits and AUTH0.
    ///
    /// Locking is permanent, so GET_VERSION is sent again if the tag refused it. Without a version, the product is
    /// guessed by its size, and lock bits at a wrong address would lock nothing and overwrite data.
    private func certainDynamicLock() async throws(TagError) -> Type2LockBits? {
        // To distinguish products without a version, the lock bits' page and the page after the data are needed.
        if target.isNXP, let place = suggestedDynamicLock() { _ = try await isReadable(place) }
        let lock = try await dynamicLock()
        guard target.isNXP, lock != nil, try await readVersion() == nil, canRequestVersion else { return lock }
        version = nil
        return try await dynamicLock()
    }

    private static func frozen(_ page: Int) -> TagError {
        let reason =
            "Page \(page) can't be locked any more: its lock bit was frozen before it was set (NFC Forum T2T 1.2, 4.2)."
        return TagError(.unsupported, reason)
    }

    private static func keyNeeded(_ page: Int) -> TagError {
        TagError(
            .keyNeeded,
            "The password or key is needed for locking: it protects page \(page) (NTAG213/215/216 data sheet, 8.8)."
        )
    }

    /// Returns the writes that set lock bits, given for each lock byte. Other bytes in these pages keep their content,
    /// except in a page that a product uses only for lock bytes: there they are reserved and written as 0.
    private func lockSteps(_ lock: Type2LockBits, setting bits: (Int) -> UInt8) -> [TLVWritePlan.Step] {
        let isOwnPage = target.isNXP && lock.address % Self.pageSize == 0
        return lock.pages.map { page in
            let bytes = (0..<Self.pageSize).map { index -> UInt8 in
                let address = page * Self.pageSize + index
                let present = memory[byte: address] ?? 0
                guard lock.mask.indices.contains(address - lock.address) else { return isOwnPage ? 0 : present }
                return present | bits(address - lock.address)
            }
            return TLVWritePlan.Step(unit: page, bytes: bytes)
        }
    }

    // MARK: Writing

    /// Checks that the tag has the pages, and that no lock bit or password prevents a write.
    ///
    /// For a write of a single page below 16, only the lock bit is checked: a refused write changes nothing.
    func checkLocks(_ pages: [Int]) async throws(TagError) {
        if pages.contains(where: { $0 < Type2LockBits.firstDynamicPage }) {
            try await fetch(Type2LockBits.ofPage2.pages)
            try check(pages, Type2LockBits.ofPage2)
        }
        guard let last = pages.max(), last >= Type2LockBits.firstDynamicPage || pages.count > 1 else { return }
        if try await isProbablyOpen(through: last) { return }
        let lock = try await dynamicLock()
        if let lock, try await isReadable(lock) { try check(pages, lock) }
        try await checkEnd(last)
    }

    /// Checks that no lock bit or password of a known product prevents a write, even on a tag that is not formatted.
    func checkLocks(_ pages: [Int], of product: Type2Product) async throws(TagError) {
        try check(pages, Type2LockBits.ofPage2)
        if let lock = product.writeRestrictions, try await isReadable(lock) { try check(pages, lock) }
    }

    /// Checks that neither lock bits that were read, nor AUTH0, prevent a write.
    private func check(_ pages: [Int], _ lock: Type2LockBits) throws(TagError) {
        if let page = pages.first(where: { lock.locks($0, in: memory) }) { throw Self.locked(page) }
        if let page = pages.first(where: { isProtected($0, by: lock) }) { throw Self.protected(page) }
    }

    /// Returns whether writing a page needs a password that was not sent to the tag.
    func isProtected(_ page: Int, by lock: Type2LockBits) -> Bool {
        !mayBeAuthenticated && lock.isProtected(page, in: memory)
    }

    /// Returns whether lock bits and AUTH0 at their probable addresses prove that nothing up to a page is locked or
    /// protected. To prove that something is, the product must be known.
    private func isProbablyOpen(through last: Int) async throws(TagError) -> Bool {
        guard let place = suggestedDynamicLock() else { return last < Type2LockBits.firstDynamicPage }
        guard last >= Type2LockBits.firstDynamicPage || place.protectionPage != nil else { return true }
        // NXP's products have only certain area sizes. With any other size, the container may be wrong.
        let hasUsualSize = Type2Product.all.contains { $0.capabilitySize == capabilityContainer?.sizeByte }
        if target.isNXP, last >= Type2LockBits.firstDynamicPage, !hasUsualSize { return false }
        guard try await isReadable(place), var lock = suggestedDynamicLock() else { return false }
        // AUTH0 is ignored: asking for the version could deselect the tag and end its authentication.
        if mayBeAuthenticated { lock.protectionPage = nil }
        return lock.isOpen(through: last, in: memory) && memory.reaches(last)
    }

    /// Checks that a page is for data and readable. A page with a password for reading also needs it for writing.
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
            // Every tag has the first 16 pages. If it refuses the last of them, later pages need its password too.
            let page = Type2LockBits.firstDynamicPage - 1
            guard try await answersRead(page) else { throw Self.protected(page) }
            throw TagError(.messageTooLong, error.reason)
        }
    }

    /// Returns the page just past the data of an NXP product; nil if the product is unknown.
    func productEnd() async throws(TagError) -> Int? {
        if let version = try await readVersion() { return Type2Product(version: version)?.endPage }
        // Of the products without a version, NTAG203 and Ultralight C have the most data.
        return canRequestVersion ? Type2Product.ntag203.endPage : nil
    }

    /// Returns whether a tag without a version has a page past the end of Ultralight C. Such a tag is a copy of a
    /// larger product, or failed to answer GET_VERSION.
    private func isUnknownProduct() async throws(TagError) -> Bool {
        guard try await readVersion() == nil else { return false }
        return try await answersRead(48)
    }

    static var forbiddenByContainer: TagError {
        TagError(.readOnly, "The tag's capability container forbids writing (NFC Forum T2T 1.2, 4.5).")
    }

    static func locked(_ page: Int) -> TagError {
        TagError(.readOnly, "Page \(page) of the tag is locked (NFC Forum T2T 1.2, 4.2).")
    }

    private static func protected(_ page: Int) -> TagError {
        TagError(
            .keyNeeded,
            "Page \(page) of the tag is protected by a password or key (NTAG213/215/216 data sheet, 8.8)."
        )
    }

    /// Reads the lock bytes, and AUTH0 if the tag has it; one READ returns both. False if the tag lacks these pages or
    /// refuses to read them, which does not prevent writing.
    func isReadable(_ lock: Type2LockBits) async throws(TagError) -> Bool {
        guard lock.pagesToCheck.upperBound <= Self.maximumPageCount else { return false }
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
    func suggestedDynamicLock() -> Type2LockBits? {
        guard let container = capabilityContainer else { return nil }
        if target.isNXP {
            let control = controls.first { $0.isLock }
            if container.sizeByte <= Type2Product.ultralight.capabilitySize { return Type2LockBits(.ntag210) }
            if let product = Type2Product(capabilitySize: container.sizeByte, lockControl: control?.value) {
                return product.writeRestrictions
            }
            if container.sizeByte == Type2Product.ntag213.capabilitySize { return dynamicLockByMark }
        }
        return describedDynamicLock(container)
    }

    /// The lock bits given by the lock control TLV, or else by the specification's default.
    private func describedDynamicLock(_ container: Type2CapabilityContainer) -> Type2LockBits? {
        controls.first { $0.isLock }.map(Type2LockBits.init) ?? Type2LockBits(behind: container.area)
    }

    /// The lock bits of an NTAG213, if their page was read and ends with BD (NTAG213/215/216 data sheet, 8.5.3);
    /// otherwise those of an NTAG203 or Ultralight C, which are in the same page.
    private var dynamicLockByMark: Type2LockBits? {
        Type2LockBits(memory[unit: 0x28]?.last == 0xBD ? .ntag213 : .ultralightC)
    }

    /// Returns the position of the dynamic lock bits and AUTH0. Tries the product first, whose version is requested,
    /// then the lock control TLV, then the specification's default.
    func dynamicLock() async throws(TagError) -> Type2LockBits? {
        guard let container = capabilityContainer else { return nil }
        if target.isNXP {
            // A tag with 48 bytes of data and no page after them has neither dynamic lock bits nor AUTH0.
            let isSmall = container.sizeByte <= Type2Product.ultralight.capabilitySize
            if isSmall, !memory.contains(Type2LockBits.firstDynamicPage) { return nil }
            if let version = try await readVersion() {
                if let product = Type2Product(version: version) { return product.writeRestrictions }
            } else if container.sizeByte == Type2Product.ntag203.capabilitySize {
                return dynamicLockByMark
            }
            if isSmall { return nil }
        }
        return describedDynamicLock(container)
    }
}

/// The restrictions on writing pages: the static or the dynamic lock bits (NFC Forum T2T 1.2, 4.2), and the first page
/// that needs the password, if the product has one (NTAG213/215/216 data sheet, 8.8).
struct Type2LockBits: Equatable {
    /// One lock bit, and the pages that it makes read-only.
    struct Bit: Equatable {
        /// The bit's number, counted from the least significant bit of the first lock byte.
        var number: Int
        var pages: Range<Int>
        /// The block-lock bit that freezes this lock bit; nil if unknown.
        var frozenBy: Int?
    }

    /// The address of the first lock byte.
    let address: Int
    let bits: [Bit]
    /// The bits to set, starting at `address`, to lock everything permanently, including the lock bits.
    let mask: [UInt8]
    /// The page with AUTH0, the number of the first protected page; nil for products without a password.
    var protectionPage: Int?
    /// The index of AUTH0 in its page.
    var protectionByte = 3

    /// The first page that dynamic lock bits can lock.
    static let firstDynamicPage = 16

    /// The page with the lock bits for pages 3 to 15.
    static let staticPage = 2

    /// The static lock bits, for pages 3 to 15.
    static let ofPage2 = Type2LockBits(
        address: staticPage * Type2Tag.pageSize + 2,
        bits: LockField.statically.locks.map { Bit(number: $0.bit, pages: Range($0.pages), frozenBy: $0.frozenBy) }
    )

    /// Creates the lock bits for a product's data, and the page with its AUTH0. A product without dynamic lock bits has
    /// AUTH0 right after its data.
    ///
    /// A reader can't always distinguish NTAG203, which lacks AUTH0, from Ultralight C, which has it in the first byte
    /// of page 42 (MF0ICU2 data sheet). So AUTH0 is looked up in both.
    init(_ product: Type2Product) {
        let locks = product.dynamicLock?.locks.filter { $0.pages.upperBound <= product.userPages.upperBound } ?? []
        let isLikeUltralightC = product.features.contains(.pageCounter)
        self.init(
            address: product.endPage * Type2Tag.pageSize,
            bits: locks.map { Bit(number: $0.bit, pages: Range($0.pages), frozenBy: $0.frozenBy) },
            protectionPage: isLikeUltralightC ? 42 : product.configurationPage
        )
        if isLikeUltralightC { protectionByte = 0 }
    }

    /// Creates the lock bits that a lock control TLV describes (NFC Forum T2T 1.2, 4.3).
    init(_ control: TLVControl) {
        self.init(address: control.address, count: control.count, bytesPerBit: control.bytesPerLockBit)
    }

    /// Creates the default lock bits: after the data area, one bit for every 8 bytes (NFC Forum T2T 1.2, 4.2). Nil if
    /// the static lock bits cover the whole area.
    init?(behind area: Range<Int>) {
        guard area.count > 48 else { return nil }
        self.init(address: area.upperBound, count: (area.count - 48 + 7) / 8, bytesPerBit: 8)
    }

    private init(address: Int, count: Int, bytesPerBit: Int) {
        let bits = (0..<count).map { index in
            let start = Self.firstDynamicPage * Type2Tag.pageSize + index * bytesPerBit
            let end = (start + bytesPerBit + Type2Tag.pageSize - 1) / Type2Tag.pageSize
            return Bit(number: index, pages: start / Type2Tag.pageSize..<end)
        }
        self.init(address: address, bits: bits)
    }

    private init(address: Int, bits: [Bit], protectionPage: Int? = nil) {
        let numbers = bits.flatMap { [$0.number, $0.frozenBy ?? $0.number] }
        var mask = [UInt8](repeating: 0, count: numbers.map { $0 / 8 + 1 }.max() ?? 0)
        for number in numbers { mask[number / 8] |= 1 << (number % 8) }
        self.address = address
        self.bits = bits
        self.mask = mask
        self.protectionPage = protectionPage
    }

    /// The pages that contain the lock bytes.
    var pages: Range<Int> { address / Type2Tag.pageSize..<(address + mask.count - 1) / Type2Tag.pageSize + 1 }

    /// The pages to read before a write.
    var pagesToCheck: Range<Int> { pages.lowerBound..<max(pages.upperBound, (protectionPage ?? 0) + 1) }

    /// Returns whether no lock bit, and no bit that freezes one, is set, and `page` can be written without a password.
    func isOpen(through page: Int, in memory: TagMemory) -> Bool {
        mask.indices.allSatisfy { mask[$0] & (memory[byte: address + $0] ?? 0) == 0 }
            && !isProtected(page, in: memory)
    }

    private func isSet(_ number: Int, in memory: TagMemory) -> Bool {
        [memory[byte: address + number / 8] ?? 0].hasBit(number % 8)
    }

    /// Returns whether a page is locked.
    func locks(_ page: Int, in memory: TagMemory) -> Bool {
        bits.contains { $0.pages.contains(page) && isSet($0.number, in: memory) }
    }

    /// Returns an unlocked page of the data area that can no longer be locked; nil if there is none.
    func frozenPage(before end: Int, in memory: TagMemory) -> Int? {
        bits.first { bit in
            isFrozen(bit, in: memory) && bit.pages.lowerBound < end && !locks(bit.pages.lowerBound, in: memory)
        }?.pages.lowerBound
    }

    func isFrozen(_ bit: Bit, in memory: TagMemory) -> Bool { bit.frozenBy.map { isSet($0, in: memory) } ?? false }

    /// Returns whether writing a page needs the password. FF turns the protection off. With AUTH0 = 0 the tag refuses
    /// the very first write, so no check is needed.
    func isProtected(_ page: Int, in memory: TagMemory) -> Bool {
        guard let start = protectionPage.flatMap({ memory[unit: $0] })?[protectionByte], start != 0xFF, start != 0
        else { return false }
        return page >= Int(start)
    }
}

extension Type2Product {
    /// The product's dynamic lock bits and AUTH0; nil when it has neither.
    var writeRestrictions: Type2LockBits? {
        dynamicLock == nil && !features.contains(.password) ? nil : Type2LockBits(self)
    }

    /// The page just past the data.
    var endPage: Int { userPages.upperBound + 1 }
}
