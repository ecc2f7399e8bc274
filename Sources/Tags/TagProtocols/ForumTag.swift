// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The reader's side of an NFC Forum tag that is activated and ready for commands.
///
/// Use a tag from one task at a time. It caches the memory that it reads, so detection and reading never fetch the same
/// bytes twice. After ``TagError/Code/tagLost``, every call throws this error again until the tag is found again.
public protocol ForumTag: AnyObject {
    /// The tag's type; nil for a MIFARE Classic, which has none.
    var type: ForumTagType? { get }

    /// Runs the NDEF detection procedure of the tag's type.
    ///
    /// - Returns: the result. It is cached until a write, so a second call sends nothing.
    /// - Throws: ``TagError`` with `noCapabilityContainer`, `badVersion`, `noMessageTLV`, `lengthOverrun`,
    ///   `badChecksum` or `writeInProgress` when the tag does not hold NDEF, `readProtected` when reading requires its
    ///   password, `tagLost`, `badAnswer`, `cancelled`.
    func detectNDEF() async throws(TagError) -> NDEFDetection

    /// Reads the NDEF message.
    ///
    /// - Returns: the message's bytes as stored on the tag; empty for an empty tag.
    /// - Throws: ``TagError`` as ``detectNDEF()`` does.
    func readNDEF() async throws(TagError) -> [UInt8]

    /// Writes an NDEF message. If the tag is lost during the write, it contains the old message, no message, or the new
    /// message.
    ///
    /// This holds when the tag is lost between two commands. A tag that loses power while it programs a unit of memory
    /// may mix old and new bits in that unit. If the unit holds the message's length, the tag may report any length
    /// afterwards, or an invalid length. These single writes have that risk:
    /// - Types 1, 2 and 5: the write that sets the length to 0, and the last write, which sets the new length. They are
    ///   a single write if the length was 0 before, or if length and message share a unit.
    /// - Type 4: the UPDATE BINARY that sets NLEN to 0 and the one that sets the new NLEN, or the single command that
    ///   writes both length and message. Cards that program a command completely or not at all avoid the risk.
    /// - Type 3: no writes. FeliCa programs a block completely or not at all.
    ///
    /// A tag with an invalid length can still be written. The new message replaces its content.
    ///
    /// - Parameter message: the message's bytes; an empty array empties the tag.
    /// - Throws: ``TagError`` with `readOnly` and `messageTooLong` before anything is written, `updateFailed` when the
    ///   tag refused a write, `tagLost`, and the errors of ``detectNDEF()``, except the error for an invalid length.
    func writeNDEF(_ message: [UInt8]) async throws(TagError)

    /// Makes the tag permanently read-only.
    ///
    /// - Throws: ``TagError`` with `readOnly` for a tag that is already read-only, `keyNeeded`, `updateFailed`,
    ///   `unsupported`, `tagLost`.
    func lock() async throws(TagError)

    /// Checks whether ``lock()`` would fail, as far as the tag reports the reason: locking needs a key or a password,
    /// or the lock bits of a Type 2 tag can no longer be set. Writes nothing.
    ///
    /// Call this before you write a message to a tag that you will lock afterwards.
    ///
    /// - Throws: ``TagError`` with `keyNeeded` when a key is needed, `readOnly`, `unsupported`, `tagLost`, `cancelled`,
    ///   and the errors of ``detectNDEF()``.
    func checkLocking() async throws(TagError)

    /// Formats a blank tag as an empty NDEF tag, as far as that needs no key.
    ///
    /// - Throws: ``TagError`` with `unsupported` when this kind of tag can't be formatted, `readOnly`, `updateFailed`,
    ///   `refused`, `tagLost`, `badAnswer`, `cancelled`.
    func format() async throws(TagError)

    /// Returns whether the tag still answers. The check uses the shortest exchange that changes nothing.
    func isPresent() async -> Bool

    /// Clears the cached memory, so that the next procedure reads it from the tag again.
    func forgetMemory()

    /// Completes the activation: RATS or ATTRIB on a Type 4 tag, RID on a Type 1 tag. The first procedure does this if
    /// needed. Call this method to do it earlier, or to count it as part of the activation.
    ///
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `unsupported`, `readerUnavailable`, `cancelled`.
    func prepare() async throws(TagError)

    /// Notifies this object that other code has activated the tag, for example with ``NFCAActivation/reactivate(_:)``.
    /// It then stops assuming any state that a tag loses when it is deselected.
    func wasActivated()
}

