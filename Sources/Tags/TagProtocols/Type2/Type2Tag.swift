// SPDX-License-Identifier: Apache-2.0
public import TagLink
package import TagProducts

/// The reader's side of a Type 2 tag: MIFARE Ultralight, NTAG and similar (NFC Forum T2T 1.2).
///
/// It uses as little airtime as the tag allows, and caches the memory that it reads. Use it from one task at a time. A
/// command that times out or gets a damaged answer is repeated. After a timeout the tag is woken and selected by its
/// UID, so another tag is never mistaken for it.
///
/// ```swift
/// let targets = try await NFCAActivation(link: link).activateAll()
/// if let target = targets.last, target.isType2 {
///     let message = try await Type2Tag(target: target, link: link).readNDEF()
/// }
/// ```
///
/// Memory is counted in pages of four bytes across all sectors. An NTAG I2C 2K has user memory in pages 4 to 255 of
/// sector 0 and pages 0 to 223 of sector 1. Here these are pages 4 to 479 without a gap, and page 480 contains its
/// dynamic lock bytes (NT3H1201, 8.3). If the capability container describes an area longer than sector 0, the area
/// continues at page 0 of the next sector (NFC Forum T2T 1.2, 4.2). Control TLVs describe the bytes in between that
/// hold no data.
public final class Type2Tag: ForumTag {
    /// The tag's type: always Type 2.
    public var type: ForumTagType? { .type2 }

    /// The tag's data from activation.
    public let target: NFCATarget

    /// The link to the tag.
    public let link: any FrameLink

    static let pageSize = 4
    static let sectorSize = 256
    /// The pages of four sectors. The largest data area, 255 times 8 bytes, needs fewer.
    static let maximumPageCount = 1024
    /// The page of the capability container (NFC Forum T2T 1.2, 4.1).
    static let containerPage = 3
    /// The address of the data area's first byte.
    static let dataAreaStart = 16

    var memory = TagMemory(unitSize: Type2Tag.pageSize, limit: Type2Tag.maximumPageCount)
    var capabilityContainer: Type2CapabilityContainer?
    private var layout: TLVLayout?
    /// The control TLVs before the message, even if the message is invalid.
    private(set) var controls: [TLVControl] = []
    /// The answer to GET_VERSION; nil before it is sent. An inner nil means that the tag lacks the command.
    var version: [UInt8]??
    /// Whether the reader can send GET_VERSION. True until a try fails.
    private(set) var canRequestVersion = true
    var fastRead = FastRead.unknown

    /// Whether the tag may have received its password since its activation, perhaps by an app's own command. If so,
    /// nothing is refused for a missing password until the tag itself refuses it.
    package var mayBeAuthenticated = false
    /// Whether the tag is in the ACTIVE state, as far as known. Leaving that state ends the authentication with its
    /// password.
    var isActive = true {
        didSet { if !isActive { mayBeAuthenticated = false } }
    }
    private var sector = 0
    private var lost: TagError?

    enum FastRead {
        case unknown, usable, unusable
    }

    /// Creates a tag that was just activated over an NFC-A link. Sector 0 must be selected.
    public init(target: NFCATarget, link: any FrameLink) {
        self.target = target
        self.link = link
    }

    /// Notifies this object that other code has just activated the tag, which also selects sector 0.
    public func wasActivated() {
        isActive = true
        mayBeAuthenticated = false
        sector = 0
        lost = nil
    }

    public func forgetMemory() {
        memory = TagMemory(unitSize: Self.pageSize, limit: Self.maximumPageCount)
        controls = []
        capabilityContainer = nil
        layout = nil
    }

    /// Returns whether the tag still answers: one page with FAST_READ if the tag has it, otherwise one READ.
    ///
    /// A silent tag is selected by its UID before it counts as lost, because it may be halted after refusing another
    /// command. A tag that refuses the read is selected again, so that it accepts commands afterwards.
    ///
    /// - Returns: false when the tag left or another tag replaced it.
    public func isPresent() async -> Bool {
        do throws(TagError) {
            let page = Self.containerPage
            let isFast = fastRead == .usable && sector == 0
            _ = try await exchange(isFast ? .fastRead(first: page, last: page) : .read(sector * Self.sectorSize + page))
            try await activate()
            return true
        } catch {
            // A tag that answers anything is present, even if it refuses.
            return error.code == .badAnswer
        }
    }

