// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Makes the NDEF procedures that fit a tag, by what it said of itself in activation.
///
/// - Parameters:
///   - target: the tag as activation found it. It may be halted still; activate it before the first procedure.
///   - link: the NFC-A link over which it was activated.
/// - Returns: the tag, or nil when there are no procedures for its kind; ``NFCATarget/kindName`` says which that is.
public func makeForumTag(for target: NFCATarget, link: any FrameLink) -> (any ForumTag)? {
    target.isType2 ? Type2Tag(target: target, link: link) : nil
}
