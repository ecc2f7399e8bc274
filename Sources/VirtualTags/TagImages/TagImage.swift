// SPDX-License-Identifier: Apache-2.0
public import VirtualTags

/// The image of a tag in a file: read it, put it in a field as a virtual tag, and write it back after changes.
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
/// Unknown parts of a file stay: a file that was read and not changed is written byte for byte. Nothing is lost without
/// an error: a format that can't store something reports it.
public struct TagImage: Sendable {
    /// The maximum size of a file, in bytes. Images of the largest product take a tenth of it.
    public static let maximumSize = 1 << 18

    /// The file's format.
    public let format: Format

    /// The contents of the tag.
    public var contents: TagContents

    /// The file that the image was read from.
    let source: (any ImageSource)?

    /// Creates an image of a tag.
    ///
    /// - Parameters:
    ///   - contents: the contents of the tag.
    ///   - format: the format for writing; ``Format/canHold(_:)`` returns whether it is suitable.
    public init(_ contents: TagContents, format: Format = .json) {
        self.contents = contents
        self.format = format
        source = nil
    }

    /// Creates an image of a Type 2 tag.
    ///
    /// - Parameters:
    ///   - contents: the contents of the tag.
    ///   - format: the format for writing.
    public init(_ contents: Type2Contents, format: Format = .json) {
        self.init(.type2(contents), format: format)
    }

    /// The NFC Forum platform of the tag, 1 to 5; nil for a tag of none of them.
    public var tagType: Int? { contents.tagType }

    /// The product's name, such as `NTAG215`.
    public var product: String { contents.product }

    /// The UID.
    public var uid: [UInt8] { contents.uid }

    /// Creates a virtual tag with the contents of the image.
    public func makeTag() -> any VirtualTag {
        contents.makeTag()
    }

    /// Stores a tag's current contents in the image.
    ///
    /// - Parameter tag: the tag that ``makeTag()`` created. A tag of another kind changes nothing.
    public mutating func update(from tag: any VirtualTag) {
        guard let now = TagContents(of: tag), now.tagType == tagType, now.product == product else { return }
        contents = now
    }
}
