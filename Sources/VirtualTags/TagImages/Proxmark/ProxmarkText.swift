// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A text file of the Proxmark3 client: the bytes of its binary file in hexadecimal, one block or page per line. Lines
/// that start with # are comments.
///
/// When a changed tag is saved, only the digits of changed bytes are replaced.
struct ProxmarkText: ImageSource {
    let bytes: [UInt8]
    /// The byte order mark, with which some editors begin a file.
    private let mark: ArraySlice<UInt8>
    private let memory: MemoryDump

    var format: TagImage.Format { .proxmarkText }
    var contents: TagContents { memory.contents }
    var remarks: [TagImageRemark] { memory.remarks }
    var leftOut: [String] { memory.leftOut }

    /// Returns whether a file starts like such a text: its first line that is not empty or a comment has hexadecimal
    /// digits.
    ///
    /// - Parameter start: the beginning of the file.
    static func begins(_ start: some Collection<UInt8>) -> Bool {
        let first = start.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).first { $0.first != UInt8(ascii: "#") }
        guard let first, let bytes = [UInt8](hexadecimal: first.filter { !isSpace($0) }) else { return false }
        return bytes.count >= 4
    }

    /// Reads a file.
    ///
    /// - Parameter bytes: the file.
    /// - Throws: ``TagImageError`` with `malformed` for a line that differs from the others, `unknownFormat` when the
    ///   bytes are not of a supported tag, and the errors of a binary file.
    init(parsing bytes: [UInt8]) throws(TagImageError) {
        self.bytes = bytes
        mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[..<3] : []
        var data: [UInt8] = []
        var size: Int?
        for (index, line) in Self.lines(of: bytes[mark.endIndex...]).enumerated() where Self.isData(line) {
            guard let row = [UInt8](hexadecimal: line.filter { $0.hexDigitValue != nil || !Self.isSpace($0) }) else {
                throw TagImageError(.malformed, "The line is no row of hexadecimal digits.", line: index + 1)
            }
            guard row.count == size ?? row.count else {
                throw TagImageError(
                    .malformed,
                    "The line has \(row.count) bytes, and those before it have \(size ?? 0); the file may have been cut "
                        + "off.",
                    line: index + 1
                )
            }
            size = row.count
            data += row
        }
        do throws(TagImageError) {
            memory = try MemoryDump(parsing: data, as: .proxmarkBinary)
        } catch {
            guard error.code == .unknownFormat else { throw error }
            throw TagImageError(
                .unknownFormat,
                "The lines have \(data.count) bytes, which are no MIFARE Classic (320, 1024, 2048 or 4096 bytes) and no "
                    + "Ultralight or NTAG; the file may have been cut off, or be of another tag."
            )
        }
    }

    /// Returns the file with the tag's current contents.
    func encoded(_ now: TagContents) -> [UInt8]? {
        guard let new = memory.encoded(now) else { return nil }
        var digits = new.hexText().utf8.makeIterator()
        var lines: [[UInt8]] = []
        for line in Self.lines(of: bytes[mark.endIndex...]) {
            guard Self.isData(line) else {
                lines.append(Array(line))
                continue
            }
            let isLower = line.contains { (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
            lines.append(
                line.map { character in
                    guard character.hexDigitValue != nil, let digit = digits.next() else { return character }
                    return isLower ? digit : digit.upperCase
                }
            )
        }
        return digits.next() == nil ? Array(mark + lines.joined(separator: [0x0A])) : nil
    }

    /// Returns a new file; nil when the format does not support this kind of tag.
    static func encoded(new contents: TagContents) -> [UInt8]? {
        let size: Int
        switch contents {
        case .classic: size = 16
        case .type2: size = 4
        case .type1, .type3, .type4, .type5, .nfcA: return nil
        }
        guard let bytes = MemoryDump.encoded(new: contents, format: .proxmarkBinary) else { return nil }
        let rows = stride(from: 0, to: bytes.count, by: size).map { bytes.dropFirst($0).prefix(size) }
        return Array(rows.map { Array($0).hexText().uppercased() }.joined(separator: "\n").utf8)
    }

    private static func lines(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    }

    /// Returns whether a line has data: it is not empty, and not a comment.
    private static func isData(_ line: ArraySlice<UInt8>) -> Bool {
        line.first != UInt8(ascii: "#") && !line.allSatisfy(isSpace)
    }

    private static func isSpace(_ character: UInt8) -> Bool {
        character == 0x20 || character == 0x09 || character == 0x0D
    }
}

extension UInt8 {
    /// The letter in upper case; any other character unchanged.
    fileprivate var upperCase: UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self - 0x20 : self
    }
}
