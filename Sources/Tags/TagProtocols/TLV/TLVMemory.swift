// SPDX-License-Identifier: Apache-2.0

/// A cache of a tag's memory, byte by byte, in the units that the tag reads and writes at once.
struct TLVMemory: TLVSource, Equatable {
    /// The number of bytes in a unit: 1 or 8 on Type 1, a block on Type 5.
    let unitSize: Int
    /// The number of bytes that are cached at most.
    let limit: Int

    private var bytes: [UInt8] = []
    private var isKnown: [Bool] = []

    init(unitSize: Int, limit: Int) {
        self.unitSize = unitSize
        self.limit = limit
    }

    /// The byte at an address; nil when it was not read.
    subscript(byte address: Int) -> UInt8? {
        bytes.indices.contains(address) && isKnown[address] ? bytes[address] : nil
    }

    /// Returns whether every byte of a unit was read.
    func contains(_ unit: Int) -> Bool {
        let range = unit * unitSize..<(unit + 1) * unitSize
        return range.upperBound <= bytes.count && range.allSatisfy { isKnown[$0] }
    }

    /// Returns the bytes of a unit; nil when one of them was not read.
    func unit(_ unit: Int) -> [UInt8]? {
        contains(unit) ? Array(bytes[unit * unitSize..<(unit + 1) * unitSize]) : nil
    }

    /// Stores bytes.
    mutating func store(_ new: some Collection<UInt8>, at address: Int) {
        let end = min(limit, address + new.count)
        guard address < end else { return }
        if bytes.count < end {
            bytes += repeatElement(0, count: end - bytes.count)
            isKnown += repeatElement(false, count: end - isKnown.count)
        }
        bytes.replaceSubrange(address..<end, with: new.prefix(end - address))
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
