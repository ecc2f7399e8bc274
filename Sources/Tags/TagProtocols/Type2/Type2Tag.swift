// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 2 tag from the reader's side: MIFARE Ultralight, NTAG and similar (NFC Forum T2T 1.2).
///
/// It reads with as little airtime as the tag allows, and caches the memory that it has read. Use it from one task at a
/// time. A command that times out or gets a damaged answer is repeated. After a timeout the tag is woken and selected
/// by its UID, so another tag in its place is never mistaken for it.
///
/// ```swift
/// let targets = try await NFCAActivation(link: link).activateAll()
/// if let target = targets.last, target.isType2 {
///     let message = try await Type2Tag(target: target, link: link).readNDEF()
/// }
/// ```
///
/// Memory is counted in pages of four bytes across all sectors. An NTAG I2C 2K has user memory in pages 4 to 255 of
/// sector 0 and 0 to 223 of sector 1. Here these are the pages 4 to 479 without a gap, and its dynamic lock bytes are
/// in page 480 (NT3H1201, 8.3). When the capability container describes an area longer than sector 0, the area
/// continues at page 0 of the next sector, as in NFC Forum T2T 1.2, 4.2. Control TLVs describe the bytes in between
/// that hold no data.
public final class Type2Tag: ForumTag {
    /// The tag's type: always Type 2.
    public var type: ForumTagType { .type2 }

    /// The tag as activation found it.
    public let target: NFCATarget

    /// The link to the tag.
    public let link: any FrameLink

    /// The memory that was read.
    var memory = Type2Memory()
    /// The capability container, once it was read and checked.
    var capabilityContainer: Type2CapabilityContainer?
    /// The position of the message, once it was found.
    var layout: TLVLayout?
    /// The control TLVs that were found, also in front of a message that is broken.
    var controls: [TLVControl] = []
    /// The answer to GET_VERSION. The inner nil means a tag without the command.
    var version: Type2Version??
    /// Whether the reader can send GET_VERSION, as far as it was tried.
    var canAskVersion = true
    /// Whether the tag has FAST_READ, as far as known.
    var fastRead = FastRead.unknown

    /// Whether the tag may have been given its password since it was activated, also by an app's own command. Then nothing
    /// is refused for a password before the tag refuses it.
    var mayBeAuthenticated = false
    /// Whether the tag is in the ACTIVE state, as far as known. One that is not has forgotten that it was given its password.
    var isActive = true {
        didSet { if !isActive { mayBeAuthenticated = false } }
    }
    /// The selected sector.
    var sector = 0
    /// The error that every procedure throws once the tag is lost.
    var lost: TagError?

    /// Whether a tag has FAST_READ.
    enum FastRead {
        case unknown, usable, unusable
    }

    /// Creates a tag that was just activated, with sector 0 selected.
    ///
    /// - Parameters:
    ///   - target: the tag as activation found it, in the ACTIVE state.
    ///   - link: the NFC-A link that it was activated over.
    public init(target: NFCATarget, link: any FrameLink) {
        self.target = target
        self.link = link
    }

    /// Notifies the tag that other code has just activated it. Sector 0 is selected then.
    public func wasActivated() {
        isActive = true
        mayBeAuthenticated = false
        sector = 0
        lost = nil
    }

    public func forgetMemory() {
        memory = Type2Memory()
        controls = []
        capabilityContainer = nil
        layout = nil
    }

    /// Returns whether the tag still answers: FAST_READ of one page if the tag has it, otherwise one READ.
    ///
    /// A tag that does not answer is selected by its UID before it counts as gone, because it may sleep after it
    /// refused another command. A tag that refuses is selected again, so that it accepts commands afterwards.
    ///
    /// - Returns: false when the tag is gone or another tag is in its place.
    public func isPresent() async -> Bool {
        do throws(TagError) {
            let page = Type2Memory.capabilityContainerPage
            let isFast = fastRead == .usable && sector == 0
            _ = try await exchange(isFast ? .fastRead(first: page, last: page) : .read(sector * 256 + page))
            try await activate()
            return true
        } catch {
            // A tag that answers anything is present, even if it refuses.
            return error.code == .badAnswer
        }
    }
}

