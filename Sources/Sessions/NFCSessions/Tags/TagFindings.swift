// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagProtocols

/// The content of a tag, after reading or writing it, and the airtime that this took.
package struct TagReadResult: Sendable {
    /// The tag's UID, PUPI or IDm.
    package var identifier: [UInt8]
    /// The tag's type; nil when there are no procedures for its kind.
    package var type: ForumTagType?
    /// The product's name, as far as the tag reveals it.
    package var product: String?
    /// The tag's NDEF content.
    package var survey = NDEFSurvey()
    /// The airtime of the work after the activation; nil if the reader does not report it.
    package var cost: LinkStatistics?
    /// The airtime for finding and activating the tag, in its technology; nil if the reader does that itself.
    package var activation: LinkStatistics?

    /// Creates the findings before any work.
    package init(_ tag: ActivatedTag) {
        identifier = tag.target.identifier
        type = tag.forumTag?.type
    }

    /// Stores the complete UID of a Type 1 tag. It is in the tag's memory, and known after reading.
    mutating func noteIdentifier(of tag: any ForumTag) {
        if let uid = (tag as? Type1Tag)?.uid { identifier = uid }
    }
}
