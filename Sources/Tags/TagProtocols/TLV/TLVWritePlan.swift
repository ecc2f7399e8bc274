// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The units to write for a message, in an order in which the tag may be lost after any of them.
///
/// 1. The unit with the length's first byte, with length 0: from here on the tag is empty. Left out when it is.
/// 2. All other units: data, terminator, and the length's other bytes when they fall into another unit.
/// 3. The unit with the length's first byte, as it shall be: from here on the tag has the message.
///
/// Where the length and the whole message share a unit, one write changes the old message for the new one, and a
/// terminator in the next unit comes after it. Units that are known to hold what they shall are left out.
struct TLVWritePlan {
    /// One write.
    struct Step: Equatable {
        var unit: Int
        var octets: [UInt8]
    }

    private let layout: TLVLayout
    private let unitSize: Int
    /// The bytes from the length on, and the terminator where there is room for it.
    private let target: [Int: UInt8]
    private let lengthAddress: Int
    private let lastMessageAddress: Int

    /// Lays a message out.
    ///
    /// - Parameters:
    ///   - message: the message; not longer than the capacity.
    ///   - layout: where it goes.
    ///   - unitSize: how many bytes the tag writes at once.
    init(_ message: [UInt8], layout: TLVLayout, unitSize: Int) {
        let count = message.count
        let length = count <= 254 ? [UInt8(count)] : [0xFF] + [UInt8](bigEndian: count, count: 2)
        let octets = length + message
        let addresses = layout.addresses(1..<octets.count + 2)
        self.layout = layout
        self.unitSize = unitSize
        // The dictionary's keys are unique: addresses ascend.
        self.target = Dictionary(uniqueKeysWithValues: zip(addresses, octets + [0xFE]))
        self.lengthAddress = addresses.first ?? layout.area.lowerBound
        self.lastMessageAddress = addresses.prefix(octets.count).last ?? layout.area.lowerBound
    }

    /// All units that hold a byte of the new TLV, ascending.
    var units: [Int] {
        Set(target.keys.map { $0 / unitSize }).sorted()
    }

    /// The units that hold bytes which stay as they are: what comes before the TLV, lock and reserved bytes, and what
    /// lies beyond the data area.
    var unitsToPreserve: [Int] {
        units.filter { unit in
            (unit * unitSize..<(unit + 1) * unitSize).contains { address in
                address <= layout.area.lowerBound || address >= layout.area.upperBound
                    || layout.reserved.contains { $0.contains(address) }
            }
        }
    }

    /// The writes, in their order.
    ///
    /// - Parameter memory: what is on the tag now; it knows ``unitsToPreserve``.
    func steps(_ memory: some TLVSource) -> [Step] {
        let lengthUnit = lengthAddress / unitSize
        let length = Step(unit: lengthUnit, octets: content(of: lengthUnit, memory))
        let others = units.filter { $0 != lengthUnit }
            .map { Step(unit: $0, octets: content(of: $0, memory)) }
            .filter { memory.unit($0.unit) != $0.octets }
        if lastMessageAddress / unitSize == lengthUnit {
            return (memory.unit(lengthUnit) == length.octets ? [] : [length]) + others
        }
        guard memory[octet: lengthAddress] != 0 else { return others + [length] }
        var emptied = memory.unit(lengthUnit) ?? length.octets
        emptied[lengthAddress % unitSize] = 0
        return [Step(unit: lengthUnit, octets: emptied)] + others + [length]
    }

    /// A unit as it shall be. Bytes behind the terminator stay as they are known, or become 0.
    private func content(of unit: Int, _ memory: some TLVSource) -> [UInt8] {
        (unit * unitSize..<(unit + 1) * unitSize).map { target[$0] ?? memory[octet: $0] ?? 0 }
    }
}
