// SPDX-License-Identifier: Apache-2.0

/// A tag in a file: read from one, put in a field as a virtual tag, and written back after it has changed.
///
/// ```swift
/// var image = try TagImage(parsing: bytes)
/// let tag = image.makeTag()
/// field.bring(tag)
/// // … a session reads and writes …
/// image.update(from: tag)
/// let changed = image.encoded()
/// ```
///
/// What an image does not understand it keeps: a file that was read and not changed is written octet for octet.
public struct TagImage: Sendable {
    /// The formats of files.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// The text files of Flipper Zero, `Filetype: Flipper NFC device`, versions 2 to 4.
        case flipper
        /// One JSON object with `type`, `product`, `uid` and `memory_hex`, and where they differ from the product's own
        /// `atqa`, `sak`, `get_version`, `signature`, `counters`, `tearing_flags` and `failed_authentications`. An electronic travel document
        /// (`eMRTD`) has `mrz`, its machine readable zone, and `files` only where they don't follow from it.
        case json
    }

    /// The largest file that is read, in octets. Images of the largest product take a tenth of it.
    public static let maximumSize = 1 << 18

    /// The file's format.
    public let format: Format

    /// What the tag holds.
    public var contents: TagContents

    /// The text that the image was read from.
    private let source: Source?

    private enum Source: Sendable {
        case flipper(FlipperDump)
        case flipperTag(FlipperTagDump)
        case json(JSONImage)
    }

    /// Reads an image, whose format is found from its beginning.
    ///
    /// - Parameter bytes: the whole file.
    /// - Throws: ``TagImageError`` with `tooLarge`, `unknownFormat`, `malformed`, `missingField`, `inconsistent`, or
    ///   `unsupported` for a tag that there is no model of.
    public init(parsing bytes: [UInt8]) throws(TagImageError) {
        guard bytes.count <= Self.maximumSize else {
            throw TagImageError(
                .tooLarge,
                "The file has \(bytes.count) octets; an image has at most \(Self.maximumSize)."
            )
        }
        guard let format = Self.format(of: bytes) else {
            throw TagImageError(.unknownFormat, "The file is neither a Flipper NFC file nor a JSON image.")
        }
        self.format = format
        switch format {
        case .flipper:
            if let dump = try FlipperTagDump(parsing: bytes) {
                source = .flipperTag(dump)
                contents = dump.contents
            } else {
                let dump = try FlipperDump(parsing: bytes)
                source = .flipper(dump)
                contents = .type2(dump.contents)
            }
        case .json:
            let image = try JSONImage(parsing: bytes)
            source = .json(image)
            contents = image.contents
        }
    }

    /// Creates an image of a tag.
    ///
    /// - Parameters:
    ///   - contents: what the tag holds.
    ///   - format: the format to write, where ``Format/canHold(_:)`` says that it can.
    public init(_ contents: TagContents, format: Format = .json) {
        self.contents = contents
        self.format = format.canHold(contents) ? format : .json
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

    /// Finds the format from the first octets.
    private static func format(of bytes: [UInt8]) -> Format? {
        let start = bytes.prefix(4096).drop { [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        switch start.first {
        case UInt8(ascii: "{"): return .json
        case UInt8(ascii: "#"), UInt8(ascii: "F"): return .flipper
        default: return nil
        }
    }

    /// The NFC Forum platform of the tag, 1 to 5.
    public var tagType: Int { contents.tagType }

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

    /// The image as a file of its format, as it is now.
    ///
    /// A file that was read keeps its number of pages, though the tag may have more.
    public func encoded() -> [UInt8] {
        switch source {
        case .flipper(let dump): dump.encoded(trimmed(to: dump.contents))
        case .flipperTag(let dump): dump.encoded(contents)
        case .json(let image): image.encoded(trimmed(to: image.contents))
        case nil:
            switch (format, contents) {
            case (.flipper, .type2(let contents)): FlipperDump.encoded(new: contents)
            default: JSONImage.encoded(new: contents)
            }
        }
    }

    /// What the tag holds, without the pages that the file does not have.
    private func trimmed(to original: TagContents) -> TagContents {
        switch (contents, original) {
        case (.type2(let contents), .type2(let original)): .type2(Self.trimmed(contents, to: original))
        default: contents
        }
    }

    private func trimmed(to original: Type2Contents) -> Type2Contents {
        contents.type2.map { Self.trimmed($0, to: original) } ?? original
    }

    private static func trimmed(_ contents: Type2Contents, to original: Type2Contents) -> Type2Contents {
        var trimmed = contents
        trimmed.memory.removeLast(max(0, contents.memory.count - original.memory.count))
        return trimmed
    }
}

extension TagImage.Format {
    /// Whether a new file of the format can hold a tag without loss. Files that were read can be changed in any format.
    public func canHold(_ contents: TagContents) -> Bool {
        self == .json || contents.type2 != nil
    }
}
