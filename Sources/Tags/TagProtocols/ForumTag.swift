// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The five tag platforms of the NFC Forum.
public enum ForumTagType: Int, Sendable, Hashable, CaseIterable {
    case type1 = 1
    case type2, type3, type4, type5
}

/// What the NDEF detection procedure found on a tag.
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
    /// The length of the present message in bytes; 0 when the tag is empty.
    public var messageLength: Int

    /// Creates a result.
    public init(access: Access, capacity: Int, messageLength: Int) {
        self.access = access
        self.capacity = capacity
        self.messageLength = messageLength
    }
}

/// A tag of one of the NFC Forum's types, activated and ready, from the reader's side.
///
/// A tag is used by one task at a time. It remembers what it has read, so that detection and reading never fetch the
/// same bytes twice. After ``TagError/Code/tagLost`` it answers nothing more than the same error; find the tag anew.
public protocol ForumTag: AnyObject {
    /// The tag's platform.
    var type: ForumTagType { get }

    /// Runs the NDEF detection procedure of the tag's type.
    ///
    /// - Returns: what was found. An earlier result is returned again without an exchange, until a write.
    /// - Throws: ``TagError`` with `noCapabilityContainer`, `badVersion`, `noMessageTLV`, `lengthOverrun`,
    ///   `badChecksum` or `writeInProgress` when the tag does not hold NDEF, `tagLost`, `badAnswer`, `cancelled`.
    func detectNDEF() async throws(TagError) -> NDEFDetection

    /// Reads the NDEF message.
    ///
    /// - Returns: the message's bytes as they are on the tag; none when the tag is empty.
    /// - Throws: ``TagError`` as ``detectNDEF()`` does.
    func readNDEF() async throws(TagError) -> [UInt8]

    /// Writes an NDEF message in an order that leaves the old, an empty or the new message when the tag is lost.
    ///
    /// That holds for a tag that is lost between two commands, at any of them. A tag that loses its power while it
    /// programs a unit of memory may keep bits of both in it, and no order of commands helps where the unit holds the
    /// message's length. So there are windows, each one write command wide, after which the tag may say anything, or
    /// that its length is broken:
    /// - Types 1, 2 and 5: the write that sets the length to 0, and the last one, which sets the new length. Where the
    ///   length is 0 already, and where length and message share a unit, there is one.
    /// - Type 4: the UPDATE BINARY that sets NLEN to 0, and the one that sets the new NLEN; the only one, where one
    ///   command writes length and message. Cards that program a command whole or not at all have none.
    /// - Type 3: none. FeliCa programs a block whole or not at all.
    ///
    /// A tag whose length is broken can be written: a message takes the place of whatever was there.
    ///
    /// - Parameter message: the message's bytes; none to empty the tag.
    /// - Throws: ``TagError`` with `readOnly` and `messageTooLong` before anything is written, `updateFailed` when the
    ///   tag refused a write, `tagLost`, and as ``detectNDEF()`` does but for a message whose length is broken.
    func writeNDEF(_ message: [UInt8]) async throws(TagError)

    /// Makes the tag read-only, for ever.
    ///
    /// - Throws: ``TagError`` with `readOnly` when it is already, `keyNeeded`, `updateFailed`, `unsupported`, `tagLost`.
    func lock() async throws(TagError)

    /// Finds out, without writing anything, whether ``lock()`` would be refused for want of a key.
    ///
    /// For those who write a message first and lock the tag then, and want to know before they begin.
    ///
    /// - Throws: ``TagError`` with `keyNeeded` when it would, `tagLost`, `cancelled`, and as ``detectNDEF()`` does.
    func checkLocking() async throws(TagError)

    /// Says whether the tag still answers, by the cheapest exchange that changes nothing.
    func isPresent() async -> Bool

    /// Forgets what was read of the memory, so that the next procedure reads it from the tag.
    func forgetMemory()

    /// Does what is left of activation: RATS or ATTRIB on a Type 4 tag, RID on a Type 1 tag. The first procedure does it
    /// when it has not been done, so that this is for those who want it in time, or counted with activation.
    ///
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `unsupported`, `readerUnavailable`, `cancelled`.
    func prepare() async throws(TagError)

    /// Tells the procedures that someone else has just activated the tag, with ``NFCAActivation/reactivate(_:)`` for
    /// instance, so that what a tag forgets when it is deselected is not taken for granted.
    func wasActivated()
}

extension ForumTag {
    /// Nothing is left to do.
    public func prepare() async throws(TagError) {}

    /// Nothing is known against it.
    public func checkLocking() async throws(TagError) {}

