// SPDX-License-Identifier: Apache-2.0
import TagLink

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

    /// Reads an image, whose format is found from what is in it.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - format: tells apart the formats in which memory is without a header, ``Format/mfd`` and
    ///     ``Format/proxmarkBinary``; all others are told by their beginning.
    /// - Throws: ``TagImageError`` with `tooLarge`, `unknownFormat`, `malformed`, `missingField`, `inconsistent`, or
    ///   `unsupported` for a tag that there is no model of.
    public init(parsing bytes: [UInt8], as format: Format? = nil) throws(TagImageError) {
        guard bytes.count <= Self.maximumSize else {
            throw TagImageError(
                .tooLarge,
                "The file has \(bytes.count) octets; an image has at most \(Self.maximumSize)."
            )
        }
        let source = try Self.source(bytes, format)
        self.source = source
        self.format = source.format
        contents = source.contents
    }

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

    /// Finds the format from the first octets, and reads it.
    private static func source(_ bytes: [UInt8], _ format: Format?) throws(TagImageError) -> any ImageSource {
        let beginning = bytes.prefix(4096)
        let start = beginning.drop { [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        if start.starts(with: Array("Filetype:".utf8)) { return try FlipperFields.source(bytes) }
        // No text has a zero octet, and hardly a memory is without one.
        if !beginning.contains(0) {
            if ProxmarkText.begins(start) { return try ProxmarkText(parsing: bytes) }
            switch start.first {
            case UInt8(ascii: "{"): return try JSONImage.source(bytes)
            case UInt8(ascii: "#"), UInt8(ascii: "F"): return try FlipperFields.source(bytes)
            case UInt8(ascii: "<"): return try TagInfoReport(parsing: bytes)
            default: break
            }
        }
        return try MemoryDump(parsing: bytes, as: format)
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

    /// The image as a file of its format, as it is now.
    ///
    /// A file that was read keeps its number of pages, though the tag may have more.
    ///
    /// - Throws: ``TagImageError`` with `lossy` when the format can't hold all of what the tag holds.
    public func encoded() throws(TagImageError) -> [UInt8] {
        guard let bytes = source?.encoded(contents) ?? format.encoded(new: contents) else {
            throw TagImageError(.lossy, "\(format.name) has no place for such a tag: \(product).")
        }
        // Reading again is the proof that nothing was left out.
        if let source, bytes == source.bytes, contents == source.contents { return bytes }
        guard let again = try? Self.source(bytes, format),
            again.contents.completed(for: format) == contents.completed(for: format)
        else {
            let lost = (try? Self.source(bytes, format)).map {
                contents.completed(for: format).differences(from: $0.contents.completed(for: format))
            }
            let what = lost.flatMap { $0.isEmpty ? nil : $0.joined(separator: ", ") } ?? "a part of what it holds"
            throw TagImageError(.lossy, "\(format.name) can't hold this \(product) without losing \(what).")
        }
        return bytes
    }
}

extension ImageSource {
    var remarks: [TagImageRemark] { [] }
    var leftOut: [String] { [] }
}

/// What an image was read from, kept as it is.
protocol ImageSource: Sendable {
    /// The file's format.
    var format: TagImage.Format { get }
    /// The file.
    var bytes: [UInt8] { get }
    /// What the tag held.
    var contents: TagContents { get }
    /// What was found while the file was read.
    var remarks: [TagImageRemark] { get }
    /// The names of what ``contents`` has no place for.
    var leftOut: [String] { get }

    /// The file with what the tag holds now, all else as it was; nil when the format is not written.
    func encoded(_ now: TagContents) -> [UInt8]?
}

extension TagImage {
    /// The formats of files.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// The text files of Flipper Zero, `Filetype: Flipper NFC device`, versions 2 to 4.
        case flipper
        /// The project's own: one JSON object with `type`, `product`, `uid`, and what the type adds. An
        /// electronic travel document (`eMRTD`) has `mrz`, its machine readable zone, and `files` only where they don't
        /// follow from it.
        case json
        /// The JSON files of the Proxmark3 client, `"FileType"` `mfu`, `mfc v2`, `mfc v3`, `15693 v1` to `v5` and `topaz`.
        case proxmarkJSON = "proxmark-json"
        /// The `.bin` files of the Proxmark3 client: MIFARE Ultralight and NTAG with a header of 56 octets, ISO 15693 with
        /// one of 15, MIFARE Classic as it is.
        case proxmarkBinary = "proxmark-bin"
        /// The `.eml` files of the Proxmark3 client: the bytes of its `.bin` file as lines of hexadecimal digits, for MIFARE
        /// Classic, MIFARE Ultralight and NTAG.
        case proxmarkText = "proxmark-eml"
        /// The memory and nothing else, as the tools of libnfc have it: MIFARE Classic, MIFARE Ultralight and NTAG.
        case mfd
        /// The XML reports of NXP's TagInfo. They are read, and not written: they lack what a phone can't read.
        case tagInfo = "taginfo"

        /// The format's name, as sentences have it.
        var name: String {
            switch self {
            case .flipper: "A Flipper file"
            case .json: "A JSON image"
            case .proxmarkJSON: "A Proxmark3 JSON file"
            case .proxmarkBinary: "A Proxmark3 .bin file"
            case .proxmarkText: "A Proxmark3 .eml file"
            case .mfd: "An .mfd file"
            case .tagInfo: "A TagInfo report"
            }
        }
    }
}

extension TagImage.Format {
    /// Whether files of the format are written; reports of TagInfo are only read.
    public var isWritten: Bool { self != .tagInfo }

    /// Whether a new file of the format can hold a tag without loss.
    public func canHold(_ contents: TagContents) -> Bool {
        (try? TagImage(contents, format: self).encoded()) != nil
    }

    /// A new file, or nil when the format has no place for a tag of the kind.
    func encoded(new contents: TagContents) -> [UInt8]? {
        switch self {
        case .flipper: FlipperFields.encoded(new: contents)
        case .json: JSONImage.encoded(new: contents)
        case .proxmarkJSON: ProxmarkJSON.encoded(new: contents)
        case .proxmarkBinary, .mfd: MemoryDump.encoded(new: contents, format: self)
        case .proxmarkText: ProxmarkText.encoded(new: contents)
        case .tagInfo: nil
        }
    }
}
