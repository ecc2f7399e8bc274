// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// Files of the MIFARE Ultralight and NTAG family.
extension FlipperTagDump {
    /// Returns whether a device type belongs to the family. Versions 2 and 3 name the product there, version 4 in a
    /// separate line.
    static func isType2(_ deviceType: String, _ fields: FlipperFields) -> Bool {
        deviceType == "NTAG/Ultralight" || FlipperLayout.products.contains { $0.name == deviceType }
            || fields.line("Mifare Ultralight type") != nil
    }

    static func type2(
        _ fields: FlipperFields,
        _ remarks: inout [TagImageRemark]
    ) throws(TagImageError) -> Type2Contents {
        let total = try fields.number("Pages total", in: 4...100_000)
        let reported = try fields.bytes("Mifare version", count: 8)
        let product = try product(fields, reported: reported, pages: total)
        guard let layout = FlipperLayout(product, pages: total) else {
            throw TagImageError(
                .inconsistent,
                "\(total) pages are more than the \(product) has.",
                line: fields.line("Pages total")
            )
        }
        var contents = Type2Contents(blank: product, uid: try fields.nfcAIdentifier())
        contents.memory.removeLast(contents.memory.count - layout.memoryPages * 4)
        for page in 0..<total {
            let bytes = try fields.bytes("Page \(page)", count: 4)
            guard let target = layout.memoryPage(page) else { continue }
            contents.memory.replaceSubrange((target * 4)..<(target * 4 + 4), with: bytes)
        }
        if fields.line("Pages read") != nil {
            let read = try fields.number("Pages read", in: 0...100_000)
            if read < total {
                let text = "\(read) of \(total) pages were read; the others are as the file has them, mostly zero."
                remarks.append(TagImageRemark(.missing, text))
            }
        }
        contents.atqa = try fields.atqa()
        contents.sak = try fields.bytes("SAK", count: 1)[0]
        // Files that programs create for tests have no signature.
        if fields.line("Signature") != nil {
            contents.signature = try fields.bytes("Signature", count: 32)
        } else if product.features.contains(.signature) {
            remarks.append(missingSignature)
        }
        if product.version != nil, reported.contains(where: { $0 != 0 }) { contents.version = reported }
        for index in 0..<3 {
            contents.counters[index] = UInt32(try fields.number("Counter \(index)", in: 0...0xFF_FFFF))
            contents.tearingFlags[index] = try fields.bytes("Tearing \(index)", count: 1)[0]
        }
        if fields.line("Failed authentication attempts") != nil {
            contents.failedAuthentications = try fields.number("Failed authentication attempts", in: 0...0xFFFF_FFFF)
        }
        return contents
    }

    /// Versions 2 and 3 name the product as the device type, version 4 in a separate line.
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
        // Older files call the whole family Mifare Ultralight. The version or the number of pages identifies the
        // product.
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
            .field("NTAG/Ultralight type", name), .field("Signature", bytes: contents.signature),
            .field("Mifare version", bytes: contents.version ?? Array(repeating: 0, count: 8)),
        ]
        for index in 0..<3 {
            lines.append(.field("Counter \(index)", String(contents.counters[index])))
            lines.append(.field("Tearing \(index)", bytes: [contents.tearingFlags[index]]))
        }
        lines += [.field("Pages total", String(count)), .field("Pages read", String(count))]
        let memory = contents.completed.memory
        for index in 0..<count {
            let page = layout?.memoryPage(index)
            let bytes = page.map { Array(memory[($0 * 4)..<($0 * 4 + 4)]) } ?? [0, 0, 0, 0]
            lines.append(.field("Page \(index)", bytes: bytes))
        }
        lines.append(.field("Failed authentication attempts", String(contents.failedAuthentications)))
        return lines
    }
}
