// SPDX-License-Identifier: Apache-2.0

extension Type1Tag {
    /// Runs the NDEF detection procedure: RALL, and on larger tags the reads that the TLVs require (NFC Forum T1T 1.2,
    /// 6.3).
    ///
    /// - Returns: the result. A second call makes no exchange.
    /// - Throws: ``TagError`` with `noCapabilityContainer`, `badVersion`, `noMessageTLV`, `lengthOverrun`,
    ///   `readProtected` when reading is restricted, `tagLost`, `badAnswer`, `cancelled`.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let layout = try await locate()
        return layout.detection(isWritable: try container().isWritable)
    }

    /// Reads the NDEF message (NFC Forum T1T 1.2, 6.4).
    ///
    /// - Returns: the message's bytes; empty when the tag is empty. Bytes that were read before are not fetched again.
    /// - Throws: the errors of ``detectNDEF()``.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let addresses = try await locate().messageAddresses
        // Blocks that are only reserved are skipped.
        for run in runs(addresses) { try await fetch(run) }
        return addresses.map { memory[byte: $0] ?? 0 }
    }

    /// Writes an NDEF message. A tag that is lost between two writes holds the old message, no message, or the new one
    /// (NFC Forum T1T 1.2, 6.5). Each write's answer is compared with the written bytes.
    ///
    /// - Parameter message: the message's bytes; none to empty the tag.
    /// - Throws: ``TagError`` with `readOnly`, `messageTooLong` and `lengthOverrun` before anything is written,
    ///   `updateFailed` when a byte did not change, `tagLost`, and the errors of ``detectNDEF()``.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let layout = try await locate(isForWriting: true)
        guard try container().isWritable else {
            throw TagError(.readOnly, "The capability container does not grant writing (NFC Forum T1T 1.2, 6.1).")
        }
        try layout.checkCapacity(for: message)
        let size = memory.unitSize
        let plan = TLVWritePlan(message, layout: layout, unitSize: size)
        // The container of a small tag may claim more memory than its commands can address.
        guard !isStatic || plan.units.allSatisfy({ $0 * size < Self.staticSize }) else { throw Self.beyondMemory }
        for unit in plan.unitsToPreserve { try await fetch(unit * size..<(unit + 1) * size) }
        let locked = plan.units.first { isLocked(block: $0 * size / Self.blockSize) }
        guard locked == nil else {
            throw TagError(.readOnly, "A block of the data area is locked (NFC Forum T1T 1.2, 4.3).")
        }
        for step in plan.steps(memory) { try await write(step.bytes, to: step.unit) }
        self.layout = layout.holding(message)
    }

    /// Makes the tag permanently read-only. It sets the container's write access, the static lock bits, and the lock
    /// bits that a lock control TLV describes (NFC Forum T1T 1.2, 6.6).
    ///
    /// - Throws: ``TagError`` with `readOnly` when the tag is read-only already, `updateFailed`, `tagLost`, and the
    ///   errors of ``detectNDEF()``.
    public func lock() async throws(TagError) {
        let layout = try await locate()
        guard try container().isWritable else { throw TagError(.readOnly, "The tag is read-only already.") }
        let access = Type1CapabilityContainer.address + 3
        try await set([(memory[byte: access] ?? 0) | 0x0F], at: access, isErasing: true)
        try await set([0xFF, 0xFF], at: Self.staticLocks.lowerBound, isErasing: false)
        for range in layout.controls.filter(\.isLock).map(\.range) where range.upperBound <= Self.maximumSize {
            try await set([UInt8](repeating: 0xFF, count: range.count), at: range.lowerBound, isErasing: false)
        }
        self.layout = layout
    }

    /// Formats a Topaz 96 or 512 as an empty NDEF tag.
    ///
    /// - Throws: ``TagError`` with `unsupported` for other products, `updateFailed`, `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        let content: [UInt8]
        try await prepare()
        switch (target?.headerROM0, target?.headerROM1) {
        case (0x11, _): content = [0xE1, 0x10, 0x0E, 0x00, 0x03, 0x00, 0xFE, 0x00]
        case (0x12, 0x4C):
            content = [
                0xE1, 0x10, 0x3F, 0x00, 0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03, 0x03, 0x00,
            ]
        default: throw TagError(.unsupported, "Only Topaz 96 and Topaz 512 can be formatted.")
        }
        try await fetch(0..<Self.staticSize)
        if let present = try? container(), !present.isWritable {
            throw TagError(.readOnly, "The capability container does not grant writing (NFC Forum T1T 1.2, 6.1).")
        }
        // From the end, so that the magic number E1 is written last.
        let size = memory.unitSize
        for start in stride(from: 0, to: content.count, by: size).reversed() {
            let unit = (Type1CapabilityContainer.address + start) / size
            try await write(Array(content[start..<start + size]), to: unit)
        }
    }

    /// LOCK-0 and LOCK-1: bit n for block n.
    static let staticLocks = 112..<114

    private func isLocked(block: Int) -> Bool {
        guard block < 16, let byte = memory[byte: Self.staticLocks.lowerBound + block / 8] else { return false }
        return byte >> (block % 8) & 1 != 0
    }

    /// Writes bytes at any address, unit by unit.
    private func set(_ bytes: [UInt8], at address: Int, isErasing: Bool) async throws(TagError) {
        let size = memory.unitSize
        let units = address / size..<(address + bytes.count + size - 1) / size
        for unit in units {
            var content = [UInt8](repeating: 0, count: size)
            if isErasing {
                try await fetch(unit * size..<(unit + 1) * size)
                content = memory.unit(unit) ?? content
            }
            for index in 0..<size {
                let place = unit * size + index - address
                if bytes.indices.contains(place) { content[index] = bytes[place] }
            }
            try await write(content, to: unit, isErasing: isErasing)
        }
    }

    private func container() throws(TagError) -> Type1CapabilityContainer {
        let start = Type1CapabilityContainer.address
        return try Type1CapabilityContainer((start..<start + 4).compactMap { memory[byte: $0] })
    }

    private func locate(isForWriting: Bool = false) async throws(TagError) -> TLVLayout {
        if let lost { throw lost }
        if let layout { return layout }
        try await prepare()
        guard target?.hasNDEF == true else {
            throw TagError(
                .noCapabilityContainer,
                "HR0 is not 1x: no NDEF (NFC Forum T1T 1.2, 5.3)."
            )
        }
        try await fetch(0..<Self.staticSize)
        let container = try container()
        guard container.isReadable else {
            throw TagError(.readProtected, "The capability container does not grant reading (NFC Forum T1T 1.2, 6.1).")
        }
        var walk = TLVWalk(
            area: container.area,
            reserved: [Type1CapabilityContainer.reserved],
            hasControls: !isStatic,
            specification: "NFC Forum T1T 1.2, 2.4",
            isForWriting: isForWriting
        )
        while true {
            switch try walk.advance(in: memory) {
            case .found(let found):
                if !found.isBroken { layout = found }
                return found
            case .read(let address): try await fetch(address..<address + 1)
            }
        }
    }

    /// Returns consecutive addresses as ranges.
    private func runs(_ addresses: [Int]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for address in addresses {
            if let last = result.last, last.upperBound == address {
                result[result.count - 1] = last.lowerBound..<address + 1
            } else {
                result.append(address..<address + 1)
            }
        }
        return result
    }
}

