// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The units to write for a message, in an order in which the tag may be lost after any of them.
///
/// 1. The unit with the length's first byte, with length 0. From then on the tag is empty. Left out when it is empty
///    already.
/// 2. All other units: data, terminator, and the length's other bytes if they are in another unit.
/// 3. The unit with the length's first byte, with its final content. From then on the tag has the message.
///
/// When the length and the whole message share a unit, one write replaces the old message by the new one. A terminator
/// in the next unit is written after it. Units that are known to have their final content already are left out.
struct TLVWritePlan {
    /// One write.
    struct Step: Equatable {
        var unit: Int
        var bytes: [UInt8]
    }

    private let layout: TLVLayout
    private let unitSize: Int
    /// The bytes from the length on, and the terminator if there is room for it.
    private let target: [Int: UInt8]
    private let lengthAddress: Int
    private let lastMessageAddress: Int

    /// Computes the plan for a message.
    ///
    /// - Parameters:
    ///   - message: the message; not longer than the capacity.
    ///   - layout: where the message goes.
    ///   - unitSize: the number of bytes that the tag writes at once.
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
    var units: [Int] {
        Set(target.keys.map { $0 / unitSize }).sorted()
    }

    /// The units with bytes that must not change: bytes before the TLV, lock and reserved bytes, and bytes after the
    /// data area.
    var unitsToPreserve: [Int] {
        units.filter { unit in
            (unit * unitSize..<(unit + 1) * unitSize).contains { address in
                address <= layout.area.lowerBound || address >= layout.area.upperBound
                    || layout.reserved.contains { $0.contains(address) }
            }
        }
    }

    /// Returns the writes, in order.
    ///
    /// - Parameter memory: the current content of the tag, with all of ``unitsToPreserve``.
    func steps(_ memory: some TLVSource) -> [Step] {
        let lengthUnit = lengthAddress / unitSize
        let length = Step(unit: lengthUnit, bytes: content(of: lengthUnit, memory))
        let others = units.filter { $0 != lengthUnit }
            .map { Step(unit: $0, bytes: content(of: $0, memory)) }
            .filter { memory.unit($0.unit) != $0.bytes }
        if lastMessageAddress / unitSize == lengthUnit {
            return (memory.unit(lengthUnit) == length.bytes ? [] : [length]) + others
        }
        guard memory[byte: lengthAddress] != 0 else { return others + [length] }
        var emptied = memory.unit(lengthUnit) ?? length.bytes
        emptied[lengthAddress % unitSize] = 0
        return [Step(unit: lengthUnit, bytes: emptied)] + others + [length]
    }

    /// Returns the final content of a unit. Bytes after the terminator keep their known value, or become 0.
    private func content(of unit: Int, _ memory: some TLVSource) -> [UInt8] {
        (unit * unitSize..<(unit + 1) * unitSize).map { target[$0] ?? memory[byte: $0] ?? 0 }
    }
}
