// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The position of the NDEF message TLV in a data area, byte by byte, without the bytes that can't hold data.
struct TLVLayout: Equatable {
    /// The range from the TLV's type to the end of the data area.
    var area: Range<Int>
    /// The lock and reserved bytes in the area, ascending and separate.
    var reserved: [Range<Int>]
    /// The control TLVs before the message.
    var controls: [TLVControl] = []
    /// The length of the current message.
    var messageLength: Int
    /// The number of length bytes on the tag: 1 or 3.
    var lengthSize: Int
    /// Whether the length on the tag runs past the area, so that no message can be read.
    var isBroken = false

    init(area: Range<Int>, reserved: [Range<Int>], messageLength: Int = 0, lengthSize: Int = 1) {
        self.area = area
        self.reserved = Self.merged(reserved, in: area)
        self.messageLength = messageLength
        self.lengthSize = lengthSize
    }

    /// The number of bytes that can hold data.
    var count: Int { area.count - reserved.reduce(0) { $0 + $1.count } }

    /// The longest message that fits, counted from the TLV's type: two bytes of header up to 254, four beyond. A length
    /// has 16 bits, and FFFF is reserved.
    var capacity: Int {
        count - 2 <= 254 ? max(0, count - 2) : min(0xFFFE, max(254, count - 4))
    }

    /// Returns the addresses of data bytes, counted from the TLV's type.
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

    /// The addresses of the current message's bytes.
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

/// A lock control or memory control TLV: it marks bytes that can't hold data (NFC Forum T1T 1.2, 2.4; T2T 1.2, 4.3).
struct TLVControl: Equatable {
    /// The three bytes of the TLV's value.
    let value: [UInt8]
    /// Whether the bytes are lock bits. Otherwise they are reserved for another use.
    let isLock: Bool

    /// The start of the bytes. The high half of the first byte counts pages, the low half bytes.
    var address: Int {
        (Int(value[0] >> 4) << Int(value[2] & 0x0F)) + Int(value[0] & 0x0F)
    }

    /// The second byte: the number of lock bits or of reserved bytes. 0 means 256.
    var count: Int {
        value[1] == 0 ? 256 : Int(value[1])
    }

    /// The range of bytes that a message can't use.
    var range: Range<Int> {
        address..<address + (isLock ? (count + 7) / 8 : count)
    }

    /// The number of memory bytes that one lock bit locks.
    var octetsPerLockBit: Int {
        1 << Int(value[2] >> 4)
    }
}

/// Memory in which TLVs are searched, as far as it was read.
protocol TLVSource {
    /// The byte at an address; nil when it was not read.
    subscript(octet address: Int) -> UInt8? { get }
    /// Returns the bytes of a unit that the tag writes at once; nil when one of them was not read.
    func unit(_ unit: Int) -> [UInt8]?
}

/// A cache of a tag's memory, byte by byte, in the units that the tag reads and writes at once.
struct TLVMemory: TLVSource, Equatable {
    /// The number of bytes in a unit: 1 or 8 on Type 1, a block on Type 5.
    let unitSize: Int
    /// The number of bytes that are cached at most.
    let limit: Int

    private var octets: [UInt8] = []
    private var isKnown: [Bool] = []

    init(unitSize: Int, limit: Int) {
        self.unitSize = unitSize
        self.limit = limit
    }

    /// The byte at an address; nil when it was not read.
    subscript(octet address: Int) -> UInt8? {
        octets.indices.contains(address) && isKnown[address] ? octets[address] : nil
    }

    /// Returns whether every byte of a unit was read.
    func contains(_ unit: Int) -> Bool {
        let range = unit * unitSize..<(unit + 1) * unitSize
        return range.upperBound <= octets.count && range.allSatisfy { isKnown[$0] }
    }

    /// Returns the bytes of a unit; nil when one of them was not read.
    func unit(_ unit: Int) -> [UInt8]? {
        contains(unit) ? Array(octets[unit * unitSize..<(unit + 1) * unitSize]) : nil
    }

    /// Stores bytes.
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

    /// Returns the first run of units that were not read completely, up to the next unit that was; nil when there are
    /// none.
    func firstUnknownRun(in units: Range<Int>) -> Range<Int>? {
        guard let start = units.first(where: { !contains($0) }) else { return nil }
        let end = (start..<units.upperBound).first { contains($0) } ?? units.upperBound
        return start..<end
    }
}
