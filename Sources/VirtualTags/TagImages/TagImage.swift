// SPDX-License-Identifier: Apache-2.0
import TagLink
public import VirtualTags

/// The image of a tag in a file. Read an image, put its tag in a field, and write the image back after changes.
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
/// Unknown parts of a file are kept, so an unchanged image is written byte for byte. If a format can't store something,
/// encoding throws an error.
public struct TagImage: Sendable {
    /// The maximum size of a file, in bytes. About ten times what the largest product needs.
    public static let maximumSize = 1 << 18

    /// The file's format.
    public let format: Format

    /// The contents of the tag.
    public var contents: TagContents

    /// The file from which the image was read; nil for a new image.
    let source: (any ImageSource)?

    /// Creates an image of a tag. ``Format/canHold(_:)`` checks whether a format is suitable.
    public init(_ contents: TagContents, format: Format = .json) {
        self.contents = contents
        self.format = format
        source = nil
    }

    /// Creates an image of a Type 2 tag.
    public init(_ contents: Type2Contents, format: Format = .json) {
        self.init(.type2(contents), format: format)
    }

    /// The tag's NFC Forum platform, 1 to 5; nil for other tags.
    public var tagType: Int? { contents.tagType }

    /// The product's name, such as `NTAG215`.
    public var product: String { contents.product }

    /// The UID.
    public var uid: [UInt8] { contents.uid }

    /// Creates a virtual tag with the contents of the image.
    public func makeTag() -> any VirtualTag { contents.makeTag() }

    /// Stores the current contents of the tag that ``makeTag()`` created. A tag of another type or product is ignored.
    public mutating func update(from tag: any VirtualTag) {
        let before = contents
        guard let now = TagContents(of: tag), now.tagType == tagType, now.product == product else { return }
        contents = now
        // Pages that the image lacked are left out again, unless the tag has changed them.
        guard case .type2(let old) = before, case .type2(var new) = now else { return }
        let count = old.memory.count
        guard count < new.memory.count, new.memory[count...] == old.completed.memory[count...] else { return }
        new.memory.removeSubrange(count...)
        contents = .type2(new)
    }
}

extension TagImage {
    /// A file format.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// The text files of Flipper Zero, `Filetype: Flipper NFC device`, versions 2 to 4.
        case flipper
        /// The project's own format: one JSON object with `type`, `product`, `uid`, and the members of the type. An
        /// electronic travel document (`eMRTD`) has `mrz`, its machine readable zone. It has `files` only if they
        /// differ from those derived from the zone.
        case json
        /// The JSON files of the Proxmark3 client, `"FileType"` `mfu`, `mfc v2`, `mfc v3`, `15693 v1` to `v5`,
        /// `topaz`, and `mfdes v1` for reading only.
        case proxmarkJSON = "proxmark-json"
        /// The `.bin` files of the Proxmark3 client: MIFARE Ultralight and NTAG with a header of 56 bytes, ISO 15693
        /// with a header of 15 bytes, MIFARE Classic without a header.
        case proxmarkBinary = "proxmark-bin"
        /// The `.eml` files of the Proxmark3 client: the bytes of its `.bin` file as lines of hexadecimal digits, for
        /// MIFARE Classic, MIFARE Ultralight and NTAG.
        case proxmarkText = "proxmark-eml"
        /// Only the memory, as the tools of libnfc write it: MIFARE Classic, MIFARE Ultralight and NTAG. An amiibo's
        /// may lack its password, or end with its signature. The memory of a Type 5 tag lacks the UID.
        case mfd
        /// The text files of MIFARE Classic Tool: `+Sector:` and the blocks in hexadecimal.
        case mct
        /// The XML and text reports of NXP's TagInfo, for reading only, because they lack the data that phones can't
        /// read.
        case tagInfo = "taginfo"

        var name: String {
            switch self {
            case .flipper: "A Flipper file"
            case .json: "A JSON image"
            case .proxmarkJSON: "A Proxmark3 JSON file"
            case .proxmarkBinary: "A Proxmark3 .bin file"
            case .proxmarkText: "A Proxmark3 .eml file"
            case .mfd: "An .mfd file"
            case .mct: "A file of MIFARE Classic Tool"
            case .tagInfo: "A TagInfo report"
            }
        }