    // MARK: NDEF

    /// Runs the NDEF detection procedure (NFC Forum T2T 1.2, 6.2).
    ///
    /// It starts with READ of page 3, which returns the capability container and 12 bytes of the data area. It reads on
    /// only as far as the length of the NDEF message TLV. The first NDEF message TLV counts; a length that exceeds the
    /// data area is an error. NULL, control, proprietary and unknown TLVs before it are skipped.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let layout = try await locate()
        return layout.detection(isWritable: capabilityContainer?.isWritable == true)
    }

    /// Reads the NDEF message. Bytes already read by detection are not read again (NFC Forum T2T 1.2, 6.3).
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let addresses = try await locate().messageAddresses
        guard let first = addresses.first, let last = addresses.last else { return [] }
        let pages = first / Self.pageSize..<last / Self.pageSize + 1
        try await lookForFastRead(pages)
        try await fetch(pages)
        return addresses.compactMap { memory[byte: $0] }
    }

    /// Writes an NDEF message (NFC Forum T2T 1.2, 6.4).
    ///
    /// Before the first write, it checks the access, the capacity, the lock bits of every page to write, the password,
    /// and whether the tag is as large as its capability container claims.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let layout = try await locate(startingAt: Type2LockBits.staticPage, isForWriting: true)
        guard let container = capabilityContainer, container.isWritable else { throw Self.forbiddenByContainer }
        try layout.checkCapacity(for: message)
        let plan = TLVWritePlan(message, layout: layout, unitSize: Self.pageSize)
        for page in plan.unitsToPreserve { try await fetch(page..<page + 1) }
        try await checkLocks(plan.units)

        for step in plan.steps(memory) { try await write(step.bytes, to: step.unit) }
        self.layout = layout.holding(message)
    }

    /// Makes the tag permanently read-only (NFC Forum T2T 1.2, 6.5).
    ///
    /// First the write access in the capability container is removed. Then the static and dynamic lock bits are set,
    /// with the bits that freeze them. A tag that is lost in between can still be read.
    ///
    /// - Throws: ``TagError`` with `readOnly` when the tag is already read-only. `unsupported` when the tag can't be
    ///   made read-only, because page 3 is locked while it grants writing, or a page's lock bit is frozen. `keyNeeded`
    ///   when a password protects a page to write. Up to here nothing has changed. `updateFailed`, `tagLost`,
    ///   `cancelled`, and the errors of ``detectNDEF()``.
    public func lock() async throws(TagError) {
        for step in try await lockSteps() { try await write(step.bytes, to: step.unit) }
    }

    public func checkLocking() async throws(TagError) {
        // Forgets the memory, so that later procedures send the same commands as without this check.
        defer { forgetMemory() }
        _ = try await lockSteps(isForWriting: true)
    }

    /// Formats a blank tag of a known product: writes an empty message, then the capability container.
    ///
    /// A tag that is already formatted stays unchanged. The capability container is written last, so a tag that is lost
    /// in between is either still blank or formatted.
    ///
    /// - Throws: ``TagError`` with `unsupported` when the product is unknown or its one-time programmable page 3 holds
    ///   something else; `readOnly` when the pages are locked or the container forbids writing; `updateFailed`,
    ///   `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        do throws(TagError) {
            _ = try await locate()
            return
        } catch {
            guard error.code == .noCapabilityContainer || error.code == .noMessageTLV else { throw error }
        }
        if let capabilityContainer, !capabilityContainer.isWritable { throw Self.forbiddenByContainer }
        guard let product = try await product() else {
            throw TagError(.unsupported, "The tag's product is unknown, so it can't be formatted.")
        }
        let page = Self.containerPage
        try await fetch(page..<page + 1)
        let present = memory[unit: page] ?? []
        let container = [Type2CapabilityContainer.magicNumber, 0x10, product.capabilitySize, 0x00]
        let isFormatted = capabilityContainer != nil
        guard isFormatted || zip(present, container).allSatisfy({ $0 | $1 == $1 }) else {
            throw TagError(
                .unsupported,
                "Page 3 of the tag can be programmed only once, and holds something other than a capability container."
            )
        }
        let first = page + 1
        let message = product.emptyMessage
        let count = message.count / Self.pageSize
        try await checkLocks(Array(isFormatted ? first..<first + count : page..<first + count))
        for index in 0..<count {
            let start = index * Self.pageSize
            try await write(Array(message[start..<start + Self.pageSize]), to: first + index)
        }
        if !isFormatted { try await write(container, to: page) }
    }

    /// Finds the NDEF message TLV; for writing, even one with an invalid length. The first page to read is 3, or 2 when
    /// the static lock bits are needed too.
    func locate(
        startingAt firstPage: Int = Type2Tag.containerPage,
        isForWriting: Bool = false
    ) async throws(TagError) -> TLVLayout {
        if let lost { throw lost }
        if let layout { return layout }
        let container = try await readCapabilityContainer(startingAt: firstPage)
        var walk = TLVWalk(
            area: container.area,
            hasControls: true,
            specification: "NFC Forum T2T 1.2, 4.3",
            isForWriting: isForWriting
        )
        while true {
            switch try walk.advance(in: memory) {
            case .found(let found):
                if !found.isBroken { layout = found }
                controls = found.controls
                assessFastRead(container, found.controls)
                return found
            case .read(let address):
                let page = address / Self.pageSize
                try await fetch(page..<min(page + 4, container.endPage))
            }
        }
    }

    private func readCapabilityContainer(startingAt firstPage: Int) async throws(TagError) -> Type2CapabilityContainer {
        if let capabilityContainer { return capabilityContainer }
        let page = Self.containerPage
        if !memory.contains(page) { try await performRead(firstPage) }
        // The READ of page 2 rolled over if the password protects pages from 3 on.
        if !memory.contains(page) { try await performRead(page) }
        let container = try Type2CapabilityContainer(memory[unit: page] ?? [])
        capabilityContainer = container
        assessFastRead(container, [])
        return container
    }

    // MARK: Reading pages

    /// Reads the pages in a range that are not cached yet.
    func fetch(_ pages: Range<Int>) async throws(TagError) {
        let end = max(pages.upperBound, capabilityContainer?.endPage ?? 0)
        while let unknown = memory.firstUnknownRun(in: pages) {
            let sectorEnd = (unknown.lowerBound / Self.sectorSize + 1) * Self.sectorSize
            let run = unknown.lowerBound..<min(unknown.upperBound, sectorEnd)
            if let pages = pagesOfFastRead(run) {
                try await performFastRead(pages)
            } else {
                try await performRead(firstPageOfRead(run, end: min(end, sectorEnd)))
                // The answer rolled over before the requested pages, so they are read directly.
                if !memory.contains(run.lowerBound) { try await performRead(run.lowerBound) }
            }
        }
    }

    /// Returns the page at which to start a READ. Near the end of memory, it starts earlier so as not to pass the end.
    private func firstPageOfRead(_ run: Range<Int>, end: Int) -> Int {
        let sectorStart = run.lowerBound / Self.sectorSize * Self.sectorSize
        return max(min(run.lowerBound, end - 4), run.lowerBound - 3, sectorStart)
    }

    /// Returns the pages to read with FAST_READ; nil when READ takes less airtime.
    ///
    /// READ returns four pages in 2.06 ms. FAST_READ takes 0.79 ms plus 0.34 ms per page, so it is slower only for
    /// exactly four pages. If it is unknown whether the tag has FAST_READ, the first use is the test. This takes no
    /// longer than GET_VERSION on a tag without it, and no extra time on a tag with it. A tag without it must be woken
    /// and selected again, which takes 3.7 ms with the NAK. So FAST_READ is only tried when it saves at least two
    /// READs, which means messages from about 46 bytes on.
    private func pagesOfFastRead(_ run: Range<Int>) -> Range<Int>? {
        // With the checksum, 60 pages fit into the 256 bytes of every reader's buffer.
        let most = min(60, (link.maximumFrameLength - 2) / Self.pageSize)
        guard fastRead != .unusable, most > 0 else { return nil }
        let pages = run.prefix(most)
        if fastRead == .unknown {
            guard (run.count + 3) / 4 - (run.count + most - 1) / most >= 2 else { return nil }
        }
        let timing = FrameTiming(link.technology)
        let fast = Type2Command.fastRead(first: pages.startIndex, last: pages.endIndex - 1).cost(timing)
        let reads = Type2Command.read(pages.startIndex).cost(timing) * ((pages.count + 3) / 4)
        return fast < reads ? pages.startIndex..<pages.endIndex : nil
    }

    /// Reads four pages (NFC Forum T2T 1.2, 5.2).
    ///
    /// When the next pages don't exist or can't be read, the tag's answer continues at page 0. This is detected by the
    /// UID in pages 0 and 1, and such pages are not stored.
    func performRead(_ page: Int) async throws(TagError) {
        switch try await exchange(.read(page)) {
        case .bytes(let bytes): memory.store(bytes[0..<rolledOver(bytes) * Self.pageSize], at: page)
        case .refused(let nibble): throw try await unreadable(page, nibble)
        }
    }

    /// The error for a page that the tag refuses to read.
    private func unreadable(_ page: Int, _ nibble: UInt8) async throws(TagError) -> TagError {
        // NAK 1 means that every try of the command arrived damaged.
        if nibble != 1, try await certainlyHasPage(page) {
            return TagError(
                .readProtected,
                "The tag lets page \(page) be read only with its password or key (NTAG213/215/216 data sheet, 8.8)."
            )
        }
        guard let area = capabilityContainer?.area, area.contains(page * Self.pageSize) else {
            return TagError(.refused, "The tag refuses to read page \(page) (NFC Forum T2T 1.2, 5.2).")
        }
        return TagError(
            .lengthOverrun,
            """
            The capability container gives a data area of \(area.count) bytes, but the tag refuses to read page \
            \(page) in it: it is smaller, or protected by a password or key (NFC Forum T2T 1.2, 4.5).
            """
        )
    }

    /// Returns whether the tag certainly has a page, among the data or before it. All tags have the first 16 pages.
    private func certainlyHasPage(_ page: Int) async throws(TagError) -> Bool {
        if page < Type2LockBits.firstDynamicPage { return true }
        guard target.isNXP else { return false }
        if let version = try await readVersion() { return page < Type2Product(version: version)?.endPage ?? 0 }
        // A tag with a page past the end of an Ultralight is an NTAG203 or an Ultralight C.
        guard canRequestVersion, page < Type2Product.ntag203.endPage else { return false }
        return try await answersRead(Type2LockBits.firstDynamicPage)
    }

    /// Returns the index of the first page after a rollover in an answer, 1 to 3; 4 without a rollover.
    private func rolledOver(_ bytes: [UInt8]) -> Int {
        let uid = target.uid
        guard uid.count == 7 else { return 4 }
        let header = uid[..<3] + [uid[..<3].reduce(NFCAActivation.cascadeTag, ^)] + uid[3..<7]
        return (1...3).first { bytes[($0 * 4)...].starts(with: header.prefix(16 - $0 * 4)) } ?? 4
    }

    // MARK: FAST_READ

    /// Reads a range of pages at once, or notes that the tag lacks FAST_READ (NTAG213/215/216 data sheet, 10.3).
    private func performFastRead(_ pages: Range<Int>) async throws(TagError) {
        let command = Type2Command.fastRead(first: pages.lowerBound, last: pages.upperBound - 1)
        if let bytes = try await ask(command, retries: fastRead == .usable ? Self.retries : 0) {
            memory.store(bytes, at: pages.lowerBound)
            fastRead = .usable
        } else {
            // FAST_READ was refused, not answered, or answered with a wrong length.
            fastRead = .unusable
        }
    }

    /// Derives from the memory read so far whether the tag has FAST_READ. Sends nothing.
    ///
    /// Among NXP's products, an area of 496, 872 or 1872 bytes means NTAG215, NTAG216 or NTAG I2C, and 128 bytes mean
    /// NTAG212 or Ultralight EV1. All of these have FAST_READ. An area of 144 bytes means NTAG213, NTAG203 or
    /// Ultralight C, which leave the factory with different control TLVs. An area of 48 bytes takes as long with READ.
    private func assessFastRead(_ container: Type2CapabilityContainer, _ controls: [TLVControl]) {
        guard fastRead == .unknown else { return }
        if container.sizeByte <= 0x06 {
            fastRead = .unusable
        } else if target.isNXP {
            let factory = controls.first { $0.isLock }?.value
            if let product = Type2Product(capabilitySize: container.sizeByte, lockControl: factory) {
                fastRead = product.features.contains(.fastRead) ? .usable : .unusable
            }
        }
    }

    /// Distinguishes an NTAG213 from NTAG203 and Ultralight C, whose data areas have the same size, by the page after
    /// the data area. Only an NTAG213 has BD in the last byte of that page (NTAG213/215/216 data sheet, 8.5.3).
    ///
    /// The page is only used if it was already read, or if a READ for the end of the message returns it anyway. So
    /// FAST_READ is never tried on a full Ultralight C.
    private func lookForFastRead(_ pages: Range<Int>) async throws(TagError) {
        let page = 0x28
        guard fastRead == .unknown, target.isNXP,
            capabilityContainer?.sizeByte == Type2Product.ntag213.capabilitySize
        else { return }
        if !memory.contains(page) {
            guard let run = memory.firstUnknownRun(in: pages), run.upperBound == page, run.count % 4 != 0 else {
                return
            }
            try await performRead(page - 3)
        }
        fastRead = memory[unit: page]?.last == 0xBD ? .usable : .unusable
    }

    // MARK: Writing a page

    /// Writes a page. Writing a page twice does no harm, so the write is repeated when an ACK is lost. If the tag
    /// refuses, the page's content is uncertain.
    func write(_ bytes: [UInt8], to page: Int) async throws(TagError) {
        // Until the tag confirms, the content of this page and of the message is uncertain.
        memory.forget(page)
        layout = nil
        if page == Self.containerPage { capabilityContainer = nil }
        let answer: Answer
        do throws(TagError) {
            answer = try await exchange(.write(page, bytes))
        } catch {
            throw error.ofWrite
        }
        switch answer {
        case .bytes: memory.store(bytes, at: page)
        case .refused(let nibble):
            let reason = "The tag refused to write page \(page) (NAK \(nibble); NFC Forum T2T 1.2, 5.3)."
            throw TagError(.updateFailed, reason)
        }
    }

    // MARK: Data besides the message

    /// Identifies the product by GET_VERSION. For tags without this command, the size of the memory decides.
    ///
    /// - Returns: the name as its manufacturer writes it, such as `NTAG213` or `MIFARE Ultralight C`; nil when unknown.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `cancelled`, `readerUnavailable`.
    public func identifyProduct() async throws(TagError) -> String? {
        let product = try await product()
        return try await readVersion().flatMap { Type2Product.name(version: $0) } ?? product?.name
    }

    /// Returns the product, or one with the same memory and locks. The commands for it are sent only once.
    package func product() async throws(TagError) -> Type2Product? {
        guard target.isNXP else { return nil }
        if let version = try await readVersion() { return Type2Product(version: version) }
        // Memory size distinguishes the products without GET_VERSION, if the reader was able to send that command.
        guard canRequestVersion else { return nil }
        // NTAG203 ends at page 41, Ultralight at page 15, Ultralight C at page 47.
        if try await answersRead(42) { return .ultralightC }
        if try await answersRead(16) { return .ntag203 }
        // An Ultralight has no password, so all of its pages can be read.
        return try await answersRead(15) ? .ultralight : .ultralightC
    }

    func answersRead(_ page: Int) async throws(TagError) -> Bool {
        if memory.contains(page) { return true }
        guard case .bytes = try await exchange(.read(page)) else { return false }
        return true
    }

    /// Requests the eight bytes of GET_VERSION, only once (NTAG213/215/216 data sheet, 10.1); nil when the tag lacks
    /// the command or its reader can't send it.
    package func readVersion() async throws(TagError) -> [UInt8]? {
        if let version { return version }
        let answer = try await ask(.getVersion)
        let found = answer?.count == 8 ? answer : nil
        version = .some(found)
        return found
    }

    /// Returns the 32 bytes of READ_SIG; nil when the tag lacks the command or its reader can't send it.
    package func readSignature() async throws(TagError) -> [UInt8]? { try await ask(.readSignature) }

    /// Returns the signature in an ST25TN's pages 34 to 3B; nil when they can't be read.
    package func readSTSignature() async throws(TagError) -> [UInt8]? {
        guard let first = try await ask(.read(0x34)), let second = try await ask(.read(0x38)) else { return nil }
        return first.count == 16 && second.count == 16 ? first + second : nil
    }

    /// Reads a counter, 0 to 2, with READ_CNT, and its state with CHECK_TEARING_EVENT; nil when the tag refuses to read
    /// it. `tearing` is nil for tags without that command.
    package func readCounter(_ number: UInt8) async throws(TagError) -> (count: UInt32, tearing: UInt8?)? {
        guard let bytes = try await ask(.readCounter(number)) else { return nil }
        let count = UInt32(bytes: bytes.reversed())
        return (count, try await ask(.checkTearing(number))?.first)
    }

    /// Reads the first `count` pages; nil when the tag refuses to read any of them.
    package func readPages(_ count: Int) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            // The first pages get a READ of their own: a READ from page 1 or 2 would look like a rollover.
            if !(0..<4).allSatisfy({ memory.contains($0) }) { try await performRead(0) }
            try await fetch(0..<count)
        } catch {
            guard error.isRefusedRead || error.code == .badAnswer else { throw error }
            return nil
        }
        let pages = (0..<count).compactMap { memory[unit: $0] }
        return pages.count == count ? Array(pages.joined()) : nil
    }

    /// The pages from 0 on that were read so far, up to the first that was not. After ``readPages(_:)`` returned nil,
    /// these are the pages before the first that the tag refused.
    package var pagesReadSoFar: [UInt8] {
        let count = (0..<Self.maximumPageCount).first { !memory.contains($0) } ?? Self.maximumPageCount
        return Array((0..<count).compactMap { memory[unit: $0] }.joined())
    }

    // MARK: Exchanges

    /// The 4-bit answer that confirms a command.
    package static let acknowledge: UInt8 = 0x0A
    /// The number of times that a command is repeated. All Type 2 commands sent here may be repeated.
    static let retries = 2
    /// How long to wait after the second part of SECTOR SELECT. The tag confirms by not answering (NFC Forum T2T 1.2,
    /// 5.4).
    private static let passiveAcknowledgeTime = Airtime.milliseconds(1)

    enum Answer {
        case bytes([UInt8])
        /// The tag refused with these four bits, and is now in the IDLE or HALT state.
        case refused(UInt8)
    }

    /// Sends an optional command; nil when the tag refuses it or does not answer, or its reader can't send it. The tag
    /// is then woken before its next command.
    func ask(_ command: Type2Command, retries: Int = 1) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            if case .bytes(let bytes) = try await exchange(command, retries: retries) { return bytes }
        } catch {
            switch error.code {
            case .badAnswer: isActive = false
            // The command did not reach the tag, so its state does not change.
            case .unsupported: if case .getVersion = command { canRequestVersion = false }
            default: throw error
            }
        }
        return nil
    }

    /// Sends a command, and repeats it a few times until the tag answers.
    ///
    /// After a damaged answer the command is sent again. After a timeout, or a NAK that reports a damaged command, the
    /// tag is first woken and selected by its UID. The returned answer has the length that the command requires.
    func exchange(_ command: Type2Command, retries: Int = Type2Tag.retries) async throws(TagError) -> Answer {
        if let lost { throw lost }
        var failures = 0
        while true {
            try await activate()
            if let wanted = command.sector, wanted != sector { try await selectSector(wanted) }
            let frame: Frame
            do throws(LinkError) {
                frame = try await link.transceive(command.frame, timeout: command.timeout)
            } catch {
                failures += 1
                let (name, rule) = command.reference
                switch error.code {
                case .timeout:
                    isActive = false
                    guard failures > retries else { continue }
                    // The tag either left, or never answers this command. Activating it distinguishes the two cases.
                    try await activate()
                    let reason = "The tag is present, but does not answer \(name) (\(rule))."
                    throw TagError(.badAnswer, reason, link: error)
                case .transmission, .collision:
                    // The tag may have confirmed and be waiting for the sector number, so it is selected again.
                    if case .sectorSelect = command { isActive = false }
                    guard failures > retries else { continue }
                    throw TagError(
                        .badAnswer,
                        "The answer to \(name) was damaged \(failures) times (\(TagError.framingRule(.nfcA))).",
                        link: error
                    )
                default:
                    // The tag's state is unchanged if the reader could not send the frame.
                    if ![.unsupported, .frameTooLong, .tagRemoved].contains(error.code) { isActive = false }
                    throw TagError(link: error).remembered(in: &lost)
                }
            }
            if let nibble = frame.nibble, nibble != Self.acknowledge {
                isActive = false
                failures += 1
                // NAK 1 means that the command arrived with wrong parity or checksum.
                if nibble == 1, failures <= retries { continue }
                return .refused(nibble)
            }
            return .bytes(try check(frame, command))
        }
    }

    /// Checks that an answer has the length that the command requires.
    private func check(_ frame: Frame, _ command: Type2Command) throws(TagError) -> [UInt8] {
        if command.answerLength == 0, frame.nibble == Self.acknowledge { return [] }
        guard command.answerLength > 0, frame.validBitsInLastByte == 8, frame.bytes.count == command.answerLength else {
            // The tag's state after such an answer is unknown.
            isActive = false
            let (name, rule) = command.reference
            let wanted = command.answerLength == 0 ? "a 4-bit ACK" : "\(command.answerLength) bytes"
            throw TagError(
                .badAnswer,
                "The answer to \(name) has \(frame.bitCount) bits instead of \(wanted) (\(rule))."
            )
        }
        return frame.bytes
    }

    /// Makes sure that the tag is ACTIVE. As far as these procedures know, it is ACTIVE unless it refused their last
    /// command.
    package func activate() async throws(TagError) {
        guard !isActive else { return }
        do throws(TagError) {
            try await NFCAActivation(link: link).reactivate(target)
        } catch {
            throw error.remembered(in: &lost)
        }
        isActive = true
        sector = 0
    }

    /// Selects a sector (NFC Forum T2T 1.2, 5.4). Its two parts take time, so pages are read and written in order.
    private func selectSector(_ wanted: Int) async throws(TagError) {
        for attempt in 0...Self.retries {
            guard case .bytes = try await exchange(.sectorSelect) else {
                throw TagError(
                    .lengthOverrun,
                    """
                    The capability container gives an area in sector \(wanted), but the tag has no SECTOR SELECT (NFC \
                    Forum T2T 1.2, 5.4).
                    """
                )
            }
            do throws(LinkError) {
                let number = Frame([UInt8(wanted), 0, 0, 0])
                let answer = try await link.transceive(number, timeout: Self.passiveAcknowledgeTime)
                isActive = false
                // NAK 1 means that the sector number arrived damaged. The sector may exist.
                guard answer.nibble == 1 else { break }
            } catch {
                if error.code == .timeout {
                    sector = wanted
                    return
                }
                // After noise instead of silence, the selected sector is unknown until the tag is selected again.
                isActive = false
                if TagError(fatal: error) != nil || attempt == Self.retries {
                    throw TagError(link: error, over: .nfcA).remembered(in: &lost)
                }
            }
        }
        let reason = "The tag refuses to select sector \(wanted) of its data area (NFC Forum T2T 1.2, 5.4)."
        throw TagError(.lengthOverrun, reason)
    }
}