extension Type2Tag {
    /// Runs the NDEF detection procedure (NFC Forum T2T 1.2, 6.2).
    ///
    /// It starts with READ of page 3, which returns the capability container and 12 bytes of the data area. It reads on
    /// only as far as the length of the NDEF message TLV. The first NDEF message TLV counts, and it is an error when
    /// its length runs past the data area. NULL, control, proprietary and unknown TLVs before it are skipped.
    ///
    /// - Returns: the result. A second call makes no exchange.
    /// - Throws: ``TagError`` with `noCapabilityContainer`, `badVersion`, `noMessageTLV`, `lengthOverrun`;
    ///   `readProtected` when the tag or its capability container does not grant free reading; `tagLost`, `badAnswer`,
    ///   `cancelled`.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let layout = try await locate()
        return layout.detection(isWritable: capabilityContainer?.isWritable == true)
    }

    /// Finds the NDEF message TLV.
    ///
    /// - Parameters:
    ///   - firstPage: the first page to read when none was read yet: 3, or 2 when the static lock bits are needed too.
    ///   - isForWriting: whether an NDEF message TLV with a broken length is found too, so that it can be written.
    func locate(
        startingAt firstPage: Int = Type2Memory.capabilityContainerPage,
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
                let page = address / Type2Memory.pageSize
                try await fetch(page..<min(page + 4, container.endPage))
            }
        }
    }

    /// Reads and checks the capability container.
    func readCapabilityContainer(startingAt firstPage: Int) async throws(TagError) -> Type2CapabilityContainer {
        if let capabilityContainer { return capabilityContainer }
        let page = Type2Memory.capabilityContainerPage
        if !memory.contains(page) { try await performRead(firstPage) }
        // The READ of page 2 rolled over where the password begins with page 3.
        if !memory.contains(page) { try await performRead(page) }
        let container = try Type2CapabilityContainer(memory[page: page] ?? [])
        capabilityContainer = container
        assessFastRead(container, [])
        return container
    }

    /// Derives from the memory read so far whether the tag has FAST_READ, without an exchange.
    ///
    /// Among NXP's products an area of 496, 872 or 1872 bytes means NTAG215, NTAG216 or NTAG I2C, and 128 bytes mean
    /// NTAG212 or Ultralight EV1. All of these have it. An area of 144 bytes means NTAG213, NTAG203 or Ultralight C,
    /// which differ in the control TLV from the factory. An area of 48 bytes is read as fast with READ.
    func assessFastRead(_ container: Type2CapabilityContainer, _ controls: [TLVControl]) {
        guard fastRead == .unknown else { return }
        if container.sizeByte <= 0x06 {
            fastRead = .unusable
        } else if target.isNXP {
            let factory = controls.first { $0.isLock }?.value
            if let product = NXPType2Product.inferred(sizeByte: container.sizeByte, lockControl: factory) {
                fastRead = product.hasFastRead ? .usable : .unusable
            }
        }
    }
}

extension Type2Tag {
    /// Formats a blank tag of a known product: writes an empty message, then the capability container.
    ///
    /// A tag that is formatted already is not changed. The capability container is written last, so a tag that is lost
    /// in between is either still blank or formatted.
    ///
    /// - Throws: ``TagError`` with `unsupported` when the product is unknown or its one-time programmable page 3 holds
    ///   something else; `readOnly` when the pages are locked or the container forbids writing;
    ///   `updateFailed`, `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        do throws(TagError) {
            _ = try await locate()
            return
        } catch {
            guard error.code == .noCapabilityContainer || error.code == .noMessageTLV else { throw error }
        }
        if let capabilityContainer, !capabilityContainer.isWritable { throw Self.forbiddenByContainer }
        guard let product = try await product() else {
            throw TagError(.unsupported, "The tag's product isn't known, so neither is how to format it.")
        }
        let page = Type2Memory.capabilityContainerPage
        try await fetch(page..<page + 1)
        let present = memory[page: page] ?? []
        let container = [Type2CapabilityContainer.magicNumber, 0x10, product.sizeByte, 0x00]
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

