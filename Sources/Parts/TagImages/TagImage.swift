// SPDX-License-Identifier: Apache-2.0
import TagLink
public import VirtualCards
public import VirtualTags

/// A tag in a file: read from one, put in a field as a virtual tag, and written back after it has changed.
///
/// ```swift
/// var image = try TagImage(parsing: bytes)
/// let tag = image.makeTag()
/// field.bring(tag)
/// // … a session reads and writes …
/// image.update(from: tag)
/// let changed = try image.encoded()
/// ```
///
/// What an image does not understand it keeps: a file that was read and not changed is written octet for octet. What a
/// format can't hold it says: nothing is left out without an error.
public struct TagImage: Sendable {
    /// The largest file that is read, in octets. Images of the largest product take a tenth of it.
    public static let maximumSize = 1 << 18

    /// The file's format.
    public let format: Format

    /// What the tag holds.
    public var contents: TagContents

    /// What the image was read from.
    let source: (any ImageSource)?

    /// Creates an image of a tag.
    ///
    /// - Parameters:
    ///   - contents: what the tag holds.
    ///   - format: the format to write; ``Format/canHold(_:)`` says whether it can.
    public init(_ contents: TagContents, format: Format = .json) {
        self.contents = contents
        self.format = format
        source = nil
    }

    /// Creates an image of a Type 2 tag.
    ///
    /// - Parameters:
    ///   - contents: what the tag holds.
    ///   - format: the format to write.
    public init(_ contents: Type2Contents, format: Format = .json) {
        self.init(.type2(contents), format: format)
    }

    /// The NFC Forum platform of the tag, 1 to 5; nil for a tag of none of them.
    public var tagType: Int? { contents.tagType }

    /// The product's name, such as `NTAG215`.
    public var product: String { contents.product }

    /// The UID.
    public var uid: [UInt8] { contents.uid }

    /// A virtual tag that holds what the image holds.
    public func makeTag() -> any VirtualTag {
        contents.makeTag()
    }

    /// Takes over what a tag holds now.
    ///
    /// - Parameter tag: the tag that ``makeTag()`` made; a tag of another kind changes nothing.
    public mutating func update(from tag: any VirtualTag) {
        guard let now = TagContents(of: tag), now.tagType == tagType, now.product == product else { return }
        contents = now
    }
}