/// The capability container of a Type 1 tag, bytes 8 to 11 (NFC Forum T1T 1.2, 6.1).
struct Type1CapabilityContainer: Equatable {
    /// The address of the container.
    static let address = 8
    /// Blocks D to F, reserved for lock and one-time programmable bits, up to the end of the static memory or of
    /// segment 0.
    static let reserved = 104..<128

    var bytes: [UInt8]

    /// Reads a container.
    ///
    /// - Throws: ``TagError`` with `noCapabilityContainer` or `badVersion`.
    init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count == 4, bytes[0] == 0xE1 else {
            throw TagError(.noCapabilityContainer, "Byte 8 is not E1 (NFC Forum T1T 1.2, 6.1).")
        }
        guard bytes[1] >> 4 == 1 else {
            throw .badVersion(bytes[1] >> 4, bytes[1] & 0x0F, "T1T 1.2, 6.1")
        }
        self.bytes = bytes
    }

    /// The data area, including its reserved bytes.
    var area: Range<Int> { 12..<max(12, (Int(bytes[2]) + 1) * 8) }
    /// Whether reading is unrestricted.
    var isReadable: Bool { bytes[3] >> 4 == 0 }
    /// Whether writing is unrestricted.
    var isWritable: Bool { bytes[3] & 0x0F == 0 }
}
