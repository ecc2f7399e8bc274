// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A binary file: a memory dump, with or without a header.
struct MemoryDump: ImageSource {
    enum Layout: Sendable, Hashable {
        case classic
        /// Pages without a header. The last two, with the password, may be missing.
        case pages
        /// Pages, and the 32 bytes of the signature.
        case signedPages
        /// The blocks of a Type 5 tag.
        case vicinity
        /// Pages after the Proxmark3 client's header of 56 bytes.
        case proxmarkPages
        /// Pages after the client's older header of 48 bytes.
        case oldProxmarkPages
        /// An ISO 15693 tag, with this number of lock entries. The page count has one or two bytes, and the state has
        /// as many bytes as the compiler used.
        case proxmark15(locks: Int, countSize: Int, stateSize: Int)
    }

    let bytes: [UInt8]
    let format: TagImage.Format
    let contents: TagContents
    let givenUID: [UInt8]?
    private let layout: Layout

    /// Reads a file. Memory without a header has the format `.mfd`, unless `.proxmarkBinary` is requested.
    init(parsing bytes: [UInt8], as format: TagImage.Format?, uid: [UInt8]? = nil) throws(TagImageError) {
        guard let layout = Self.layout(of: bytes) else {
            guard !Self.beginsAsProxmark15(bytes) else {
                let reason =
                    "The file starts like a Proxmark3 .bin file of an ISO 15693 tag, but its \(bytes.count) bytes "
                    + "match no version of that format; the file may have been cut off. Dump the tag again."
                throw TagImageError(.missingField, reason)
            }
            let reason = "The file's format is unknown, and its size and first bytes match no tag's memory."
            throw TagImageError(.unknownFormat, reason)
        }
        self.bytes = bytes
        self.layout = layout
        givenUID = layout == .vicinity ? uid : nil
        switch layout {
        case .classic, .pages: self.format = format == .proxmarkBinary ? .proxmarkBinary : .mfd
        case .signedPages, .vicinity: self.format = .mfd
        case .proxmarkPages, .oldProxmarkPages, .proxmark15: self.format = .proxmarkBinary
        }
        contents = try layout == .vicinity ? Self.vicinity(bytes, uid) : Self.contents(bytes, layout)
    }

    var remarks: [TagImageRemark] {
        guard layout == .vicinity, givenUID == nil else { return [] }
        let text = "The file does not have the tag's UID; the virtual tag has \(contents.uid.hexText())."
        return [TagImageRemark(.missing, text)]
    }

    func encoded(_ now: TagContents) -> [UInt8]? {
        guard let new = Self.encoded(now, layout), let old = Self.encoded(contents, layout) else { return nil }
        var result = bytes
        for (index, byte) in new.enumerated() where index < result.count && (index >= old.count || old[index] != byte) {
            result[index] = byte
        }
        return result
    }

    static func encoded(new contents: TagContents, format: TagImage.Format) -> [UInt8]? {
        switch contents {
        case .classic: encoded(contents, .classic)
        case .type2: format == .mfd ? encoded(contents.completed(for: .mfd), .pages) : encoded(contents, .proxmarkPages)
        case .type5(let type5):
            format == .mfd
                ? encoded(contents, .vicinity)
                : encoded(contents, type5.product.blockCount <= ProxmarkTag15.version4Pages ? .version4 : .version5)
        case .type1, .type3, .type4, .nfcA: nil
        }
    }

    var leftOut: [String] {
        guard let newBytes = Self.encoded(contents, layout) else { return [] }
        let places = zip(bytes, newBytes).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
        return RangeSet(places.map { $0..<$0 + 1 }).ranges.map { range in
            range.count == 1 ? "byte \(range.lowerBound)" : "bytes \(range.lowerBound) to \(range.upperBound - 1)"
        }
    }

    // MARK: Layouts

    private static func layout(of bytes: [UInt8]) -> Layout? {
        for layout in Layout.all15 where bytes.count == layout.size15 && bytes[7] == 0xE0 && fills(bytes, layout) {
            return layout
        }
        if bytes.starts(with: versionOfNTAGI2C), bytes.count >= 56 + 16 {
            return !isNTAGI2C(bytes, at: 56) && isNTAGI2C(bytes, at: 48) ? .oldProxmarkPages : .proxmarkPages
        }
        if bytes.count >= 56 + 16, bytes.dropFirst(56).beginsAsType2Memory { return .proxmarkPages }
        if bytes.count >= 48 + 16, bytes.dropFirst(48).beginsAsType2Memory { return .oldProxmarkPages }
        if bytes.beginsAsType2Memory {
            if plainProduct(bytes.count) != nil { return .pages }
            if signedProduct(bytes.count) != nil { return .signedPages }
        }
        if beginsAsVicinity(bytes) { return .vicinity }
        guard ClassicProduct(memorySize: bytes.count) != nil else { return nil }
        let hasCheckByte = bytes[4] == bytes[..<4].reduce(0, ^)
        return beginsAsProxmark15(bytes) && !hasCheckByte ? nil : .classic
    }

