// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

extension FlipperTagDump {
    /// Returns whether a device type is of this family. It names the product in versions 2 and 3, but not in version 4.
    static func isType2(_ deviceType: String, _ fields: FlipperFields) -> Bool {
        deviceType == "NTAG/Ultralight" || FlipperLayout.products.contains { $0.name == deviceType }
            || fields.hasValue("Mifare Ultralight type")
    }

    static func type2(_ fields: FlipperFields, _ remarks: inout Remarks) throws(TagImageError) -> Type2Contents {
        let total = try fields.number("Pages total", in: 4...100_000)
        let reported = try fields.bytes("Mifare version", count: 8)
        let product = try product(fields, reported: reported, pages: total)
        guard let layout = FlipperLayout(product, pages: total) else {
            let reason = "The file has \(total) pages, more than the \(product) has."
            throw fields.error(.inconsistent, "Pages total", reason)
        }
        var contents = Type2Contents(blank: product, uid: try fields.nfcAIdentifier("UID"))
        contents.memory.removeLast(contents.memory.count - layout.memoryPages * 4)
        var damaged: [String] = []
        for page in 0..<total {
            let bytes = try fields.bytesOrUnknown("Page \(page)", count: 4, damaged: &damaged)
            guard let target = layout.memoryPage(page) else { continue }
            contents.memory.replaceSubrange((target * 4)..<(target * 4 + 4), with: bytes.map { $0 ?? 0 })
        }
        remarks += .damaged(damaged)
        let read = try fields.number("Pages read", in: 0...100_000, default: total)
        if read < total {
            // A memory has at least the pages with the UID, the lock bits and the container.
            let end = max(4, read)
            if layout.memoryPage(end) == end, contents.memory[(end * 4)...].allSatisfy({ $0 == 0 }) {
                contents.memory.removeSubrange((end * 4)...)
            } else {
                let text = "\(read) of \(total) pages were read; the others are taken from the file, mostly zeros."
                remarks.append(TagImageRemark(.missing, text))
            }
        }
        contents.atqa = try fields.atqa()
        contents.sak = try fields.byte("SAK")
        // Programs that create files for tests omit the signature.
        if product.features.contains(.signature), !fields.hasValue("Signature") { remarks.append(.missingSignature) }
        if product.version != nil, reported.contains(where: { $0 != 0 }) { contents.version = reported }
        try fields.read(type2Fields, into: &contents)
        contents.failedAuthentications = try fields.number(failures, in: 0...0xFFFF_FFFF, default: 0)
        return contents
    }

    private static var type2Fields: [FlipperField<Type2Contents>] {
        let counters = (0..<3).flatMap { index -> [FlipperField<Type2Contents>] in
            [
                .number("Counter \(index)", \.counters[index], in: 0...0xFF_FFFF).required,
                .byte("Tearing \(index)", \.tearingFlags[index]).required,
            ]
        }
        return [
            .bytes("Signature", \.signature, count: 32),
            .written("Mifare version") { .bytes($0.version ?? Array(repeating: 0, count: 8)) },
        ] + counters
    }

    private static let failures = "Failed authentication attempts"

    /// Returns the product. Versions 2 and 3 name it as the device type, version 4 in a separate line.
    private static func product(
        _ fields: FlipperFields,
        reported: [UInt8],
        pages: Int
    ) throws(TagImageError) -> Type2Product {
        let device = try fields.text("Device type")
        var key = "Device type"
        if device == "NTAG/Ultralight" {
            let keys = ["NTAG/Ultralight type", "Mifare Ultralight type"]
            key = keys.first { fields.hasValue($0) } ?? keys[0]
        } else if fields.hasValue("Mifare Ultralight type") {
            key = "Mifare Ultralight type"
        }
        let name = try fields.text(key)
        guard let product = FlipperLayout.products.first(where: { $0.name == name })?.product else {
            throw fields.error(.unsupported, key, "A tag of type \(name) is not supported yet.")
        }
        // Older files call all of these Mifare Ultralight. The version or the number of pages identifies the product.
        guard product == .ultralight else { return product }
        if let exact = Type2Product.all.first(where: { $0.version == reported }) { return exact }
        switch pages {
        case ...16: return .ultralight
        case 48: return .ultralightC
        case 20: return .ultralightEV1UL11
        case 41: return .ultralightEV1UL21
        default: return .ultralight
        }
    }

    static func fields(of contents: Type2Contents) -> [FlipperLine] {
        let product = contents.product
        let name = FlipperLayout.products.first { $0.product == product }?.name ?? product.name
        let count = FlipperLayout.pages(of: product)
        let layout = FlipperLayout(product, pages: count)
        var lines = FlipperLine.header(deviceType: "NTAG/Ultralight", uid: contents.uid)
        lines += FlipperLine.nfcA(atqa: contents.atqa, sak: contents.sak)
        lines += [
            .comment("NTAG/Ultralight specific data"), .field("Data format version", "2"),
            .field("NTAG/Ultralight type", name),
        ]
        lines += FlipperLine.fields(type2Fields, of: contents)
        let memory = contents.memory
        let read = (0..<count).first { layout?.memoryPage($0).map { $0 * 4 + 4 > memory.count } ?? false } ?? count
        lines += [.field("Pages total", String(count)), .field("Pages read", String(read))]
        for index in 0..<count {
            let page = index < read ? layout?.memoryPage(index) : nil
            let bytes = page.map { Array(memory[($0 * 4)..<($0 * 4 + 4)]) } ?? [0, 0, 0, 0]
            lines.append(.field("Page \(index)", bytes: bytes))
        }
        lines.append(.field(failures, String(contents.failedAuthentications)))
        return lines
    }

