// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagProtocols
public import VirtualTags

/// A tag of a ``TestField``: what it holds can be asked at any time, without the code under test noticing.
public final class NearbyTag: Sendable, CustomStringConvertible {
    /// The product's name and the UID.
    public let description: String
    /// The tag itself, for tests that look into its silicon.
    public let virtual: any VirtualTag
    /// What it held when it was made; nil where that can't be copied, as of a script.
    public let before: TagContents?
    private weak let field: TestField?

    init(_ virtual: any VirtualTag, in field: TestField) {
        self.virtual = virtual
        self.field = field
        before = TagContents(of: virtual)
        description = "\(before?.product ?? "card") \(virtual.identifier.hexText())"
    }

    /// What the tag holds now.
    ///
    /// - Throws: ``FieldError`` with `fieldIsGone`, `notVirtual` on a reader, or `badTag` for a tag whose contents can't
    ///   be copied.
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

    /// The message that the tag holds now.
    ///
    /// - Throws: ``FieldError`` with `fieldIsGone`, or `badTag` when the tag does not hold NDEF, or none that can be read.
    public func message() async throws(FieldError) -> TagMessage {
        try await Self.message(of: contents())
    }

    static func message(of contents: TagContents) async throws(FieldError) -> TagMessage {
        do throws(TagError) {
            return TagMessage(octets: try await TagDesk.read(contents).message)
        } catch {
            throw FieldError(.badTag, error.reason)
        }
    }
}
