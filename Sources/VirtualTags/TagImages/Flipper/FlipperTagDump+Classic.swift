// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Files of MIFARE Classic. Bytes that could not be read are written as `??`.
extension FlipperTagDump {
    private static let types: [(name: String, product: ClassicProduct)] = [
        ("MINI", .mini), ("1K", .classic1K), ("Plus 2K", .plus2K), ("4K", .classic4K),
    ]

    static func classic(_ fields: FlipperFields) throws(TagImageError) -> ClassicContents {
        let name = try fields.text("Mifare Classic type")
        guard let product = types.first(where: { $0.name == name })?.product else {
            throw TagImageError(
                .unsupported,
                "A MIFARE Classic of type \(name) is not supported yet.",
                line: fields.line("Mifare Classic type")
            )
        }
        var memory: [UInt8] = []
        var unknown: Set<Int> = []
        for block in 0..<product.blockCount {
            for (index, byte) in try fields.bytesOrUnknown("Block \(block)", count: 16).enumerated() {
                memory.append(byte ?? 0)
                if byte == nil { unknown.insert(block * 16 + index) }
            }
        }
        var contents = ClassicContents(product, memory: memory, uid: try fields.nfcAIdentifier())
        contents.unknownBytes = unknown
        contents.atqa = try fields.atqa()
        contents.sak = try fields.bytes("SAK", count: 1)[0]
        return contents
    }

    static func fields(of contents: ClassicContents) -> [FlipperLine]? {
        guard let type = types.first(where: { $0.product == contents.product })?.name else { return nil }
        var lines = FlipperLine.header(deviceType: "Mifare Classic", uid: contents.uid)
        lines += FlipperLine.nfcA(atqa: contents.atqa, sak: contents.sak)
        lines += [
            .comment("Mifare Classic specific data"), .field("Mifare Classic type", type),
            .field("Data format version", "2"),
            .comment("Mifare Classic blocks, '??' means unknown data"),
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
    /// Returns bytes that are separated by spaces; nil for each `??`.
    func bytesOrUnknown(_ key: String, count: Int) throws(TagImageError) -> [UInt8?] {
        let words = try text(key).utf8.split(separator: 0x20)
        var bytes: [UInt8?] = []
        for word in words {
            let byte = [UInt8](hexadecimal: word)
            let isUnknown = Array(word) == Array("??".utf8)
            guard isUnknown || byte?.count == 1 else {
                throw TagImageError(.malformed, "\(key) is not bytes or ?? separated by spaces.", line: line(key))
            }
            bytes.append(isUnknown ? nil : byte?.first)
        }
        guard bytes.count == count else {
            throw TagImageError(.malformed, "\(key) has \(bytes.count) bytes instead of \(count).", line: line(key))
        }
        return bytes
    }
}