    // MARK: MIFARE Classic

    private static let types: [(name: String, product: ClassicProduct)] = [
        ("MINI", .mini), ("1K", .classic1K), ("Plus 2K", .plus2K), ("4K", .classic4K),
    ]

    static func classic(_ fields: FlipperFields, _ remarks: inout Remarks) throws(TagImageError) -> ClassicContents {
        let name = try fields.text("Mifare Classic type")
        guard let product = types.first(where: { $0.name == name })?.product else {
            let reason = "A MIFARE Classic of type \(name) is not supported yet."
            throw fields.error(.unsupported, "Mifare Classic type", reason)
        }
        var memory: [UInt8] = []
        var unknown: Set<Int> = []
        var damaged: [String] = []
        for block in 0..<product.blockCount {
            let bytes = try fields.bytesOrUnknown("Block \(block)", count: 16, damaged: &damaged)
            for (index, byte) in bytes.enumerated() {
                memory.append(byte ?? 0)
                if byte == nil { unknown.insert(block * 16 + index) }
            }
        }
        remarks += .damaged(damaged)
        var contents = ClassicContents(product, memory: memory, uid: try fields.nfcAIdentifier("UID"))
        contents.unknownBytes = unknown
        contents.atqa = try fields.atqa()
        contents.sak = try fields.byte("SAK")
        return contents
    }

    static func fields(of contents: ClassicContents) -> [FlipperLine]? {
        guard let type = types.first(where: { $0.product == contents.product })?.name else { return nil }
        var lines = FlipperLine.header(deviceType: "Mifare Classic", uid: contents.uid)
        lines += FlipperLine.nfcA(atqa: contents.atqa, sak: contents.sak)
        lines += [
            .comment("Mifare Classic specific data"), .field("Mifare Classic type", type),
            .field("Data format version", "2"), .comment("Mifare Classic blocks, '??' means unknown data"),
        ]
        for block in 0..<contents.product.blockCount {
            let bytes = (block * 16..<block * 16 + 16).map { place in
                contents.unknownBytes.contains(place) ? "??" : [contents.memory[place]].spacedHexadecimalText
            }
            lines.append(.field("Block \(block)", bytes.joined(separator: " ")))
        }
        return lines
    }
}

extension FlipperFields {
    /// Reads a block with `??` for unknown bytes. If the line has anything else, the whole block is unknown, and its
    /// key is added to `damaged`.
    func bytesOrUnknown(
        _ key: String,
        count: Int,
        damaged: inout [String]
    ) throws(TagImageError) -> [UInt8?] {
        let words = try text(key).utf8.split(separator: 0x20)
        let bytes = words.map { [UInt8](hexadecimal: $0) }
        let isWhole = zip(words, bytes).allSatisfy { $1?.count == 1 || Array($0) == Array("??".utf8) }
        guard isWhole, bytes.count == count else {
            damaged.append(key)
            return Array(repeating: nil, count: count)
        }
        return bytes.map { $0?.first }
    }
}

extension [TagImageRemark] {
    /// The remark about damaged lines; empty if there are none.
    static func damaged(_ keys: [String]) -> Self {
        guard !keys.isEmpty else { return [] }
        let text = "\(TagImage.list(keys)) can't be read as bytes or ??; the virtual tag has zeros there."
        return [TagImageRemark(.missing, text)]
    }
}

/// Maps the pages of a Flipper file to the pages of a tag's memory.
///
/// Files number the pages without gaps. A file of an NTAG I2C skips the gap after the lock page. Then it lists the two
/// configuration pages and the two session registers, which are not memory. A file of an NTAG I2C plus has the session
/// registers between the two sectors.
private struct FlipperLayout: Sendable {
    let memoryPages: Int
    private let gap: Range<Int>?
    /// The pages of the first sector; nil if no session registers follow them.
    private let plusPages: Int?

    /// Creates the layout of a file; nil if the file has more pages than the product.
    init?(_ product: Type2Product, pages: Int) {
        let all = Self.pages(of: product)
        guard pages <= all else { return nil }
        plusPages = Self.plusPages(of: product)
        if let plusPages {
            gap = nil
            memoryPages = pages > plusPages + 2 ? 256 + pages - plusPages - 2 : min(pages, plusPages)
        } else if product.features.contains(.sectors), let lock = product.dynamicLock, pages > lock.page + 1 {
            gap = (lock.page + 1)..<(product.pageCount - 2)
            memoryPages = product.pageCount
        } else {
            gap = nil
            memoryPages = pages
        }
    }

    /// Returns the memory page for a page of the file; nil for a session register.
    func memoryPage(_ index: Int) -> Int? {
        if let plusPages, index >= plusPages { return index < plusPages + 2 ? nil : 256 + index - plusPages - 2 }
        guard let gap, index >= gap.lowerBound else { return index }
        let page = index + gap.count
        return page < memoryPages ? page : nil
    }

    private static func plusPages(of product: Type2Product) -> Int? {
        guard product.features.contains(.sectors), let page = product.configurationPage else { return nil }
        return page + 7
    }

    static func pages(of product: Type2Product) -> Int {
        if let pages = plusPages(of: product) { return pages + 2 + max(0, product.pageCount - 256) }
        guard product.features.contains(.sectors), let lock = product.dynamicLock else { return product.pageCount }
        return lock.page + 1 + 4
    }

    /// The product names in files. Files are written with the first name of each product.
    static let products: [(name: String, product: Type2Product)] = Type2Product.all.flatMap { product in
        product.flipperNames.map { ($0, product) }
    }
}