extension Type2Tag {
    /// Reads the NDEF message. Bytes that detection has read are not read again (NFC Forum T2T 1.2, 6.3).
    ///
    /// - Returns: the message's bytes as stored on the tag; empty when the tag is empty.
    /// - Throws: the errors of ``detectNDEF()``.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let layout = try await locate()
        let addresses = layout.messageAddresses
        guard let first = addresses.first, let last = addresses.last else { return [] }
        let pages = first / Type2Memory.pageSize..<last / Type2Memory.pageSize + 1
        try await lookForFastRead(pages)
        try await fetch(pages)
        return addresses.compactMap { memory[byte: $0] }
    }

    /// Distinguishes an NTAG213 from an NTAG203 and an Ultralight C by the page after their data areas, which have the
    /// same size. Only an NTAG213 has BD in the last byte of that page (NTAG213/215/216 data sheet, 8.5.3).
    ///
    /// The page is only used when it was read before, or comes with a READ that is needed for the end of the message
    /// anyway. So FAST_READ is never tried on a full Ultralight C.
    private func lookForFastRead(_ pages: Range<Int>) async throws(TagError) {
        let page = 0x28
        guard fastRead == .unknown, target.isNXP,
            capabilityContainer?.sizeByte == NXPType2Product.ntag213.sizeByte
        else { return }
        if !memory.contains(page) {
            guard let run = memory.firstUnknownRun(in: pages), run.upperBound == page, run.count % 4 != 0 else {
                return
            }
            try await performRead(page - 3)
        }
        fastRead = memory[page: page]?.last == 0xBD ? .usable : .unusable
    }

    /// Reads the pages of a range that were not read yet.
    ///
    /// - Parameter pages: the pages, counted across all sectors.
    /// - Throws: ``TagError`` with `lengthOverrun` or `refused` when the tag has no such page, `readProtected` when reading
    ///   it needs a password.
    func fetch(_ pages: Range<Int>) async throws(TagError) {
        let end = max(pages.upperBound, capabilityContainer?.endPage ?? 0)
        while let run = memory.firstUnknownRun(in: pages) {
            let plan = Type2ReadPlan(
                timing: FrameTiming(link.technology),
                maximumFrameLength: link.maximumFrameLength,
                fastRead: fastRead
            )
            switch plan.firstCommand(for: run, end: end) {
            case .fastRead(let first, let last): try await performFastRead(first, last)
            case .read(let page):
                try await performRead(page)
                // The requested pages were after a rollover in the answer: read them alone.
                if !memory.contains(run.lowerBound) { try await performRead(run.lowerBound) }
            default: return
            }
        }
    }

    /// Reads four pages (NFC Forum T2T 1.2, 5.2).
    ///
    /// When a tag has no more pages, or does not let the next ones be read, its answer continues at page 0. This is
    /// detected by the UID in pages 0 and 1, and such pages are not stored.
    func performRead(_ page: Int) async throws(TagError) {
        switch try await exchange(.read(page)) {
        case .bytes(let bytes): memory.store(bytes[0..<rolledOver(bytes) * Type2Memory.pageSize], at: page)
        case .refused(let nibble): throw try await unreadable(page, nibble)
        }
    }

    /// The error for a page that the tag refuses to read.
    private func unreadable(_ page: Int, _ nibble: UInt8) async throws(TagError) -> TagError {
        // NAK 1: the command arrived damaged, again and again.
        if nibble != 1, try await hasForData(page) {
            return TagError(
                .readProtected,
                "The tag lets page \(page) be read only with its password (NTAG213/215/216 data sheet, 8.8)."
            )
        }
        guard let area = capabilityContainer?.area, area.contains(page * Type2Memory.pageSize) else {
            return TagError(.refused, "The tag refuses to read page \(page) (NFC Forum T2T 1.2, 5.2).")
        }
        return TagError(
            .lengthOverrun,
            """
            The capability container gives a data area of \(area.count) bytes, but the tag refuses to read page \
            \(page) in it: it is smaller, or protected by a password (NFC Forum T2T 1.2, 4.5).
            """
        )
    }

    /// Returns whether the tag certainly has a page, for data or before it: all tags have the first 16.
    private func hasForData(_ page: Int) async throws(TagError) -> Bool {
        if page < Type2DynamicLock.firstPage { return true }
        guard target.isNXP else { return false }
        if let version = try await readVersion() { return page < NXPType2Product(version)?.endPage ?? 0 }
        // With a page behind those of an Ultralight it is an NTAG203 or an Ultralight C.
        guard canAskVersion, page < NXPType2Product.ntag203.endPage else { return false }
        return try await answersRead(Type2DynamicLock.firstPage)
    }

    /// Returns the index in an answer where the tag continued at page 0: 1 to 3, or 4 when it did not.
    private func rolledOver(_ bytes: [UInt8]) -> Int {
        let uid = target.uid
        guard uid.count == 7 else { return 4 }
        let header = [uid[0], uid[1], uid[2], NFCAActivation.cascadeTag ^ uid[0] ^ uid[1] ^ uid[2]] + uid[3..<7]
        return (1...3).first { bytes[($0 * 4)...].starts(with: header.prefix(16 - $0 * 4)) } ?? 4
    }

    /// Reads a range of pages at once, or finds out that the tag can't (NTAG213/215/216 data sheet, 10.3).
    private func performFastRead(_ first: Int, _ last: Int) async throws(TagError) {
        do throws(TagError) {
            let retries = fastRead == .usable ? Self.retries : 0
            if case .bytes(let bytes) = try await exchange(.fastRead(first: first, last: last), retries: retries) {
                memory.store(bytes, at: first)
                fastRead = .usable
                return
            }
        } catch {
            guard error.code == .badAnswer || error.code == .unsupported else { throw error }
            if error.code == .badAnswer { isActive = false }
        }
        // Refused, not answered, or of the wrong length: use READ.
        fastRead = .unusable
    }
}

