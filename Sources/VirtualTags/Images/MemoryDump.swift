// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A binary file: memory, with a header or without.
struct MemoryDump: ImageSource {
    /// How the octets lie in the file.
    enum Layout: Sendable, Hashable {
        /// The memory of a MIFARE Classic.
        case classic
        /// The pages of a MIFARE Ultralight or NTAG.
        case pages
        /// Those pages behind the Proxmark3 client's header of 56 octets.
        case proxmarkPages
        /// Those pages behind its older header of 48 octets.
        case oldProxmarkPages
        /// An ISO 15693 tag with places for so many locks, pages counted in one octet or two, and the state in as many
        /// octets as the compiler took.
        case proxmark15(locks: Int, countSize: Int, stateSize: Int)
    }

    let bytes: [UInt8]
    let format: TagImage.Format
    let contents: TagContents
    private let layout: Layout

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - format: what memory without a header is to be taken for; `.mfd` unless it is `.proxmarkBinary`.
    init(parsing bytes: [UInt8], as format: TagImage.Format?) throws(TagImageError) {
        guard let layout = Self.layout(of: bytes) else {
            throw TagImageError(
                .unknownFormat,
                "The file is neither an image in a format that is known nor the memory of a tag that is."
            )
        }
        self.bytes = bytes
        self.layout = layout
        let hasHeader = layout != .classic && layout != .pages
        self.format = hasHeader || format == .proxmarkBinary ? .proxmarkBinary : .mfd
        contents = try Self.contents(bytes, layout)
    }

    /// The file with what the tag holds now: octets that are different are written, all others stay.
    func encoded(_ now: TagContents) -> [UInt8]? {
        guard let new = Self.encoded(now, layout), let old = Self.encoded(contents, layout) else { return nil }
        var result = bytes
        for (index, octet) in new.enumerated() where index < result.count && (index >= old.count || old[index] != octet)
        {
            result[index] = octet
        }
        return result
    }

    /// A new file, or nil when the format has no place for a tag of the kind.
    static func encoded(new contents: TagContents, format: TagImage.Format) -> [UInt8]? {
        switch contents {
        case .classic: encoded(contents, .classic)
        case .type2: encoded(contents.completed, format == .mfd ? .pages : .proxmarkPages)
        case .type5(let type5):
            format == .mfd
                ? nil
                : encoded(contents, type5.product.blockCount <= ProxmarkTag15.version4Pages ? .version4 : .version5)
        case .type1, .type3, .type4, .nfcA: nil
        }
    }

    // MARK: Layouts

    private static func layout(of bytes: [UInt8]) -> Layout? {
        for layout in Layout.all15 where bytes.count == layout.size15 && bytes[7] == 0xE0 { return layout }
        let isPages = bytes.count % 4 == 0
        if isPages, bytes.count >= 56 + 16, isType2(bytes, at: 56) { return .proxmarkPages }
        if isPages, bytes.count >= 48 + 16, isType2(bytes, at: 48) { return .oldProxmarkPages }
        if bytes.beginsAsType2Memory, plainProduct(bytes.count) != nil { return .pages }
        return ClassicProduct(memorySize: bytes.count) == nil ? nil : .classic
    }

    /// Whether there are pages behind a header that ends at an offset. NTAG I2C, which has no check octets, is told by
    /// the version that the header begins with.
    private static func isType2(_ bytes: [UInt8], at offset: Int) -> Bool {
        bytes.dropFirst(offset).beginsAsType2Memory || bytes.starts(with: [0x00, 0x04, 0x04, 0x05])
    }

    /// The product whose pages without a header are so many octets. Of several it is the MIFARE Ultralight EV1.
    private static func plainProduct(_ count: Int) -> Type2Product? {
        Type2Product.all.first { $0.pageCount * 4 == count && !$0.features.contains(.sectors) }
    }

    // MARK: Reading

