// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A text file of MIFARE Classic Tool: for each sector that was read, a line `+Sector:` with its number, and a line of 32
/// hexadecimal digits for each block. Unknown bytes are hyphens.
struct MCTDump: ImageSource {
    private static let heading = "+Sector:"
    private static let unknown = UInt8(ascii: "-")

    let bytes: [UInt8]
    let contents: TagContents
    let remarks: [TagImageRemark]

    var format: TagImage.Format { .mct }

    func encoded(_ now: TagContents) -> [UInt8]? { now == contents ? bytes : Self.encoded(new: now) }

    static func begins(_ start: some Sequence<UInt8>) -> Bool { start.starts(with: heading.utf8) }

    init(parsing bytes: [UInt8]) throws(TagImageError) {
        self.bytes = bytes
        var sectors: [Int: [[UInt8?]]] = [:]
        var sector = 0
        var damaged: [String] = []
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let text = line.filter { ![0x20, 0x09, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
            // A line with an asterisk says that no block of the sector was read.
            guard !text.isEmpty, text.first != UInt8(ascii: "*") else { continue }
            if Self.begins(text) {
                let number = Int(String(decoding: text.dropFirst(Self.heading.utf8.count), as: UTF8.self))
                guard let number, (0..<40).contains(number), sectors.updateValue([], forKey: number) == nil else {
                    let reason = "The line must name a sector from 0 to 39 that is not in the file yet."
                    throw TagImageError(.malformed, reason, line: index + 1)
                }
                sector = number
                continue
            }
            let blocks = sectors[sector, default: []]
            guard blocks.count < (sector < 32 ? 4 : 16) else {
                throw TagImageError(.malformed, "Sector \(sector) has too many blocks.", line: index + 1)
            }
            let block = Self.block(text)
            if block == nil { damaged.append("line \(index + 1)") }
            sectors[sector] = blocks + [block ?? Array(repeating: nil, count: 16)]
        }
        remarks = .damaged(damaged)
        contents = .classic(Self.contents(sectors))
    }

    /// Returns the bytes of a line, nil for unknown ones; nil for a line that is not 16 bytes.
    private static func block(_ text: [UInt8]) -> [UInt8?]? {
        guard text.count == 32 else { return nil }
        var bytes: [UInt8?] = []
        for start in stride(from: 0, to: 32, by: 2) {
            let digits = text[start...(start + 1)]
            let byte = [UInt8](hexadecimal: digits)?.first
            guard byte != nil || digits.allSatisfy({ $0 == unknown }) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func contents(_ sectors: [Int: [[UInt8?]]]) -> ClassicContents {
        // A file has only the sectors that were read. Byte 5 of a short UID's block 0 is the SAK of a MIFARE Mini.
        let product: ClassicProduct
        switch sectors.keys.max() ?? 0 {
        case ...4 where sectors[0]?.first?[5] == 0x09: product = .mini
        case ...15: product = .classic1K
        case 31 where sectors.count == 32: product = .plus2K
        default: product = .classic4K
        }
        var memory = [UInt8](repeating: 0, count: product.memorySize)
        var unknown = Set(memory.indices)
        for (sector, blocks) in sectors {
            let last = ClassicProduct.trailer(ofSector: sector)
            let first = last - (sector < 32 ? 3 : 15)
            for (index, byte) in blocks.joined().enumerated() {
                guard let byte else { continue }
                memory[first * 16 + index] = byte
                unknown.remove(first * 16 + index)
            }
        }
        var contents = ClassicContents(product, memory: memory)
        contents.unknownBytes = unknown
        return contents
    }

    static func encoded(new contents: TagContents) -> [UInt8]? {
        guard case .classic(let contents) = contents else { return nil }
        var lines: [String] = []
        for sector in 0..<contents.product.sectorCount {
            let last = ClassicProduct.trailer(ofSector: sector)
            let first = last - (sector < 32 ? 3 : 15)
            guard !contents.unknownBytes.isSuperset(of: (first * 16)..<(last * 16 + 16)) else { continue }
            lines.append("\(heading) \(sector)")
            for block in first...last {
                let bytes = (block * 16..<block * 16 + 16).map { place in
                    contents.unknownBytes.contains(place) ? "--" : [contents.memory[place]].hexText().uppercased()
                }
                lines.append(bytes.joined())
            }
        }
        return lines.isEmpty ? nil : Array(lines.joined(separator: "\n").utf8)
    }
}
