// SPDX-License-Identifier: Apache-2.0
import VirtualTags

extension VirtualTag {
    /// Whether the tag's memory holds a message in the format of the tag's type, checked without a reader.
    func holds(_ message: [UInt8]) -> Bool {
        switch self {
        case let tag as VirtualType1Tag:
            // Blocks D, E and F are not for data.
            let memory = tag.contents.memory
            let data = memory[8..<104] + memory.dropFirst(128)
            return Array(data).contains(Self.value(message))
        case let tag as VirtualType2Tag:
            return tag.contents.memory.dropFirst(16).contains(Self.value(message))
        case let tag as VirtualType3Tag:
            return Self.blocks(of: tag).map { Self.holds(message, $0) } ?? false
        case let tag as VirtualType4Tag:
            guard let contents = tag.contents else { return false }
            let lengths = [[UInt8(message.count >> 8), UInt8(message.count & 0xFF)], Self.long(message.count)]
            return Self.files(of: contents).contains { file in lengths.contains { file.starts(with: $0 + message) } }
        default:
            return false
        }
    }

    /// A message in its TLV.
    private static func value(_ message: [UInt8]) -> [UInt8] {
        let count = message.count
        return (count < 255 ? [0x03, UInt8(count)] : [0x03, 0xFF, UInt8(count >> 8), UInt8(count & 0xFF)]) + message
    }

    private static func long(_ count: Int) -> [UInt8] {
        [0, 0, UInt8(count >> 8), UInt8(count & 0xFF)]
    }

    /// The blocks of a Type 3 tag for NDEF, the attribute information first.
    private static func blocks(of tag: VirtualType3Tag) -> [UInt8]? {
        switch tag.contents {
        case .liteS(let contents): contents.userMemory
        case .standard(let contents): contents.systems.first { $0.code == 0x12FC }?.files.first?.memory
        }
    }

    /// Whether the attribute information says that the message is complete, and the message follows it.
    private static func holds(_ message: [UInt8], _ blocks: [UInt8]) -> Bool {
        let sum = blocks[0..<14].reduce(0) { $0 + Int($1) }
        return Int(blocks[14]) << 8 | Int(blocks[15]) == sum
            && blocks[9] == 0x00
            && Array(blocks[11..<14]) == Array(long(message.count).suffix(3))
            && blocks.dropFirst(16).starts(with: message)
    }

    private static func files(of contents: Type4Contents) -> [[UInt8]] {
        switch contents.kind {
        case .ndef(let files): Array(files.values)
        case .desfire(let card): card.applications.flatMap(\.files).compactMap(\.data)
        case .ntag424(let card): [card.ndefFile]
        // Cards without an NDEF file are not among the products.
        default: []
        }
    }
}

extension Collection where Element == UInt8 {
    /// Whether the bytes occur somewhere in these.
    func contains(_ bytes: [UInt8]) -> Bool {
        var rest = self[...]
        while rest.count >= bytes.count {
            if rest.starts(with: bytes) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