    /// Returns whether only zeros follow the locks and the data of an ISO 15693 tag. If not, the file may be of a later
    /// version, with its data at another offset, cut off at the size of an earlier version.
    private static func fills(_ bytes: [UInt8], _ layout: Layout) -> Bool {
        guard case .proxmark15(let locks, let countSize, _) = layout else { return false }
        let count = bytes.littleEndian(at: 13, count: countSize)
        let start = 14 + countSize
        let data = start + locks
        let used = count * Int(bytes[12])
        guard count <= locks, used <= ProxmarkTag15.maximumSize else { return true }
        return bytes[(start + count)..<data].allSatisfy { $0 == 0 }
            && bytes[(data + used)..<(data + ProxmarkTag15.maximumSize)].allSatisfy { $0 == 0 }
    }

    /// Returns whether the bytes start like a Proxmark3 client's file of an ISO 15693 tag: the UID with the low byte
    /// first, locks that are 0 or 1, and a valid block size.
    private static func beginsAsProxmark15(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 300 && bytes[7] == 0xE0 && bytes[9] <= 1 && bytes[11] <= 1 && (1...32).contains(bytes[12])
    }

    /// The start of a header for an NTAG I2C: its version. The memory of an NTAG I2C has no check bytes to test.
    private static let versionOfNTAGI2C: [UInt8] = [0x00, 0x04, 0x04, 0x05]

    /// Returns whether the pages of an NTAG I2C start at an offset, judging by the manufacturer byte of the UID and the
    /// capability container.
    private static func isNTAGI2C(_ bytes: [UInt8], at offset: Int) -> Bool {
        bytes[offset] == 0x04 && bytes[offset + 12] == 0xE1
    }

    /// Returns the first product whose memory has this size, for a file without a header. Without PWD and PACK, which a
    /// reader doesn't get, the memory of a product with a password is two pages shorter.
    private static func plainProduct(_ count: Int) -> Type2Product? {
        let products = Type2Product.all.filter { !$0.features.contains(.sectors) }
        return products.first { $0.pageCount * 4 == count }
            ?? products.first { $0.features.contains(.password) && $0.pageCount * 4 - 8 == count }
    }

    private static let signatureSize = 32

    /// Returns the first product whose memory and signature have this size.
    private static func signedProduct(_ count: Int) -> Type2Product? {
        Type2Product.all.first {
            $0.pageCount * 4 + signatureSize == count && $0.features.isSuperset(of: [.signature, .password])
        }
    }

    /// Returns whether the bytes are the memory of a Type 5 tag with blocks of 4 bytes: a capability container of
    /// version 1 (NFC Forum T5T 1.0, 4.3.1), whose data area fits in, and the tag of a TLV.
    private static func beginsAsVicinity(_ bytes: [UInt8]) -> Bool {
        guard bytes.count % 4 == 0, (16...0x2000).contains(bytes.count), bytes[0] == 0xE1 || bytes[0] == 0xE2,
            bytes[1] & 0xC0 == 0x40
        else { return false }
        let area = (bytes[2] == 0 ? Int(high: bytes[6], low: bytes[7]) : Int(bytes[2])) * 8
        let first = bytes[bytes[2] == 0 ? 8 : 4]
        return (1...bytes.count).contains(area) && [0x00, 0x01, 0x02, 0x03, 0xFD, 0xFE].contains(first)
    }

    // MARK: Reading

    /// Reads the blocks of a Type 5 tag, whose UID is given or a default one.
    private static func vicinity(_ bytes: [UInt8], _ uid: [UInt8]?) throws(TagImageError) -> TagContents {
        guard uid.map({ $0.count == 8 && $0[0] == 0xE0 }) ?? true else {
            throw TagImageError(.inconsistent, "The UID of a Type 5 tag has 8 bytes and begins with E0.")
        }
        let count = bytes.count / 4
        let product = uid.flatMap { Type5Product(uid: $0, blockCount: count, blockSize: 4) }
        var contents = Type5Contents(blank: product ?? .generic(blockCount: count), uid: uid)
        contents.memory = Array(bytes.prefix(contents.memory.count))
        contents.readCounterBlock(bytes)
        return .type5(contents)
    }

