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
    var version: [UInt8]??
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