        /// Whether files of this format can be written: false only for TagInfo reports.
        public var isWritten: Bool { self != .tagInfo }
    }
}

// MARK: Reading

extension TagImage {
    /// Reads an image. Its format is detected from its content.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - format: selects ``Format/mfd`` or ``Format/proxmarkBinary`` for memory without a header. All other formats
    ///     are detected by their first bytes.
    ///   - uid: the UID of a Type 5 tag whose file is only its memory, 8 bytes starting with E0; nil for a default one.
    /// - Throws: ``TagImageError`` with `tooLarge`, `unknownFormat`, `malformed`, `missingField`, `inconsistent`, or
    ///   `unsupported` for a tag without a model. Also `inconsistent` if the file has its own UID, or `uid` is not one.
    public init(parsing bytes: [UInt8], as format: Format? = nil, uid: [UInt8]? = nil) throws(TagImageError) {
        guard bytes.count <= Self.maximumSize else {
            let reason = "The file has \(bytes.count) bytes; an image has at most \(Self.maximumSize)."
            throw TagImageError(.tooLarge, reason)
        }
        let source = try Self.source(bytes, format, uid: uid)
        guard uid == nil || source.givenUID == uid else {
            throw TagImageError(.inconsistent, "The file has the tag's UID, so another UID can't be given.")
        }
        self.source = source
        self.format = source.format
        contents = source.contents
    }