/// Chooses between READ and FAST_READ by their airtime.
///
/// READ returns four pages in 2.06 ms. FAST_READ takes 0.79 ms plus 0.34 ms for each page, so it is faster for
/// everything except exactly four pages. While it is unknown whether the tag has FAST_READ, its first use is the test.
/// That takes no longer than GET_VERSION when the tag does not have it, and no extra time when it does. A tag without
/// it must be woken and selected again, which takes 3.7 ms with the NAK. So FAST_READ is only tried when it saves at
/// least two READs, which is from messages of about 46 bytes on.
struct Type2ReadPlan {
    var timing: FrameTiming
    /// The longest answer that the reader can receive, with its checksum.
    var maximumFrameLength: Int
    var fastRead: Type2Tag.FastRead

    /// The most pages in one request. With the checksum they fit into the 256 bytes of every reader's buffer.
    static let maximumFastReadPages = 60

    /// The number of pages that one FAST_READ may return.
    var fastReadPages: Int {
        min(Self.maximumFastReadPages, (maximumFrameLength - 2) / Type2Memory.pageSize)
    }

    /// Returns the first command to read a run of pages with.
    ///
    /// - Parameters:
    ///   - run: the pages to read, in one sector.
    ///   - end: the page after the last one that may be read. A READ near it starts earlier, so that it does not pass
    ///     it.
    func firstCommand(for run: Range<Int>, end: Int) -> Type2Command {
        let reads = (run.count + 3) / 4
        let sectorEnd = (run.lowerBound / 256 + 1) * 256
        let start = min(run.lowerBound, min(end, sectorEnd) - 4)
        let read = Type2Command.read(max(start, run.lowerBound - 3, sectorEnd - 256))
        guard fastRead != .unusable, fastReadPages > 0 else { return read }
        let count = min(run.count, fastReadPages)
        let fast = Type2Command.fastRead(first: run.lowerBound, last: run.lowerBound + count - 1)
        if fastRead == .unknown {
            let exchanges = (run.count + fastReadPages - 1) / fastReadPages
            guard reads - exchanges >= 2 else { return read }
        }
        return fast.cost(timing) < read.cost(timing) * ((count + 3) / 4) ? fast : read
    }
}

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

/// Exchanges with the tag: retries, reactivation and checks of the answers.
extension Type2Tag {
    /// The 4-bit answer that confirms a command.
    static let acknowledge: UInt8 = 0x0A
    /// How often a command is repeated. All Type 2 commands that are sent here may be repeated.
    static let retries = 2
    /// How long to wait after the second part of SECTOR SELECT. The tag confirms it by not answering (NFC Forum T2T
    /// 1.2, 5.4).
    static let passiveAcknowledgeTime = Airtime.milliseconds(1)

