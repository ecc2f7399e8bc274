// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 2 tag from the reader's side: MIFARE Ultralight, NTAG and their like (NFC Forum T2T 1.2).
///
/// It reads in as little time on the air as the tag allows, and remembers what it has read. Use it from one task at a
/// time. A time-out or a damaged answer is tried again; after a time-out the tag is woken and selected by its UID, so
/// that another tag in its place is never taken for it.
///
/// ```swift
/// let targets = try await NFCAActivation(link: link).activateAll()
/// if let target = targets.last, target.isType2 {
///     let message = try await Type2Tag(target: target, link: link).readNDEF()
/// }
/// ```
///
/// Memory is counted in pages of four bytes through all sectors. An NTAG I2C 2K has user memory in pages 4 to 255 of
/// sector 0 and 0 to 223 of sector 1, which are pages 4 to 479 here without a gap; its dynamic lock bytes are in page
/// 480 (NT3H1201, 8.3). An area that its capability container says to be longer than sector 0 is taken to go on at
/// page 0 of the next sector, as NFC Forum T2T 1.2, 4.2 has it; what is not for data in between is named by control TLVs.
public final class Type2Tag: ForumTag {
    /// The tag's platform: always Type 2.
    public var type: ForumTagType { .type2 }

    /// What the tag said of itself when it was activated.
    public let target: NFCATarget

    /// The link over which it is reached.
    public let link: any FrameLink

    /// What is known of the memory.
    var memory = Type2Memory()
    /// The capability container, when it has been read and is good.
    var capabilityContainer: Type2CapabilityContainer?
    /// Where the message is, when it has been found.
    var layout: TLVLayout?
    /// What GET_VERSION said; the inner nil is a tag without the command.
    var version: Type2Version??
    /// Whether the reader can send GET_VERSION, as far as was tried.
    var canAskVersion = true
    /// Whether FAST_READ is worth sending.
    var fastRead = FastRead.unknown

    /// Whether the tag is ACTIVE, as far as the reader knows.
    var isActive = true
    /// The sector that is selected.
    var sector = 0
    /// The error that every procedure ends with once the tag is lost.
    var lost: TagError?

    /// What is known about FAST_READ.
    enum FastRead {
        case unknown, usable, unusable
    }

    /// Takes over a tag that has just been activated, with sector 0 selected.
    ///
    /// - Parameters:
    ///   - target: the tag as activation found it, ACTIVE.
    ///   - link: the NFC-A link over which it was activated.
    public init(target: NFCATarget, link: any FrameLink) {
        self.target = target
        self.link = link
    }

    /// Tells the procedures that someone else has just activated the tag, so that sector 0 is selected.
    public func wasActivated() {
        isActive = true
        sector = 0
    }

    public func forgetMemory() {
        memory = Type2Memory()
        capabilityContainer = nil
        layout = nil
    }

    /// Says whether the tag still answers: one page with FAST_READ where the tag has it, else one READ.
    ///
    /// A tag that is silent is selected by its UID before it counts as gone: it may sleep because it refused a command of
    /// somebody else. One that refuses is selected again, so that it takes commands afterwards.
    ///
    /// - Returns: false when the tag is gone or another one is in its place.
    public func isPresent() async -> Bool {
        do throws(TagError) {
            let page = Type2Memory.capabilityContainerPage
            let isFast = fastRead == .usable && sector == 0
            _ = try await exchange(isFast ? .fastRead(first: page, last: page) : .read(sector * 256 + page))
            try await activate()
            return true
        } catch {
            // A tag that answers at all is there, even where it refuses.
            return error.code == .badAnswer
        }
    }
}

/// What has been read of a Type 2 tag's memory, page by page.
///
/// Pages are counted through all sectors: page 256 is page 0 of sector 1. A byte's address is four times its page
/// plus its place in it.
struct Type2Memory: TLVSource {
    static let pageSize = 4
    /// Two sectors, the most that an area of 255 times 8 bytes can reach.
    static let maximumPageCount = 1024
    /// The page of the capability container (NFC Forum T2T 1.2, 4.1).
    static let capabilityContainerPage = 3
    /// The byte at which the data area starts.
    static let dataAreaStart = 16

    /// The bytes from address 0 on; those of unknown pages are 0.
    private var octets: [UInt8] = []
    /// Which pages have been read.
    private var isKnown: [Bool] = []

    /// Whether a page has been read.
    func contains(_ page: Int) -> Bool {
        page < isKnown.count && isKnown[page]
    }

    /// The four bytes of a page, or nil when it has not been read.
    subscript(page page: Int) -> [UInt8]? {
        contains(page) ? Array(octets[page * Self.pageSize..<(page + 1) * Self.pageSize]) : nil
    }

    /// The four bytes of a page, for a write plan.
    func unit(_ unit: Int) -> [UInt8]? { self[page: unit] }

    /// The byte at an address, or nil when its page has not been read.
    subscript(octet address: Int) -> UInt8? {
        contains(address / Self.pageSize) ? octets[address] : nil
    }

    /// Remembers whole pages.
    mutating func store(_ content: some RandomAccessCollection<UInt8>, at page: Int) {
        let count = min(content.count / Self.pageSize, Self.maximumPageCount - page)
        guard count > 0 else { return }
        let missing = page + count - isKnown.count
        if missing > 0 {
            isKnown += repeatElement(false, count: missing)
            octets += repeatElement(0, count: missing * Self.pageSize)
        }
        octets.replaceSubrange(
            page * Self.pageSize..<(page + count) * Self.pageSize,
            with: content.prefix(count * Self.pageSize)
        )
        for index in page..<page + count { isKnown[index] = true }
    }

    /// Forgets a page whose content is uncertain.
    mutating func forget(_ page: Int) {
        if page < isKnown.count { isKnown[page] = false }
    }

    /// The first pages of a range that have not been read, up to the next one that has or the end of the sector.
    func firstUnknownRun(in range: Range<Int>) -> Range<Int>? {
        guard let start = range.first(where: { !contains($0) }) else { return nil }
        let limit = min(range.upperBound, (start / 256 + 1) * 256)
        let end = (start..<limit).first(where: { contains($0) }) ?? limit
        return start..<end
    }
}