/// A tag whose blocks can be locked one by one: Types 1, 2 (where they are pages) and 5.
package protocol BlockLockingTag: ForumTag {
    /// Makes blocks permanently read-only. The others, and the capability container, stay writable.
    ///
    /// - Parameters:
    ///   - blocks: the blocks, behind the capability container.
    ///   - performs: whether to lock them, or only to check that nothing prevents it.
    /// - Returns: those of the blocks that were writable before.
    /// - Throws: ``TagError`` with `unsupported` when these blocks can't be locked alone, `keyNeeded`, `updateFailed`,
    ///   `tagLost`, and the errors of ``ForumTag/detectNDEF()``.
    func lock(blocks: ClosedRange<Int>, performs: Bool) async throws(TagError) -> [Int]
}

extension Type1Tag: BlockLockingTag {}
extension Type2Tag: BlockLockingTag {}
extension Type5Tag: BlockLockingTag {}

extension BlockLockingTag {
    /// Checks that blocks are behind the capability container.
    func checkBehindContainer(_ blocks: ClosedRange<Int>, endingIn container: Int) throws(TagError) {
        guard blocks.lowerBound <= container else { return }
        let reason =
            "The capability container ends in block \(container). To make the whole tag read-only, lock it without blocks."
        throw TagError(.unsupported, reason)
    }
}

extension ForumTag {
    /// Does nothing: the default is for tags that need no further activation.
    public func prepare() async throws(TagError) {}

    /// Does nothing: the default is for tags that need no key for locking.
    public func checkLocking() async throws(TagError) {}

    /// Reads the tag's NDEF status and its message. A working tag without NDEF is a result, not an error.
    ///
    /// - Returns: the result.
    /// - Throws: the errors of ``detectNDEF()``, except those for which ``TagError/meansNotNDEF`` is true.
    public func queryNDEFStatus() async throws(TagError) -> NDEFStatusReport {
        var report = NDEFStatusReport()
        do throws(TagError) {
            report.detection = try await detectNDEF()
            report.message = try await readNDEF()
        } catch {
            guard error.meansNotNDEF else { throw error }
            report.error = error
        }
        return report
    }

    /// Checks after a write that the tag holds this message, by reading it from the tag again.
    ///
    /// - Throws: ``TagError`` with `updateFailed` when the tag holds something else, and the errors of ``readNDEF()``.
    public func checkNDEF(_ message: [UInt8]) async throws(TagError) {
        forgetMemory()
        guard try await readNDEF() == message else {
            throw TagError(.updateFailed, "The tag does not contain the written message. Write it again.")
        }
    }
}

/// The five tag types of the NFC Forum.
public enum ForumTagType: Int, Sendable, Hashable, CaseIterable {
    case type1 = 1
    case type2, type3, type4, type5
}

/// The result of the NDEF detection procedure.
public struct NDEFDetection: Sendable, Hashable {
    /// Whether a message can be written.
    public enum Access: Sendable, Hashable {
        case readWrite
        case readOnly
    }

    /// Whether a message can be written.
    public var access: Access
    /// The longest message that fits, in bytes.
    public var capacity: Int
    /// The length of the current message in bytes; 0 when the tag is empty.
    public var messageLength: Int

    /// Creates a result.
    public init(access: Access, capacity: Int, messageLength: Int) {
        self.access = access
        self.capacity = capacity
        self.messageLength = messageLength
    }
}

/// The NDEF content of a tag, or the reason why it has none.
public struct NDEFStatusReport: Sendable, Hashable {
    /// The result of the detection procedure; nil when it found no NDEF.
    public var detection: NDEFDetection?
    /// The message's bytes: empty for an empty tag, nil when no message can be read.
    public var message: [UInt8]?
    /// The reason why the tag does not hold NDEF; nil if it does.
    public var error: TagError?

    /// Creates a report; each argument is the property of that name.
    public init(detection: NDEFDetection? = nil, message: [UInt8]? = nil, error: TagError? = nil) {
        self.detection = detection
        self.message = message
        self.error = error
    }
}

// MARK: Creating tags

/// Creates the NDEF procedures for an NFC-A tag. The tag may still be halted; activate it before the first procedure.
///
/// - Returns: the tag; nil when this kind of tag (``NFCATarget/kindName``) has no NDEF procedures.
public func makeForumTag(for target: NFCATarget, link: any FrameLink) -> (any ForumTag)? {
    if target.isType1 { return Type1Tag(link: link) }
    if target.isType2 { return Type2Tag(target: target, link: link) }
    return target.isISODEP ? Type4Tag(link: ISODEP(link: link)) : nil
}

