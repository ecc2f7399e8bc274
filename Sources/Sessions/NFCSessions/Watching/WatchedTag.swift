// SPDX-License-Identifier: Apache-2.0
public import TagProtocols

/// A tag that a ``TagWatcher`` has found and selected, for the function that works with it.
///
/// It is good until that function returns. It is not Sendable, so that it stays with whoever uses the reader.
public struct WatchedTag {
    private let tag: ActivatedTag

    init(_ tag: ActivatedTag) {
        self.tag = tag
    }

    /// The data that the tag sent when it was activated.
    public var target: TagTarget { tag.target }

    /// The NDEF procedures of its type; nil when there are none for its kind.
    public var forumTag: (any ForumTag)? { tag.forumTag }

    /// Reads the tag's status and its message. A tag without NDEF, or of a kind that has none, is a result.
    ///
    /// - Throws: `TagError` with `tagLost`, `badAnswer`, `refused`, `cancelled`, `readerUnavailable`.
    public func survey() async throws(TagError) -> NDEFStatusReport { try await tag.read().survey }

    /// Asks the tag for its product; nil if it does not say, or has left.
    public func productName() async -> String? { await tag.productName() }
}
