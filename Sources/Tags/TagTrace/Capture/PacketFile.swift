// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The blocks of a pcapng file with one interface (draft-ietf-opsawg-pcapng), least significant byte first.
struct PacketFile {
    /// ISO/IEC 14443 with a pseudo header of version, event and length.
    private static let linkType = 264
    private static let comment = 1

    private var packets: [UInt8] = []
    private(set) var count = 0

    /// Adds a packet.
    mutating func add(_ data: [UInt8], at time: Duration, comments: [String]) {
        let nanoseconds = Int(clamping: time.wholeNanoseconds)
        let stamp = [nanoseconds >> 32, nanoseconds & 0xFFFF_FFFF, data.count, data.count]
        let body = Self.word(0) + stamp.flatMap { Self.word($0) } + Self.padded(data)
        let options = comments.map { Self.option(Self.comment, Array($0.utf8)) }
        packets += Self.block(6, body, options)
        count += 1
    }

    /// The complete file.
    func file(comments: [String]) -> [UInt8] {
        let version = [UInt8](littleEndian: 1, count: 2) + [0, 0]
        let unknownLength = [UInt8](repeating: 0xFF, count: 8)
        let application = Self.option(4, Array("OpenCoreNFC".utf8))
        let section = Self.block(
            0x0A0D_0D0A,
            Self.word(0x1A2B_3C4D) + version + unknownLength,
            comments.map { Self.option(Self.comment, Array($0.utf8)) } + [application]
        )
        let name = Self.option(2, Array("nfc".utf8))
        let nanoseconds = Self.option(9, [9])
        let unlimited = Self.word(0)
        let interface = Self.block(1, [UInt8](littleEndian: Self.linkType, count: 4) + unlimited, [name, nanoseconds])
        return section + interface + packets
    }

    private static func block(_ type: Int, _ body: [UInt8], _ options: [[UInt8]]) -> [UInt8] {
        let end = options.isEmpty ? [] : word(0)
        let content = body + options.joined() + end
        let length = word(content.count + 12)
        return word(type) + length + content + length
    }

    /// An option. Its length has 16 bits, so a longer text ends early, with a whole character.
    private static func option(_ code: Int, _ text: [UInt8]) -> [UInt8] {
        var end = min(text.count, 0xFFFF)
        while end < text.count, text[end] & 0xC0 == 0x80 { end -= 1 }
        let value = Array(text[..<end])
        return [UInt8](littleEndian: code, count: 2) + [UInt8](littleEndian: value.count, count: 2) + padded(value)
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: -bytes.count & 3)
    }

    private static func word(_ value: Int) -> [UInt8] { [UInt8](littleEndian: value, count: 4) }
}

extension Duration {
    /// The nanoseconds, rounded down; zero for a negative time.
    fileprivate var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (high, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflows ? .max : high &+ attoseconds / 1_000_000_000
    }
}
