// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Searches a data area for the first NDEF message TLV (NFC Forum T1T 1.2, 2.4; T2T 1.2, 4.3; T5T 1.0, 4.4).
///
/// It requests bytes as needed. Every step moves forward, so the search ends even in an area full of NULL TLVs.
struct TLVWalk {
    enum Action: Equatable {
        /// Read the byte at this address, then continue.
        case read(address: Int)
        case found(TLVLayout)
    }

    let area: Range<Int>
    /// The ranges of the area that can't hold data.
    var reserved: [Range<Int>] = []
    /// Whether lock and memory control TLVs count, as on Types 1 and 2.
    let hasControls: Bool
    let specification: String
    /// Whether to accept an NDEF message TLV with an invalid length, because a write will replace it.
    var isForWriting = false
    private(set) var position = 0
    private(set) var controls: [TLVControl] = []
    /// The maximum number of control TLVs; others are ignored. Real tags have fewer.
    private static let maximumControls = 32

    /// Searches as far as the memory has been read.
    ///
    /// - Throws: ``TagError`` with `noMessageTLV` or `lengthOverrun`.
    mutating func advance(in memory: TagMemory) throws(TagError) -> Action {
        while true {
            let begin = min(max(position, area.lowerBound), area.upperBound)
            let rest = TLVLayout(area: begin..<area.upperBound, reserved: reserved)
            let header = rest.addresses(0..<4)
            guard let start = header.first else {
                throw TagError(.noMessageTLV, "The data area ends without an NDEF message TLV (\(specification)).")
            }
            guard let type = memory[byte: start] else { return .read(address: start) }
            if type == 0x00 {
                position = start + 1
                continue
            }
            if type == 0xFE {
                throw TagError(.noMessageTLV, "A terminator TLV precedes any NDEF message TLV (\(specification)).")
            }
            guard header.count > 1 else { throw overrun(type) }
            guard let first = memory[byte: header[1]] else { return .read(address: header[1]) }
            var length = Int(first)
            var lengthSize = 1
            if first == 0xFF {
                guard header.count > 3 else { throw overrun(type) }
                guard let high = memory[byte: header[2]] else { return .read(address: header[2]) }
                guard let low = memory[byte: header[3]] else { return .read(address: header[3]) }
                length = Int(high: high, low: low)
                lengthSize = 3
            }
            let isBroken = 1 + lengthSize + length > rest.count
            guard !isBroken || isForWriting && type == 0x03 else { throw overrun(type) }
            if type == 0x03 {
                var layout = TLVLayout(
                    area: start..<area.upperBound,
                    reserved: reserved,
                    messageLength: length,
                    lengthSize: lengthSize
                )
                layout.controls = controls
                layout.isBroken = isBroken
                return .found(layout)
            }
            let places = 1 + lengthSize + length
            if hasControls, type == 0x01 || type == 0x02, length == 3 {
                let addresses = rest.addresses(1 + lengthSize..<places)
                for address in addresses where memory[byte: address] == nil { return .read(address: address) }
                let value = addresses.map { memory[byte: $0] ?? 0 }
                let control = TLVControl(value: value, isLock: type == 0x01)
                if controls.count < Self.maximumControls {
                    controls.append(control)
                    reserved.append(control.range)
                }
            }
            position = (rest.addresses(places - 1..<places).first ?? area.upperBound) + 1
        }
    }

    private func overrun(_ type: UInt8) -> TagError {
        let name = type == 0x03 ? "The NDEF message TLV" : "The TLV of type \(type)"
        return TagError(.lengthOverrun, "\(name) runs past the end of the data area (\(specification)).")
    }
}

/// The position of the NDEF message TLV in a data area. It excludes the bytes that can't hold data.
struct TLVLayout: Equatable {
    /// The range from the TLV's type to the end of the data area.
    var area: Range<Int>
    /// The lock and reserved bytes in the area, in ascending order without overlaps.
    var reserved: [Range<Int>]
    /// The control TLVs before the message.
    var controls: [TLVControl] = []
    var messageLength: Int
    /// The number of length bytes on the tag: 1 or 3.
    var lengthSize: Int
    /// Whether the length stored on the tag exceeds the area, so that no message can be read.
    var isBroken = false