    private static func contents(_ bytes: [UInt8], _ layout: Layout) throws(TagImageError) -> TagContents {
        switch layout {
        case .classic:
            return .classic(ClassicContents(ClassicProduct(memorySize: bytes.count) ?? .classic1K, memory: bytes))
        case .pages:
            let product = plainProduct(bytes.count) ?? .ultralight
            var contents = Type2Contents(blank: product, uid: product.uid(inMemory: bytes))
            contents.memory = bytes
            return .type2(contents)
        case .signedPages:
            let product = signedProduct(bytes.count) ?? .ntag215
            var contents = Type2Contents(blank: product, uid: product.uid(inMemory: bytes))
            contents.memory = Array(bytes.dropLast(signatureSize))
            contents.signature = Array(bytes.suffix(signatureSize))
            return .type2(contents)
        case .vicinity: return try vicinity(bytes, nil)
        case .proxmarkPages:
            var header = ProxmarkHeader()
            header.version = Array(bytes[0..<8])
            header.signature = Array(bytes[12..<44])
            for index in 0..<3 {
                header.counters[index] = UInt32(bytes.littleEndian(at: 44 + index * 4, count: 3))
                header.tearingFlags[index] = bytes[47 + index * 4]
            }
            let memory = Array(bytes[56...])
            // Byte 11 is the number of the last page, even in a partial dump.
            try checkSize(of: memory, pages: Int(bytes[11]) + 1)
            return .type2(try header.contents(memory: memory))
        case .oldProxmarkPages:
            var header = ProxmarkHeader()
            header.version = Array(bytes[0..<8])
            header.tearingFlags = Array(bytes[10..<13])
            header.signature = Array(bytes[16..<48])
            let memory = Array(bytes[48...])
            try checkSize(of: memory, pages: (memory.count + 3) / 4)
            var contents = try header.contents(memory: memory)
            // The header also contains PACK, which the pages lack.
            if contents.product.features.contains(.password), bytes[13] != 0 || bytes[14] != 0 {
                contents.memory.replaceSubrange((memory.count - 4)..<(memory.count - 2), with: bytes[13..<15])
            }
            // This header lacks the number of pages. NTAG I2C is not checked, because its pages have gaps.
            let isWhole = memory.count == contents.product.pageCount * 4
            if !isWhole, !contents.product.features.contains(.sectors) {
                try checkSize(of: memory, pages: contents.product.readablePageCount)
            }
            return .type2(contents)
        case .proxmark15(let locks, let countSize, _):
            var tag = ProxmarkTag15()
            tag.uid = bytes[0..<8].reversed()
            (tag.dsfid, tag.afi) = (bytes[8], bytes[10])
            (tag.isDSFIDLocked, tag.isAFILocked) = (bytes[9] != 0, bytes[11] != 0)
            tag.blockSize = Int(bytes[12])
            tag.blockCount = bytes.littleEndian(at: 13, count: countSize)
            tag.icReference = bytes[13 + countSize]
            let start = 14 + countSize
            guard tag.blockCount <= locks, tag.blockCount * tag.blockSize <= ProxmarkTag15.maximumSize else {
                let reason = "\(tag.blockCount) blocks of \(tag.blockSize) don't fit into the file."
                throw TagImageError(.inconsistent, reason)
            }
            tag.locks = Array(bytes[start..<(start + tag.blockCount)])
            let data = start + locks
            tag.data = Array(bytes[data..<(data + tag.blockCount * tag.blockSize)])
            let end = data + ProxmarkTag15.maximumSize
            tag.privacyPassword = Array(bytes[(end + 2)..<(end + 6)])
            return .type5(try tag.contents())
        }
    }

    private static func checkSize(of memory: [UInt8], pages: Int) throws(TagImageError) {
        guard memory.count != pages * 4 else { return }
        guard memory.count < pages * 4 else {
            throw TagImageError(.inconsistent, "The file has more bytes than its \(pages) pages need.")
        }
        let reason =
            "The file has \(memory.count) bytes of memory, and its \(pages) pages need \(pages * 4); it was cut off. "
            + "Dump the tag again."
        throw TagImageError(.missingField, reason)
    }

    // MARK: Writing

