// SPDX-License-Identifier: Apache-2.0

/// Memory that TLVs are looked for in, as far as it has been read.
protocol TLVSource {
    /// The octet at an address, or nil when it has not been read.
    subscript(octet address: Int) -> UInt8? { get }
    /// The octets that the tag writes at once, or nil when one of them has not been read.
    func unit(_ unit: Int) -> [UInt8]?
}

/// What has been read of a tag's memory, octet by octet, in units that the tag reads and writes at once.
struct TLVMemory: TLVSource, Equatable {
    /// Octets of a unit: 1 or 8 on Type 1, a block on Type 5.
    let unitSize: Int
    /// No more octets than this are remembered.
    let limit: Int

    private var octets: [UInt8] = []
    private var isKnown: [Bool] = []

    init(unitSize: Int, limit: Int) {
        self.unitSize = unitSize
        self.limit = limit
    }

    /// The octet at an address, or nil when it has not been read.
    subscript(octet address: Int) -> UInt8? {
        octets.indices.contains(address) && isKnown[address] ? octets[address] : nil
    }

    /// Whether every octet of a unit has been read.
    func contains(_ unit: Int) -> Bool {
        let range = unit * unitSize..<(unit + 1) * unitSize
        return range.upperBound <= octets.count && range.allSatisfy { isKnown[$0] }
    }

    /// The octets of a unit, or nil when one of them has not been read.
    func unit(_ unit: Int) -> [UInt8]? {
        contains(unit) ? Array(octets[unit * unitSize..<(unit + 1) * unitSize]) : nil
    }

    /// Remembers octets.
    mutating func store(_ new: some Collection<UInt8>, at address: Int) {
        let end = min(limit, address + new.count)
        guard address < end else { return }
        while octets.count < end {
            octets.append(0)
            isKnown.append(false)
        }
        for (offset, octet) in new.enumerated() where address + offset < end {
            octets[address + offset] = octet
            isKnown[address + offset] = true
        }
    }

    /// Forgets a unit whose content is uncertain.
    mutating func forget(_ unit: Int) {
        for address in unit * unitSize..<(unit + 1) * unitSize where address < isKnown.count {
            isKnown[address] = false
        }
    }

    /// The first units of a range of which an octet has not been read, up to the next one that has been read whole.
    func firstUnknownRun(in units: Range<Int>) -> Range<Int>? {
        guard let start = units.first(where: { !contains($0) }) else { return nil }
        let end = (start..<units.upperBound).first { contains($0) } ?? units.upperBound
        return start..<end
    }
}