    init(area: Range<Int>, reserved: [Range<Int>], messageLength: Int = 0, lengthSize: Int = 1) {
        self.area = area
        self.reserved = Array(RangeSet(reserved.map { $0.clamped(to: area) }).ranges)
        self.messageLength = messageLength
        self.lengthSize = lengthSize
    }

    /// The number of bytes that can hold data.
    var count: Int { area.count - reserved.reduce(0) { $0 + $1.count } }

    /// The longest message that fits, starting at the TLV's type. The header takes two bytes for messages up to 254
    /// bytes, four for longer ones. A length has 16 bits, and FFFF is reserved.
    var capacity: Int { count - 2 <= 254 ? max(0, count - 2) : min(0xFFFE, max(254, count - 4)) }

    /// Returns the addresses of data bytes, given their indices counted from the TLV's type.
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

    func detection(isWritable: Bool) -> NDEFDetection {
        NDEFDetection(access: isWritable ? .readWrite : .readOnly, capacity: capacity, messageLength: messageLength)
    }

    func checkCapacity(for message: [UInt8]) throws(TagError) {
        guard message.count <= capacity else { throw .messageTooLong(message, capacity) }
    }

    /// Returns the layout after a message is written.
    func holding(_ message: [UInt8]) -> TLVLayout {
        var written = self
        written.messageLength = message.count
        written.lengthSize = message.count <= 254 ? 1 : 3
        written.isBroken = false
        return written
    }

    /// The addresses of the current message's bytes.
    var messageAddresses: [Int] { addresses(1 + lengthSize..<1 + lengthSize + messageLength) }
}

/// A lock control or memory control TLV: marks bytes that can't hold data (NFC Forum T1T 1.2, 2.4; T2T 1.2, 4.3).
struct TLVControl: Equatable {
    /// The three bytes of the TLV's value.
    let value: [UInt8]
    /// Whether the bytes are lock bits. If not, they are reserved for other purposes.
    let isLock: Bool

    /// The address of the first marked byte: a page number in the high half of the first value byte, plus an offset.
    var address: Int { (Int(value[0] >> 4) << Int(value[2] & 0x0F)) + Int(value[0] & 0x0F) }

    /// The number of lock bits or reserved bytes, from the second value byte. 0 means 256.
    var count: Int { value[1] == 0 ? 256 : Int(value[1]) }

    /// The range of bytes that a message can't use.
    var range: Range<Int> { address..<address + (isLock ? (count + 7) / 8 : count) }

    var bytesPerLockBit: Int { 1 << Int(value[2] >> 4) }
}

/// The units to write for a message. In this order, the tag may be lost after any of the writes.
///
/// 1. The unit with the length's first byte, with length 0. Skipped if the tag is already empty. After it, the tag
///    is empty.
/// 2. All other units: data, terminator, and the length's other bytes if they are in another unit.
/// 3. The unit with the length's first byte, with its final content. After it, the tag has the message.
///
/// If the length and the whole message share a unit, one write replaces the old message with the new one, followed by
/// the terminator if it is in the next unit. Units known to have their final content already are skipped.
struct TLVWritePlan {
    /// One write of a whole unit.
    struct Step: Equatable {
        var unit: Int
        var bytes: [UInt8]
    }

    private let layout: TLVLayout
    private let unitSize: Int
    /// The new bytes by address: length, message, and the terminator if it fits.
    private let target: [Int: UInt8]
    private let lengthAddress: Int
    private let lastMessageAddress: Int

    init(_ message: [UInt8], layout: TLVLayout, unitSize: Int) {
        let count = message.count
        let length = count <= 254 ? [UInt8(count)] : [0xFF] + [UInt8](bigEndian: count, count: 2)
        let bytes = length + message
        let addresses = layout.addresses(1..<bytes.count + 2)
        self.layout = layout
        self.unitSize = unitSize
        // The dictionary's keys are unique, because the addresses ascend.
        self.target = Dictionary(uniqueKeysWithValues: zip(addresses, bytes + [0xFE]))
        self.lengthAddress = addresses.first ?? layout.area.lowerBound
        self.lastMessageAddress = addresses.prefix(bytes.count).last ?? layout.area.lowerBound
    }