    private static func encoded(_ contents: TagContents, _ layout: Layout) -> [UInt8]? {
        switch (layout, contents) {
        case (.classic, .classic(let contents)): return contents.memory
        case (.pages, .type2(let contents)): return contents.memory
        case (.signedPages, .type2(let contents)): return contents.memory + contents.signature
        case (.vicinity, .type5(let contents)):
            return contents.product.blockSize == 4 ? contents.memory + contents.counterBlock : nil
        case (.proxmarkPages, .type2(let contents)):
            guard contents.memory.count <= 1024 else { return nil }
            let header = ProxmarkHeader(contents)
            let pages = UInt8(truncatingIfNeeded: contents.memory.count / 4 - 1)
            var bytes = header.version + [0, 0, 0, pages] + header.signature
            for index in 0..<3 {
                bytes += [UInt8](littleEndian: Int(header.counters[index]), count: 3) + [header.tearingFlags[index]]
            }
            return bytes + contents.memory
        case (.oldProxmarkPages, .type2(let contents)):
            let header = ProxmarkHeader(contents)
            let hasPassword = contents.product.features.contains(.password)
            let acknowledgement = hasPassword ? Array(contents.memory.suffix(4).prefix(2)) : [0, 0]
            return header.version + [0, 0] + header.tearingFlags + acknowledgement + [0] + header.signature
                + contents.memory
        case (.proxmark15(let locks, let countSize, let stateSize), .type5(let contents)):
            guard let tag = ProxmarkTag15(contents), tag.blockCount <= locks else { return nil }
            var bytes = Array(tag.uid.reversed())
            bytes += [tag.dsfid, tag.isDSFIDLocked ? 1 : 0, tag.afi, tag.isAFILocked ? 1 : 0, UInt8(tag.blockSize)]
            bytes += [UInt8](littleEndian: tag.blockCount, count: countSize) + [tag.icReference]
            bytes += tag.locks + Array(repeating: 0, count: locks - tag.locks.count)
            bytes += tag.data + Array(repeating: 0, count: ProxmarkTag15.maximumSize - tag.data.count)
            return bytes + [0, 0] + (tag.privacyPassword ?? [0, 0, 0, 0]) + Array(repeating: 0, count: stateSize + 2)
        default: return nil
        }
    }
}

extension MemoryDump.Layout {
    /// Version 4 as the client writes it on a PC.
    static let version4 = MemoryDump.Layout.proxmark15(locks: 0xA0, countSize: 1, stateSize: 4)
    /// Version 5 as the client writes it on a PC.
    static let version5 = MemoryDump.Layout.proxmark15(locks: 0x100, countSize: 2, stateSize: 4)

    static let all15: [MemoryDump.Layout] = [4, 1].flatMap { stateSize in
        [(0x40, 1), (0xA0, 1), (0x100, 2)].map { .proxmark15(locks: $0, countSize: $1, stateSize: stateSize) }
    }

    var size15: Int {
        guard case .proxmark15(let locks, let countSize, let stateSize) = self else { return 0 }
        return 14 + countSize + locks + ProxmarkTag15.maximumSize + 8 + stateSize
    }
}

/// A text file of the Proxmark3 client: the bytes of its binary file in hexadecimal, one block or page per line. Lines
/// that start with # are comments.
///
/// Saving a changed tag replaces only the digits of changed bytes.
struct ProxmarkText: ImageSource {
    let bytes: [UInt8]
    /// The byte order mark that some editors put at the start of a file.
    private let mark: ArraySlice<UInt8>
    private let memory: MemoryDump

    var format: TagImage.Format { .proxmarkText }
    var contents: TagContents { memory.contents }
    var remarks: [TagImageRemark] { memory.remarks }
    var leftOut: [String] { memory.leftOut }

    /// Returns whether the first line that is neither empty nor a comment has hexadecimal digits.
    static func begins(_ start: some Collection<UInt8>) -> Bool {
        let first = start.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).first { $0.first != UInt8(ascii: "#") }
        guard let first, let bytes = [UInt8](hexadecimal: first.filter { !isSpace($0) }) else { return false }
        return bytes.count >= 4
    }

    /// Reads a file. All lines must have the same number of bytes.
    init(parsing bytes: [UInt8]) throws(TagImageError) {
        self.bytes = bytes
        mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[..<3] : []
        var data: [UInt8] = []
        var size: Int?
        for (index, line) in Self.lines(of: bytes[mark.endIndex...]).enumerated() where Self.isData(line) {
            guard let row = [UInt8](hexadecimal: line.filter { $0.hexDigitValue != nil || !Self.isSpace($0) }) else {
                throw TagImageError(.malformed, "The line is not a row of hexadecimal digits.", line: index + 1)
            }
            guard row.count == size ?? row.count else {
                let reason = "The line has \(row.count) bytes, but the lines before have \(size ?? 0)"
                throw TagImageError(.malformed, "\(reason); the file may have been cut off.", line: index + 1)
            }
            size = row.count
            data += row
        }
        do throws(TagImageError) {
            memory = try MemoryDump(parsing: data, as: .proxmarkBinary)
        } catch {
            guard error.code == .unknownFormat else { throw error }
            let reason =
                "The lines have \(data.count) bytes, which match no MIFARE Classic (320, 1024, 2048 or 4096 bytes), "
                + "Ultralight or NTAG; the file may have been cut off, or be of another tag."
            throw TagImageError(.unknownFormat, reason)
        }
    }

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

    private static func isData(_ line: ArraySlice<UInt8>) -> Bool {
        line.first != UInt8(ascii: "#") && !line.allSatisfy(isSpace)
    }

    private static func isSpace(_ character: UInt8) -> Bool {
        character == 0x20 || character == 0x09 || character == 0x0D
    }
}

extension UInt8 {
    fileprivate var upperCase: UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self - 0x20 : self
    }
}
