// SPDX-License-Identifier: Apache-2.0
import VirtualTags

extension TagImage {
    /// Reads an image. Its format is detected from its content.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - format: distinguishes the formats of memory without a header, ``Format/mfd`` and ``Format/proxmarkBinary``.
    ///     All others are detected by their first bytes.
    /// - Throws: ``TagImageError`` with `tooLarge`, `unknownFormat`, `malformed`, `missingField`, `inconsistent`, or
    ///   `unsupported` for a tag without a model.
    public init(parsing bytes: [UInt8], as format: Format? = nil) throws(TagImageError) {
        guard bytes.count <= Self.maximumSize else {
            throw TagImageError(
                .tooLarge,
                "The file has \(bytes.count) bytes; an image has at most \(Self.maximumSize)."
            )
        }
        let source = try Self.source(bytes, format)
        self.source = source
        self.format = source.format
        contents = source.contents
    }

    /// Detects the format from the first bytes, and reads the file.
    static func source(_ bytes: [UInt8], _ format: Format?) throws(TagImageError) -> any ImageSource {
        let beginning = bytes.prefix(4096)
        let start = beginning.drop { [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        if start.starts(with: Array("Filetype:".utf8)) { return try FlipperFields.source(bytes) }
        // No text has a zero byte, and almost every memory has one.
        if !beginning.contains(0) {
            if ProxmarkText.begins(start) { return try ProxmarkText(parsing: bytes) }
            switch start.first {
            case UInt8(ascii: "{"): return try jsonSource(bytes)
            case UInt8(ascii: "#"), UInt8(ascii: "F"): return try FlipperFields.source(bytes)
            case UInt8(ascii: "<"): return try TagInfoReport(parsing: bytes)
            default: break
            }
        }
        return try MemoryDump(parsing: bytes, as: format)
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