    /// Detects the format from the first bytes, and reads the file.
    static func source(
        _ bytes: [UInt8],
        _ format: Format?,
        uid: [UInt8]? = nil
    ) throws(TagImageError) -> any ImageSource {
        let beginning = bytes.prefix(4096)
        let start = beginning.drop { [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        if start.starts(with: Array("Filetype:".utf8)) { return try FlipperTagDump(parsing: bytes) }
        // Text files never contain a zero byte; almost every memory does.
        if !beginning.contains(0) {
            if MCTDump.begins(start) { return try MCTDump(parsing: bytes) }
            if TagInfoReport.beginsAsText(start) { return try TagInfoReport(parsingText: bytes) }
            if ProxmarkText.begins(start) { return try ProxmarkText(parsing: bytes) }
            switch start.first {
            case UInt8(ascii: "{"): return try jsonSource(bytes)
            case UInt8(ascii: "#"), UInt8(ascii: "F"): return try FlipperTagDump(parsing: bytes)
            case UInt8(ascii: "<"): return try TagInfoReport(parsing: bytes)
            default: break
            }
        }
        return try MemoryDump(parsing: bytes, as: format, uid: uid)
    }

    /// Reads a JSON file of this project or of the Proxmark3 client.
    private static func jsonSource(_ bytes: [UInt8]) throws(TagImageError) -> any ImageSource {
        let fields = try JSONFields(parsing: bytes)
        if fields.hasValue("type") { return try JSONImage(bytes, fields) }
        if fields.hasValue("FileType") { return try ProxmarkJSON(bytes, fields) }
        throw TagImageError(
            .unknownFormat,
            "The JSON object has neither \"type\", as an image of a tag, nor \"FileType\", as a Proxmark3 file."
        )
    }
}

/// A file from which an image was read.
protocol ImageSource: Sendable {
    var format: TagImage.Format { get }
    var bytes: [UInt8] { get }
    var contents: TagContents { get }
    var remarks: [TagImageRemark] { get }
    /// The names of the parts that ``contents`` can't store.
    var leftOut: [String] { get }
    /// The UID that was given for a file without one; nil if none was.
    var givenUID: [UInt8]? { get }

    /// Returns the file with the tag's current contents, otherwise unchanged; nil when the format can't be written.
    func encoded(_ now: TagContents) -> [UInt8]?
}

extension ImageSource {
    var remarks: [TagImageRemark] { [] }
    var leftOut: [String] { [] }
    var givenUID: [UInt8]? { nil }
}

// MARK: Writing

extension TagImage {
    /// Returns the current image as a file of its format.
    ///
    /// An existing file keeps its number of pages, even if the tag has more.
    ///
    /// - Throws: ``TagImageError`` with `lossy` when the format can't store everything.
    public func encoded() throws(TagImageError) -> [UInt8] {
        let (bytes, lost) = try encodedWithLoss()
        guard !lost.isEmpty else { return bytes }
        throw TagImageError(.lossy, "\(format.name) can't hold this \(product) without losing \(Self.list(lost)).")
    }

    /// Returns the current image as a file of its format, and the names of everything that the file does not store.
    ///
    /// - Returns: the file, and the names of the members of a JSON image that are lost; none if nothing is.
    /// - Throws: ``TagImageError`` with `lossy` when the format can't store this kind of tag at all.
    public func encodedWithLoss() throws(TagImageError) -> (bytes: [UInt8], lost: [String]) {
        guard let bytes = source?.encoded(contents) ?? format.encoded(new: contents) else {
            throw TagImageError(.lossy, "\(format.name) can't store this kind of tag: \(product).")
        }
        // The new file is read again to prove that nothing was left out.
        if let source, bytes == source.bytes, contents == source.contents { return (bytes, []) }
        let again = try? Self.source(bytes, format, uid: source?.givenUID).contents
        let expected = contents.completed(for: format)
        guard let written = again?.completed(for: format) else {
            throw TagImageError(.lossy, "\(format.name) can't hold this \(product).")
        }
        var lost = written == expected ? [] : JSONImage.namesOfChanges(from: written, to: expected)
        if written != expected, lost.isEmpty { lost = ["a part of it"] }
        // A file of the whole memory does not say which of its pages were not read.
        if case .type2(let part) = contents, case .type2(let whole)? = again, part.memory.count < whole.memory.count {
            lost.append("which pages were not read")
        }
        return (bytes, lost)
    }
}

extension TagImage.Format {
    /// Returns whether a new file of the format can store a tag without loss.
    public func canHold(_ contents: TagContents) -> Bool {
        (try? TagImage(contents, format: self).encoded()) != nil
    }

    func encoded(new contents: TagContents) -> [UInt8]? {
        switch self {
        case .flipper: FlipperTagDump.encoded(new: contents)
        case .json: JSONImage.encoded(new: contents)
        case .proxmarkJSON: ProxmarkJSON.encoded(new: contents)
        case .proxmarkBinary, .mfd: MemoryDump.encoded(new: contents, format: self)
        case .proxmarkText: ProxmarkText.encoded(new: contents)
        case .mct: MCTDump.encoded(new: contents)
        case .tagInfo: nil
        }
    }
}

// MARK: Errors and remarks

/// The reason why a tag image could not be read or written. Two errors with the same code are equal.
public struct TagImageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name, as the command line prints it.
        public let description: String

        /// The file has an unknown format.
        public static let unknownFormat = Code(description: "unknown-format")
        /// A line or value does not follow the format.
        public static let malformed = Code(description: "malformed")
        /// Required data is missing. The file may have been cut off.
        public static let missingField = Code(description: "missing-field")
        /// Values contradict each other, such as more pages than the product has.
        public static let inconsistent = Code(description: "inconsistent")
        /// The format is known, but there is no model of this tag or version.
        public static let unsupported = Code(description: "unsupported")
        /// The file is larger than any image.
        public static let tooLarge = Code(description: "too-large")
        /// The format can't store everything that the tag contains.
        public static let lossy = Code(description: "lossy")
    }

    /// The kind of failure.
    public let code: Code
    /// The reason, as a sentence for people.
    public let reason: String
    /// The line of the file, counted from 1; nil if the error does not concern a single line.
    public let line: Int?

    /// Creates an error; each argument is the property of that name.
    public init(_ code: Code, _ reason: String, line: Int? = nil) {
        self.code = code
        self.reason = reason
        self.line = line
    }

    public var description: String { line.map { "\(code), line \($0): \(reason)" } ?? "\(code): \(reason)" }

