// SPDX-License-Identifier: Apache-2.0
public import TagLink

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