/// Creates the NDEF procedures for a Type B card; nil when the card does not support ISO-DEP.
public func makeForumTag(for target: NFCBTarget, link: any FrameLink) -> (any ForumTag)? {
    target.isISODEP ? Type4Tag(link: ISODEP(link: link, opening: .attribute(target))) : nil
}

/// Creates the NDEF procedures for a FeliCa card or tag, preferably found by polling for system 12FC.
public func makeForumTag(for target: NFCFTarget, link: any FrameLink) -> any ForumTag {
    Type3Tag(target: target, link: link)
}

/// Creates the NDEF procedures for an NFC-V tag. For a tag that is alone in the field, commands omit the UID and take
/// less time.
public func makeForumTag(for target: NFCVTarget, link: any FrameLink, isAlone: Bool) -> any ForumTag {
    Type5Tag(target: target, link: link, isAlone: isAlone)
}

/// Creates the NDEF procedures for a tag of any technology, which must be alone in its field; nil when this kind of tag
/// has none.
public func makeForumTag(for target: TagTarget, link: any FrameLink) -> (any ForumTag)? {
    switch target {
    case .nfcA(let target): makeForumTag(for: target, link: link)
    case .nfcB(let target): makeForumTag(for: target, link: link)
    case .nfcF(let target): makeForumTag(for: target, link: link)
    case .nfcV(let target): makeForumTag(for: target, link: link, isAlone: true)
    }
}

/// A tag of any technology, with the data from its activation.
public enum TagTarget: Sendable, Hashable {
    /// A tag found by REQA.
    case nfcA(NFCATarget)
    /// A card found by REQB.
    case nfcB(NFCBTarget)
    /// A tag found by polling.
    case nfcF(NFCFTarget)
    /// A tag found by an inventory.
    case nfcV(NFCVTarget)

    /// Creates a target from the data that a reader reports after activating a tag.
    ///
    /// - Throws: ``TagError`` with `badAnswer` when the data are invalid.
    public init(_ identity: DiscoveredTag.Identity) throws(TagError) {
        switch identity {
        case .nfcA(let atqa, let sak, let uid): self = .nfcA(NFCATarget(atqa: atqa, sak: sak, uid: uid))
        case .nfcB(let answer): self = .nfcB(try NFCBTarget(answer))
        case .nfcF(let idm, let pmm, let systemCode):
            guard idm.count == 8, pmm.count == 8 else {
                throw TagError(.badAnswer, "IDm and PMm do not have eight bytes each (JIS X 6319-4).")
            }
            self = .nfcF(NFCFTarget(idm: idm, pmm: pmm, systemCode: systemCode))
        case .nfcV(let uid, let dsfid):
            guard uid.count == 8 else {
                throw TagError(.badAnswer, "The UID does not have eight bytes (ISO/IEC 15693-3, 4.1).")
            }
            self = .nfcV(NFCVTarget(uid: uid, dsfid: dsfid))
        }
    }

    /// The technology with which the tag was found.
    public var technology: Technology {
        switch self {
        case .nfcA: .nfcA
        case .nfcB: .nfcB
        case .nfcF: .nfcF
        case .nfcV: .nfcV
        }
    }

    /// The tag's identifier: the UID for NFC-A and NFC-V, the PUPI for NFC-B, the IDm for NFC-F. Empty for a Type 1 tag
    /// before RID, and when the reader does not report the UID.
    public var identifier: [UInt8] {
        switch self {
        case .nfcA(let target): target.uid
        case .nfcB(let target): target.identifier
        case .nfcF(let target): target.idm
        case .nfcV(let target): target.uid
        }
    }

    /// Whether the tag supports ISO-DEP.
    public var isISODEP: Bool {
        switch self {
        case .nfcA(let target): target.isISODEP
        case .nfcB(let target): target.isISODEP
        case .nfcF, .nfcV: false
        }
    }

    /// The kind of tag, as written in a sentence.
    public var kindName: String {
        switch self {
        case .nfcA(let target): target.kindName
        case .nfcB: "Type B card"
        case .nfcF: "FeliCa tag"
        case .nfcV: "Type 5 tag"
        }
    }
}