    private static func contents(_ bytes: [UInt8], _ layout: Layout) throws(TagImageError) -> TagContents {
        switch layout {
        case .classic:
            return .classic(ClassicContents(ClassicProduct(memorySize: bytes.count) ?? .classic1K, memory: bytes))
        case .pages:
            let product = plainProduct(bytes.count) ?? .ultralight
            var contents = Type2Contents(blank: product, uid: product.uid(inMemory: bytes))
            contents.memory = bytes
            return .type2(contents)
        case .proxmarkPages:
            var header = ProxmarkHeader()
            header.version = Array(bytes[0..<8])
            header.signature = Array(bytes[12..<44])
            for index in 0..<3 {
                header.counters[index] = UInt32(bytes.littleEndian(at: 44 + index * 4, count: 3))
                header.tearingFlags[index] = bytes[47 + index * 4]
            }
            return .type2(try header.contents(memory: Array(bytes[56...])))
        case .oldProxmarkPages:
            var header = ProxmarkHeader()
            header.version = Array(bytes[0..<8])
            header.tearingFlags = Array(bytes[10..<13])
            header.signature = Array(bytes[16..<48])
            var memory = Array(bytes[48...])
            // The acknowledgement of the password, which the pages have not.
            if bytes[13] != 0 || bytes[14] != 0 {
                memory.replaceSubrange((memory.count - 4)..<(memory.count - 2), with: bytes[13..<15])
            }
            return .type2(try header.contents(memory: memory))
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
                throw TagImageError(
                    .inconsistent,
                    "\(tag.blockCount) blocks of \(tag.blockSize) don't fit into the file."
                )
            }
            tag.locks = Array(bytes[start..<(start + tag.blockCount)])
            let data = start + locks
            tag.data = Array(bytes[data..<(data + tag.blockCount * tag.blockSize)])
            let end = data + ProxmarkTag15.maximumSize
            tag.privacyPassword = Array(bytes[(end + 2)..<(end + 6)])
            return .type5(try tag.contents())
        }
    }

    // MARK: Writing

    private static func encoded(_ contents: TagContents, _ layout: Layout) -> [UInt8]? {
        switch (layout, contents) {
        case (.classic, .classic(let contents)): return contents.memory
        case (.pages, .type2(let contents)): return contents.memory
        case (.proxmarkPages, .type2(let contents)):
            guard contents.memory.count <= 1024 else { return nil }
            let header = ProxmarkHeader(contents)
            let pages = UInt8(truncatingIfNeeded: contents.memory.count / 4 - 1)
            var octets = header.version + [0, 0, 0, pages] + header.signature
            for index in 0..<3 {
                octets += [UInt8](littleEndian: Int(header.counters[index]), count: 3) + [header.tearingFlags[index]]
            }
            return octets + contents.memory
        case (.oldProxmarkPages, .type2(let contents)):
            let header = ProxmarkHeader(contents)
            let acknowledgement = Array(contents.memory.suffix(4).prefix(2))
            return header.version + [0, 0] + header.tearingFlags + acknowledgement + [0] + header.signature
                + contents.memory
        case (.proxmark15(let locks, let countSize, let stateSize), .type5(let contents)):
            guard let tag = ProxmarkTag15(contents), tag.blockCount <= locks else { return nil }
            var octets = Array(tag.uid.reversed())
            octets += [tag.dsfid, tag.isDSFIDLocked ? 1 : 0, tag.afi, tag.isAFILocked ? 1 : 0, UInt8(tag.blockSize)]
            octets += [UInt8](littleEndian: tag.blockCount, count: countSize) + [tag.icReference]
            octets += tag.locks + Array(repeating: 0, count: locks - tag.locks.count)
            octets += tag.data + Array(repeating: 0, count: ProxmarkTag15.maximumSize - tag.data.count)
            return octets + [0, 0] + tag.privacyPassword + Array(repeating: 0, count: stateSize + 2)
        default: return nil
        }
    }
}

extension MemoryDump.Layout {
    /// Version 4 as the client writes it on a desktop machine.
    static let version4 = MemoryDump.Layout.proxmark15(locks: 0xA0, countSize: 1, stateSize: 4)
    /// Version 5 as the client writes it on a desktop machine.
    static let version5 = MemoryDump.Layout.proxmark15(locks: 0x100, countSize: 2, stateSize: 4)

    /// All that ISO 15693 tags had over the years.
    static let all15: [MemoryDump.Layout] = [4, 1].flatMap { stateSize in
        [
            .proxmark15(locks: 0x40, countSize: 1, stateSize: stateSize),
            .proxmark15(locks: 0xA0, countSize: 1, stateSize: stateSize),
            .proxmark15(locks: 0x100, countSize: 2, stateSize: stateSize),
        ]
    }

    /// How many octets a file has; 0 for other tags.
    var size15: Int {
        guard case .proxmark15(let locks, let countSize, let stateSize) = self else { return 0 }
        return 14 + countSize + locks + ProxmarkTag15.maximumSize + 8 + stateSize
    }
}
