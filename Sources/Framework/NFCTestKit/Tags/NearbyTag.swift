// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagProtocols
public import VirtualTags

/// A tag of a ``TestField``. A test can read its contents at any time; the code under test does not notice it.
public final class NearbyTag: Sendable, CustomStringConvertible {
    /// The product's name and the UID.
    public let description: String
    /// The virtual tag, for tests that examine its internals.
    public let virtual: any VirtualTag
    /// The contents when the tag was created; nil when they can't be copied, such as those of a script.
    public let before: TagContents?
    /// Whether an exploration created it, as a second tag.
    let isCompanion: Bool
    private weak let field: TestField?

    init(_ virtual: any VirtualTag, in field: TestField, isCompanion: Bool = false) {
        self.virtual = virtual
        self.field = field
        self.isCompanion = isCompanion
        before = TagContents(of: virtual)
        description = "\(before?.product ?? "card") \(virtual.identifier.hexText())"
    }

    /// The tag's current contents.
    ///
    /// - Throws: ``FieldError`` with `fieldIsGone`, `notVirtual` on a reader, or `badTag` for a tag whose contents
    ///   can't be copied.
    public func contents() throws(FieldError) -> TagContents {
        guard field?.isOpen == true else { throw FieldError.fieldIsGone }
        guard field?.virtual != nil else {
            throw FieldError(.notVirtual, "What a tag on a reader holds is not known here. Let the app read it again.")
        }
        guard let contents = TagContents(of: virtual) else {
            throw FieldError(.badTag, "What a card of a script holds can't be asked. Look at field.trace instead.")
        }
        return contents
    }

    /// The tag's current message.
    ///
    /// - Throws: ``FieldError`` with `fieldIsGone`, or `badTag` when the tag does not hold NDEF, or its message can't
    ///   be read.
    public func message() async throws(FieldError) -> TagMessage {
        try await Self.message(of: contents())
    }

    static func message(of contents: TagContents) async throws(FieldError) -> TagMessage {
        do throws(TagError) {
            return TagMessage(octets: try await contents.readNDEF().message)
        } catch {
            throw FieldError(.badTag, error.reason)
        }
    }
}
