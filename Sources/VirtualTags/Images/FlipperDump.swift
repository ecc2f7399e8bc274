// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A Flipper NFC file of the Ultralight and NTAG family, kept line by line.
struct FlipperDump: ImageSource {
    /// A line, and what it says.
    struct Line: Sendable {
        var text: [UInt8]
        var field: Field?
    }

    /// What a line that may change says.
    enum Field: Sendable, Hashable {
        case page(Int)
        case counter(Int)
        case tearing(Int)
        case failedAuthentications
    }

    private let lines: [Line]
    private let layout: FlipperLayout
    private let type2: Type2Contents

    init(_ fields: FlipperFields) throws(TagImageError) {
        lines = fields.lines
        (type2, layout) = try Self.contents(fields)
    }

    var format: TagImage.Format { .flipper }

    var bytes: [UInt8] { Array(lines.map(\.text).joined(separator: [0x0A])) }

    var contents: TagContents { .type2(type2) }

    private static func contents(_ fields: FlipperFields) throws(TagImageError) -> (Type2Contents, FlipperLayout) {
        let version = try fields.number("Version", in: 1...99)
        guard (2...4).contains(version) else {
            throw TagImageError(
                .unsupported,
                "Version \(version) of the file format is not supported; 2, 3 and 4 are.",
                line: fields.line("Version")
            )
        }
        let total = try fields.number("Pages total", in: 4...100_000)
        let reported = try fields.octets("Mifare version", count: 8)
        let product = try product(fields, reported: reported, pages: total)
        guard let layout = FlipperLayout(product, pages: total) else {
            throw TagImageError(
                .inconsistent,
                "\(total) pages are more than the \(product) has.",
                line: fields.line("Pages total")
            )
        }

        let uid = try fields.octets("UID", count: nil)
        guard [4, 7, 10].contains(uid.count) else {
            throw TagImageError(.malformed, "A UID has 4, 7 or 10 octets, not \(uid.count).", line: fields.line("UID"))
        }
        var contents = Type2Contents(blank: product, uid: uid)
        contents.memory.removeLast(contents.memory.count - layout.memoryPages * 4)
        for page in 0..<total {
            let octets = try fields.octets("Page \(page)", count: 4)
            guard let target = layout.memoryPage(page) else { continue }
            contents.memory.replaceSubrange((target * 4)..<(target * 4 + 4), with: octets)
        }

        let atqa = try fields.octets("ATQA", count: 2)
        // Version 2 writes the low octet first.
        contents.atqa = version == 2 ? UInt16(high: atqa[1], low: atqa[0]) : UInt16(high: atqa[0], low: atqa[1])
        contents.sak = try fields.octets("SAK", count: 1)[0]
        contents.signature = try fields.octets("Signature", count: 32)
        if product.version != nil, reported.contains(where: { $0 != 0 }) { contents.version = reported }
        for index in 0..<3 {
            contents.counters[index] = UInt32(try fields.number("Counter \(index)", in: 0...0xFF_FFFF))
            contents.tearingFlags[index] = try fields.octets("Tearing \(index)", count: 1)[0]
        }
        if fields.line("Failed authentication attempts") != nil {
            contents.failedAuthentications = try fields.number("Failed authentication attempts", in: 0...0xFFFF_FFFF)
        }
        return (contents, layout)
    }

