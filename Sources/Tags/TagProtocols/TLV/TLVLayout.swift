// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Where the NDEF message TLV is in a data area, byte by byte, around those that are not for data.
struct TLVLayout: Equatable {
    /// From the TLV's type to the end of the data area.
    var area: Range<Int>
    /// Lock and reserved bytes in it, ascending and apart from each other.
    var reserved: [Range<Int>]
    /// The control TLVs in front of the message.
    var controls: [TLVControl] = []
    /// The length of the message that is there.
    var messageLength: Int
    /// How many bytes the length takes on the tag: 1 or 3.
    var lengthSize: Int
    /// Whether the length that is there runs past the area, so that there is no message to read.
    var isBroken = false

    init(area: Range<Int>, reserved: [Range<Int>], messageLength: Int = 0, lengthSize: Int = 1) {
        self.area = area
        self.reserved = Self.merged(reserved, in: area)
        self.messageLength = messageLength
        self.lengthSize = lengthSize
    }

    /// How many bytes for data there are.
    var count: Int { area.count - reserved.reduce(0) { $0 + $1.count } }

    /// The longest message that fits from the TLV's type on: two bytes of TLV up to 254, four beyond. A length has 16
    /// bits, of which FFFF is reserved.
    var capacity: Int {
        count - 2 <= 254 ? max(0, count - 2) : min(0xFFFE, max(254, count - 4))
    }

    /// The addresses of bytes for data, counted from the TLV's type.
    func addresses(_ places: Range<Int>) -> [Int] {
        var result: [Int] = []
        result.reserveCapacity(places.count)
        var address = area.lowerBound
        var place = 0
        var gaps = reserved[...]
        while place < places.upperBound, address < area.upperBound {
            if let gap = gaps.first, gap.contains(address) {
                address = gap.upperBound
                gaps = gaps.dropFirst()
                continue
            }
            let stop = min(gaps.first?.lowerBound ?? area.upperBound, area.upperBound)
            let run = min(stop - address, places.upperBound - place)
            if place + run > places.lowerBound {
                let skip = max(0, places.lowerBound - place)
                result += address + skip..<address + run
            }
            place += run
            address += run
        }
        return result
    }

    /// The addresses of the bytes of the present message.
    var messageAddresses: [Int] {
        addresses(1 + lengthSize..<1 + lengthSize + messageLength)
    }

    private static func merged(_ ranges: [Range<Int>], in area: Range<Int>) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for range in ranges.map({ $0.clamped(to: area) }).filter({ !$0.isEmpty }).sorted(by: {
            $0.lowerBound < $1.lowerBound
        }) {
            if let last = result.last, range.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }
}

/// A lock control or memory control TLV: bytes that are not for data (NFC Forum T1T 1.2, 2.4; T2T 1.2, 4.3).
struct TLVControl: Equatable {
    /// The TLV's three bytes of value.
    let value: [UInt8]
    /// Whether the bytes are lock bits, rather than reserved for something else.
    let isLock: Bool

    /// Where the bytes begin: the upper half of the first byte counts pages, the lower half bytes.
    var address: Int {
        (Int(value[0] >> 4) << Int(value[2] & 0x0F)) + Int(value[0] & 0x0F)
    }

    /// The second byte: the number of lock bits, or of reserved bytes; 0 stands for 256.
    var count: Int {
        value[1] == 0 ? 256 : Int(value[1])
    }

    /// The bytes that no message uses.
    var range: Range<Int> {
        address..<address + (isLock ? (count + 7) / 8 : count)
    }

    /// How many bytes of memory each lock bit locks.
    var octetsPerLockBit: Int {
        1 << Int(value[2] >> 4)
    }
}

/// Memory that TLVs are looked for in, as far as it has been read.
protocol TLVSource {
    /// The byte at an address, or nil when it has not been read.
    subscript(octet address: Int) -> UInt8? { get }
    /// The bytes that the tag writes at once, or nil when one of them has not been read.
    func unit(_ unit: Int) -> [UInt8]?
}

/// What has been read of a tag's memory, byte by byte, in units that the tag reads and writes at once.
struct TLVMemory: TLVSource, Equatable {
    /// Bytes of a unit: 1 or 8 on Type 1, a block on Type 5.
    let unitSize: Int
    /// No more bytes than this are remembered.
    let limit: Int

    private var octets: [UInt8] = []
    private var isKnown: [Bool] = []

    init(unitSize: Int, limit: Int) {
        self.unitSize = unitSize
        self.limit = limit
    }

    /// The byte at an address, or nil when it has not been read.
    subscript(octet address: Int) -> UInt8? {
        octets.indices.contains(address) && isKnown[address] ? octets[address] : nil
    }

    /// Whether every byte of a unit has been read.
    func contains(_ unit: Int) -> Bool {
        let range = unit * unitSize..<(unit + 1) * unitSize
        return range.upperBound <= octets.count && range.allSatisfy { isKnown[$0] }
    }

    /// The bytes of a unit, or nil when one of them has not been read.
    func unit(_ unit: Int) -> [UInt8]? {
        contains(unit) ? Array(octets[unit * unitSize..<(unit + 1) * unitSize]) : nil
    }

    /// Remembers bytes.
    mutating func store(_ new: some Collection<UInt8>, at address: Int) {
        let end = min(limit, address + new.count)
        guard address < end else { return }
        if octets.count < end {
            octets += repeatElement(0, count: end - octets.count)
            isKnown += repeatElement(false, count: end - isKnown.count)
        }
        octets.replaceSubrange(address..<end, with: new.prefix(end - address))
        isKnown.replaceSubrange(address..<end, with: repeatElement(true, count: end - address))
    }

    /// Forgets a unit whose content is uncertain.
    mutating func forget(_ unit: Int) {
        for address in unit * unitSize..<(unit + 1) * unitSize where address < isKnown.count {
            isKnown[address] = false
        }
    }

    /// The first units of a range of which a byte has not been read, up to the next one that has been read whole.
    func firstUnknownRun(in units: Range<Int>) -> Range<Int>? {
        guard let start = units.first(where: { !contains($0) }) else { return nil }
        let end = (start..<units.upperBound).first { contains($0) } ?? units.upperBound
        return start..<end
    }
}