    public static func == (lhs: TagImageError, rhs: TagImageError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// A remark about a difference between an image and the tag: a contradiction, missing data, or data that is left out.
///
/// An image with remarks is still usable. Reading an unusable file throws a ``TagImageError``.
public struct TagImageRemark: Sendable, Hashable, CustomStringConvertible {
    /// The kind of remark; new kinds may be added.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind's name, as the command line prints it.
        public let description: String

        /// Two parts of the file contradict each other, such as the UIDs in the header and in the memory.
        public static let contradiction = Kind(description: "contradiction")
        /// The file lacks a part of the real tag's data.
        public static let missing = Kind(description: "missing")
        /// A virtual tag can't store a part of the file. Converting the file to another format loses that part.
        public static let leftOut = Kind(description: "left-out")
    }

    /// The kind of remark.
    public let kind: Kind
    /// The remark, as a sentence for people.
    public let text: String

    /// Creates a remark; each argument is the property of that name.
    public init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    public var description: String { "\(kind): \(text)" }
}

extension TagImage {
    /// Remarks about data in the file that the virtual tag does not show, contradictions first.
    public var remarks: [TagImageRemark] {
        var remarks = contents.contradictions.map { TagImageRemark(.contradiction, $0) }
        remarks += contents.missingParts.map { TagImageRemark(.missing, $0) }
        let read = source?.remarks ?? []
        remarks += read.filter { $0.kind != .leftOut }
        let leftOut = source?.leftOut ?? []
        if !leftOut.isEmpty {
            let text = "A virtual tag can't store \(Self.list(leftOut)); a file of another format would lose it."
            remarks.append(TagImageRemark(.leftOut, text))
        }
        return remarks.filter { $0.kind == .contradiction } + remarks.filter { $0.kind != .contradiction }
    }

    /// Lists up to eight names for a sentence, and the number of remaining names.
    static func list(_ names: [String]) -> String {
        let shown = names.prefix(8).joined(separator: ", ")
        return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
    }
}

extension TagContents {
    /// Returns these contents with everything replaced that the format can't store. Missing pages become those of a new
    /// tag, and remains of older messages are removed if necessary.
    func completed(for format: TagImage.Format) -> TagContents {
        switch self {
        case .type2(var contents):
            contents = contents.completed
            // Only a product with CHECK_TEARING_EVENT shows the flags.
            if contents.countersOfProduct.count < 3 { contents.tearingFlags = [0xBD, 0xBD, 0xBD] }
            return .type2(contents)
        case .type4(var contents):
            guard format == .flipper, case .ndef(let files) = contents.kind else { return self }
            contents.kind = .ndef(files: FlipperTagDump.withUnusedBytesCleared(files))
            return .type4(contents)
        default: return self
        }
    }
}

extension TagContents {
    /// Sentences about contradictions between the identifier that the tag sends and its memory, and within its memory.
    var contradictions: [String] {
        switch self {
        case .type2(let contents): contents.contradictions
        case .classic(let contents): contents.contradictions
        case .type3(.liteS(let contents)): contents.contradictions
        case .type4(let contents): contents.contradictions
        case .type1, .type3, .type5, .nfcA: []
        }
    }

    var missingParts: [String] {
        switch self {
        case .type2(let contents): contents.missingParts
        case .classic(let contents): contents.missingParts
        case .type4(let contents): contents.missingParts
        case .type5(let contents) where contents.memory.isEmpty:
            ["The image does not have the tag's memory; the virtual tag has no blocks."]
        case .type5(let contents) where !contents.unreadBlocks.isEmpty:
            ["\(contents.unreadBlocks.count) blocks were not read; the virtual tag has zeros there."]
        case .nfcA: ["The image has no memory, only what the tag sent when it was found, such as its UID."]
        case .type1, .type3, .type5: []
        }
    }