    /// Versions 2 and 3 name the product as the device type, version 4 in a line of its own.
    private static func product(
        _ fields: FlipperFields,
        reported: [UInt8],
        pages: Int
    ) throws(TagImageError) -> Type2Product {
        let device = try fields.text("Device type")
        var key = "Device type"
        if device == "NTAG/Ultralight" {
            let keys = ["NTAG/Ultralight type", "Mifare Ultralight type"]
            key = keys.first { fields.line($0) != nil } ?? keys[0]
        } else if fields.line("Mifare Ultralight type") != nil {
            key = "Mifare Ultralight type"
        }
        let name = try fields.text(key)
        guard let product = FlipperLayout.products.first(where: { $0.name == name })?.product else {
            throw TagImageError(
                .unsupported,
                "A tag of type \(name) is not supported yet.",
                line: fields.line(key)
            )
        }
        // Older files call the whole family Mifare Ultralight, and tell by the version or the number of pages.
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

    /// The file with what the tag holds now: lines that say something else are written anew, all others stay.
    func encoded(_ now: TagContents) -> [UInt8]? {
        guard case .type2(let now) = now else { return nil }
        let written = lines.map { line in
            guard let field = line.field,
                let new = value(field, now),
                let old = value(field, type2),
                new != old
            else { return line.text }
            let key = line.text.prefix { $0 != UInt8(ascii: ":") }
            let ending: [UInt8] = line.text.last == 0x0D ? [0x0D] : []
            return key + Array(": \(new)".utf8) + ending
        }
        return Array(written.joined(separator: [0x0A]))
    }

    private func value(_ field: Field, _ contents: Type2Contents) -> String? {
        switch field {
        case .page(let index):
            guard let page = layout.memoryPage(index), page * 4 + 4 <= contents.memory.count else { return nil }
            return Array(contents.memory[(page * 4)..<(page * 4 + 4)]).spacedHexadecimalText
        case .counter(let index):
            return String(contents.counters[index])
        case .tearing(let index):
            return [contents.tearingFlags[index]].spacedHexadecimalText
        case .failedAuthentications:
            return String(contents.failedAuthentications)
        }
    }
}

extension FlipperDump {
    /// A new file, of version 4.
    static func encoded(new contents: Type2Contents) -> [UInt8] {
        let product = contents.product
        let name = FlipperLayout.products.first { $0.product == product }?.name ?? product.name
        let count = FlipperLayout.pages(of: product)
        let layout = FlipperLayout(product, pages: count)
        var lines = FlipperLine.header(deviceType: "NTAG/Ultralight", uid: contents.uid).map(\.text)
        lines += FlipperLine.nfcA(atqa: contents.atqa, sak: contents.sak).map(\.text)
        lines += [
            "# NTAG/Ultralight specific data",
            "Data format version: 2",
            "NTAG/Ultralight type: \(name)",
            "Signature: \(contents.signature.spacedHexadecimalText)",
            "Mifare version: \((contents.version ?? Array(repeating: 0, count: 8)).spacedHexadecimalText)",
        ]
        for index in 0..<3 {
            lines.append("Counter \(index): \(contents.counters[index])")
            lines.append("Tearing \(index): \([contents.tearingFlags[index]].spacedHexadecimalText)")
        }
        lines += ["Pages total: \(count)", "Pages read: \(count)"]
        let memory = Type2Silicon(contents).contents.memory
        for index in 0..<count {
            let page = layout?.memoryPage(index)
            let octets = page.map { Array(memory[($0 * 4)..<($0 * 4 + 4)]) } ?? [0, 0, 0, 0]
            lines.append("Page \(index): \(octets.spacedHexadecimalText)")
        }
        lines.append("Failed authentication attempts: \(contents.failedAuthentications)")
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }
}

/// How the pages of a Flipper NFC file lie in a tag's memory.
///
/// Files number pages through. Those of NTAG I2C leave out the gap behind the lock page and go on with the two
/// configuration pages, then with the two session registers, which are no memory.
struct FlipperLayout: Sendable {
    /// How many pages of memory the file has, gaps included.
    let memoryPages: Int
    private let filePages: Int
    private let gap: Range<Int>?

    /// Creates the layout of a file, or nil when it has more pages than the product.
    init?(_ product: Type2Product, pages: Int) {
        let all = Self.pages(of: product)
        guard pages <= all else { return nil }
        filePages = pages
        if product.features.contains(.sectors), let lock = product.dynamicLock, pages > lock.page + 1 {
            gap = (lock.page + 1)..<(product.pageCount - 2)
            memoryPages = product.pageCount
        } else {
            gap = nil
            memoryPages = pages
        }
    }

    /// The page of the memory for a page of the file; nil for a session register.
    func memoryPage(_ index: Int) -> Int? {
        guard index < filePages else { return nil }
        guard let gap, index >= gap.lowerBound else { return index }
        let page = index + gap.count
        return page < memoryPages ? page : nil
    }

    /// How many pages a file of a product has.
    static func pages(of product: Type2Product) -> Int {
        guard product.features.contains(.sectors), let lock = product.dynamicLock else { return product.pageCount }
        return lock.page + 1 + 4
    }

    /// The names that files use; the first one for a product is the one to write.
    static let products: [(name: String, product: Type2Product)] = [
        ("Mifare Ultralight", .ultralight),
        ("Mifare Ultralight C", .ultralightC),
        ("Mifare Ultralight 11", .ultralightEV1UL11),
        ("Mifare Ultralight 21", .ultralightEV1UL21),
        ("Mifare Ultralight EV1 11", .ultralightEV1UL11),
        ("Mifare Ultralight EV1 21", .ultralightEV1UL21),
        ("NTAG203", .ntag203),
        ("NTAG210", .ntag210),
        ("NTAG212", .ntag212),
        ("NTAG213", .ntag213),
        ("NTAG215", .ntag215),
        ("NTAG216", .ntag216),
        ("NTAG I2C 1K", .ntagI2C1K),
        ("NTAG I2C 2K", .ntagI2C2K),
    ]
}