    /// All units with a byte of the new TLV, ascending.
    var units: [Int] { Set(target.keys.map { $0 / unitSize }).sorted() }

    /// The units with bytes that must not change: before the TLV, lock and reserved bytes, and after the data area.
    var unitsToPreserve: [Int] {
        units.filter { unit in
            (unit * unitSize..<(unit + 1) * unitSize).contains { address in
                address <= layout.area.lowerBound || address >= layout.area.upperBound
                    || layout.reserved.contains { $0.contains(address) }
            }
        }
    }

    /// Returns the writes, in order. The caller must have read all of ``unitsToPreserve`` into the memory.
    func steps(_ memory: TagMemory) -> [Step] {
        let lengthUnit = lengthAddress / unitSize
        let length = Step(unit: lengthUnit, bytes: content(of: lengthUnit, memory))
        let others = units.filter { $0 != lengthUnit }
            .map { Step(unit: $0, bytes: content(of: $0, memory)) }
            .filter { memory[unit: $0.unit] != $0.bytes }
        if lastMessageAddress / unitSize == lengthUnit {
            return (memory[unit: lengthUnit] == length.bytes ? [] : [length]) + others
        }
        guard memory[byte: lengthAddress] != 0 else { return others + [length] }
        var emptied = memory[unit: lengthUnit] ?? length.bytes
        emptied[lengthAddress % unitSize] = 0
        return [Step(unit: lengthUnit, bytes: emptied)] + others + [length]
    }

    /// Returns the final content of a unit. Bytes after the terminator keep their known value, or become 0.
    private func content(of unit: Int, _ memory: TagMemory) -> [UInt8] {
        (unit * unitSize..<(unit + 1) * unitSize).map { target[$0] ?? memory[byte: $0] ?? 0 }
    }
}

/// A cache of a tag's memory, in the units that the tag reads and writes: a byte or 8 bytes on Type 1, a page on Type
/// 2, a block on Type 5. Byte addresses start at unit 0.
struct TagMemory: Equatable {
    let unitSize: Int
    let limit: Int

    /// The bytes, starting at address 0. Units that were not read contain zeros.
    private var bytes: [UInt8] = []
    private var isKnown: [Bool] = []

    init(unitSize: Int, limit: Int) {
        self.unitSize = unitSize
        self.limit = limit
    }

    func contains(_ unit: Int) -> Bool { isKnown.indices.contains(unit) && isKnown[unit] }

    func reaches(_ unit: Int) -> Bool { isKnown.dropFirst(unit).contains(true) }

    /// The bytes of a unit; nil if the unit was not read.
    subscript(unit unit: Int) -> [UInt8]? {
        contains(unit) ? Array(bytes[unit * unitSize..<(unit + 1) * unitSize]) : nil
    }

    /// The byte at an address; nil if its unit was not read.
    subscript(byte address: Int) -> UInt8? { contains(address / unitSize) ? bytes[address] : nil }

    /// Stores whole units, starting at `unit`. Ignores an incomplete last unit and units beyond the limit.
    mutating func store(_ content: some Collection<UInt8>, at unit: Int) {
        let end = min(limit, unit + content.count / unitSize)
        guard unit < end else { return }
        if isKnown.count < end {
            isKnown += repeatElement(false, count: end - isKnown.count)
            bytes += repeatElement(0, count: end * unitSize - bytes.count)
        }
        bytes.replaceSubrange(unit * unitSize..<end * unitSize, with: content.prefix((end - unit) * unitSize))
        for index in unit..<end { isKnown[index] = true }
    }

    mutating func forget(_ unit: Int) {
        if unit < isKnown.count { isKnown[unit] = false }
    }

    /// Returns the first consecutive units that were not read; nil if all were read.
    func firstUnknownRun(in units: Range<Int>) -> Range<Int>? {
        guard let start = units.first(where: { !contains($0) }) else { return nil }
        return start..<((start..<units.upperBound).first { contains($0) } ?? units.upperBound)
    }
}