    fileprivate static func sentence(_ header: [UInt8], _ memory: [UInt8], in place: String) -> String {
        "The tag's UID is \(header.hexText()), and \(place) \(memory.hexText()). "
            + "Correct one of them: on a real tag they are the same."
    }
}

extension Type2Contents {
    fileprivate var contradictions: [String] {
        guard memory.count >= 12 else { return [] }
        let inMemory = product.uid(inMemory: memory)
        let other = inMemory == uid ? [] : [TagContents.sentence(uid, inMemory, in: "pages 0 to 2 hold")]
        return other + tooLargeArea
    }

    /// A sentence about a capability container whose data area exceeds the product's memory; otherwise empty.
    private var tooLargeArea: [String] {
        guard memory.count >= 16, memory[12] == 0xE1 else { return [] }
        let (area, size) = (Int(memory[14]) * 8, product.userPages.count * 4)
        guard area > size else { return [] }
        return [
            "The capability container gives a data area of \(area) bytes, and \(product) has \(size). "
                + "Correct it: readers may refuse long messages, or overwrite the tag's lock bytes."
        ]
    }

    fileprivate var missingParts: [String] {
        let pages = memory.count / 4
        guard pages < product.pageCount else { return [] }
        return ["The image has \(pages) of the \(product.pageCount) pages; the others are as on a new tag."]
    }
}

extension ClassicContents {
    fileprivate var contradictions: [String] {
        guard [4, 7].contains(uid.count), !(0..<uid.count).contains(where: unknownBytes.contains) else { return [] }
        let inMemory = Array(memory.prefix(uid.count))
        return inMemory == uid ? [] : [TagContents.sentence(uid, inMemory, in: "block 0 begins with")]
    }

    fileprivate var missingParts: [String] {
        guard !unknownBytes.isEmpty else { return [] }
        let blocks = Set(unknownBytes.map { $0 / 16 })
        let sectors = Set(blocks.map { $0 < 128 ? $0 / 4 : 32 + ($0 - 128) / 16 })
        return [
            "\(unknownBytes.count) bytes in \(sectors.count) sectors were not read; the virtual tag has zeros there."
        ]
    }
}

extension FeliCaLiteSContents {
    fileprivate var contradictions: [String] {
        let expected = idm + pmm
        guard let deviceIdentifier, deviceIdentifier != expected else { return [] }
        let (header, block) = (expected.hexText(), deviceIdentifier.hexText())
        return [
            "IDm and PMm are \(header), and block 83 (D_ID) holds \(block). "
                + "Correct one of them: on a real tag they are the same."
        ]
    }
}

extension Type4Contents {
    fileprivate var missingParts: [String] {
        let text: String
        switch kind {
        case .unspecified: text = "The image contains only the card's activation."
        case .version(let contents):
            text =
                "The image has the activation and the version of this \(contents.chip), but no files or blocks: "
                + "the virtual tag only answers GET VERSION."
        case .emv:
            text =
                "The image has no track 2, no certificates and no keys of this payment card: the virtual tag shows its "
                + "application, but can't make payments."
        case .desfire(let contents):
            let unread = contents.applications.flatMap { application in
                let identifier = [UInt8](bigEndian: Int(application.identifier), count: 3).hexText()
                return application.files.filter(\.isUnread).map { "application \(identifier) file \($0.number)" }
            }
            guard !unread.isEmpty else { return [] }
            text =
                "The image does not have the data of \(TagImage.list(unread)), which are zeros on the virtual tag."
        case .ndef, .ntag424, .emrtd, .mifarePlus, .applications: return []
        }
        return [text]
    }

    fileprivate var contradictions: [String] {
        let uid = identifier
        let version: [UInt8]
        switch kind {
        case .desfire(let contents): version = contents.version
        case .ntag424(let contents): version = contents.version
        case .version(let contents): version = contents.version
        case .ndef, .mifarePlus, .emrtd, .emv, .applications, .unspecified: return []
        }
        // A card with a random UID also hides its permanent UID in the version, behind zeros.
        let ownUID = Array(version.dropFirst(14).prefix(7))
        guard uid.count == 7, ownUID.count == 7, ownUID.contains(where: { $0 != 0 }), ownUID != uid else { return [] }
        return [TagContents.sentence(uid, ownUID, in: "GET VERSION answers")]
    }
}