    /// The outcome of a command that the tag answered.
    enum Answer {
        case bytes([UInt8])
        /// The tag refused with these four bits, and is now in the IDLE or HALT state.
        case refused(UInt8)
    }

    /// Sends a command and repeats it until it is answered.
    ///
    /// After a damaged answer the command is sent again. After a timeout, and after a NAK that reports a damaged
    /// command, the tag is first woken and selected by its UID.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - retries: how often it is repeated.
    /// - Returns: the answer, with the length that belongs to the command, or the tag's refusal.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer` and the rule that the tag broke, `cancelled`,
    ///   `readerUnavailable`, `unsupported`.
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
                switch error.code {
                case .timeout:
                    isActive = false
                    guard failures > retries else { continue }
                    // The tag is either gone, or present and never answers this command. Only the former ends its use.
                    try await activate()
                    throw TagError(
                        .badAnswer,
                        "The tag is there, but does not answer \(command.name) (\(command.rule)).",
                        link: error
                    )
                case .transmission, .collision:
                    // The tag may have confirmed already and wait for the sector number: start again.
                    if case .sectorSelect = command { isActive = false }
                    guard failures > retries else { continue }
                    throw TagError(
                        .badAnswer,
                        "The answer to \(command.name) was damaged \(failures) times (\(TagError.framingRule(.nfcA))).",
                        link: error
                    )
                case .tagRemoved:
                    let failure = TagError(link: error)
                    lost = failure
                    throw failure
                default:
                    // A frame that the reader can't send has not reached the tag.
                    if error.code != .unsupported, error.code != .frameTooLong { isActive = false }
                    throw TagError(link: error)
                }
            }
            if let nibble = frame.nibble, nibble != Self.acknowledge {
                isActive = false
                failures += 1
                // NAK 1: the command's parity or checksum was wrong when it arrived.
                if nibble == 1, failures <= retries { continue }
                return .refused(nibble)
            }
            return .bytes(try check(frame, command))
        }
    }

    /// Checks that an answer has the length that belongs to the command.
    private func check(_ frame: Frame, _ command: Type2Command) throws(TagError) -> [UInt8] {
        if command.answerLength == 0, frame.nibble == Self.acknowledge { return [] }
        guard command.answerLength > 0, frame.validBitsInLastByte == 8, frame.bytes.count == command.answerLength else {
            // The tag's state after such an answer is unknown.
            isActive = false
            let wanted = command.answerLength == 0 ? "a 4-bit ACK" : "\(command.answerLength) bytes"
            throw TagError(
                .badAnswer,
                "The answer to \(command.name) has \(frame.bitCount) bits and has to be \(wanted) (\(command.rule))."
            )
        }
        return frame.bytes
    }

    /// Makes sure that the tag is ACTIVE, as far as these procedures know: it is not after it refused their last command.
    package func activate() async throws(TagError) {
        guard !isActive else { return }
        do throws(TagError) {
            try await NFCAActivation(link: link).reactivate(target)
        } catch {
            if error.code == .tagLost { lost = error }
            throw error
        }
        isActive = true
        sector = 0
    }

    /// Selects a sector (NFC Forum T2T 1.2, 5.4). Both parts take time, so pages are read and written in order.
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
                // NAK 1: the number arrived damaged. The sector may exist.
                guard answer.nibble == 1 else { break }
            } catch {
                if error.code == .timeout {
                    sector = wanted
                    return
                }
                // Noise instead of silence leaves the sector unknown. It is known again after the tag was selected
                // again.
                isActive = false
                if TagError(fatal: error) != nil || attempt == Self.retries {
                    let failure = TagError(link: error, over: .nfcA)
                    if failure.code == .tagLost { lost = failure }
                    throw failure
                }
            }
        }
        throw TagError(
            .lengthOverrun,
            "The tag refuses to select sector \(wanted), in which its data area lies (NFC Forum T2T 1.2, 5.4)."
        )
    }
}