    /// Checks after a write that the tag holds a message, by reading it from the tag anew.
    ///
    /// - Parameter message: the message's bytes; none for an empty tag.
    /// - Throws: ``TagError`` with `updateFailed` when the tag holds something else, and as ``readNDEF()`` does.
    public func checkNDEF(_ message: [UInt8]) async throws(TagError) {
        forgetMemory()
        guard try await readNDEF() == message else {
            throw TagError(.updateFailed, "The tag does not hold what was written to it. Write it again.")
        }
    }
}

/// Makes the NDEF procedures that fit a tag, by what it said of itself in activation.
///
/// - Parameters:
///   - target: the tag as activation found it. It may be halted still; activate it before the first procedure.
///   - link: the NFC-A link over which it was activated.
/// - Returns: the tag, or nil when there are no procedures for its kind; ``NFCATarget/kindName`` says which that is.
public func makeForumTag(for target: NFCATarget, link: any FrameLink) -> (any ForumTag)? {
    if target.isType1 { return Type1Tag(link: link) }
    if target.isType2 { return Type2Tag(target: target, link: link) }
    return target.isISODEP ? Type4Tag(link: ISODEP(link: link)) : nil
}

/// Makes the NDEF procedures for a Type B card.
///
/// - Parameters:
///   - target: the card as ``NFCBActivation`` found it.
///   - link: the NFC-B link over which it was found.
/// - Returns: the tag, or nil when the card does not speak ISO-DEP.
public func makeForumTag(for target: NFCBTarget, link: any FrameLink) -> (any ForumTag)? {
    target.isISODEP ? Type4Tag(link: ISODEP(link: link, opening: .attribute(target))) : nil
}

/// Makes the NDEF procedures for a FeliCa card or tag.
///
/// - Parameters:
///   - target: the tag as ``NFCFPolling`` found it, best for system 12FC.
///   - link: the NFC-F link over which it was found.
/// - Returns: the tag.
public func makeForumTag(for target: NFCFTarget, link: any FrameLink) -> any ForumTag {
    Type3Tag(target: target, link: link)
}

/// Makes the NDEF procedures for an NFC-V tag.
///
/// - Parameters:
///   - target: the tag as ``NFCVInventory`` found it.
///   - link: the NFC-V link over which it was found.
///   - isAlone: whether the inventory found no other tag; then commands go without the UID, and take less time.
/// - Returns: the tag.
public func makeForumTag(for target: NFCVTarget, link: any FrameLink, isAlone: Bool) -> any ForumTag {
    Type5Tag(target: target, link: link, isAlone: isAlone)
}

/// Makes the NDEF procedures for a tag of any technology that is alone in its field.
///
/// - Parameters:
///   - target: what the tag said of itself.
///   - link: the link over which it was found.
/// - Returns: the tag, or nil when there are no procedures for its kind.
public func makeForumTag(for target: TagTarget, link: any FrameLink) -> (any ForumTag)? {
    switch target {
    case .nfcA(let target): makeForumTag(for: target, link: link)
    case .nfcB(let target): makeForumTag(for: target, link: link)
    case .nfcF(let target): makeForumTag(for: target, link: link)
    case .nfcV(let target): makeForumTag(for: target, link: link, isAlone: true)
    }
}

/// What a tag holds for NDEF, or why it holds none.
public struct NDEFSurvey: Sendable, Hashable {
    /// What the detection procedure found; nil when it found no NDEF.
    public var detection: NDEFDetection?
    /// The message's bytes, none when the tag is empty; nil when there is no message to be had.
    public var message: [UInt8]?
    /// The rule that keeps the tag from holding NDEF; nil when it holds some, or could.
    public var error: TagError?

    /// Creates a survey.
    public init(detection: NDEFDetection? = nil, message: [UInt8]? = nil, error: TagError? = nil) {
        self.detection = detection
        self.message = message
        self.error = error
    }
}

extension ForumTag {
    /// Reads the tag's status, then its message. A tag that is in order and holds no NDEF is a finding and not an error.
    ///
    /// - Returns: what was found.
    /// - Throws: ``TagError`` as ``detectNDEF()`` does, but for those whose ``TagError/meansNotNDEF`` is true.
    public func surveyNDEF() async throws(TagError) -> NDEFSurvey {
        var survey = NDEFSurvey()
        do throws(TagError) {
            survey.detection = try await detectNDEF()
            survey.message = try await readNDEF()
        } catch {
            guard error.meansNotNDEF else { throw error }
            survey.error = error
        }
        return survey
    }
}

extension TagError {
    /// Whether the tag is there and in order, but holds no NDEF.
    public var meansNotNDEF: Bool {
        switch code {
        case .noCapabilityContainer, .badVersion, .noMessageTLV, .lengthOverrun, .badChecksum, .writeInProgress: true
        default: false
        }
    }
}
